"""The problems of a file for other values of its constants."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jumpnet.errors import ProblemError
from jumpnet.files.opening import Origin
from jumpnet.files.problemfile import ProblemFile
from jumpnet.problem import Data, Problem
from jumpnet.solution import Solution
from jumpnet.studies.family import Family, Measured, Quantity, Values, digest, measured
from jumpnet.studies.fingerprint import fingerprint

# Longer texts are not names of files.
LONGEST = 1000


@dataclass(frozen=True, eq=False)
class FileFamily(Family):
    """A file, read again for each case; `quantities` are the file's own where none are given."""

    origin: Origin
    quantities: Mapping[str, Quantity] | None
    options: Mapping[str, Any]
    settings: Mapping[str, Any]
    measuring: bool = False
    """Whether the file's data are what a fit compares with, and no equations of its problem."""

    def read(self, values: Values) -> ProblemFile:
        """The file with these constants."""
        for name, value in values.items():
            if not np.isfinite(value):
                raise ProblemError(f"the constant {name!r} is {value}; a finite number is wanted.")
        found = self.origin.read(values)
        if self.measuring and found.problem.data is not None:
            stated: dict[str, Any] = {**found.problem.given, "data": ()}
            found = replace(found, problem=Problem(**stated))
        return found.with_settings(**self.settings)

    def data(self) -> tuple[FileFamily, list[Data]]:
        """The family for a fit, whose problems are without the file's measured values, and these."""
        return replace(self, measuring=True), self.read({}).builder.data()

    def problem(self, values: Values) -> Problem:
        return self.read(values).problem

    def solve(self, values: Values, **options: Any) -> Solution:
        return self.read(values).solve(**(dict(self.options) | options))

    def measure(self, values: Values) -> tuple[Solution, dict[str, Measured]]:
        read = self.read(values)
        solution = read.solve(**self.options)
        if self.quantities is not None:
            return solution, {name: measured(solution, quantity) for name, quantity in self.quantities.items()}
        found = {name: (number.value, number.error) for name, number in read.quantities(solution).items()}
        return solution, found or {"mean": measured(solution, "mean")}

    @property
    def key(self) -> str:
        o = self.origin
        given = (o.constants, self.quantities, self.options, self.settings)
        return digest(o.text, str(o.folder), *_read_beside(o), fingerprint(given))


def _read_beside(origin: Origin) -> Iterator[str]:
    """The content of the files that a problem file names: drawings, images, values."""
    waiting: list[Any] = [tomllib.loads(origin.text)]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list):
            waiting += one.values() if isinstance(one, dict) else one
        elif isinstance(one, str) and origin.folder is not None and 0 < len(one) < LONGEST and "\0" not in one:
            try:
                path = origin.folder / one
                if path.is_file():
                    yield f"{one} {hashlib.sha256(path.read_bytes()).hexdigest()}"
            except OSError:  # no name of a file
                continue
