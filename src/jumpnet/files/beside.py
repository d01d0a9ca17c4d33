"""The image at half its resolution, solved in a process of its own while the solve itself goes on."""

import os
import pickle
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jumpnet.errors import JumpnetWarning
from jumpnet.fe.meshing.first import LateError
from jumpnet.files.problemfile import ProblemFile
from jumpnet.guard.child import Child, ChildError, packed, possible, serve

# Seconds to wait for it after the solve itself has ended, and its time limit.
PATIENCE, MOST = 120.0, 3600.0

Coarse = Callable[[], dict[str, float]]
"""A function that returns the quantities at half the resolution; it may have to wait."""


@contextmanager
def half_resolution(read: ProblemFile, beyond: float = 3.0) -> Iterator[Coarse]:
    """What gives `read.coarse_quantities()`, begun now in a process of its own where there is a core for it.

    Elsewhere it is computed when it is asked for. A process that dies or takes too long costs a warning. A time limit
    of the file holds for it too, with some seconds `beyond`, as it starts Python and reads the image first (heuristic).
    """
    limit, began, child = read.file.solve.time_limit, time.monotonic(), _started(read)

    def left() -> float | None:
        return None if limit is None else max(limit - (time.monotonic() - began), 0.0) + beyond

    if child is None:
        yield lambda: told(read.with_settings(time_limit=left()).coarse_quantities)
        return
    try:
        yield lambda: told(lambda: child.receive(min(left() or PATIENCE, PATIENCE)))
    finally:
        if child.alive:
            child.end()


def _started(read: ProblemFile) -> Child | None:
    """The process at work; None where it is not needed, or not possible."""
    if not read.asks_resolution or read.problem.dim != 2 or read.origin is None or not possible() or _cores() < 2:
        return None
    try:
        job = packed("coarse", read.origin, read.file.solve.model_dump())
        child = Child("jumpnet.files.beside", "the process for the image at half its resolution")
        child.send(job)
    except (pickle.PicklingError, AttributeError, TypeError, OSError, ChildError):
        return None
    return child


def told(coarse: Coarse) -> dict[str, float]:
    """The quantities; none, and a warning, where they are not there in time."""
    try:
        return coarse()
    except (ChildError, LateError) as error:
        why = str(error).rstrip(".")
        warnings.warn(f"what the pixels of the image cost is not known: {why}.", JumpnetWarning, stacklevel=2)
        return {}


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _coarse(name: str, arguments: tuple[Any, ...]) -> dict[str, float]:
    """In the child: the quantities at half the resolution of a file's image."""
    origin, settings = arguments
    return origin.read().with_settings(**settings).coarse_quantities()


if __name__ == "__main__":
    serve(_coarse, MOST)
