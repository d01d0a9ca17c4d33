"""Meshes made in a child process, so that a crash or a hang of the mesher costs one sentence and not the program.

The child is started with the first mesh and kept for those that follow; what the mesher prints goes nowhere. Shapes go
to the child and arrays come back; functions that a user wrote are never called there. It ends with its parent.
"""

import atexit
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from jumpnet.errors import JumpnetError
from jumpnet.guard import interrupts

# Seconds that a mesh may take at most.
PATIENCE = 120.0
# In the environment: a child's mark, or the wish to do without one.
HERE = "JUMPNET_MESH_HERE"
_HEAD = struct.Struct("!Q")
_PIECE = 1 << 20


class MeshingError(Exception):
    """Nothing came of a mesh: what the mesher said, or that it died or took too long."""


class _Child:
    """The process, and how to talk to it."""

    def __init__(self) -> None:
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        # A session of its own: Ctrl-C is the parent's affair. Without -P the child would import from the folder where
        # the program was started, and that may be a stranger's.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "jumpnet.fe.meshing.mesher"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path, HERE: "1"},
            start_new_session=True,
        )
        interrupts.children.add(self._process.pid)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, job: bytes, seconds: float) -> Any:
        """What comes of a job that is packed; MeshingError if nothing does."""
        assert self._process.stdin is not None
        until = time.monotonic() + min(seconds, PATIENCE)
        try:
            self._process.stdin.write(job)
            self._process.stdin.flush()
            size = _HEAD.unpack(self._read(_HEAD.size, until))[0]
            good, found = pickle.loads(self._read(size, until))  # noqa: S301 (from our own child)
        except (BrokenPipeError, EOFError):
            self.end()
            raise MeshingError("the mesher died") from None
        except BaseException:
            self.end()  # it may be in the middle of something
            raise
        if good:
            return found
        raise found if isinstance(found, JumpnetError) else MeshingError(str(found))

    def _read(self, count: int, until: float) -> bytes:
        assert self._process.stdout is not None
        handle, parts = self._process.stdout.fileno(), []
        while count:
            left = until - time.monotonic()
            if left <= 0 or not select.select([handle], [], [], left)[0]:
                raise MeshingError("the mesher took too long")
            part = os.read(handle, min(count, _PIECE))
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def end(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()
        interrupts.children.discard(self._process.pid)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not sent yet
                    pipe.close()


_lock = threading.Lock()
_children: dict[int, _Child] = {}  # by process: a fork does not inherit its parent's


def apart(name: str, *arguments: Any, seconds: float = PATIENCE) -> Any:
    """A function of `fe.making` called in the child; MeshingError, or what it raises of ours.

    In this process where shapes cannot be sent (they have functions of a user in them) or no child can be started.
    """
    try:
        job = _packed((name, arguments))
    except (pickle.PicklingError, AttributeError, TypeError):
        return _here(name, arguments)
    if os.environ.get(HERE) or os.name == "nt":  # pipes cannot be waited for there
        return _here(name, arguments)
    with _lock:
        child = _children.get(os.getpid())
        if child is None or not child.alive:
            if child is not None:
                child.end()
            try:
                child = _children[os.getpid()] = _Child()
            except OSError:
                return _here(name, arguments)
        return child.ask(job, seconds)


def _here(name: str, arguments: tuple[Any, ...]) -> Any:
    from jumpnet.fe.meshing import making

    try:
        return getattr(making, name)(*arguments)
    except JumpnetError:
        raise
    except Exception as error:  # whatever the mesher raises
        raise MeshingError(f"{type(error).__name__}: {error}") from None


def _packed(content: Any) -> bytes:
    data = pickle.dumps(content, protocol=pickle.HIGHEST_PROTOCOL)
    return _HEAD.pack(len(data)) + data


@atexit.register
def _end() -> None:
    child = _children.pop(os.getpid(), None)
    if child is not None and child.alive:
        child.end()


def _serve() -> None:
    """In the child: do jobs until the parent is gone."""
    answers, jobs = os.fdopen(os.dup(1), "wb"), sys.stdin.buffer
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)  # compiled code prints there
    while len(head := jobs.read(_HEAD.size)) == _HEAD.size:
        name, arguments = pickle.loads(jobs.read(_HEAD.unpack(head)[0]))  # noqa: S301 (from our own parent)
        _limit(int(PATIENCE) + 10)
        try:
            answer = (True, _here(name, arguments))
        except (JumpnetError, MeshingError) as error:
            answer = (False, error if isinstance(error, JumpnetError) else str(error))
        _limit(0)
        answers.write(_packed(answer))
        answers.flush()


def _limit(seconds: int) -> None:
    """The system ends the child after so long, also in the middle of compiled code: its parent may have been killed."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


if __name__ == "__main__":
    _serve()
