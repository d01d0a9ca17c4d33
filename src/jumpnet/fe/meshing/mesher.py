"""Meshes made in a child process, so that a crash or a hang of the mesher becomes an error message.

The child is started with the first mesh and kept for those that follow. Shapes go to the child and arrays come back;
functions that a user wrote are never called there.
"""

import atexit
import os
import pickle
import threading
from typing import Any

from jumpnet.errors import JumpnetError
from jumpnet.guard.child import Child, ChildError, packed, possible, serve

# Seconds that a mesh may take at most.
PATIENCE = 120.0
MeshingError = ChildError

_lock = threading.Lock()
_children: dict[int, Child] = {}  # by process: a fork does not inherit its parent's


def child() -> Child:
    """A new process that makes meshes."""
    return Child("jumpnet.fe.meshing.mesher", "the mesher")


def apart(name: str, *arguments: Any, seconds: float = PATIENCE) -> Any:
    """A function of `fe.meshing.generation` called in the child; MeshingError, or what it raises of ours.

    In this process where shapes cannot be sent (they have functions of a user in them) or no child can be started.
    """
    try:
        job = _packed(name, *arguments)
    except (pickle.PicklingError, AttributeError, TypeError, ValueError):
        return _here(name, arguments)
    if not possible():
        return _here(name, arguments)
    with _lock:
        known = _children.get(os.getpid())
        if known is None or not known.alive:
            if known is not None:
                known.end()
            try:
                known = _children[os.getpid()] = child()
            except OSError:
                return _here(name, arguments)
        known.send(job)
        return known.receive(min(seconds, PATIENCE))


def _packed(name: str, *arguments: Any) -> bytes:
    """The job as bytes. SciPy's trees turn Ctrl-C while they are pickled into a ValueError, but not twice."""
    try:
        return packed(name, *arguments)
    except ValueError:
        packed(name, *arguments)
        raise KeyboardInterrupt from None


def _here(name: str, arguments: tuple[Any, ...]) -> Any:
    from jumpnet.fe.meshing import generation

    try:
        return getattr(generation, name)(*arguments)
    except JumpnetError:
        raise
    except Exception as error:  # whatever the mesher raises
        raise MeshingError(f"{type(error).__name__}: {error}") from None


@atexit.register
def _end() -> None:
    known = _children.pop(os.getpid(), None)
    if known is not None and known.alive:
        known.end()


if __name__ == "__main__":
    serve(_here, PATIENCE + 10)
