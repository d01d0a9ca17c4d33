"""Trees of boxes that resolve a function: halved where it is not smooth at the spacing of a box's points.

A function of one to three parameters is sampled on a grid in each box. Where the fourth difference along a grid line is
more than a small part of the function's range, the box is halved, down to a smallest size. So a box that is left has
the local size of the function's structure. What still fails at the smallest size is a jump, or is not resolved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from jaxtyping import Bool, Float, Int

Described = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Evaluate = Callable[[np.ndarray], np.ndarray]
"""Parameters (n, k) to values (n,), nan where the function is not asked for."""

# Points of a box along each axis, for one to three parameters.
SIDE = {1: 9, 2: 9, 3: 7}
# The function is not smooth where a fourth difference exceeds this part of its range. A Gaussian passes at a spacing of
# a seventh of its standard deviation.
SMOOTH = 1e-3
# The same threshold for places at which a tree with larger boxes begins.
SCOUTED = 1e-5
# A range below this part of the largest value is rounding.
ROUNDING = 1e-10
# Halvings after which a box is as small as it may be: 4e-9, 2e-7 and 2e-5 of the whole.
DEEPEST = {1: 28, 2: 22, 3: 16}
# The most boxes of one size that are halved: of a layer along a curve only a sample is followed.
MOST_BOXES = {1: 96, 2: 32, 3: 12}
# A jump: the ends of the steepest grid line differ by more than this part of the range, unlike at a peak, and so they
# do on a grid that is shifted by a part of its spacing.
ACROSS, SHIFTED = 0.5, 0.31
# A range that grew by this factor over GROWN_OVER halvings at a place grows without bound.
GROWN, GROWN_OVER = 2.0, 6


@dataclass(frozen=True)
class Leaves:
    """Leaves of the tree: centres and edges (n, k) in parameters, how many boxes each represents, and values.

    `largest` is the largest absolute value in the box, `ranges` the range of the values. `jumps`, `unbounded` and
    `rough` are places (m, k) of boxes of the smallest size that are not smooth: two values meet there, values grow
    there, or neither is true.
    """

    center: Float[np.ndarray, "n k"]
    edge: Float[np.ndarray, "n k"]
    count: Float[np.ndarray, " n"]
    largest: Float[np.ndarray, " n"]
    ranges: Float[np.ndarray, " n"]
    jumps: Float[np.ndarray, "j k"]
    unbounded: Float[np.ndarray, "u k"]
    rough: Float[np.ndarray, "r k"]
    smallest: float
    evaluated: int


@dataclass(frozen=True)
class _Level:
    """Boxes of one size: lower corners, how many boxes each represents, and the ranges of the larger boxes that hold
    them."""

    lower: Float[np.ndarray, "b k"]
    count: Float[np.ndarray, " b"]
    ranges: Float[np.ndarray, "b h"]


def resolve(
    evaluate: Evaluate,
    lower: Float[np.ndarray, " k"],
    upper: Float[np.ndarray, " k"],
    boxes: int,
    seeds: Float[np.ndarray, "s k"] | None = None,
) -> Leaves:
    """The leaves below the first level, which has `boxes` boxes along each axis.

    Further boxes are centred at `seeds`, places where the function is known to change.
    """
    k, whole = len(lower), upper - lower
    edge = whole / boxes
    corners = regular(lower, edge, boxes)
    if seeds is not None:
        # The boxes are shifted by a tiny part of their size, so that no grid point is a singular point.
        corners = np.concatenate([corners, seeds - edge / 2 * (1 + 1e-9)])
    level = _Level(corners, np.ones(len(corners)), np.full((len(corners), GROWN_OVER), np.nan))
    evaluate = _within(evaluate, lower, upper)
    found: list[Described] = []
    low, high, largest, evaluated = np.inf, -np.inf, 0.0, 0
    jumps = unbounded = unresolved = np.empty((0, k))
    for depth in range(DEEPEST[k] + 1):
        values = sampled(evaluate, level.lower, edge)
        evaluated += values.size
        there = values[np.isfinite(values)]
        if len(there):
            low, high = min(low, float(there.min())), max(high, float(there.max()))
            largest = max(abs(low), abs(high))
        if high - low <= ROUNDING * largest:
            break
        difference = fourth_difference(values)
        rough = difference > SMOOTH * (high - low)
        if depth:
            inside = ~rough & np.isfinite(values).reshape(len(values), -1).any(axis=1)
            found.append(_described(level, edge, values, inside))
        if not rough.any():
            break
        if edge.max() <= 2.0 ** -DEEPEST[k] * whole.max():
            found.append(_described(level, edge, values, rough))
            jumps, unbounded, unresolved = _classified(evaluate, level, edge, values, rough)
            break
        level, edge = _halved(level, edge, values, np.where(rough, difference, 0.0)), edge / 2
    nothing = np.empty((0, k)), np.empty((0, k)), np.empty(0), np.empty(0), np.empty(0)
    center, edges, count, size, ranges = (np.concatenate(column) for column in zip(*[nothing, *found], strict=True))
    return Leaves(center, edges, count, size, ranges, jumps, unbounded, unresolved, float(edge.max()), evaluated)


def regular(lower: np.ndarray, edge: np.ndarray, boxes: int) -> np.ndarray:
    """Lower corners of boxes side by side."""
    return lower + np.array(list(product(range(boxes), repeat=len(lower))), float).reshape(-1, len(lower)) * edge


def _within(evaluate: Evaluate, lower: np.ndarray, upper: np.ndarray) -> Evaluate:
    """The function with nan outside its box, which boxes about seeds may leave."""
    slack = 1e-12 * (upper - lower)

    def limited(x: np.ndarray) -> np.ndarray:
        inside = np.all((x >= lower - slack) & (x <= upper + slack), axis=1)
        if inside.all():
            return evaluate(x)
        values = np.full(len(x), np.nan)
        values[inside] = evaluate(x[inside])
        return values

    return limited


def sampled(evaluate: Evaluate, lower: np.ndarray, edge: np.ndarray) -> np.ndarray:
    """Values (b, m, ..., m) on the grids of boxes."""
    b, k = lower.shape
    m = SIDE[k]
    grid = np.stack(np.meshgrid(*[nodes(m)[0]] * k, indexing="ij"), axis=-1).reshape(-1, k)
    x = (lower[:, None] + grid * edge).reshape(-1, k)
    return evaluate(x).reshape(b, *(m,) * k)


@cache
def nodes(m: int) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, "5 stencils"]]:
    """Points of a line in [0, 1] and the weights of fourth differences of five neighbours, in units of the spacing.

    The points are slightly uneven, to avoid aliasing of waves much shorter than the spacing. The middle point is exact,
    as a peak is expected there.
    """
    off = 0.2 * np.sin(2.4 * np.arange(m))
    off[[0, m // 2, m - 1]] = 0.0
    t = np.arange(m) + off
    weights = np.empty((5, m - 4))
    for first in range(m - 4):
        five = t[first : first + 5]
        apart = five[:, None] - five + np.eye(5)
        weights[:, first] = 24.0 / apart.prod(axis=1)
    return t / (m - 1), weights


def fourth_difference(values: np.ndarray) -> Float[np.ndarray, " boxes"]:
    """The largest fourth difference along the grid lines of each box; 0 where no five neighbours are known."""
    largest, m = np.zeros(len(values)), values.shape[1]
    weights = nodes(m)[1]
    with np.errstate(invalid="ignore", over="ignore"):
        for axis in range(1, values.ndim):
            lines = np.moveaxis(values, axis, -1)
            difference = sum(weights[j] * lines[..., j : j + m - 4] for j in range(5))
            largest = np.fmax(largest, np.fmax.reduce(np.abs(difference).reshape(len(values), -1), axis=1))
    return largest


def _range(values: np.ndarray) -> Float[np.ndarray, " boxes"]:
    """The range of the values in each box, 0 where none are known."""
    flat = values.reshape(len(values), int(np.prod(values.shape[1:])))
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.fmax.reduce(flat, axis=1) - np.fmin.reduce(flat, axis=1)
    return np.nan_to_num(found)


def _described(level: _Level, edge: np.ndarray, values: np.ndarray, which: Bool[np.ndarray, " b"]) -> Described:
    """Centres, edges, counts, largest values and ranges of some boxes."""
    lower, flat = level.lower[which], np.abs(values.reshape(len(values), -1)[which])
    largest = np.nan_to_num(np.fmax.reduce(flat, axis=1))
    return lower + edge / 2, np.broadcast_to(edge, lower.shape), level.count[which], largest, _range(values[which])


def _halved(level: _Level, edge: np.ndarray, values: np.ndarray, roughness: Float[np.ndarray, " b"]) -> _Level:
    """The halves along every axis of the boxes whose roughness is not zero."""
    chosen, factor = _marked(level.lower, roughness)
    k = level.lower.shape[1]
    offsets = np.array(list(product((0.0, 0.5), repeat=k)))
    lower = (level.lower[chosen][:, None] + offsets * edge).reshape(-1, k)
    # Neighbours that overlap (boxes about seeds) may ask for the same half twice.
    _, first = np.unique(np.round(lower / (edge * 1e-6)), axis=0, return_index=True)
    ranges = np.concatenate([level.ranges[chosen][:, 1:], _range(values[chosen])[:, None]], axis=1)
    of = np.repeat(np.arange(len(chosen)), len(offsets))[first]
    return _Level(lower[first], (factor * level.count[chosen])[of], ranges[of])


def _marked(places: np.ndarray, roughness: np.ndarray) -> tuple[Int[np.ndarray, " m"], Float[np.ndarray, " m"]]:
    """The boxes to halve and how many each represents: all, or the roughest (a peak) and an even sample of the others
    (a layer)."""
    rough, most = np.flatnonzero(roughness), MOST_BOXES[places.shape[1]]
    if len(rough) <= most:
        return rough, np.ones(len(rough))
    order = rough[np.argsort(-roughness[rough], kind="stable")]
    worst, rest = order[: most // 2], order[most // 2 :]
    rest = rest[np.lexsort(places[rest].T[::-1])]
    some = rest[np.linspace(0, len(rest) - 1, most - len(worst)).round().astype(int)]
    return np.r_[worst, some], np.r_[np.ones(len(worst)), np.full(len(some), len(rest) / len(some))]


def _classified(
    evaluate: Evaluate, level: _Level, edge: np.ndarray, values: np.ndarray, rough: Bool[np.ndarray, " b"]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places of the smallest boxes: jumps, unbounded growth, and those that are rough in another way."""
    which = np.flatnonzero(rough)
    now, before = _range(values[which]), level.ranges[which, 0]
    grown = now > GROWN * np.where(np.isfinite(before), before, np.inf)
    shift = SHIFTED * edge / (values.shape[1] - 1)
    moved = [_range(sampled(evaluate, level.lower[which] + side * shift, edge)) for side in (-1, 1)]
    seen = np.maximum(*moved) >= ACROSS * now
    jump = np.zeros(len(which), bool)
    for axis in range(1, values.ndim):
        lines = np.moveaxis(values[which], axis, -1).reshape(len(which), -1, values.shape[axis])
        with np.errstate(invalid="ignore"):
            ranges = np.fmax.reduce(lines, axis=2) - np.fmin.reduce(lines, axis=2)
            across = np.abs(lines[:, :, -1] - lines[:, :, 0])
        steepest = np.argmax(np.nan_to_num(ranges), axis=1)
        at = np.arange(len(which)), steepest
        steps = np.abs(np.diff(lines[at], axis=1))
        few = np.sum(steps > 0.25 * ranges[at][:, None], axis=1) <= 2
        jump |= few & (across[at] >= ACROSS * ranges[at]) & (ranges[at] >= ACROSS * now)
    place = level.lower[which] + edge / 2
    jump &= seen & ~grown
    return place[jump], place[grown], place[~jump & ~grown]


# Refinements of the grid about an extremum or a zero, to 1e-9 of its first spacing: points of it along an axis, and how
# often; of the bracket of a zero.
CLIMB = {1: (9, 15), 2: (9, 15), 3: (5, 30)}
SECTIONS, NARROWED = 16, 8
