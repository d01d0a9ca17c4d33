"""The operator type of each piece, and a particular solution for its source, found by sampling.

With a constant A and a smooth f, a solution of div(A grad u) = f is a particular solution, which is a polynomial to
rounding, plus a harmonic function. So a source costs one unknown.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lstsq

from jumpnet.charts import Affine, Atlas, inverse_root
from jumpnet.engines.trefftz.functions import ParticularSolution
from jumpnet.engines.trefftz.trial_space import BasisBlock
from jumpnet.fields.scalar import ConstantField
from jumpnet.geometry.checks import Bounds
from jumpnet.linalg.threads import one_blas_thread
from jumpnet.models.families.polynomials import Combination, Legendre
from jumpnet.problem import Problem
from jumpnet.problem.resolution import survey
from jumpnet.rows import Sites

# Samples of lam and f in a piece's box, in addition to those where data vary fast (heuristic).
PROBES = 2048
# Particular solutions: degrees to try, in this order; the most polynomials; the largest relative residual.
DEGREES, MOST_POLYNOMIALS, RESIDUAL = (2, 4, 8, 12, 16, 20, 24), 500, 1e-12


@dataclass(frozen=True)
class OperatorType:
    """`harmonic`: div(A grad u) = f with a constant A, in the plane or in space; `exact`: and f is zero.

    `particular` is a particular solution, where one is known.
    """

    harmonic: bool
    exact: bool
    particular: BasisBlock | None = None


# The type of an operator without known solutions: polynomials only.
NEITHER = OperatorType(harmonic=False, exact=False)


def operator_types(problem: Problem) -> list[OperatorType]:
    """The operator type of each piece."""
    return [_operator_type(problem, piece) for piece in range(problem.partition.size)]


def _operator_type(problem: Problem, piece: int) -> OperatorType:
    """The operator type of a piece, from samples of its coefficients."""
    if problem.dim not in (2, 3) or not problem.A[piece].is_constant:
        return NEITHER
    lower, upper = (np.asarray(end, float) for end in problem.partition.piece_bounds(piece))
    if all(isinstance(field, ConstantField) for field in (problem.lam[piece], problem.f[piece])):
        x = (lower + upper)[None] / 2
    else:
        x = np.random.default_rng(0).uniform(lower, upper, (PROBES, problem.dim))
        x = x[problem.partition.label(x) == piece]
        narrow = survey(problem).pieces.get(piece)
        if narrow is not None:
            x = np.concatenate([x, *narrow.x])
    if not len(x):
        return NEITHER
    _, _, lam, f = problem.pde(piece, x)
    harmonic, exact = not lam.any(), not (lam.any() or f.any())
    return OperatorType(harmonic, exact, _particular_solution(problem, piece, x, f) if harmonic and not exact else None)


def _particular_solution(problem: Problem, piece: int, inside: np.ndarray, source: np.ndarray) -> BasisBlock | None:
    """A polynomial that solves a piece's equation to rounding, whatever the boundary conditions; None if not found.

    It is fitted on the piece's box and checked at the points `inside` the piece. None is found for a source that is not
    smooth, or not defined on the whole box.
    """
    lower, upper = (np.asarray(end, float) for end in problem.partition.piece_bounds(piece))
    chart, rng = scaled(piece, (lower, upper)), np.random.default_rng(0)

    def equation(family: Legendre, x: np.ndarray) -> np.ndarray:
        sites = Sites(x, np.full(len(x), piece), np.zeros(len(x)), np.zeros_like(x), problem.A[piece].value(x))
        return family.functionals(Atlas((chart,)).push(sites))

    for family in (Legendre(problem.dim, degree) for degree in DEGREES):
        if family.size > MOST_POLYNOMIALS:
            break
        x = rng.uniform(lower, upper, (20 + 3 * family.size, problem.dim))
        with np.errstate(all="ignore"):
            f = problem.f[piece].value(x)
        if not np.isfinite(f).all():
            break
        matrix = equation(family, x)
        with one_blas_thread():
            weights = np.asarray(lstsq(matrix, f, lapack_driver="gelsy", check_finite=False)[0])  # type: ignore[index]
        if np.linalg.norm(f - matrix @ weights) > RESIDUAL * np.linalg.norm(f):
            continue
        if np.linalg.norm(source - equation(family, inside) @ weights) <= 10 * RESIDUAL * np.linalg.norm(source):
            polynomial = Combination(problem.dim, family.degree, tuple(float(weight) for weight in weights))
            return BasisBlock(piece, piece, chart, ParticularSolution(polynomial), family.degree, ())
    return None


def scaled(cell: int, bounds: Bounds) -> Affine:
    """A cell's box, scaled to [-1, 1]^d."""
    lower, upper = bounds
    return Affine((cell,), (lower + upper) / 2, np.diag(2 / (upper - lower)), 1.0)


def own_chart(problem: Problem, piece: int, cell: int, bounds: Bounds) -> Affine:
    """The cell's own coordinates after the map that makes A the identity; its farthest point has length one."""
    lower, upper = bounds
    center, half = (lower + upper) / 2, (upper - lower) / 2
    transform = inverse_root(problem.A[piece].value(center[None])[0])
    corners = np.array(np.meshgrid(*[[-h, h] for h in half])).reshape(len(half), -1).T
    reach = np.linalg.norm(corners @ transform.T, axis=1).max()
    return Affine((cell,), center, transform, float(reach))
