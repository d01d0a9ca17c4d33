"""Inside or outside fine polygons (the winding fallback of closed curves), and edges that cross."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from jumpnet.geometry.checks import Floats


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
    from scipy.spatial import KDTree

    edge = b - a
    reach = float(np.linalg.norm(edge, axis=1).max())
    i, j = KDTree(0.5 * (a + b)).query_pairs(reach, output_type="ndarray").T

    def apart(k: np.ndarray, l: np.ndarray) -> np.ndarray:  # the ends of edge l on different sides of edge k
        def side(x: Floats) -> Floats:
            gap = x - a[k]
            return edge[k, 0] * gap[:, 1] - edge[k, 1] * gap[:, 0]

        return side(a[l]) * side(b[l]) < 0.0

    found = np.flatnonzero(apart(i, j) & apart(j, i))
    return (int(i[found[0]]), int(j[found[0]])) if len(found) else None


def crosses_itself(ring: Floats) -> bool:
    """Whether two edges of a closed polygon cross, seen on about 512 of its vertices."""
    v = ring[:: max(1, (len(ring) - 1) // 512)]
    if not np.array_equal(v[-1], ring[-1]):
        v = np.concatenate([v, ring[-1:]])
    return crossing(v[:-1], v[1:]) is not None
