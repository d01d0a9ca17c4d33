"""The judge on the line: the error of any answer, from its residuals, by hp elements of its own.

e = u - u_h meets the equations of u with residuals as data: f minus the equation's left side in the pieces, v - [u_h]
and w - [A u_h'] at interfaces, g minus the condition's left side at ends. Fields of point sources are in u_h in closed
form.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jumpnet.errors import SolutionError
from jumpnet.fe.line import (
    LineExpansion,
    LineOptions,
    LineResult,
    LineStatement,
    PieceFunction,
    solve_statement,
    statement_of,
)
from jumpnet.fe.line.elements import gauss
from jumpnet.fe.line.resolution import resolve
from jumpnet.judge.finding import Finding
from jumpnet.problem import Problem
from jumpnet.solution import Solution, quantities

DATA = 1e-6  # to which the problem's own data are resolved first: residuals are sharp where data are
TOL = 1e-3  # the relative accuracy of the error; a few percent would suffice
BEST, ENOUGH = 1e-12, 1e-10  # the accuracy of the solve that finite elements are compared with: wanted, and sufficient
LEAST = 0.2  # the verdict is undecided if it changes by more than this under refinement
RESONANT = 0.1  # the verdict is undecided if the smallest eigenvalue changes by more than this
ROUNDED = 4  # roundings, in units of the last place, of a value or a flux of an answer (heuristic)
POINTS = 24  # in each element, where an answer is compared with a better one


def judge_line(solution: Solution, options: LineOptions = LineOptions()) -> Finding:
    """The error of a solution of a one-dimensional problem."""
    problem = solution.problem
    if problem is None:
        return _undecided(
            "not judged: the equations of this solution are not known here; give the problem back: "
            "solution.with_problem(problem)."
        )
    if problem.data is not None:
        return _undecided("not judged: the problem has measured values, which its equations alone need not meet.")
    try:
        statement = statement_of(problem)
        defect = replace(defect_statement(solution, statement), drift=drift_of(problem, statement))
        known = resolve(statement, DATA)
        result = solve_statement(defect, TOL, options, relative_to_size=True, known=known)
    except SolutionError as error:
        return _undecided(str(error))
    finding = _finding(result, np.finfo(float).eps * _size(solution, result.expansion))
    return replace(finding, fluxes=_fluxes(problem, statement, result.fluxes))


def judge_expansion(problem: Problem, expansion: LineExpansion, options: LineOptions = LineOptions()) -> Finding:
    """The error of finite elements on the line: the difference from a solve that is accurate to rounding.

    The estimated error of that solve is added to `unresolved`. If A was taken at the solution, that solve is the next
    state of the iteration, and the defect problem is solved for what the change of A adds.
    """
    statement = statement_of(problem)
    better = solve_statement(statement, BEST, options)
    field = _Sum(((1.0, better.expansion), (-1.0, expansion)))
    fluxes = better.fluxes - _end_fluxes(problem, statement, expansion)
    if (drift := drift_of(problem, statement)) is not None:
        more = solve_statement(_carried(statement, drift, field), TOL, options, relative_to_size=True)
        field, fluxes = _Sum((*field.terms, (1.0, more.expansion))), fluxes + more.fluxes
    square, total = _integrals(field, problem.partition.size)
    size = float(np.sqrt(square.sum() / sum(better.volume)))
    reason = ""
    if better.estimate > max(LEAST * size, ENOUGH * better.variation):
        reason = f"the error is judged by a solve whose own is no smaller, {better.estimate:.1e}: {better.reason}"
    return Finding(
        field,
        tuple(square.tolist()),
        better.volume,
        float(np.hypot(better.unresolved, better.estimate)),
        min(1.0, better.estimate / size) if size > 0 else 0.0,
        unknowns=better.expansion.unknowns,
        reason=reason,
        total=tuple(total.tolist()),
        fluxes=_fluxes(problem, statement, fluxes),
    )


def drift_of(problem: Problem, statement: LineStatement) -> PieceFunction | None:
    """c, where a change e of u changes the flux by A e' + c e, as A was taken at u."""
    pieces, first = np.unique(statement.piece, return_index=True)
    middle = 0.5 * (statement.start + statement.end)[first]
    if all(problem.A[p].drift(x.reshape(1, 1)) is None for p, x in zip(pieces.tolist(), middle, strict=True)):
        return None

    def drift(piece: int, x: np.ndarray) -> np.ndarray:
        c = problem.A[piece].drift(x[:, None])
        return np.zeros(len(x)) if c is None else c[:, 0]

    return PieceFunction(np.full(statement.pieces, np.nan), drift)


