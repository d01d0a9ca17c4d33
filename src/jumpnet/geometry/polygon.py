"""Inside or outside a fine polygon: the winding fallback of closed parametric curves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from jumpnet.geometry.checks import Floats


@dataclass(frozen=True, eq=False)
class Polygon:
    """A closed polygon (the last vertex repeats the first) cut into chains along which y only rises."""

    vertices: Floats

    @cached_property
    def _chains(self) -> list[tuple[Floats, Floats]]:
        """(y, x) of each chain, y ascending. Few chains even for thousands of vertices."""
        x, y = self.vertices.T
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

    def contains(self, points: Floats) -> np.ndarray:
        """Whether a ray to the right of each point crosses the polygon an odd number of times."""
        order = np.argsort(points[:, 1])
        px, py = points[order, 0], points[order, 1]
        crossings = np.zeros(len(points), dtype=np.int64)
        for y, x in self._chains:
            reach = slice(*np.searchsorted(py, [y[0], y[-1]], side="left"))  # y[0] <= py < y[-1]
            crossings[reach] += np.interp(py[reach], y, x) > px[reach]
        inside = np.empty(len(points), dtype=bool)
        inside[order] = crossings % 2 == 1
        return inside

    def crosses_itself(self) -> bool:
        """Whether two edges that are not neighbours cross, seen on at most 512 of the edges."""
        v = self.vertices[:: max(1, (len(self.vertices) - 1) // 512)]
        if not np.array_equal(v[-1], self.vertices[-1]):
            v = np.concatenate([v, self.vertices[-1:]])
        a, b = v[:-1], v[1:]
        edge = b - a

        def side(of: Floats) -> Floats:  # of point j, seen from edge i
            gap = of[None, :, :] - a[:, None, :]
            return edge[:, None, 0] * gap[..., 1] - edge[:, None, 1] * gap[..., 0]

        apart = side(a) * side(b) < 0.0
        return bool(np.any(apart & apart.T))
