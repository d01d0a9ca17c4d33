"""Where functions of a few parameters are extreme, change their sign, or vary most between the points of a grid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from jumpnet.problem.trees import (
    CLIMB,
    NARROWED,
    ROUNDING,
    SCOUTED,
    SECTIONS,
    SIDE,
    Evaluate,
    fourth_difference,
    nodes,
    regular,
    sampled,
)


def extrema_and_zeros(
    evaluate: Callable[[np.ndarray], np.ndarray],
    lower: Float[np.ndarray, " k"],
    upper: Float[np.ndarray, " k"],
    side: int,
    most: int,
) -> Float[np.ndarray, "s k"]:
    """Places of local extrema and of zeros of several functions (n, k) -> (n, c), found from `side` points an axis."""
    k, step = len(lower), (upper - lower) / (side - 1)
    grid = np.stack(np.meshgrid(*[np.arange(side)] * k, indexing="ij"), axis=-1)
    x = lower + grid.reshape(-1, k) * step
    values = np.moveaxis(evaluate(x).reshape(*(side,) * k, -1), -1, 0)
    extreme = [_extremes(values, sign) for sign in (1.0, -1.0)]
    starts = [(np.array(where, int), sign) for sign, where in zip((1.0, -1.0), extreme, strict=True)]
    column = np.concatenate([where[:, 0] for where, _ in starts])
    index = np.concatenate([where[:, 1:] for where, _ in starts])
    sign = np.concatenate([np.full(len(where), sign) for where, sign in starts])
    if len(index) > most:
        kept = np.linspace(0, len(index) - 1, most).round().astype(int)
        column, index, sign = column[kept], index[kept], sign[kept]
    peaks = _climbed(evaluate, lower + index * step, column, sign, step, (lower, upper))
    return np.concatenate([peaks, _zeros(evaluate, values, lower, step, most)])


def _extremes(values: np.ndarray, sign: float) -> Int[np.ndarray, "e k_and_1"]:
    """Indices of local maxima along the axes: no neighbour is larger, and at least one is smaller."""
    v = sign * values
    top, above = np.isfinite(v), np.zeros(v.shape, bool)
    for axis in range(1, v.ndim):
        for shift in (1, -1):
            other = np.roll(v, shift, axis=axis)
            edge = [slice(None)] * v.ndim
            edge[axis] = slice(0, 1) if shift == 1 else slice(-1, None)
            with np.errstate(invalid="ignore"):
                below, more = ~(other > v), v > other
            below[tuple(edge)], more[tuple(edge)] = True, False
            top, above = top & below, above | more
    return np.argwhere(top & above)


def scouted(
    evaluate: Evaluate, lower: Float[np.ndarray, " k"], upper: Float[np.ndarray, " k"], boxes: int, most: int
) -> Float[np.ndarray, "s k"]:
    """Places where a function is least smooth on a fine grid, for a tree that begins with larger boxes."""
    k, edge = len(lower), (upper - lower) / boxes
    corners = regular(lower, edge, boxes)
    values = sampled(evaluate, corners, edge)
    there = values[np.isfinite(values)]
    if not len(there) or np.ptp(there) <= ROUNDING * np.abs(there).max():
        return np.empty((0, k))
    difference = fourth_difference(values)
    rough = np.flatnonzero(difference > SCOUTED * np.ptp(there))
    rough = rough[np.argsort(-difference[rough], kind="stable")]
    # The roughest first; then others, wherever they are.
    if not len(rough):
        return np.empty((0, k))
    chosen, m = rough[np.unique(np.linspace(0, len(rough) - 1, most).round().astype(int))], SIDE[k]
    flat = values[chosen].reshape(len(chosen), -1)
    at = np.nanargmax(np.abs(flat - np.nanmedian(flat, axis=1)[:, None]), axis=1)
    return corners[chosen] + nodes(m)[0][np.stack(np.unravel_index(at, (m,) * k), axis=1)] * edge


def _climbed(
    evaluate: Evaluate, x: np.ndarray, column: np.ndarray, sign: np.ndarray, step: np.ndarray, ends: tuple
) -> np.ndarray:
    """The extrema near points of a grid, found on successively finer grids about the best point."""
    if not len(x):
        return x
    n, k = x.shape
    side, times = CLIMB[k]
    around = np.stack(np.meshgrid(*[np.linspace(-1.0, 1.0, side)] * k, indexing="ij"), axis=-1).reshape(-1, k)
    at, h = np.arange(n), step.copy()
    for _ in range(times):
        tried = np.clip(x[:, None] + around * h, *ends)
        values = evaluate(tried.reshape(-1, k)).reshape(n, len(around), -1)[at, :, column]
        values = np.where(np.isfinite(values), sign[:, None] * values, -np.inf)
        x, h = tried[at, np.argmax(values, axis=1)], h * 2 / (side - 1)
    return x


def _zeros(evaluate: Evaluate, values: np.ndarray, lower: np.ndarray, step: np.ndarray, most: int) -> np.ndarray:
    """Places between neighbours of a grid where a function changes its sign, from ever smaller brackets."""
    k, found = values.ndim - 1, []
    for axis in range(1, k + 1):
        first, second = (np.moveaxis(values, axis, -1)[..., part] for part in (slice(None, -1), slice(1, None)))
        change = np.argwhere(np.moveaxis((first < 0) != (second < 0), -1, axis))
        found.append(np.column_stack([change, np.full(len(change), axis - 1)]))
    table = np.concatenate(found)
    if not len(table):
        return np.empty((0, k))
    table = table[np.unique(np.linspace(0, len(table) - 1, most).round().astype(int))]
    column, index, axis = table[:, 0], table[:, 1:-1], table[:, -1]
    at, a = np.arange(len(table)), lower + index * step
    along = np.zeros_like(a)
    along[at, axis] = step[axis]
    for _ in range(NARROWED):
        t = np.linspace(0.0, 1.0, SECTIONS + 1)[:, None]
        negative = (
            evaluate((a[:, None] + t * along[:, None]).reshape(-1, k)).reshape(len(at), SECTIONS + 1, -1)[at, :, column]
            < 0
        )
        first = np.argmax(negative[:, 1:] != negative[:, :1], axis=1)
        along = along / SECTIONS
        a = a + first[:, None] * along
    return a + along / 2
