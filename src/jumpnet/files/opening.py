"""Problem files read from their path or their text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jumpnet.errors import ProblemError
from jumpnet.guard.budget import Budget, bounded
from jumpnet.problem import Problem

if TYPE_CHECKING:  # pydantic is loaded with the first file
    from jumpnet.files.building import Builder
    from jumpnet.files.schema import File
from jumpnet.files.asked import check_outputs
from jumpnet.files.problemfile import ProblemFile


@dataclass(frozen=True)
class Origin:
    """A file as it was read: all that is needed to read it again with other constants."""

    text: str
    constants: Mapping[str, float]
    name: str
    folder: Path | None
    allowed: tuple[Path, ...]
    budget: Budget | None

    def read(self, values: Mapping[str, float] | None = None) -> ProblemFile:
        """The file, with other values of some of its constants."""
        constants = {**self.constants, **(values or {})}
        return read_as_file(
            self.text, constants, name=self.name, folder=self.folder, allowed=self.allowed, budget=self.budget
        )


def read_file(
    path: str | PathLike[str],
    constants: Mapping[str, float] | None = None,
    *,
    allow: Sequence[str | PathLike[str]] = (),
    budget: Budget | None = None,
) -> ProblemFile:
    """Read a problem file (TOML).

    Args:
        path: Where it is. Drawings, images and meshes are read from its folder.
        constants: Numbers in place of some that the file gives names to.
        allow: Other folders that data may be read from.
        budget: What reading and building may take in time and memory; by default `Budget()`.

    Returns:
        What the file holds: `problem`, and `solve()` with the file's settings.

    Example:
        >>> from pathlib import Path
        >>> from jumpnet.files.starting import started  # what `jumpnet new layers wall.toml` writes
        >>> _ = [path.write_bytes(text) for path, text in started("layers", Path("wall.toml")).items()]
        >>> import jumpnet as jn
        >>> jn.read_file("wall.toml").problem.dim
        1
    """
    from jumpnet.files.reading import read_text

    text, allowed = read_text(path), _folders(allow)
    return read_as_file(text, constants, name=Path(path).stem, folder=Path(path).parent, allowed=allowed, budget=budget)


def read_problem(
    path: str | PathLike[str],
    constants: Mapping[str, float] | None = None,
    *,
    allow: Sequence[str | PathLike[str]] = (),
    budget: Budget | None = None,
) -> Problem:
    """The problem that a file (TOML) states.

    Args:
        path: As in `read_file`.
        constants: As in `read_file`.
        allow: As in `read_file`.
        budget: As in `read_file`.

    Returns:
        The problem, checked; where formulas use u, ProblemError says how it is solved instead.

    Example:
        >>> from pathlib import Path
        >>> from jumpnet.files.starting import started  # what `jumpnet new layers wall.toml` writes
        >>> _ = [path.write_bytes(text) for path, text in started("layers", Path("wall.toml")).items()]
        >>> import jumpnet as jn
        >>> jn.read_problem("wall.toml").partition.size > 1
        True
    """
    found = read_file(path, constants, allow=allow, budget=budget)
    if found.nonlinear is not None:
        raise ProblemError(
            f"{str(path)!r} has formulas that use u: it is no linear problem; "
            "take jn.read_file(path), which has solve() and nonlinear."
        )
    return found.problem


def _folders(given: Sequence[str | PathLike[str]]) -> tuple[Path, ...]:
    """Folders that data may be read from."""
    if isinstance(given, str | PathLike):
        given = [given]
    found = tuple(Path(folder) for folder in given)
    for folder in found:
        if not folder.is_dir():
            raise ProblemError(f"--allow is {str(folder)!r}, which is no folder; give one that data files lie in.")
    return found


def read_as_file(
    text: str,
    constants: Mapping[str, float] | None = None,
    *,
    name: str = "problem",
    folder: Path | None = None,
    allowed: tuple[Path, ...] = (),
    budget: Budget | None = None,
) -> ProblemFile:
    """The same for the text of a file."""

    def builder(file: File) -> Builder:
        from jumpnet.files.building import Builder

        return Builder.of(file, constants or {}, folder, allowed)

    found = bounded(budget, lambda: _read(text, builder, name))
    return replace(found, origin=Origin(text, dict(constants or {}), name, folder, allowed, budget))


def _read(text: str, made: Callable[[File], Builder], name: str) -> ProblemFile:
    from jumpnet.files.reading import parse

    file = parse(text)
    with np.errstate(all="ignore"):  # what overflows is not finite, and refused for that
        builder = made(file)
        found = ProblemFile(file.title or name, builder.problem(), file, builder, name)
        check_outputs(found)
    return found
