"""Options that several commands have, and how their values are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from jumpnet.errors import ProblemError
from jumpnet.guard.budget import Budget
from jumpnet.guard.text import shorten

if TYPE_CHECKING:
    from jumpnet.files import ProblemFile


def whole(least: int, most: int = 10**9) -> Callable[[str], int]:
    """Reads a whole number, or says what was given and what is wanted."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise typer.BadParameter(f"{shorten(str(text))} is not a whole number from {least} to {most}")
        return value

    return number


def positive(text: str) -> float:
    """Reads a positive number."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise typer.BadParameter(f"{shorten(str(text))} is not a positive number")
    return value


LARGEST_SEED = 2**32 - 1  # as in problem files
Directory = Annotated[str, typer.Option("--output", "-o", metavar="DIR", help="Directory for the files.")]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="DIR", help="Directory for the files; without one none are written."),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", parser=whole(1), metavar="N", help="Processes; by default one on each core."),
]
Cluster = Annotated[
    str | None, typer.Option("--cluster", metavar="ADDRESS", help="Run on this dask.distributed scheduler instead.")
]
Again = Annotated[bool, typer.Option("--again", help="Compute also what is in the directory already.")]
Seed = Annotated[
    int,
    typer.Option(
        "--seed", parser=whole(0, LARGEST_SEED), metavar="N", help="Decides the points and the initial weights."
    ),
]
Steps = Annotated[int, typer.Option("--steps", parser=whole(1), metavar="N", help="The most steps of a training.")]
Seconds = Annotated[
    float | None,
    typer.Option(
        "--read-seconds", parser=positive, metavar="S", help="Time to read and build the file.", show_default="60"
    ),
]
Gigabytes = Annotated[
    float | None,
    typer.Option("--read-gb", parser=positive, metavar="GB", help="Memory for the same.", show_default="2"),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
File = Annotated[str, typer.Argument(metavar="FILE.toml", help="A problem file.")]
Allow = Annotated[
    list[str] | None,
    typer.Option("--allow", metavar="DIR", help="Read drawings, images and meshes from this folder too; repeatable."),
]
Set = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=NUMBER", help="Replace a constant of the file; repeatable.")
]
Tolerance = Annotated[
    float | None,
    typer.Option("--tol", parser=positive, metavar="TOL", help="Instead of the file's: relative to u's variation."),
]


def budget_of(seconds: float | None, gigabytes: float | None) -> Budget:
    """What reading the file may take; nothing else happens in the process meanwhile, so the system may enforce it."""
    default = Budget()
    return Budget(seconds or default.seconds, gigabytes or default.gigabytes, strict=True)


@dataclass(frozen=True)
class FileRequest:
    """A problem file as a command names it: with --set, --allow, and what reading it may take."""

    file: str
    settings: Sequence[str] = ()
    allow: Sequence[str] = ()
    budget: Budget | None = None

    @classmethod
    def of(cls, file: str, set_: Set, allow: Allow, seconds: float | None, gigabytes: float | None) -> FileRequest:
        """The same from the options of a command."""
        return cls(file, set_ or [], allow or [], budget_of(seconds, gigabytes))

    def read(self) -> ProblemFile:
        """What the file holds."""
        from jumpnet.files import read_file

        return read_file(self.file, dict(map(_constant, self.settings)), allow=self.allow, budget=self.budget)


def _constant(setting: str) -> tuple[str, float]:
    """The name and the number of --set NAME=NUMBER."""
    name, _, value = setting.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError:
        raise ProblemError(f"--set is {setting!r}; NAME=NUMBER is wanted, e.g. --set k=10.") from None
