"""Quadrature on plane regions that are known only by an inside test.

A box is cut into cells. Cells that lie inside as a whole get Gauss's rule. In a cell that the boundary runs through,
lines are laid in one direction, cut where they enter and leave the region, and Gauss's rule is used on what is left of
each and across them (the height-function idea of Saye, SIAM J. Sci. Comput. 37, 2015, with bisection in the place of a
level function). Where two orders of that disagree in both directions, at a corner for instance, the cell is split.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jumpnet.geometry.checks import Floats

NONE: Floats = np.empty((0, 2))
"""No points."""
Inside = Callable[[Floats], np.ndarray]
Intervals = tuple[np.ndarray, Floats, Floats]
"""For each interval: the number of the line it belongs to, its lower and its upper end."""


@dataclass(frozen=True, eq=False)
class Sliced:
    """A rule: points (n, 2) and weights (n,) of the region, and where its lines cross the boundary.

    A crossing (m, 2) belongs to a line along `axis`; `span` (m,) is the weight across the lines, so that the crossings
    are a rule for the boundary with the weights span / |normal[axis]|.
    """

    points: Floats
    weights: Floats
    crossings: Floats
    span: Floats
    axis: np.ndarray

    @staticmethod
    def join(parts: "list[Sliced]") -> "Sliced":
        """All of them."""
        return Sliced(*(np.concatenate([getattr(p, name) for p in parts]) for name in Sliced.__dataclass_fields__))


CELLS, DEPTH = 16, 9
"""Cells along a side of the box, and how often a cell is split."""
SAMPLES, ALONG_EDGES = 9, 65
"""Points at which the inside test is made, along a line and along an edge of a cell. What pokes through an edge between
two of these is missed: about 1e-9 of the area for a boundary whose radius of curvature is a tenth of the box."""
ORDERS = (6, 4)
"""Points of Gauss's rule in each direction: the rule, and the one it is compared with."""
BISECTIONS = 36
"""Halvings of an eighth of a cell: to 2e-12 of a cell."""
HAIR = 1e-6
"""The distance of the first and the last line from the ends of a panel, relative to its length."""
AGREED = 1e-10
"""Areas of a cell by both orders may differ by this fraction of the cell."""


def region_rules(test: Inside, lower: Floats, upper: Floats, sharp: Floats = NONE) -> tuple[Sliced, Sliced]:
    """Two rules for the region inside a box; the first is the better one.

    `sharp` (n, 2) are the corners of its boundary, as far as they are known: a cell that holds one is split.
    """
    size = (upper - lower) / CELLS

    def inside(x: Floats) -> np.ndarray:
        return test(x) if len(x) else np.zeros(0, bool)

    steps = np.stack(np.meshgrid(np.arange(CELLS), np.arange(CELLS), indexing="ij"), axis=-1).reshape(-1, 2)
    corners = lower + steps * size
    found: tuple[list[Sliced], list[Sliced]] = ([], [])
    for depth in range(DEPTH + 1):
        share = 0.5 * (_tested(inside, corners, size).mean(axis=1) + _on_edges(inside, corners, size).mean(axis=1))
        cut = (share > 0.0) & (share < 1.0)
        split = _holding(corners, size, sharp) & (depth < DEPTH)
        open_ = _cut_cells(inside, corners[cut & ~split], size, found, last=depth == DEPTH)
        open_ = np.concatenate([open_, corners[split]])
        for rules, order in zip(found, ORDERS, strict=True):
            rules.append(_full(corners[(share == 1.0) & ~split], size, order))
        if not len(open_):
            break
        size = size / 2
        corners = np.concatenate([open_ + size * step for step in ((0, 0), (0, 1), (1, 0), (1, 1))])
    return Sliced.join(found[0]), Sliced.join(found[1])


def _holding(corners: Floats, size: Floats, points: Floats) -> np.ndarray:
    """Whether a cell holds one of the points, not at its very edge."""
    place = (points - corners[:, None]) / size
    within = np.all((place > 1e-3) & (place < 1.0 - 1e-3), axis=2)
    return np.any(within, axis=1)


