"""Solve, estimate, mark, refine: sizes and orders of elements on the line, until the error is within a tolerance.

Each mesh is solved with its orders and with orders two higher, and the difference is the estimate; the better one is
returned. A dual problem, whose load is that difference, splits it into what each element contributes: an element is
refined if it contributes more than its share. Its order is raised where the coefficients of its polynomial fall fast;
it is halved where they do not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic

import numpy as np
from jaxtyping import Float, Int

from jumpnet.fe.line.eigenvalue import smallest_eigenvalue
from jumpnet.fe.line.elements import ENRICHED, Condensed, Group, Mesh, groups, tables
from jumpnet.fe.line.expansion import LineExpansion
from jumpnet.fe.line.resolution import SHORTEST, Resolution, resolve
from jumpnet.fe.line.statement import LineStatement, statement_of
from jumpnet.fe.line.system import System, Vertices, assemble, coefficients_of
from jumpnet.problem import Problem

# Cells longer than THIN layer widths are cut geometrically: the elements at their ends have WIDTHS layer widths, each
# further one is COARSER times as long as its neighbour; at most MOST_CUTS per cell (heuristic).
THIN, WIDTHS, COARSER, MOST_CUTS = 20.0, 4.0, 6.0, 40
ROUNDED = 4 * np.finfo(float).eps  # of numbers that were computed before they were given (heuristic)


@dataclass(frozen=True)
class LineOptions:
    """What limits a solve, and how elements are refined."""

    order: int = 6
    """The first order of all elements. Heuristic: lower orders are raised at once wherever they matter."""
    top_order: int = 20
    """Orders are not raised beyond this; higher ones cost more than two elements."""
    fall: float = 0.6
    """The order is raised if the log of the polynomial's coefficients falls by this from one to the next. Heuristic."""
    wave: float = 2.5
    """Longest element where lam < 0, times sqrt(-lam/A): below pi no element resonates by itself."""
    data: float = 0.01
    """The tolerance for data, relative to that of the solution."""
    elements: int = 40_000
    """The most elements."""
    steps: int = 60
    """The most refinements."""
    time_limit: float = np.inf
    """Seconds."""


@dataclass(frozen=True, eq=False)
class LineResult:
    """A solution on the line, and its error.

    `estimate` is the root mean square error of u, `size` the root mean square of u and `variation` that of its
    deviation from the mean. `square` is the integral of u^2 over each piece, `total` that of u, `volume` the length.
    `fluxes` are A u' at the left and the right end of each interval of the statement. `unresolved` is the
    error that data may add which the elements do not resolve, or which are rounded. `eigenvalue` is the smallest
    modulus of an eigenvalue of the operator, nan where lam >= 0; `eigenvalue_change` is how much two orders more
    changed it.
    `reason` is empty, or a sentence that says why the tolerance was not reached.
    """

    expansion: LineExpansion
    estimate: float
    size: float
    variation: float
    square: tuple[float, ...]
    total: tuple[float, ...]
    volume: tuple[float, ...]
    fluxes: Float[np.ndarray, "m 2"]
    unresolved: float = 0.0
    history: tuple[float, ...] = ()
    eigenvalue: float = np.nan
    eigenvalue_change: float = 0.0
    reason: str = ""

    @property
    def converged(self) -> bool:
        """Whether the tolerance was reached."""
        return not self.reason


def solve_line(problem: Problem, tol: float = 1e-8, options: LineOptions = LineOptions()) -> LineResult:
    """The solution of a one-dimensional problem; `tol` is its root mean square error relative to its variation."""
    return solve_statement(statement_of(problem), tol, options)


def solve_statement(
    statement: LineStatement,
    tol: float,
    options: LineOptions = LineOptions(),
    *,
    relative_to_size: bool = False,
    known: Resolution | None = None,
) -> LineResult:
    """The solution of a statement; its error is relative to its variation, or to its root mean square.

    `known` are cells on which A, lam and the sharp features of f are resolved, if that has been looked at.
    """
    began, history, best = monotonic(), [], None
    resolution = resolve(statement, max(options.data * tol, 1e-14), known)
    mesh, reason = _first_mesh(resolution, options), ""
    while True:
        level = solve_level(statement, mesh)
        history.append(level.error)
        best = level if best is None or level.error <= best.error else best
        scale = level.size if relative_to_size else level.variation
        if level.error <= tol * scale or level.error == 0.0:
            break
        reason = _stopped(history, len(mesh), monotonic() - began, options)
        if not reason and _at_rounding(history, scale):
            reason = f"refinement gains no more; the error is estimated at {best.error:.1e}."
            level = best
        if reason:
            break
        mesh = mesh.refined(*_marked(level, mesh, 0.5 * tol * scale, options))
    result = _result(statement, level, resolution, tuple(history), reason)
    if not relative_to_size and result.converged and result.unresolved > tol * result.variation:
        return replace(result, reason=f"rounding and unresolved detail of the data may add {result.unresolved:.1e}.")
    return result


