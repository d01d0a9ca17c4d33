"""The equations on the line as arrays: intervals, joints between them, ends, and data that are asked for at points.

    q' - lam u = f            in each interval,                q = A u' (of a defect: + c u + g),
    u+ - u- = v + R (q+ + q-)/2,   q+ - q- = w                 at each joint, from its left (-) to its right (+) side,
    alpha u + beta q n = g                                     at each end, n = -1 at a left one and 1 at a right one.

A joint connects the right end of one interval with the left end of another: at an interface, at a point source, and,
of the last interval with the first, where the domain is periodic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from jumpnet.errors import ProblemError
from jumpnet.fe.line.marks import marks_of
from jumpnet.fields import ConstantField, Values
from jumpnet.geometry.partition.intervals import intervals
from jumpnet.problem import Problem

Array = Float[np.ndarray, "..."]


@dataclass(frozen=True, eq=False)
class PieceFunction:
    """A scalar function in each piece: a number where it is constant, else asked for by `function(piece, x)`.

    `constant` has one entry for each piece, nan where the function varies; x and the values are flat arrays. A function
    that takes the piece of each point is `everywhere`.
    """

    constant: Float[np.ndarray, " pieces"]
    function: Callable[[Any, Float[np.ndarray, " n"]], Float[np.ndarray, " n"]]
    everywhere: bool = False

    @property
    def varies(self) -> np.ndarray:
        """Whether it varies, for each piece."""
        return np.isnan(self.constant)

    def __call__(self, x: Float[np.ndarray, "n k"], piece: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n k"]:
        """The values at k points of each element, all in one piece."""
        if self.everywhere:
            return self.function(np.repeat(piece, x.shape[1]), x.ravel()).reshape(x.shape)
        values = np.repeat(self.constant[piece][:, None], x.shape[1], axis=1)
        for p in np.unique(piece[self.varies[piece]]):
            mine = piece == p
            values[mine] = self.function(int(p), x[mine].ravel()).reshape(-1, x.shape[1])
        return values


@dataclass(frozen=True, eq=False)
class Joints:
    """Conditions from the right end of the intervals `left` to the left end of the intervals `right`."""

    left: Int[np.ndarray, " j"]
    right: Int[np.ndarray, " j"]
    v: Float[np.ndarray, " j"]
    w: Float[np.ndarray, " j"]
    R: Float[np.ndarray, " j"]


@dataclass(frozen=True, eq=False)
class Ends:
    """alpha u + beta q n = g at ends of intervals; `side` is the outward normal n, -1 or 1."""

    interval: Int[np.ndarray, " e"]
    side: Float[np.ndarray, " e"]
    alpha: Float[np.ndarray, " e"]
    beta: Float[np.ndarray, " e"]
    g: Float[np.ndarray, " e"]


@dataclass(frozen=True, eq=False)
class LineStatement:
    """Everything that determines u on the line; `mean` is that of u over the domain where a constant is free.

    `marks` are points that formulas name, where data may jump or be narrow: they become vertices. `rounding` is how far
    v and w of each joint and g of each end, in this order, are from what they mean: some eps times their size unless
    something else is known. `drift` is c and `push` is g, which only the defects of nonlinear problems have.
    """

    start: Float[np.ndarray, " m"]
    end: Float[np.ndarray, " m"]
    piece: Int[np.ndarray, " m"]
    A: PieceFunction
    lam: PieceFunction
    f: PieceFunction
    joints: Joints
    ends: Ends
    mean: float | None = None
    marks: Sequence[float] | Float[np.ndarray, " s"] = ()
    rounding: tuple[Float[np.ndarray, " j"], Float[np.ndarray, " j"], Float[np.ndarray, " e"]] | None = None
    drift: PieceFunction | None = None
    push: PieceFunction | None = None

    @property
    def pieces(self) -> int:
        """The number of pieces."""
        return len(self.A.constant)

    @property
    def length(self) -> float:
        """The length of all intervals together."""
        return float(np.sum(self.end - self.start))


def statement_of(problem: Problem) -> LineStatement:
    """The statement of a one-dimensional problem."""
    if problem.dim != 1:
        raise ProblemError(
            f"the problem has {problem.dim} dimensions; the line solver is for one: use jn.solve(problem)."
        )
    if problem.data is not None:
        raise ProblemError(
            "the problem has measured values, which finite elements on the line do not take: leave data= out, or use "
            "jn.solve(problem)."
        )
    start, end, piece = _cut_at_sources(problem, *intervals(problem.partition))
    joints = _joints(problem, start, end, piece)
    return LineStatement(
        start,
        end,
        piece,
        conductivity(problem),
        piece_function(problem.lam, "lam"),
        piece_function(problem.f, "f"),
        joints,
        _ends(problem, start, end, piece),
        problem.mean,
        marks_of((*problem.A, *problem.lam, *problem.f)),
    )


def conductivity(problem: Problem) -> PieceFunction:
    """A of a one-dimensional problem."""
    middle = np.zeros((1, 1))
    constant = np.array([A.value(middle)[0, 0, 0] if A.is_constant else np.nan for A in problem.A])
    return PieceFunction(constant, lambda p, x: _positive(problem.A[p].value(x[:, None])[:, 0, 0], p, x))


def piece_function(fields: Sequence[Values], name: str) -> PieceFunction:
    """lam or f of a problem."""
    constant = np.array([field.number if isinstance(field, ConstantField) else np.nan for field in fields])

    def function(p: int, x: np.ndarray) -> np.ndarray:
        return _finite(fields[p].value(x[:, None]), f"{name} in piece {p}", x)

    return PieceFunction(constant, function)


def _finite(values: np.ndarray, what: str, x: np.ndarray) -> np.ndarray:
    if not np.isfinite(values).all():
        where = x[int(np.argmin(np.isfinite(values)))]
        raise ProblemError(f"{what} is not finite at x = {where:.6g}; it must be finite on its whole piece.")
    return values


def _positive(A: np.ndarray, piece: int, x: np.ndarray) -> np.ndarray:
    if not (A > 0).all() or not np.isfinite(A).all():
        worst = int(np.argmin(np.where(np.isfinite(A), A, -np.inf)))
        raise ProblemError(
            f"A in piece {piece} is {A[worst]:.4g} at x = {x[worst]:.6g}; it must be positive and finite on its whole "
            "piece."
        )
    return A


def _cut_at_sources(
    problem: Problem, start: np.ndarray, end: np.ndarray, piece: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The intervals with point sources at ends of them."""
    cuts = np.unique([source.x[0] for source in problem.sources])
    owner = np.searchsorted(start, cuts, side="right") - 1
    order = np.argsort(np.concatenate([start, cuts]), kind="stable")
    start, piece = np.concatenate([start, cuts])[order], np.concatenate([piece, piece[owner]])[order]
    return start, np.sort(np.concatenate([end, cuts])), piece