def _cut_cells(
    inside: Inside, corners: Floats, size: Floats, found: tuple[list[Sliced], list[Sliced]], *, last: bool
) -> Floats:
    """Adds the rules of the cells that are settled; returns the cells that are to be split."""
    steeper = _steeper(inside, corners, size)
    for attempt in (0, 1):  # the other direction for those that the first does not settle
        open_ = np.zeros(len(corners), bool)
        for axis in (0, 1):
            mine = np.flatnonzero(np.abs(steeper - attempt) == axis)
            panels = _panels(inside, corners[mine], size, axis)
            sliced = [_slices(inside, corners[mine], size, axis, panels, order) for order in ORDERS]
            fine, coarse = (np.bincount(cell, rule.weights, len(mine)) for rule, cell, _, _ in sliced)
            settled = (np.abs(fine - coarse) <= AGREED * size.prod()) & sliced[0][3] & sliced[1][3]
            settled |= last and attempt == 1
            for rules, (rule, cell, crossed, _) in zip(found, sliced, strict=True):
                p, c = settled[cell], settled[crossed]
                rules.append(Sliced(rule.points[p], rule.weights[p], rule.crossings[c], rule.span[c], rule.axis[c]))
            open_[mine] = ~settled
        corners, steeper = corners[open_], steeper[open_]
    return corners


def _steeper(inside: Inside, corners: Floats, size: Floats) -> np.ndarray:
    """The axis along which each cell changes most: lines along it cross the boundary at a large angle."""
    held = _tested(inside, corners, size).reshape(-1, SAMPLES, SAMPLES).astype(float)
    odd = np.linspace(-1.0, 1.0, SAMPLES)
    slope = np.abs(np.stack([np.einsum("cij,i->c", held, odd), np.einsum("cij,j->c", held, odd)]))
    return np.argmax(slope, axis=0)


def _tested(inside: Inside, corners: Floats, size: Floats) -> np.ndarray:
    """The inside test on a grid of each cell, (cells, SAMPLES^2)."""
    t = np.linspace(0.0, 1.0, SAMPLES)
    return _at_places(inside, corners, size, np.stack(np.meshgrid(t, t, indexing="ij"), axis=-1).reshape(-1, 2))


def _on_edges(inside: Inside, corners: Floats, size: Floats) -> np.ndarray:
    """The inside test along the four edges of each cell."""
    t = np.linspace(0.0, 1.0, ALONG_EDGES)
    sides = [(t, np.full_like(t, end)) for end in (t[0], t[-1])]
    places = np.concatenate([np.stack(side[::turn], axis=1) for side in sides for turn in (1, -1)])
    return _at_places(inside, corners, size, places)


def _at_places(inside: Inside, corners: Floats, size: Floats, places: Floats) -> np.ndarray:
    return inside((corners[:, None] + places * size).reshape(-1, 2)).reshape(len(corners), len(places))


def _full(corners: Floats, size: Floats, order: int) -> Sliced:
    """Gauss's rule in whole cells."""
    t, w = square_gauss(order)
    weights = np.tile(w * size.prod(), len(corners))
    none = np.zeros(0)
    return Sliced((corners[:, None] + t * size).reshape(-1, 2), weights, none.reshape(0, 2), none, none)


def _placed(axis: int, along: Floats, across: Floats) -> Floats:
    x = np.empty((len(along), 2))
    x[:, axis], x[:, 1 - axis] = along, across
    return x


def _panels(inside: Inside, corners: Floats, size: Floats, axis: int) -> Intervals:
    """The cells cut across `axis` where the boundary leaves through one of the edges that lines along it end at."""
    base, n = 1 - axis, len(corners)
    start, end = corners[:, base], corners[:, base] + size[base]
    edges = np.concatenate([corners[:, axis], corners[:, axis] + size[axis]])
    edge, place = _changes(
        lambda k, s: inside(_placed(axis, edges[k], s)), np.tile(start, 2), np.tile(end, 2), ALONG_EDGES
    )
    return _between(edge % max(n, 1), place, start, end)


