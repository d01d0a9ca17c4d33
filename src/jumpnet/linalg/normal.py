"""Least squares of frozen features by their normal equations, cell by cell: a quarter of the cost of QR.

Normalised polynomials of a piece are well conditioned: the normal equations give an accurate first solution, and one or
two steps of iterative refinement with the residual of the least-squares problem give full accuracy. Where functions are
ill conditioned (poles, harmonic functions, high degrees), small pivots or large corrections show it, and QR is used.
"""

from itertools import accumulate, combinations, pairwise
from typing import NamedTuple, Protocol

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from jumpnet.linalg.block_qr import ByCell

_potrf, _trtrs = get_lapack_funcs(("potrf", "trtrs"), dtype=np.float64)
(_trsm,) = get_blas_funcs(("trsm",), dtype=np.float64)

# The smallest pivot (columns have length one) and the largest first correction (relative to the solution) with which
# the accuracy of QR is reached.
LEAST_PIVOT, LARGEST_CORRECTION = 1e-4, 1e-4
NONE = np.zeros(0, int)  # no columns
EPSILON, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)


class Linear(Protocol):
    """A linear least-squares problem min |J w - rhs|^2 whose Jacobian is known cell by cell."""

    J: ByCell
    rhs: Float[np.ndarray, " rows"]

    def residual(self, weights: Float[np.ndarray, " weights"]) -> Float[np.ndarray, " rows"]:
        """J w - rhs."""
        ...

    def slope(self, r: Float[np.ndarray, " rows"]) -> Float[np.ndarray, " weights"]:
        """J^T r."""
        ...


class Eliminated(NamedTuple):
    """A front's rows of the Cholesky factor: its own columns and those of its neighbours, and the factor on both."""

    own: Int[np.ndarray, " own"]
    beside: Int[np.ndarray, " beside"]
    U: Float[np.ndarray, "own own"]
    rest: Float[np.ndarray, "own beside"]


def normal_solution(system: Linear, damping: float) -> Float[np.ndarray, " weights"] | None:
    """The scaled weights w with the least |J w - rhs|^2 + mu |w|^2; None if accuracy might be lost."""
    factor = _factored(system, damping)
    if factor is None:
        return None
    weights = -_solved(factor, system.slope(-system.rhs))
    rate, error = 0.0, 1.0
    while error > EPSILON:
        step = _solved(factor, system.slope(system.residual(weights)) + damping * weights)
        if error == 1.0:  # the relative error of the first solution, which is also the rate of the refinement
            rate = error = float(np.linalg.norm(step) / max(np.linalg.norm(weights), TINY))
            if not rate <= LARGEST_CORRECTION:
                return None
        weights = weights - step
        error *= rate
    return weights


def _factored(system: Linear, damping: float) -> list[Eliminated] | None:
    """The Cholesky factor of the normal equations, front after front; None where a pivot is small."""
    pattern = system.J.pattern
    if len(pattern.shared):
        return None
    blocks, place = pattern.blocks(system.J.own)
    turn = {one: at for at, one in enumerate(one for front in pattern.plan for one in front.cells)}
    # What is known of the blocks above the diagonal, and of those on it beside the products of a cell's own columns.
    known: dict[tuple[int, int], np.ndarray] = {}

    def add(a: int, b: int, product: np.ndarray) -> None:
        known[a, b] = known[a, b] + product if (a, b) in known else product

    done = []
    for cells, neighbours, groups in pattern.plan:
        for touched, _, pairs in groups:
            parts = [blocks[one][place[mine]] for one, mine in zip(touched, pairs, strict=True)]
            for (a, first), (b, second) in combinations(zip(touched, parts, strict=True), 2):
                add(a, b, first.T @ second)
        ends = list(accumulate((len(pattern.own[one]) for one in (*cells, *neighbours)), initial=0))
        spans = dict(zip((*cells, *neighbours), (slice(a, b) for a, b in pairwise(ends)), strict=True))
        width = ends[len(cells)]
        rows = np.zeros((width, ends[-1]), order="F")
        for one in cells:
            rows[spans[one], spans[one]] = blocks[one].T @ blocks[one]
            for other in spans:
                if turn[one] <= turn[other] and (one, other) in known:
                    rows[spans[one], spans[other]] += known.pop((one, other))
        U, singular = _potrf(rows[:, :width] + damping * np.eye(width))
        if singular or (width and U.diagonal().min() < LEAST_PIVOT):
            return None
        rest = _trsm(1.0, U, rows[:, width:], trans_a=1)
        for j, b in enumerate(neighbours):
            for a in neighbours[: j + 1]:
                add(a, b, -(rest[:, _shifted(spans[a], width)].T @ rest[:, _shifted(spans[b], width)]))
        own, beside = (np.concatenate([NONE, *(pattern.own[one] for one in some)]) for some in (cells, neighbours))
        done.append(Eliminated(own, beside, U, rest))
    return done


def _shifted(span: slice, by: int) -> slice:
    return slice(span.start - by, span.stop - by)


def _solved(factor: list[Eliminated], right: Float[np.ndarray, " weights"]) -> Float[np.ndarray, " weights"]:
    """Forwards and backwards through the fronts."""
    right = right.copy()
    for own, beside, U, rest in factor:
        right[own] = _trtrs(U, right[own], trans=1)[0]
        right[beside] -= right[own] @ rest
    for own, beside, U, rest in reversed(factor):
        right[own] = _trtrs(U, right[own] - rest @ right[beside])[0]
    return right