def _carried(statement: LineStatement, drift: PieceFunction, known: _Sum) -> LineStatement:
    """The equations of the rest of an error, beyond what is known of it without the drift."""
    joints, ends, pieces = statement.joints, statement.ends, statement.pieces
    nothing = np.zeros(len(joints.v))

    def push(piece: int, x: np.ndarray) -> np.ndarray:
        return drift.function(piece, x) * known.value(x[:, None], np.full(len(x), piece))

    return replace(
        statement,
        f=PieceFunction(np.zeros(pieces), drift.function),
        joints=replace(joints, v=nothing, w=nothing),
        ends=replace(ends, g=np.zeros(len(ends.g))),
        rounding=(nothing, nothing, np.zeros(len(ends.g))),
        drift=drift,
        push=PieceFunction(np.full(pieces, np.nan), push),
    )


def defect_statement(solution: Solution, statement: LineStatement) -> LineStatement:
    """The equations of e = u - u_h, from those of u."""
    joints, ends, pieces = statement.joints, statement.ends, statement.piece

    def at(x: np.ndarray, interval: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not len(x):
            return np.zeros(0), np.zeros(0)
        return solution(x[:, None], pieces[interval]), solution.flux(x[:, None], pieces[interval])[:, 0]

    # A joint inside a piece is a point source, whose field is part of the solution.
    low, high = statement.end[joints.left], statement.start[joints.right]
    inside = (pieces[joints.left] == pieces[joints.right]) & (low == high)
    (u0, q0), (u1, q1) = at(low, joints.left), at(high, joints.right)
    v = np.where(inside, 0.0, joints.v + 0.5 * joints.R * (q0 + q1) - (u1 - u0))
    w = np.where(inside, 0.0, joints.w - (q1 - q0))
    x = np.where(ends.side < 0, statement.start[ends.interval], statement.end[ends.interval])
    u, q = at(x, ends.interval)
    g = ends.g - ends.alpha * u - ends.beta * ends.side * q
    # Values and fluxes are sums of many terms, rounded each.
    noise = ROUNDED * np.finfo(float).eps
    sizes = (np.abs(u0) + np.abs(u1) + joints.R * np.abs(q0), np.abs(q0) + np.abs(q1))
    rounding = tuple(noise * np.where(inside, 0.0, size) for size in sizes)
    at_ends = noise * (np.abs(ends.alpha * u) + np.abs(ends.beta * q))
    unknown = np.full(statement.pieces, np.nan)
    load = PieceFunction(unknown, lambda pieces, x: -solution.residual(x[:, None], pieces), everywhere=True)
    mean = None if statement.mean is None else statement.mean - quantities.mean(solution).value
    return replace(
        statement,
        f=load,
        joints=replace(joints, v=v, w=w),
        ends=replace(ends, g=g),
        mean=mean,
        rounding=(*rounding, at_ends),
    )


def _finding(result: LineResult, rounding: float) -> Finding:
    """The result of a solve of the defect problem; `rounding` is that of the answer itself."""
    change = result.estimate / result.size if result.size > 0 else 0.0
    reason = ""
    resonant = result.eigenvalue_change > RESONANT or (change > LEAST and not result.reason)
    if np.isfinite(result.eigenvalue) and resonant:
        reason = "lam < 0, and the spectrum is not clear of zero: the problem is at a resonance, or nearly so."
    elif change > LEAST:
        reason = f"the error changes by {change:.0%} under refinement: {result.reason}"
    return Finding(
        result.expansion,
        result.square,
        result.volume,
        float(np.hypot(result.unresolved, rounding)),
        change,
        False,
        result.expansion.unknowns,
        reason,
        result.total,
    )


def _fluxes(problem: Problem, statement: LineStatement, q: np.ndarray) -> dict[tuple[int, int] | str, float]:
    """A e' n at interfaces, on the side of a with n pointing to a for (a, b), and at parts of the boundary, outward."""
    found: dict[tuple[int, int] | str, float] = {}
    piece, names = statement.piece, problem.partition.boundary_parts
    for left, right in zip(statement.joints.left.tolist(), statement.joints.right.tolist(), strict=True):
        if right < left:  # the ends of a periodic domain
            found |= {"x1-": -float(q[right, 0]), "x1+": float(q[left, 1])}
        elif piece[left] != piece[right]:
            a, b = int(piece[left]), int(piece[right])
            found[a, b] = found.get((a, b), 0.0) - float(q[left, 1])
            found[b, a] = found.get((b, a), 0.0) + float(q[right, 0])
    ends = statement.ends
    low = ends.side < 0
    x = np.where(low, statement.start[ends.interval], statement.end[ends.interval])
    number = problem.partition.part_numbers(x[:, None], ends.side[:, None], piece[ends.interval])
    outward = ends.side * q[ends.interval, np.where(low, 0, 1)]
    for k, flux in zip(number.tolist(), outward.tolist(), strict=True):
        found[names[k]] = found.get(names[k], 0.0) + flux
    return found


def _undecided(reason: str) -> Finding:
    return Finding(None, (np.nan,), (1.0,), unresolved=np.nan, change=np.nan, reason=reason)


def _points(elements: LineExpansion) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gauss's points in each element (n, k), the pieces, and the weights."""
    t, w = gauss(POINTS)
    h = elements.end - elements.start
    x = elements.start[:, None] + 0.5 * h[:, None] * (1 + t)
    return x.reshape(-1, 1), np.repeat(elements.piece, POINTS), (0.5 * h[:, None] * w).ravel()


def _size(solution: Solution, elements: LineExpansion) -> float:
    """The root mean square of an answer, at midpoints of elements."""
    h = elements.end - elements.start
    values = solution((0.5 * (elements.start + elements.end))[:, None], elements.piece)
    return float(np.sqrt(h @ values**2 / h.sum()))


@dataclass(frozen=True, eq=False)
class _Sum:
    """A sum of expansions times factors."""

    terms: tuple[tuple[float, LineExpansion], ...]

    def value(self, x: np.ndarray, piece: np.ndarray) -> np.ndarray:
        """The values."""
        return np.sum([factor * one.value(x, piece) for factor, one in self.terms], axis=0)

    def gradient(self, x: np.ndarray, piece: np.ndarray) -> np.ndarray:
        """The gradients."""
        return np.sum([factor * one.gradient(x, piece) for factor, one in self.terms], axis=0)


def _integrals(field: _Sum, pieces: int) -> tuple[np.ndarray, np.ndarray]:
    """The integrals of the square and of the sum over each piece, on the elements of all expansions."""
    one = field.terms[0][1]
    ends = np.unique(np.concatenate([end for _, term in field.terms for end in (term.start, term.end)]))
    middle = 0.5 * (ends[1:] + ends[:-1])
    own = np.clip(np.searchsorted(one.start, middle, side="right") - 1, 0, len(one.start) - 1)
    held = middle < one.end[own]
    both = replace(one, start=ends[:-1][held], end=ends[1:][held], piece=one.piece[own[held]])
    x, piece, weights = _points(both)
    value = field.value(x, piece)
    return np.bincount(piece, value**2 * weights, pieces), np.bincount(piece, value * weights, pieces)


def _end_fluxes(problem: Problem, statement: LineStatement, expansion: LineExpansion) -> np.ndarray:
    """A u' at the left and the right end of each interval (m, 2)."""
    x = np.stack([statement.start, statement.end], axis=1)
    slopes = expansion.gradient(x.reshape(-1, 1), np.repeat(statement.piece, 2)).reshape(x.shape)
    return statement.A(x, statement.piece) * slopes
