"""How a command ends: an exit code and, if something went wrong, one sentence on stderr."""

import atexit
import errno
import os
import sys
import tempfile
import traceback
from contextlib import suppress
from typing import NoReturn

from jumpnet.cli.session import BAD_INPUT, FAULT, INTERRUPTED, UNREAD, Session
from jumpnet.errors import JumpnetError
from jumpnet.guard import interrupts
from jumpnet.guard.text import one_line, shorten

# Errors of paths and disks, which are not faults of the package.
OF_THE_MACHINE = {errno.ENAMETOOLONG, errno.ELOOP, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EIO}


def ended_by(problem: BaseException, session: Session) -> int:
    """Print one sentence about an exception; the exit code comes back."""
    if isinstance(problem, KeyboardInterrupt):
        session.tell(interrupts.sentence(session.written))
        return INTERRUPTED
    if isinstance(problem, JumpnetError):
        return _said(session, one_line(problem))
    if isinstance(problem, OSError) and problem.filename is None and problem.errno is not None:
        # Of a file of ours this would be a JumpnetError: it is stdout that cannot be written.
        _to_nowhere(sys.stdout)
        if problem.errno == errno.EPIPE:
            return UNREAD
        return _said(session, f"the results cannot be written to the output ({problem.strerror}).")
    if isinstance(problem, OSError) and problem.errno in OF_THE_MACHINE:
        return _said(session, f"{shorten(problem.filename)} cannot be used ({problem.strerror}); give another path.")
    # The base class of usage errors is private to typer, its method is not.
    if hasattr(problem, "format_message"):
        message = one_line(problem.format_message())  # pyright: ignore[reportAttributeAccessIssue]
        return _said(session, f"{message.rstrip('.')}; try 'jumpnet --help'.")
    if isinstance(problem, MemoryError):
        return _said(session, "there is not enough memory; solve a smaller problem, or with a larger tolerance.")
    return _fault(problem, session)


def end(code: int) -> NoReturn:
    """Leave with a code, after everything was written out; interrupted, at once."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError) as problem:
        _to_nowhere(sys.stdout)
        if getattr(problem, "errno", None) == errno.EPIPE:
            code = UNREAD
        else:
            code = _said(Session(), f"the results cannot be written to the output ({one_line(problem)}).")
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    if interrupts.installed():
        # The interpreter's own way to end takes a second, in which Ctrl-C has no handler any more; after an interrupt
        # it waits for threads, or crashes in them.
        if code != INTERRUPTED:
            with suppress(Exception):
                atexit._run_exitfuncs()
        os._exit(code)
    sys.exit(code)


def _said(session: Session, sentence: str) -> int:
    session.tell(f"error: {sentence}")
    return BAD_INPUT


def _fault(problem: BaseException, session: Session) -> int:
    """A fault of the package: its traceback is written to a file."""
    text = "".join(traceback.format_exception(problem))
    kept = "its traceback could not be kept"
    with suppress(OSError):
        handle, name = tempfile.mkstemp(prefix="jumpnet-fault-", suffix=".txt")
        with open(handle, "wb") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
        kept = f"please report it with {name}"
    if session.verbose:
        session.tell(text.rstrip())
    what = one_line(problem, 200) or "without a message"
    session.tell(f"error: this is a fault of jumpnet, not of your input ({type(problem).__name__}: {what}); {kept}.")
    return FAULT


def _to_nowhere(stream: object) -> None:
    """Discard what is buffered for a stream that cannot be written, so that the interpreter does not complain at
    exit."""
    with suppress(Exception):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())  # pyright: ignore[reportAttributeAccessIssue]
        os.close(nowhere)
