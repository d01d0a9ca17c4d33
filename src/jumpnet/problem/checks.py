"""Checks of a problem before it is solved: all data are evaluated at fixed probe points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jumpnet.errors import ProblemError, warn
from jumpnet.fields import point
from jumpnet.fields.tensor import GivenDivergence
from jumpnet.problem.conditions import Array
from jumpnet.problem.constant import check_compatible

if TYPE_CHECKING:
    from jumpnet.problem.problem import Problem

# Of the points at which data are evaluated once, to refuse wrong shapes and values: any number, always the same.
PROBE_SEED = 90125
PROBES_PER_PIECE = 32  # probe points; each check takes a millisecond
PROBES_PER_FACE = 24  # on each interface and part of the boundary
# Of the check of a user's div_A: points, the step of central differences relative to the piece, and by how much it may
# be off, relative to its size and in multiples of what half the step changes.
DIFFERENCED, DIFFERENCE, DIFFERENCE_ERROR = 8, 1e-4, (1e-3, 3.0)
SYMMETRY = 1e-10  # relative to the largest entry of the matrix; formulas are exact, callables may round


def check(problem: Problem) -> bool:
    """Raises ProblemError for the first mistake and warns of unusual data.

    True if any constant may be added to the solution, so that its mean has to be fixed.
    """
    lam_zero = _check_pieces(problem)
    fixed = _check_boundary(problem)
    _check_interfaces(problem)
    if lam_zero and not fixed:
        check_compatible(problem)
    floating = lam_zero and not fixed and problem.data is None
    if problem.mean is not None and not floating:
        raise ProblemError(
            f"mean is {problem.mean:.4g}, but the conditions fix the solution already; it is for problems with Neumann "
            "or periodic conditions only, with lam = 0 and without data: leave it out."
        )
    return floating


def _check_pieces(problem: Problem) -> bool:
    """Check A, lam, f and the exact solution inside every piece; True if lam vanishes at all probe points."""
    parts = problem.partition
    count = PROBES_PER_PIECE * parts.size
    points, labels = parts.sample_interior(count, seed=PROBE_SEED, minimum=PROBES_PER_PIECE)
    lam_zero, negative = True, []
    for piece in range(parts.size):
        x = points[labels == piece]
        matrix, _, lam, _ = problem.pde(piece, x)
        _check_matrix(matrix, x, piece)
        if isinstance(problem.A[piece], GivenDivergence):
            _check_divergence(problem, piece, x)
        lam_zero = lam_zero and not lam.any()
        if (lam < 0).any():
            negative.append((piece, float(lam.min()), x[int(np.argmin(lam))]))
        if problem.exact is not None:
            _check_exact(problem, piece, x)
    if negative:
        piece, value, where = min(negative, key=lambda item: item[1])
        warn(
            f"lam is negative in {len(negative)} of {parts.size} pieces, e.g. {value:.4g} in piece "
            f"{piece} at "
            f"{point(where)}; the problem may have no unique solution."
        )
    return lam_zero


def _check_matrix(matrix: Array, x: Array, piece: int) -> None:
    skew = np.abs(matrix - matrix.transpose(0, 2, 1)).max(axis=(1, 2))
    size = np.abs(matrix).max(axis=(1, 2))
    worst = int(np.argmax(skew - SYMMETRY * size))
    if skew[worst] > SYMMETRY * size[worst]:
        raise ProblemError(
            f"A in piece {piece} is not symmetric at {point(x[worst])}, where it is "
            f"{_matrix(matrix[worst])}; "
            "a symmetric matrix is wanted."
        )
    lowest = np.linalg.eigvalsh(matrix)[:, 0]
    worst = int(np.argmin(lowest))
    if not lowest[worst] > 0:
        raise ProblemError(
            f"A in piece {piece} is not positive definite at {point(x[worst])}, where it is "
            f"{_matrix(matrix[worst])} with lowest eigenvalue {lowest[worst]:.4g}; all eigenvalues "
            "must be positive."
        )


def _check_divergence(problem: Problem, piece: int, x: Array) -> None:
    """Compare a divergence that the user gave with central differences of A, at points not too close to an edge."""
    parts, d = problem.partition, problem.dim
    lower, upper = (np.asarray(end, float) for end in parts.piece_bounds(piece))
    step = DIFFERENCE * (upper - lower)
    # Both steps in both directions along each axis: (factor, axis) by point by coordinate.
    offsets = np.array([[factor * step * axis for axis in np.eye(d)] for factor in (1.0, -1.0, 0.5, -0.5)])
    around = x + offsets[:, :, None]
    near = np.all(parts.label(around.reshape(-1, d)).reshape(4 * d, len(x)) == piece, axis=0)
    x, around = x[near][:DIFFERENCED], around[:, :, near][:, :, :DIFFERENCED]
    if not len(x):
        return
    A = problem.A[piece].value(around.reshape(-1, d)).reshape(4, d, len(x), d, d)
    wide, narrow = (
        np.einsum("inij->nj", (A[at] - A[at + 1]) / (2 * size * step)[:, None, None, None])
        for at, size in ((0, 1.0), (2, 0.5))
    )
    given = problem.A[piece].divergence(x)
    scale = max(np.abs(given).max(), np.abs(narrow).max())
    rounding = 1e3 * np.finfo(float).eps * np.abs(A).max() / step.min()
    relative, change = DIFFERENCE_ERROR
    excess = np.abs(given - narrow) - relative * scale - change * np.abs(wide - narrow) - rounding
    worst = int(np.argmax(excess.max(axis=1)))
    if excess[worst].max() > 0:
        raise ProblemError(
            f"div_A in piece {piece} is {_vector(given[worst])} at {point(x[worst])}, but differences of A give "
            f"{_vector(narrow[worst])} there; its entry j is the sum of dA_ij/dx_i over i: correct it, or leave it out."
        )


def _vector(values: Array) -> str:
    return "(" + ", ".join(f"{v:.4g}" for v in values) + ")"


def _check_exact(problem: Problem, piece: int, x: Array) -> None:
    bad = ~np.isfinite(problem.exact_values(x, np.full(x.shape[0], piece)))
    if bad.any():
        raise ProblemError(f"exact in piece {piece} is not finite at {point(x[int(np.argmax(bad))])}.")


def _check_boundary(problem: Problem) -> bool:
    """Check the data of every part; say whether some condition fixes the constant."""
    parts, fixed = problem.partition, False
    for part in parts.boundary_parts:
        x, normals, labels, _ = parts.sample_boundary(PROBES_PER_FACE, seed=PROBE_SEED, part=part)
        kind, alpha, _ = problem.boundary_data(part, x, normals, labels)
        fixed = fixed or bool(alpha.any())
        if kind == "robin" and (alpha < 0).any():
            warn(
                f"alpha of Robin on {part!r} is negative, {alpha.min():.4g} at "
                f"{point(x[int(np.argmin(alpha))])}; "
                "the problem may have no unique solution."
            )
    return fixed


def _check_interfaces(problem: Problem) -> None:
    for interface in problem.partition.interfaces:
        x, normals = problem.partition.sample_interface(interface.pair, PROBES_PER_FACE, seed=PROBE_SEED)
        problem.jump_data(interface.pair, x, normals)
        R = problem.resistance(interface.pair, x)
        if (R < 0).any():
            raise ProblemError(
                f"R on interface {interface.pair} is negative, {R.min():.4g} at {point(x[int(np.argmin(R))])}; a "
                "contact resistance is zero or more."
            )


def _matrix(matrix: Array) -> str:
    return "[" + ", ".join("[" + ", ".join(f"{v:.4g}" for v in row) + "]" for row in matrix) + "]"
