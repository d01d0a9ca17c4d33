"""Families of problems for sweeps and fits, from a function, a problem with constants, or a file.

For given parameters a family returns a solution, and numbers with their errors. It is pickled for worker processes, so
it holds only what defines it.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from jumpnet.errors import ModelError, ProblemError
from jumpnet.guard.text import shorten
from jumpnet.problem import Problem
from jumpnet.solution import Solution
from jumpnet.solution.numbers import Number
from jumpnet.solution.quantities import with_rounding
from jumpnet.solving import solve
from jumpnet.studies.fingerprint import fingerprint
from jumpnet.studies.nonlinear.call import solve_nonlinear
from jumpnet.studies.nonlinear.problem import NonlinearProblem

Values = Mapping[str, float]
Quantity = Callable[[Solution], Any] | str | tuple[Any, ...]
Measured = tuple[float, float]
"""A number and its error, nan where that is not known."""
# Named quantities: ("mean", piece), ("flux", interface), ...
KINDS = ("mean", "integral", "energy", "flux", "value")


class Family(ABC):
    """Problems that differ in the values of named parameters."""

    @abstractmethod
    def problem(self, values: Values) -> Problem | NonlinearProblem:
        """The problem for values of the parameters; ProblemError for a name that it does not know."""

    @abstractmethod
    def solve(self, values: Values, **options: Any) -> Solution:
        """Its solution; the options are those of `jn.solve`, on top of the family's own."""

    @abstractmethod
    def measure(self, values: Values) -> tuple[Solution, dict[str, Measured]]:
        """The solution and its quantities by name."""

    @property
    @abstractmethod
    def key(self) -> str:
        """A fingerprint of everything that the results depend on, as far as it can be known."""


@dataclass(frozen=True, eq=False)
class Stated(Family):
    """A family stated in Python: a function of the parameters, or a problem whose formulas use named constants."""

    source: Callable[..., Any] | Problem | NonlinearProblem
    quantities: Mapping[str, Quantity]
    options: Mapping[str, Any]

    def problem(self, values: Values) -> Problem | NonlinearProblem:
        if isinstance(self.source, Problem | NonlinearProblem):
            return self.source.with_constants(values)
        made = self.source(**values)
        if not isinstance(made, Problem | NonlinearProblem):
            raise ProblemError(f"the function of the parameters returned {shorten(made)}; a jn.Problem is wanted.")
        return made

    def solve(self, values: Values, **options: Any) -> Solution:
        problem, options = self.problem(values), dict(self.options) | options
        return solve(problem, **options) if isinstance(problem, Problem) else solve_nonlinear(problem, **options)

    def measure(self, values: Values) -> tuple[Solution, dict[str, Measured]]:
        solution = self.solve(values)
        return solution, {name: measured(solution, quantity) for name, quantity in self.quantities.items()}

    @property
    def key(self) -> str:
        return digest(fingerprint((self.source, self.quantities, self.options)))


def family_of(given: Any, quantities: Mapping[str, Quantity] | None, options: Mapping[str, Any]) -> Family:
    """The family of a function, a problem or a problem file; ModelError for anything else."""
    if hasattr(given, "family"):
        return given.family(quantities, options)
    if not (isinstance(given, Problem | NonlinearProblem) or callable(given)):
        raise ModelError(
            f"the problem is {shorten(given)}; a jn.Problem or jn.NonlinearProblem with constants, a function that "
            "makes one from the parameters, or what jn.read_file returns is wanted."
        )
    return Stated(given, checked_quantities(quantities or {"mean": "mean"}), dict(options))


def checked_quantities(given: Any) -> dict[str, Quantity]:
    """Quantities by name; ModelError for anything that is not a quantity."""
    if not isinstance(given, Mapping):
        raise ModelError(f'quantities is {shorten(given)}; a mapping from names is wanted, e.g. {{"mean": "mean"}}.')
    for name, quantity in given.items():
        kind = quantity[0] if isinstance(quantity, tuple) and quantity else quantity
        if not callable(quantity) and kind not in KINDS:
            raise ModelError(
                f"quantities[{name!r}] is {shorten(quantity)}; give a function of the solution, or one of "
                '"mean", ("mean", piece), ("integral", piece), ("energy", piece), ("flux", part or (a, b)), '
                '("value", point).'
            )
    return dict(given)


def measured(solution: Solution, quantity: Quantity) -> Measured:
    """A number and its error: judged where the solution was, else bounded by its estimate, else nan."""
    value, error = _measured(solution, quantity)
    return value, with_rounding(value, error)


def _measured(solution: Solution, quantity: Quantity) -> Measured:
    if callable(quantity):
        found = quantity(solution)
        if isinstance(found, Number):
            return found.value, found.error
        value = np.asarray(found, float)
        if np.ndim(value) and np.size(value) != 1:
            raise ModelError(f"a quantity returned {shorten(found)}; one number is wanted.")
        return float(np.reshape(value, ())), np.nan
    kind, over = (quantity, None) if isinstance(quantity, str) else (quantity[0], (*quantity[1:], None)[0])
    if kind == "value":
        return _at(solution, np.atleast_2d(np.asarray(over, float)))
    if kind == "flux":
        if over is None:
            raise ModelError('("flux", ...) needs the name of a part of the boundary, or a pair of pieces.')
        found = solution.net_flux(over)
    elif kind == "integral":
        found = solution.integral(over=over)
    else:
        found = solution.mean(over) if kind == "mean" else solution.energy(over)
    return found.value, found.error


def _at(solution: Solution, x: np.ndarray) -> Measured:
    """u at a point, and its judged error times the judge's safety factor; nan where there is no verdict."""
    verdict, value = solution.verdict, float(solution(x)[0])
    if verdict is None or not verdict.decided:
        return value, np.nan
    return value, verdict.safety * abs(float(verdict.error(x)[0]))


def digest(*texts: str) -> str:
    """A short name for texts, and for the version of the program."""
    from jumpnet import __version__

    return hashlib.sha256("\0".join((__version__, *texts)).encode()).hexdigest()[:24]


def checked_values(given: Any, what: str) -> np.ndarray:
    """Finite numbers, at least one; ModelError for anything else."""
    try:
        values = np.atleast_1d(np.asarray(given, float))
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ModelError(
            f"{what} is {shorten(given)}; a list of finite numbers, or jn.Span(low, high, count), is wanted."
        )
    return values
