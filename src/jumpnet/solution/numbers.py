"""Fluxes, means, integrals and energies of a solution, each with its whole error.

The quadrature has an error, and so has the solution that is integrated. The judge knows the second one: it is the same
number of the judged error. Without a verdict the estimate bounds means and integrals of u, by Cauchy and Schwarz;
errors of fluxes, energies and one's own integrals are not known then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from jumpnet.errors import SolutionError
from jumpnet.geometry.quadrature.rules import NOTHING, Integral
from jumpnet.solution import quantities
from jumpnet.solution.integrals import depends_on_u, integral, is_pieces, pieces_of
from jumpnet.solution.places import Places
from jumpnet.solution.solution import Solution

if TYPE_CHECKING:
    from jumpnet.judge import Verdict

Kind = Literal["mean", "integral", "energy"]
Over = tuple[int | str, int | str] | str
# The error of the solution in a number: with its sign, from what the judge found.
Lacking = Callable[["Verdict"], float]


@dataclass(frozen=True)
class Number:
    """A number computed from a solution, with its error.

    Args:
        value: The number.
        error: Its whole error: that of the solution (as judged, times the judge's safety factor, or as its estimate
            bounds it) or of the quadrature, whichever is larger; nan where the error of the solution is not known.
            `jn.solve(..., verify=True)` has it judged.
        quadrature_error: The error of the quadrature alone.
        size: The integral of the absolute value: what a small number is small in comparison with.

    Example:
        >>> import jumpnet as jn
        >>> parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0, 0), 0.4)])
        >>> u = jn.solve(jn.Problem(parts, A=[1.0, 10.0], boundary=jn.Dirichlet("x1")), verify=True)
        >>> right = u.net_flux("right")
        >>> right.value > 2 and right.error < 1e-5
        True
    """

    value: float
    error: float
    quadrature_error: float
    size: float

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        if np.isnan(self.error):
            return f"{self.value:.6g} (± {self.quadrature_error:.1e} of the quadrature alone)"
        return f"{self.value:.10g} (± {self.error:.1e})"

    def scaled(self, factor: float) -> Number:
        """The same, times a number."""
        times = abs(factor)
        return Number(factor * self.value, times * self.error, times * self.quadrature_error, times * self.size)


def fluxes(solution: Solution, overs: Sequence[Over]) -> Number:
    """The sum of the fluxes over interfaces or parts of the boundary; see `Solution.net_flux`.

    Errors of parts of the boundary are added by their sizes, since those of heat that enters and leaves would cancel.
    """
    found = sum((quantities.net_flux(solution, over) for over in overs), NOTHING)

    def lacking(verdict: Verdict) -> float:
        errors = {over: verdict.error_of_net_flux(over) for over in overs}
        return sum(abs(errors.pop(over)) for over in overs if isinstance(over, str)) + abs(sum(errors.values()))

    return _number(solution, found, lacking)


def over_pieces(solution: Solution, kind: Kind, pieces: Sequence[int | str] | None = None) -> Number:
    """The mean or the integral of u, or the energy, over several pieces together, or over the domain."""
    parts = solution.statement.known_partition
    chosen = None if pieces is None else [parts.piece_number(piece) for piece in pieces]
    if kind == "mean":
        found = _mean(solution, chosen)
    else:
        function = quantities.integral if kind == "integral" else quantities.energy
        found = sum((function(solution, piece) for piece in (chosen or [None])), NOTHING)
    return _number(solution, found, lambda verdict: _lacking(verdict, kind, chosen), _bound(solution, kind, chosen))


def integral_of(solution: Solution, f: Any, over: Any) -> Number:
    """The integral of one's own function of u; its error is the change when the judged error is added to u."""
    if f is None and is_pieces(solution, over):
        return over_pieces(solution, "integral", None if over is None else pieces_of(solution, over))
    found = integral(solution, f, over)
    if not depends_on_u(f):
        return Number(found.value, quantities.with_rounding(found.value, found.error), found.error, found.size)

    def lacking(verdict: Verdict) -> float:
        return integral(solution, f, over, seen=lambda at: _Corrected(**vars(at), verdict=verdict)).value - found.value

    return _number(solution, found, lacking)


@dataclass(frozen=True, eq=False)
class _Corrected(Places):
    """Points of a rule at which the judged error is added to the solution."""

    verdict: Any = None

    def u(self) -> np.ndarray:
        return super().u() + self.verdict.error(self.x, self.piece)

    def gradient(self) -> np.ndarray:
        return super().gradient() + self.verdict.gradient(self.x, self.piece)


def _mean(solution: Solution, pieces: list[int] | None) -> Integral:
    if pieces is None or len(pieces) == 1:
        return quantities.mean(solution, None if pieces is None else pieces[0])
    return quantities.mean_over(solution, pieces)


def _lacking(verdict: Verdict, kind: Kind, pieces: list[int] | None) -> float:
    """What the solution lacks in a mean, an integral or an energy."""
    if kind == "energy":
        of = (verdict.solution, verdict.error, verdict.gradient)
        return sum(quantities.added_energy(*of, piece) for piece in (pieces or [None]))
    if pieces is None:
        return verdict.error_of_mean() if kind == "mean" else verdict.error_of_integral()
    total = sum(verdict.error_of_integral(piece) for piece in pieces)
    return total / sum(verdict.finding.volume[piece] for piece in pieces) if kind == "mean" else total


def _bound(solution: Solution, kind: Kind, pieces: list[int] | None) -> float:
    """A root mean square error e over the domain is one of at most e sqrt(domain/piece) in a piece."""
    if kind == "energy" or not (solution.status.ok and np.isfinite(solution.estimate)):
        return np.nan
    parts = solution.statement.known_partition
    whole = sum(parts.measure(piece) for piece in range(parts.size))
    mine = whole if pieces is None else sum(parts.measure(piece) for piece in pieces)
    mean = solution.estimate * float(np.sqrt(whole / mine))
    return mean if kind == "mean" else mean * mine


def _number(solution: Solution, found: Integral, lacking: Lacking, bound: float = np.nan) -> Number:
    """The integral with its whole error; without a verdict that of the solution is bounded, or not known."""
    verdict = solution.verdict
    if verdict is not None and verdict.decided:
        try:
            bound = verdict.safety * abs(lacking(verdict))
        except SolutionError:  # a flux through a part of the boundary that the judge has not kept
            bound = np.nan
    error = quantities.with_rounding(found.value, float(np.maximum(bound, found.error)))
    return Number(found.value, error, found.error, found.size)
