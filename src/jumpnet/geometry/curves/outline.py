"""Inside or outside fine polygons (the winding fallback of closed curves), and edges that cross."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from jumpnet.errors import GeometryError
from jumpnet.geometry.checks import Floats

# Edges longer than this multiple of the median length are tested one by one (heuristic).
LONG = 4.0
# Pairs of edges in memory at a time (some 100 MB), and in all: half a minute.
MOST_AT_ONCE, MOST_PAIRS = 1_000_000, 150_000_000


@dataclass(frozen=True, eq=False)
class Outline:
    """Closed polygons (the last vertex repeats the first) cut into chains along which y only rises."""

    rings: tuple[Floats, ...]

    @cached_property
    def _chains(self) -> list[tuple[Floats, Floats]]:
        return [chain for ring in self.rings for chain in _chains(ring)]

    def contains(self, points: Floats) -> np.ndarray:
        """Whether a ray to the right of each point crosses the polygons an odd number of times."""
        order = np.argsort(points[:, 1])
        px, py = points[order, 0], points[order, 1]
        crossings = np.zeros(len(points), dtype=np.int64)
        for y, x in self._chains:
            reach = slice(*np.searchsorted(py, [y[0], y[-1]], side="left"))  # y[0] <= py < y[-1]
            crossings[reach] += np.interp(py[reach], y, x) > px[reach]
        inside = np.empty(len(points), dtype=bool)
        inside[order] = crossings % 2 == 1
        return inside


def _chains(vertices: Floats) -> list[tuple[Floats, Floats]]:
    """(y, x) of each chain, y ascending. Few chains even for thousands of vertices."""
    x, y = vertices.T
    up = np.sign(np.diff(y))
    flat = up == 0  # a horizontal edge goes on in the direction of the edge before it
    if flat.all():
        return []
    last = np.maximum.accumulate(np.where(flat, -1, np.arange(len(up))))
    up = np.where(last >= 0, up[last], up[~flat][-1])
    ends = np.concatenate([[0], np.flatnonzero(np.diff(up)) + 1, [len(up)]])
    chains = []
    for start, stop in pairwise(ends.tolist()):
        part = slice(start, stop + 1)
        step = 1 if up[start] > 0 else -1
        chains.append((y[part][::step], x[part][::step]))
    return chains


def crossing(a: Floats, b: Floats) -> tuple[int, int] | None:
    """Two of the edges from a (n, 2) to b (n, 2) that cross each other (sharing an end is no crossing), or None."""
    edge = b - a

    def side(k: np.ndarray, x: Floats) -> Floats:  # positive to the left of edge k
        gap = x - a[k]
        return edge[k, 0] * gap[:, 1] - edge[k, 1] * gap[:, 0]

    def apart(k: np.ndarray, l: np.ndarray) -> np.ndarray:  # the ends of edge l on different sides of edge k
        return side(k, a[l]) * side(k, b[l]) < 0.0

    for i, j in _neighbours(a, b):
        found = np.flatnonzero(apart(i, j) & apart(j, i))
        if len(found):
            return int(i[found[0]]), int(j[found[0]])
    return None


def _neighbours(a: Floats, b: Floats) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of edges that may cross, some at a time: short ones by the distance of their middles, the rest by a sweep.

    One long edge must not make neighbours of all short ones, nor many long ones fill the memory with pairs.
    """
    from scipy.spatial import KDTree

    length, middle = np.linalg.norm(b - a, axis=1), 0.5 * (a + b)
    short = np.flatnonzero(length <= LONG * np.median(length))
    tree, reach = KDTree(middle[short]), float(length[short].max())
    if len(short) ** 2 > MOST_AT_ONCE and tree.count_neighbors(tree, reach) > MOST_AT_ONCE:
        yield from _swept(a, b, np.arange(len(a)))
        return
    i, j = tree.query_pairs(reach, output_type="ndarray").T
    yield short[i], short[j]
    if len(short) < len(a):
        yield from _swept(a, b, np.flatnonzero(length > LONG * np.median(length)))


def _swept(a: Floats, b: Floats, which: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of an edge of `which` and any other whose boxes overlap, in the direction in which the fewest do."""

    def ranges(direction: Floats) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The order of the lower ends, and where in it those edges are that each of `which` may meet."""
        ends_ = np.sort(np.stack([a @ direction, b @ direction], axis=1), axis=1)
        order = np.argsort(ends_[:, 0])
        starts = ends_[order, 0]
        widest = float((ends_[:, 1] - ends_[:, 0]).max()) if len(which) < len(a) else 0.0
        first = np.searchsorted(starts, ends_[which, 0] - widest, side="left")
        return order, first, np.searchsorted(starts, ends_[which, 1], side="right")

    z = (b - a) @ np.array([1.0, 1.0j])
    turn = np.exp(0.5j * np.angle(np.sum(z * z)))  # the direction that most edges have, at a right angle to the best
    directions = [np.array([d.real, d.imag]) for d in (1.0 + 0j, 1j, 1j * turn)]
    order, first, last = min(map(ranges, directions), key=lambda found: int((found[2] - found[1]).sum()))
    lower, upper = np.minimum(a, b), np.maximum(a, b)
    counts = last - first
    if counts.sum() > MOST_PAIRS:
        raise GeometryError("an outline has too many long edges side by side to be checked; simplify it first.")
    ends = np.cumsum(counts)
    for start in range(0, int(ends[-1]), MOST_AT_ONCE):
        place = np.arange(start, min(start + MOST_AT_ONCE, int(ends[-1])))
        row = np.searchsorted(ends, place, side="right")
        i, j = which[row], order[first[row] + place - (ends[row] - counts[row])]
        near = np.all((lower[i] <= upper[j]) & (lower[j] <= upper[i]), axis=1) & (i != j)
        yield i[near], j[near]


def crosses_itself(ring: Floats) -> bool:
    """Whether two edges of a closed polygon cross, seen on about 512 of its vertices."""
    v = ring[:: max(1, (len(ring) - 1) // 512)]
    if not np.array_equal(v[-1], ring[-1]):
        v = np.concatenate([v, ring[-1:]])
    return crossing(v[:-1], v[1:]) is not None