def _slices(
    inside: Inside, corners: Floats, size: Floats, axis: int, panels: Intervals, order: int
) -> tuple[Sliced, np.ndarray, np.ndarray, np.ndarray]:
    """The rule of lines along `axis`, the cells its points and its crossings belong to, and which cells it suits.

    In a panel every line must cross the boundary equally often, those at the very ends too: else a part of the region
    hides between the lines.
    """
    t, w = unit_gauss(order)
    lines, shares = np.array([HAIR, *t, 1.0 - HAIR]), np.array([0.0, *w, 0.0])
    panel_cell, left, right = panels
    cell = np.repeat(panel_cell, len(lines))
    s = (left[:, None] + (right - left)[:, None] * lines).ravel()
    across = ((right - left)[:, None] * shares).ravel()
    low, high = corners[cell, axis], corners[cell, axis] + size[axis]
    crossed, height = _changes(lambda k, h: inside(_placed(axis, h, s[k])), low, high, SAMPLES)
    times = np.bincount(crossed, minlength=len(s)).reshape(-1, len(lines))
    uneven = np.bincount(panel_cell, (times != times[:, :1]).any(axis=1), len(corners)) > 0
    line, bottom, top = _between(crossed, height, low, high)
    kept = (across[line] > 0.0) & inside(_placed(axis, 0.5 * (bottom + top), s[line]))
    line, bottom, top = line[kept], bottom[kept], top[kept]
    counted = across[crossed] > 0.0
    crossed, height = crossed[counted], height[counted]
    points = _placed(axis, (bottom[:, None] + (top - bottom)[:, None] * t).ravel(), np.repeat(s[line], order))
    weights = ((top - bottom)[:, None] * w).ravel() * np.repeat(across[line], order)
    rule = Sliced(points, weights, _placed(axis, height, s[crossed]), across[crossed], np.full(len(height), axis))
    return rule, np.repeat(cell[line], order), cell[crossed], ~uneven


def _changes(
    test: Callable[[np.ndarray, Floats], np.ndarray], start: Floats, end: Floats, samples: int
) -> tuple[np.ndarray, Floats]:
    """Where test(k, s) changes between start[k] and end[k]: the numbers k and the places s."""
    t = np.linspace(0.0, 1.0, samples)
    grid = start[:, None] + (end - start)[:, None] * t
    number = np.repeat(np.arange(len(start)), samples)
    held = test(number, grid.ravel()).reshape(grid.shape)
    k, j = np.nonzero(held[:, 1:] != held[:, :-1])
    return k, bisected(lambda s: test(k, s), grid[k, j], grid[k, j + 1])


def bisected(test: Callable[[Floats], np.ndarray], low: Floats, high: Floats, halvings: int = BISECTIONS) -> Floats:
    """Where a test changes between low and high."""
    if not len(low):
        return low
    before = test(low)
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        same = test(middle) == before
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return 0.5 * (low + high)


def _between(number: np.ndarray, place: Floats, start: Floats, end: Floats) -> Intervals:
    """The intervals that changes at `place` cut [start[number], end[number]] into."""
    everyone = np.arange(len(start))
    number, place = np.concatenate([everyone, everyone, number]), np.concatenate([start, end, place])
    order = np.lexsort((place, number))
    number, place = number[order], place[order]
    own = number[1:] == number[:-1]
    return number[:-1][own], place[:-1][own], place[1:][own]


def unit_gauss(order: int) -> tuple[Floats, Floats]:
    """Gauss's rule on (0, 1)."""
    t, w = np.polynomial.legendre.leggauss(order)
    return 0.5 * (1.0 + t), 0.5 * w


def square_gauss(order: int) -> tuple[Floats, Floats]:
    """Gauss's rule on the unit square."""
    t, w = unit_gauss(order)
    return np.stack(np.meshgrid(t, t, indexing="ij"), axis=-1).reshape(-1, 2), np.outer(w, w).ravel()
