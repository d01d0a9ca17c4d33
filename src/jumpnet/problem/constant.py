"""Problems whose solution is determined up to a constant: whether one exists, and which is chosen.

Where lam is zero and no condition names a value of u, only differences of u matter. A solution exists if what the
sources release leaves through the boundary:

    integral of f + integral of w over the interfaces = integral of g over the boundary,

and of all of them the one with a given mean over the domain is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jumpnet.errors import ProblemError
from jumpnet.fields import is_zero
from jumpnet.geometry.quadrature.integrals import over_boundary, over_interface, over_piece
from jumpnet.geometry.quadrature.rules import NOTHING, Integral, total
from jumpnet.problem.conditions import GivenOnBoundary, GivenOnInterface

if TYPE_CHECKING:
    from jumpnet.problem.problem import Problem

# Sources and fluxes balance if they differ by less than this part of their size: users round the numbers they write.
BALANCED = 1e-7


def check_compatible(problem: Problem) -> None:
    """ProblemError if sources and boundary fluxes do not balance."""
    released, leaving = _released(problem), _leaving(problem)
    gap = abs(released.value - leaving.value)
    if gap > BALANCED * (released.size + leaving.size) + 3 * (released.error + leaving.error):
        raise ProblemError(
            f"a problem without Dirichlet or Robin conditions needs sources that balance the boundary: f and w "
            f"integrate to {released.value:.8g}, the flux g through the boundary to {leaving.value:.8g}; "
            "correct one of them, or give a Dirichlet condition on one part."
        )


def mean_of(problem: Problem, given: float | None) -> float:
    """The mean of the chosen solution: as given, else that of the exact solution, else zero."""
    if given is not None or problem.exact is None:
        return given or 0.0
    pieces = range(problem.partition.size)
    whole = sum(over_piece(problem.partition, p)(lambda x, n: np.ones(len(x))).value for p in pieces)
    exact = problem.exact
    return sum(over_piece(problem.partition, p)(lambda x, n, p=p: exact[p].value(x)).value for p in pieces) / whole


def _released(problem: Problem) -> Integral:
    """The integral of f over the pieces, point sources included, and of w over the interfaces."""
    parts, found = problem.partition, NOTHING
    for piece in range(parts.size):
        f = problem.f[piece]
        if not is_zero(f):
            found = found + over_piece(parts, piece)(lambda x, n, f=f: f.value(x))
    for pair, jump in problem.jumps.items():
        if not (isinstance(jump.w, GivenOnInterface) and is_zero(jump.w.function)):
            found = found + total(over_interface(parts, pair), jump.w.value)
    strength = [source.q for source in problem.sources]
    return found + Integral(-sum(strength), 0.0, float(np.abs(strength).sum()) if strength else 0.0)


def _leaving(problem: Problem) -> Integral:
    """The integral of g over the Neumann parts; what leaves through a periodic side comes in again."""
    parts, found = problem.partition, NOTHING
    for part, condition in problem.boundary.items():
        g = condition.g
        if condition.kind == "periodic" or (isinstance(g, GivenOnBoundary) and is_zero(g.function)):
            continue

        for piece in range(parts.size):  # each for itself: g may jump where another piece begins

            def flux(x: np.ndarray, normals: np.ndarray, part: str = part, piece: int = piece) -> np.ndarray:
                return problem.boundary_data(part, x, normals, np.full(len(x), piece))[2]

            found = found + total(over_boundary(parts, part, piece), flux)
    return found
