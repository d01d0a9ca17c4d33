"""Child processes of Python: a crash or a hang there becomes an error message.

A job is a name and its arguments, sent as bytes; an answer comes back in the same way. A child has a session of its
own (Ctrl-C is the parent's affair), prints nowhere, and ends with its parent, in the middle of a job after a while.
"""

import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from jumpnet.errors import JumpnetError
from jumpnet.guard import interrupts

# In the environment: a child's mark, or the wish to do without one.
HERE = "JUMPNET_MESH_HERE"
_HEAD = struct.Struct("!Q")  # of a message: its length, eight bytes
_PIECE = 1 << 20  # the most bytes read at a time


class ChildError(Exception):
    """A job failed: an exception was raised in the child, or it died or took too long."""


def possible() -> bool:
    """Whether this process may have children: not if it is a child itself, and not on Windows, whose pipes cannot be
    polled."""
    return not os.environ.get(HERE) and os.name != "nt"


def packed(name: str, *arguments: Any) -> bytes:
    """A job for a child; PicklingError, AttributeError or TypeError where its arguments cannot be sent."""
    return _packed((name, arguments))


class Child:
    """A process that runs a module of ours, which calls `serve`; OSError where none can be started."""

    def __init__(self, module: str, called: str) -> None:
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        self._called = called
        # Without -P the child would import from the folder where the program was started: that may be a stranger's.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path, HERE: "1"},
            start_new_session=True,
        )
        interrupts.children.add(self._process.pid)

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def send(self, job: bytes) -> None:
        """Give it a job, as `packed` makes it."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(job)
            self._process.stdin.flush()
        except BrokenPipeError:
            self.end()
            raise ChildError(f"{self._called} died") from None

    def receive(self, seconds: float) -> Any:
        """The result of the job; ChildError if it failed, or the exception of this package that it raised."""
        until = time.monotonic() + seconds
        try:
            size = _HEAD.unpack(self._read(_HEAD.size, until))[0]
            good, found = pickle.loads(self._read(size, until))  # noqa: S301 (from our own child)
        except EOFError:
            self.end()
            raise ChildError(f"{self._called} died") from None
        except BaseException:
            self.end()  # it may be in the middle of something
            raise
        if good:
            return found
        raise found if isinstance(found, JumpnetError) else ChildError(str(found))

    def _read(self, count: int, until: float) -> bytes:
        assert self._process.stdout is not None
        handle, parts = self._process.stdout.fileno(), []
        while count:
            left = until - time.monotonic()
            if left <= 0 or not select.select([handle], [], [], left)[0]:
                raise ChildError(f"{self._called} took too long")
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


def _packed(content: Any) -> bytes:
    data = pickle.dumps(content, protocol=pickle.HIGHEST_PROTOCOL)
    return _HEAD.pack(len(data)) + data


def serve(work: Callable[[str, tuple[Any, ...]], Any], seconds: float) -> None:
    """In the child: do jobs, each within its time limit, until the parent has ended."""
    answers, jobs = os.fdopen(os.dup(1), "wb"), sys.stdin.buffer
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)  # compiled code prints there
    while len(head := jobs.read(_HEAD.size)) == _HEAD.size:
        name, arguments = pickle.loads(jobs.read(_HEAD.unpack(head)[0]))  # noqa: S301 (from our own parent)
        _limit(int(seconds))
        try:
            answer = (True, work(name, arguments))
        except JumpnetError as error:
            answer = (False, error)
        except Exception as error:  # the parent reports it
            answer = (False, str(error) if isinstance(error, ChildError) else f"{type(error).__name__}: {error}")
        _limit(0)
        answers.write(_packed(answer))
        answers.flush()


def _limit(seconds: int) -> None:
    """The system ends the child after this time, also inside compiled code: its parent may have been killed."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)
