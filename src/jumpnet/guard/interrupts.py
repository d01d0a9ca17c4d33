"""Ctrl-C in the command line, from the first moment to the last.

While the program starts, reads and writes, Ctrl-C ends the process at once: an exception in the middle of an import or
of foreign code may be swallowed there, or leave the process in a state in which it cannot end properly. During a solve
it is a KeyboardInterrupt, for which the solvers return the best so far; a second one ends the process at once.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from types import FrameType
from typing import Any

from jumpnet.guard.text import clean

INTERRUPTED = 130  # the exit code of shells after Ctrl-C: 128 + SIGINT
AGAIN = 0.05  # seconds until a swallowed interrupt is raised again


unfinished: set[str] = set()
"""Files that are being written, to be removed before an immediate exit."""

children: set[int] = set()
"""Child processes, to be ended before an immediate exit."""


class _State:
    installed = False
    caught = False
    asked = False
    again = False
    kept: Callable[[], Iterable[object]] = tuple


_state = _State()


def install() -> None:
    """From now on Ctrl-C ends the process with code 130, saying what it has written. For programs, not libraries."""
    if (
        signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    ):  # started in the background by a shell, which ignores Ctrl-C on purpose
        return
    signal.signal(signal.SIGINT, _handle)
    _state.installed = True


def keeps(files: Callable[[], Iterable[object]]) -> None:
    """Sets the function that lists the files written."""
    _state.kept = files


def installed() -> bool:
    """Whether this process is a command that has called `install`."""
    return _state.installed


def asked() -> bool:
    """Whether Ctrl-C was pressed during a solve, even if somebody swallowed the exception."""
    return _state.asked


def sentence(files: Iterable[object]) -> str:
    """What is said in the end."""
    kept = ", ".join(str(file) for file in files)
    return f"interrupted; {f'kept {kept}' if kept else 'nothing was written'}."


def leave() -> None:
    """End the process now, without the interpreter's own way of ending: threads of a compiler may still be running.

    Nothing is imported here: the interrupt may have come in the middle of an import.
    """
    for part in list(unfinished):
        with suppress(OSError):
            os.unlink(part)
    for child in list(children):
        with suppress(OSError):
            os.kill(child, getattr(signal, "SIGKILL", signal.SIGTERM))
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    with suppress(Exception):
        os.write(2, f"{clean(sentence(_state.kept()))}\n".encode("ascii", "backslashreplace"))
    os._exit(INTERRUPTED)


@contextmanager
def caught() -> Iterator[None]:
    """Ctrl-C is a KeyboardInterrupt in here; where one is swallowed by a callback, it is raised again."""
    if not _state.installed or _state.caught:
        yield
        return
    hook = sys.unraisablehook
    sys.unraisablehook = _unraisable(hook)
    _state.caught = True
    try:
        yield
    finally:
        _state.caught = False
        sys.unraisablehook = hook


@contextmanager
def kept_from_children() -> Iterator[None]:
    """Processes that are started in here never hear of Ctrl-C; what arrives meanwhile comes afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _handle(number: int, frame: FrameType | None) -> None:
    if not _state.caught:
        leave()
    if _state.asked and not _state.again:
        leave()
    _state.asked, _state.again = True, False
    raise KeyboardInterrupt


def _unraisable(otherwise: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def hook(args: Any) -> None:
        if not issubclass(args.exc_type, KeyboardInterrupt):
            otherwise(args)
        elif _state.caught:
            _state.again = True
            Timer(AGAIN, signal.raise_signal, (signal.SIGINT,)).start()  # not from in here, where it would be lost too

    return hook
