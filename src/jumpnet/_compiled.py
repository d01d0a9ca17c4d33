"""Compiled code, kept from one run to the next: JAX's own cache on disk, for the package's calls only.

Compiling is about a second of every first solve of its shape. The user's JAX configuration stays as it is: the cache is
entered for one thread and one call at a time, and a cache that the user has set up is used instead of ours.

JAX writes its files in place. A process that is killed meanwhile leaves one that is cut off, about which every later
process would complain, and never write it again; so our folder is read and written by a class of our own (`Files`).
"""

import hashlib
import os
import platform
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from jumpnet.guard.writing import write_atomically

DIGEST = 32  # bytes of a SHA-256
OFF = ("", "0", "no", "off", "none")  # values of the environment variable that switch the cache off


@contextmanager
def kept() -> Iterator[None]:
    """A context in which compiled code is looked up on disk and stored there; does nothing where there is no place."""
    folder, switches = directory(), _switches()
    if folder is None or switches is None or switches[0].value is not None:
        yield
        return
    where, shortest = switches
    with where(str(folder)), shortest(0), _opened(folder):
        yield


class Files:
    """Compiled code by key, in files that are whole or are not used: what JAX calls a cache interface.

    Each file begins with the digest of what follows. One that does not match is no entry, and is replaced.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder  # JAX shows it in its logs

    def get(self, key: str) -> bytes | None:
        """What was put; None where nothing, or nothing whole, is there."""
        with suppress(OSError):
            content = self._file(key).read_bytes()
            digest, value = content[:DIGEST], content[DIGEST:]
            if digest == hashlib.sha256(value).digest():
                return value
        return None

    def put(self, key: str, value: bytes) -> None:
        """Keep it, if that is possible; a computation does not fail for want of a disk."""
        with suppress(OSError, ValueError):
            # Not brought to the disk, which would take longer than some compilations: a power cut is found by `get`.
            write_atomically(self._file(key), hashlib.sha256(value).digest() + value, durable=False)

    def clear(self) -> None:
        """Nothing: the folder is the user's to empty."""

    def _file(self, key: str) -> Path:
        return self._path / f"{key}-cache"


class _Opened:
    """JAX opens a cache for the whole process and for good: the last of our threads to leave closes it.

    Otherwise the user's own programs would end up in it.
    """

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0

    @contextmanager
    def __call__(self, folder: Path) -> Iterator[None]:
        """A context in which JAX uses our files in a folder."""
        from jax.experimental.compilation_cache.compilation_cache import reset_cache

        with self._lock:
            if self._inside == 0:
                _use(folder)
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    reset_cache()


def _use(folder: Path) -> None:
    """Give JAX our class for its files; a version of JAX that has it elsewhere keeps its own."""
    with suppress(ImportError, AttributeError):
        from jax._src import compilation_cache as theirs

        with theirs._cache_initialized_mutex:
            if theirs._cache is None and not theirs._cache_initialized:
                theirs._cache, theirs._cache_initialized = Files(folder), True  # pyright: ignore[reportAttributeAccessIssue]


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