def _first_mesh(resolution: Resolution, options: LineOptions) -> Mesh:
    """The cells on which data are resolved, cut further where lam < 0 makes waves, and towards layers at their ends."""
    h = resolution.end - resolution.start
    count = np.maximum(1, np.ceil(np.minimum(resolution.wave * h / options.wave, options.elements))).astype(int)
    if count.sum() > options.elements:
        count = np.ones_like(count)
    cell = np.repeat(np.arange(len(h)), count)
    k = np.arange(len(cell)) - np.repeat(np.cumsum(count) - count, count)
    start = resolution.start[cell] + h[cell] * (k / count[cell])
    last = k + 1 == count[cell]
    end = np.where(last, resolution.end[cell], np.append(start[1:], 0.0))
    thin = (resolution.layer * h)[cell] > THIN
    if thin.any() and len(cell) <= options.elements // MOST_CUTS:
        # Elements far longer than a layer see nothing of it, whatever their order: two orders agree on its absence.
        every = zip(start, end, resolution.layer[cell], thin, strict=True)
        cuts = [_towards_ends(a, b, layer) if cut else [a, b] for a, b, layer, cut in every]
        start, end = (np.concatenate([one[part] for one in cuts]) for part in (slice(None, -1), slice(1, None)))
        cell = np.repeat(cell, [len(one) - 1 for one in cuts])
    return Mesh(start, end, resolution.interval[cell], np.full(len(cell), options.order))


def _towards_ends(a: float, b: float, inverse_width: float) -> list[float]:
    """Ends of elements that shrink towards both ends of (a, b), down to a few widths of a layer."""
    widths, size = [], WIDTHS / inverse_width
    while size < 0.25 * (b - a) and a + size > a and b - size < b:
        widths.append(size)
        size *= COARSER
    return [a, *(a + size for size in widths), *(b - size for size in reversed(widths)), b]


def _stopped(history: list[float], elements: int, seconds: float, options: LineOptions) -> str:
    """Why no further refinement is worth it, or nothing."""
    if elements >= options.elements:
        return f"{elements} elements are not enough; the error is estimated at {history[-1]:.1e}."
    if len(history) >= options.steps:
        return f"{len(history)} refinements are not enough; the error is estimated at {history[-1]:.1e}."
    if seconds > options.time_limit:
        return f"the time is over; the error is estimated at {history[-1]:.1e}."
    return ""


def _at_rounding(history: list[float], scale: float) -> bool:
    """Whether three refinements gained nothing at errors near the rounding level (heuristic)."""
    return len(history) > 4 and min(history) < 1e-7 * scale and min(history[-3:]) > 0.5 * min(history[:-3])


@dataclass(frozen=True, eq=False)
class Level:
    """The solution on one mesh: coefficients by group, its size, its error, and what elements contribute to that."""

    mesh: Mesh
    parts: list[tuple[Group, Float[np.ndarray, "g p"]]]
    size: float
    variation: float
    error: float
    contribution: Float[np.ndarray, " n"]
    system: System
    unknowns: Float[np.ndarray, " u"]


def solve_level(statement: LineStatement, mesh: Mesh) -> Level:
    """The solution on a mesh with orders two higher, and its difference from that of the orders of the mesh."""
    rich = list(groups(statement, mesh.enriched(ENRICHED)))
    low, high = ([group.condensed(group.order - by) for group in rich] for by in (ENRICHED, 0))
    coarse, fine = (assemble(statement, mesh, elements) for elements in (low, high))
    (u0, _), (u1, rounding) = coarse.solve(), fine.solve()
    first, second = (coefficients_of(mesh, elements, u) for elements, u in ((low, u0), (high, u1)))
    if statement.mean is not None:
        for coefficients in (first, second):
            _shift(rich, coefficients, statement.mean, statement.length)
    difference = [two - _padded(one, two.shape[1]) for one, two in zip(first, second, strict=True)]
    # With the coarse values at the vertices: what the inner functions of the higher orders add.
    inner = [
        _padded(one.coefficients(c[:, :2]), c2.shape[1]) - _padded(c, c2.shape[1])
        for one, c, c2 in zip(high, first, second, strict=True)
    ]
    error = np.sqrt(_square(rich, difference).sum() / statement.length)
    size, variation = _sizes(rich, second, statement.length)
    contribution = _contributions(mesh, rich, high, fine, u0, difference, inner) / np.sqrt(statement.length)
    error = float(np.hypot(error, (rounding + np.finfo(float).eps) * size))
    return Level(mesh, list(zip(rich, second, strict=True)), size, variation, error, contribution, fine, u1)