def _joints(problem: Problem, start: np.ndarray, end: np.ndarray, piece: np.ndarray) -> Joints:
    """The conditions at interfaces, at point sources and between periodic ends."""
    left = np.flatnonzero(end[:-1] == start[1:])
    rows = [_joint(problem, end[k], int(piece[k]), int(piece[k + 1])) for k in left.tolist()]
    right = left + 1
    if any(condition.kind == "periodic" for condition in problem.boundary.values()):
        left, right = np.append(left, len(start) - 1), np.append(right, 0)
        low, normal = np.array([[start[0]]]), np.ones((1, 1))
        rows.append((-float(problem.boundary_data("x1-", low, normal, piece[:1])[2][0]), 0.0, 0.0))
    v, w, R = np.array(rows, float).reshape(-1, 3).T
    return Joints(left, right, v, w, R)


def _joint(problem: Problem, at: float, left: int, right: int) -> tuple[float, float, float]:
    """v, w, R from left to right. [q] = q_a - q_b with n from b to a: q+ - q- = w whichever piece is on the left."""
    if left == right:
        return 0.0, -sum(source.q for source in problem.sources if source.x[0] == at), 0.0
    x, a_on_the_left = np.array([[at]]), left < right
    pair, n = (min(left, right), max(left, right)), np.array([[-1.0 if a_on_the_left else 1.0]])
    v, w = problem.jump_data(pair, x, n)
    return float(v[0] * n[0, 0]), float(w[0]), float(problem.resistance(pair, x)[0])


def _ends(problem: Problem, start: np.ndarray, end: np.ndarray, piece: np.ndarray) -> Ends:
    """The boundary conditions."""
    interval, side = _open_ends(problem, start, end)
    x = np.where(side < 0, start[interval], end[interval])[:, None]
    normals, labels = side[:, None], piece[interval]
    number = problem.partition.part_numbers(x, normals, labels)
    rows = []
    for k, part in enumerate(number.tolist()):
        name = problem.partition.boundary_parts[part]
        kind, alpha, g = problem.boundary_data(name, x[k : k + 1], normals[k : k + 1], labels[k : k + 1])
        rows.append((alpha[0] if kind != "neumann" else 0.0, 0.0 if kind == "dirichlet" else 1.0, g[0]))
    alpha, beta, g = np.array(rows, float).reshape(-1, 3).T
    return Ends(interval, side, alpha, beta, g)


def _open_ends(problem: Problem, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends of intervals that are no joints, and their sides; none where the domain is periodic."""
    if any(condition.kind == "periodic" for condition in problem.boundary.values()):
        return np.zeros(0, int), np.zeros(0)
    touching = end[:-1] == start[1:]
    low = np.flatnonzero(np.concatenate([[True], ~touching]))
    high = np.flatnonzero(np.concatenate([~touching, [True]]))
    return np.concatenate([low, high]), np.repeat([-1.0, 1.0], [len(low), len(high)])
