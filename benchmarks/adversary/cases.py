"""What a problem of the benchmark is: how it is built, and how its truth is known."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import jumpnet as jn

Array = np.ndarray
Formula = Callable[[Array], Array]
"""A vectorised function of points (n, d)."""
Exact = Callable[[Array, Array], Array]
"""u at points (n, d) seen from the pieces (n,); on and a little beyond a piece's boundary the same formula."""
Region = tuple[Sequence[float], Sequence[float]]
"""A box, (lower, upper), in which errors are also looked at."""


@dataclass(frozen=True)
class Defect:
    """A functional of the solution that is zero (or whose value is known) for the exact one.

    `measure` gives the distance from the truth, `scale` what it is relative to, like the variation of u.
    """

    name: str
    measure: Callable[[Any], float]
    scale: float


@dataclass(frozen=True)
class Known:
    """A quantity whose exact value is known: `measure` gives what the program says of it, the number and its error."""

    name: str
    measure: Callable[[Any], tuple[float, float]]
    value: float


@dataclass(frozen=True)
class Case:
    """A problem with a known truth: a formula for u, or functionals with known values."""

    name: str
    group: str
    build: Callable[[], jn.Problem]
    tol: float
    exact: Exact | None = None
    defects: tuple[Defect, ...] = ()
    focus: tuple[Region, ...] = ()
    network: bool = False
    why: str = ""
    """Where no formula is given: why the functionals have these values."""
    slack: float = 1.0
    """By how much more than usual rounding may spoil differences of the formula (contrasts of 1e12)."""
    known: tuple[Known, ...] = ()
    """Quantities with error bars, which have to hold the exact value."""


def by_piece(*formulas: Formula) -> Exact:
    """A formula for each piece as one function of points and pieces."""

    def exact(x: Array, piece: Array) -> Array:
        values = np.empty(len(x))
        for k, formula in enumerate(formulas):
            mine = piece == k
            if mine.any():
                values[mine] = formula(x[mine])
        return values

    return exact


def everywhere(formula: Formula) -> Exact:
    """One formula for all pieces."""
    return lambda x, piece: formula(x)


def on_boundary(exact: Exact, piece: int = 0) -> Formula:
    """The exact values as boundary data of one piece."""
    return lambda x: exact(np.asarray(x, float), np.full(len(x), piece))


def value_at(point: Sequence[float], value: float, scale: float = 1.0) -> Defect:
    """The value at a point is known."""
    return Defect(f"u{tuple(point)}", lambda s: abs(float(s(np.array([point], float))[0]) - value), scale)


def piece_mean(piece: int, value: float, scale: float) -> Defect:
    """The mean over a piece is known."""
    return Defect(f"mean of piece {piece}", lambda s: abs(s.mean(piece).value - value), scale)


def net_flux(parts: Sequence[str], value: float, scale: float) -> Defect:
    """The flux out of some parts of the boundary is known."""
    name = "flux through " + ", ".join(parts)
    return Defect(name, lambda s: abs(sum(s.net_flux(part).value for part in parts) - value), scale)


def symmetry(
    images: Callable[[Array], list[tuple[float, Array]]], constant: float, scale: float, half: float
) -> Defect:
    """The sum of weights times u at a point's images is a constant, at points of the box [-half, half]^d."""

    def measure(solution: Any) -> float:
        rng = np.random.default_rng(4711)
        x = rng.uniform(-half, half, (400, solution.dim))
        total = sum(weight * solution(y) for weight, y in images(x))
        return float(np.sqrt(np.mean((total - constant) ** 2)))

    return Defect("symmetry", measure, scale)
