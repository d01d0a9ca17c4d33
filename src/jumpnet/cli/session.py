"""One run of the command line: where it writes, how much it says, and which files it has made."""

import errno
import io
import json
import logging
import os
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from rich.console import Console

from jumpnet.errors import JumpnetWarning, SolutionError
from jumpnet.guard.interrupts import INTERRUPTED
from jumpnet.guard.text import clean
from jumpnet.guard.writing import check_writable

if TYPE_CHECKING:
    from jumpnet.optim import Status

FIRST_WORD, LAST_WORD = 2.0, 16.0  # seconds between lines about what takes long, at first and at most
SOLVED, NOT_CONVERGED, BAD_INPUT, FAULT = 0, 1, 2, 3
UNREAD = 141  # the reader of the output has gone (`| head`): 128 + SIGPIPE
PLAIN_WIDTH = 120  # where there is no terminal to ask

logger = logging.getLogger("jumpnet")


class _Console(Console):
    """A console that raises when nobody reads it any more, instead of leaving with a code that means something else."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def console(stderr: bool = False) -> Console:
    """A console on stdout or stderr as they are now, wide enough for tables where there is no terminal."""
    made = _Console(stderr=stderr, highlight=False)
    return made if made.is_terminal else _Console(stderr=stderr, highlight=False, width=PLAIN_WIDTH)


def robust_streams() -> None:
    """Characters that the output cannot have are written as escapes; a closed output goes nowhere.

    Files would otherwise be opened under the numbers of the closed streams, and libraries print into them.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        continue
    os.close(number)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, io.StringIO())
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@dataclass
class Session:
    """Consoles for results (out) and for everything else (err), and the files written so far."""

    out: Console = field(default_factory=console)
    err: Console = field(default_factory=lambda: console(stderr=True))
    quiet: bool = False
    verbose: bool = False
    written: list[Path] = field(default_factory=list)

    @property
    def command(self) -> str:
        """The command as it was typed, without the path of the program."""
        return shlex.join(["jumpnet", *sys.argv[1:]])

    def say(self, text: str) -> None:
        """A line of the results, in the user's words and not in rich's markup."""
        self.out.print(clean(text), markup=False, soft_wrap=True)

    def alarm(self, text: str) -> None:
        """A headline about what fails; red on a terminal."""
        self.out.print(clean(text), markup=False, soft_wrap=True, style="bold red")

    def say_json(self, found: dict[str, Any]) -> None:
        """The results for scripts, with the files that were written."""
        self.dump(found | {"files": [str(path) for path in self.written]})

    def dump(self, found: Any) -> None:
        """JSON, whole: its escapes are those of `clean`."""
        self.out.print(clean(json.dumps(found, indent=2), most=sys.maxsize), markup=False, soft_wrap=True)

    def say_pairs(self, pairs: Mapping[str, str]) -> None:
        """Names and what belongs to each, in two columns."""
        from rich.table import Table

        table = Table(box=None, show_header=False, pad_edge=False)
        for name, text in pairs.items():
            table.add_row(name, text)
        self.out.print(table)

    def tell(self, text: str) -> None:
        """A line beside the results."""
        with suppress(OSError):  # if stderr is closed only the exit code remains
            self.err.print(clean(text), markup=False, soft_wrap=True)

    def keep(self, path: Path) -> None:
        """Remember a file that was written, or written again."""
        if path not in self.written:
            self.written.append(path)

    def write(self, path: Path, text: str) -> None:
        """Write a file and remember it."""
        from jumpnet.reporting.figures.canvas import write_file

        write_file(path, text.encode(errors="backslashreplace"))
        self.keep(path)

    def say_written(self) -> None:
        """Which files were made."""
        if self.written and not self.quiet:
            self.say("wrote " + "\n      ".join(str(path) for path in self.written))

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """Show what is being done: on a terminal with a clock, elsewhere in a line now and then."""
        if self.quiet:
            yield
            return
        began, done = time.perf_counter(), Event()

        def tell() -> None:
            pause = FIRST_WORD
            while not done.wait(pause):
                self.tell(f"{what}, {time.perf_counter() - began:.0f} s")
                pause = min(2 * pause, LAST_WORD)

        if self.err.is_terminal:
            with self.err.status(what):
                yield
            return
        teller = Thread(target=tell, daemon=True)
        teller.start()
        try:
            yield
        finally:
            done.set()
            teller.join()

    @contextmanager
    def progress(self, name: str, total: int) -> Iterator[Any]:
        """What to hand to a solver as `progress=`."""
        if self.quiet:
            yield False
            return
        from jumpnet.engines.progress import bar

        with bar(name, total, self.err) as update:
            yield update


class _ToConsole(logging.Handler):
    """Log records as plain lines on stderr, above a progress bar if one is shown."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    def emit(self, record: logging.LogRecord) -> None:
        self.session.tell(f"{record.levelname.lower()}: {record.getMessage()}")


@contextmanager
def speaking(session: Session, verbosity: int) -> Iterator[None]:
    """Logging and the package's warnings go to the session's console as long as this lasts."""
    level = logging.ERROR if session.quiet else max(logging.WARNING - 10 * verbosity, logging.DEBUG)
    handler, before = _ToConsole(session), (logger.level, logger.propagate)
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", JumpnetWarning)
            warnings.showwarning = _as_log(warnings.showwarning)
            yield
    finally:
        logger.removeHandler(handler)
        logger.level, logger.propagate = before


def _as_log(otherwise: Callable[..., None]) -> Callable[..., None]:
    def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
        if issubclass(category, JumpnetWarning):
            logger.warning("%s", message)
        else:
            otherwise(message, category, *rest, **more)

    return show


def output_directory(path: str) -> Path:
    """A directory that can be written to, made if it is not there; asked before a long computation, not after."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        check_writable(folder / "any")
    except FileExistsError:
        raise SolutionError(f"{path!r} is a file or a broken link, not a directory; give another one.") from None
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise SolutionError(f"the directory {path!r} cannot be written to ({reason}); give another one.") from None
    return folder


def check_spared(read: Iterable[Path], written: Iterable[Path]) -> None:
    """Refuse to write over what was read: the picture of `scan.toml` has the name of its image, perhaps."""
    sources = {path.resolve() for path in read}
    for path in written:
        if path.resolve() in sources:
            raise SolutionError(f"{str(path)!r} is read, and would be written over; give another name or directory.")


def exit_code(*statuses: "Status") -> int:
    """0 if everything converged, 130 if something was interrupted, else 1."""
    if any(status.name == "INTERRUPTED" for status in statuses):
        return INTERRUPTED
    return SOLVED if all(status.ok for status in statuses) else NOT_CONVERGED