def _padded(coefficients: np.ndarray, width: int) -> np.ndarray:
    return np.pad(coefficients, ((0, 0), (0, width - coefficients.shape[1])))


def _at_points(group: Group, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values (g, q) at the integration points of a group, and weights."""
    _, w, N, _ = tables(group.order)
    return coefficients @ N[:, : coefficients.shape[1]].T, 0.5 * group.h[:, None] * w


def _square(rich: list[Group], coefficients: list[np.ndarray]) -> Float[np.ndarray, " n"]:
    """The integral of the square over each element."""
    result = np.empty(sum(len(group.index) for group in rich))
    for group, c in zip(rich, coefficients, strict=True):
        values, weights = _at_points(group, c)
        result[group.index] = (values**2 * weights).sum(axis=1)
    return result


def _total(rich: list[Group], coefficients: list[np.ndarray]) -> Float[np.ndarray, " n"]:
    """The integral over each element."""
    result = np.empty(sum(len(group.index) for group in rich))
    for group, c in zip(rich, coefficients, strict=True):
        values, weights = _at_points(group, c)
        result[group.index] = (values * weights).sum(axis=1)
    return result


def _shift(rich: list[Group], coefficients: list[np.ndarray], mean: float, length: float) -> None:
    """Add the constant that gives the mean wanted."""
    by = mean - _total(rich, coefficients).sum() / length
    for c in coefficients:
        c[:, 0] += by


def _sizes(rich: list[Group], coefficients: list[np.ndarray], length: float) -> tuple[float, float]:
    """The root mean square of u, and of its deviation from the mean."""
    mean = _total(rich, coefficients).sum() / length
    size = np.sqrt(_square(rich, coefficients).sum() / length)
    shifted = [c - mean * (np.arange(c.shape[1]) == 0) for c in coefficients]
    return float(size), float(np.sqrt(_square(rich, shifted).sum() / length))


def _contributions(
    mesh: Mesh,
    rich: list[Group],
    high: list[Condensed],
    fine: System,
    u0: np.ndarray,
    difference: list[np.ndarray],
    inner: list[np.ndarray],
) -> Float[np.ndarray, " n"]:
    """What each element adds to the norm of the difference, at most: by inner functions and by its two equations."""
    norm = np.sqrt(_square(rich, difference).sum())
    if norm == 0.0:
        return np.zeros(len(mesh))
    at = Vertices.of(mesh)
    load, own = np.zeros(len(fine.rhs)), np.zeros(len(mesh))
    for group, one, delta, bubble in zip(rich, high, difference, inner, strict=True):
        N = tables(group.order)[2]
        values, weights = _at_points(group, delta)
        moments = (values * weights / norm) @ N
        own[group.index] = np.abs(np.einsum("gp,gp->g", moments, bubble))
        # The answer of the inner functions to u_L and d included.
        by = moments[:, :2] + np.einsum("gc,gck->gk", moments[:, 2:], one.inner[:, :, 1:])
        np.add.at(load, 2 * at.left[group.index], by[:, 0] - by[:, 1])
        np.add.at(load, 2 * at.right[group.index], by[:, 1])
    rows = 2 * len(mesh)
    # The residual of the coarse solution in the equations of the higher orders, weighted by the dual solution.
    weighted = np.abs(fine.residual(u0)[:rows] * fine.adjoint(load)[:rows])
    return own + weighted[0::2] + weighted[1::2]


def _marked(level: Level, mesh: Mesh, target: float, options: LineOptions) -> tuple[np.ndarray, Int[np.ndarray, " n"]]:
    """Which elements are halved, and by how much the orders of others are raised."""
    share = target / len(mesh)
    most = level.contribution.max(initial=0.0)
    marked = (level.contribution > share) & (level.contribution > 1e-4 * most)
    if not marked.any():
        marked = level.contribution >= 0.1 * most
    long = mesh.end - mesh.start > SHORTEST * np.maximum(np.abs(mesh.start), np.abs(mesh.end))
    fall = np.empty(len(mesh))
    for group, c in level.parts:
        fall[group.index] = _fall(c[:, 2:])
    raised = marked & (fall > options.fall) & (mesh.order < options.top_order)
    with np.errstate(divide="ignore"):
        wanted = np.log(np.maximum(level.contribution, share) / share) / np.maximum(fall, options.fall)
    by = np.clip(2 * np.ceil(0.5 * wanted), 2, 6).astype(int)
    by = np.minimum(by, np.maximum(options.top_order - mesh.order, 0))
    return marked & ~raised & long, np.where(raised, by, 0)


def _fall(c: Float[np.ndarray, "g c"]) -> Float[np.ndarray, " g"]:
    """How fast coefficients fall, as the log of the ratio of successive ones; pairs, as every other one may vanish."""
    size = np.abs(c)
    tail = size[:, -2:].max(axis=1)
    middle = max((c.shape[1] - 2) // 2 - 1, 0)
    head = size[:, middle : middle + 2].max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        fall = np.log(head / tail) / (c.shape[1] - 2 - middle)
    return np.where(tail > 0, fall, np.inf)


def _result(
    statement: LineStatement, level: Level, resolution: Resolution, history: tuple[float, ...], reason: str
) -> LineResult:
    mesh = level.mesh
    order = mesh.order + ENRICHED
    coefficients = np.zeros((len(mesh), int(order.max()) + 1))
    for group, c in level.parts:
        coefficients[group.index, : c.shape[1]] = c
    piece = statement.piece[mesh.interval]
    rich, found = [group for group, _ in level.parts], [c for _, c in level.parts]
    square, total, at = _square(rich, found), _total(rich, found), Vertices.of(mesh)
    expansion = LineExpansion(mesh.start, mesh.end, piece, order, coefficients)
    unresolved = _unresolved(statement, level, resolution)
    eigenvalue, change, rounding = np.nan, 0.0, 0.0
    if resolution.wave.any():
        eigenvalue, change = smallest_eigenvalue(statement, mesh, rich)
        # A relative change of lam by eps changes the solution by this; lam and A are both rounded, more than once.
        rounding = 4 * np.finfo(float).eps * resolution.decay * level.size / abs(eigenvalue)
    per_piece = [np.bincount(piece, of, statement.pieces).tolist() for of in (square, total, mesh.end - mesh.start)]
    return LineResult(
        expansion,
        float(np.hypot(level.error, rounding)),
        level.size,
        level.variation,
        tuple(per_piece[0]),
        tuple(per_piece[1]),
        tuple(per_piece[2]),
        level.unknowns[2 * np.stack([at.first, at.last], axis=1) + 1],
        unresolved,
        history,
        eigenvalue,
        change,
        reason,
    )


def _unresolved(statement: LineStatement, level: Level, resolution: Resolution) -> float:
    """The root mean square solution for the uncertainties of load, jumps and boundary data, with random signs."""
    mesh, rng = level.mesh, np.random.default_rng(0)
    h = mesh.end - mesh.start
    cell = np.searchsorted(resolution.start, mesh.start + 0.25 * h, side="right") - 1
    joints, ends = statement.joints, statement.ends
    given = statement.rounding or tuple(ROUNDED * np.abs(b) for b in (joints.v, joints.w, ends.g))
    rhs = np.zeros(len(level.system.rhs))
    first = 2 * len(mesh)
    at = Vertices.of(mesh)
    u, q = (np.abs(level.unknowns[2 * at.right + k]) for k in (0, 1))
    lam, f, resistance = resolution.unresolved[cell].T
    rhs[0:first:2] = (f + lam * u) * h + ROUNDED * np.abs(level.system.rhs[0:first:2])
    rhs[1:first:2] = resistance * q * h
    others = np.concatenate([np.stack(given[:2], axis=1).ravel(), given[2]])
    rhs[first : first + len(others)] = others
    if not rhs.any():
        return 0.0
    answer, _ = level.system.solve(rhs * rng.choice([-1.0, 1.0], len(rhs)))
    ends = 0.5 * (answer[2 * at.left] ** 2 + answer[2 * at.right] ** 2)
    return float(np.sqrt(ends @ h / statement.length))
