"""Compiled code, kept from one run to the next: JAX's own cache on disk, for the package's calls only.

Compiling is about a second of every first solve of its shape. The user's JAX configuration stays as it is: the cache is
entered for one thread and one call at a time, and a cache that the user has set up is used instead of ours.
"""

import hashlib
import os
import platform
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

OFF = ("", "0", "no", "off", "none")


@contextmanager
def kept() -> Iterator[None]:
    """A context in which compiled code is looked up on disk and stored there; does nothing where there is no place."""
    folder, switches = directory(), _switches()
    if folder is None or switches is None or switches[0].value is not None:
        yield
        return
    where, shortest = switches
    with _opened, where(str(folder)), shortest(0):
        yield


class _Opened:
    """JAX opens a cache for the whole process and for good: the last of our threads to leave closes it.

    Otherwise the user's own programs would end up in it.
    """

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        from jax.experimental.compilation_cache.compilation_cache import reset_cache

        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                reset_cache()


_opened = _Opened()


@cache
def directory() -> Path | None:
    """Where compiled code is kept: $JUMPNET_CACHE, or the user's cache directory; None if it is off or unwritable."""
    chosen = os.environ.get("JUMPNET_CACHE")
    if (chosen is None and not reliable()) or (chosen is not None and chosen.lower() in OFF):
        return None
    try:
        root = Path(chosen).expanduser() if chosen else _users_cache() / "jumpnet"
        # JAX's key does not hold the processor: a home shared between machines must not mix their code.
        folder = root / hashlib.sha256(processor().encode()).hexdigest()[:12]
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # no permission, no home
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


def reliable() -> bool:
    """Whether JAX loads compiled code back here without complaint, as far as is known.

    With AVX-512 it refuses its own files and says so on stderr (jax-ml/jax#38445); systems other than Linux were not
    tried.
    """
    return sys.platform == "linux" and "avx512f" not in processor().split()


@cache
def processor() -> str:
    """What the processor can do, in words of the system."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    features = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return f"{platform.machine()} {features or platform.processor()}"


@cache
def _switches() -> tuple[Any, Any] | None:
    """JAX's directory and shortest compile time as thread-local contexts, which it has, but not under public names."""
    try:
        from jax._src.config import compilation_cache_dir, persistent_cache_min_compile_time_secs
    except ImportError:
        return None
    return compilation_cache_dir, persistent_cache_min_compile_time_secs


def _users_cache() -> Path:
    given = os.environ.get("XDG_CACHE_HOME", "")
    return Path(given) if os.path.isabs(given) else Path.home() / ".cache"
