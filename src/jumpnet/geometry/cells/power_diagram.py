"""The power diagram of the holes of a piece: a decomposition into cells, each around one hole.

A point belongs to the hole to whose circle it has the smallest power (squared distance minus squared radius). The cuts
are straight lines that cross no hole, so that the functions of a cell depend on its own hole and the neighbouring ones
only. Plane partitions only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jumpnet.errors import GeometryError
from jumpnet.geometry.cells.cuts import Cuts, spread, stretches
from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.partition import Partition

if TYPE_CHECKING:
    from scipy.spatial import KDTree

SHORTEST = 1e-3
"""Cuts shorter than this part of the holes beside them are left out: where four meet at a point, one has no length."""
BOUNDARY = 16
"""Sample points on the outer boundary per cell, by which the cells that reach it are found."""


@dataclass(frozen=True, eq=False)
class PowerMap:
    """The cell of a point that is seen from the side of a piece: that of the nearest circle in the cut piece.

    Other pieces are cells of their own, with the same numbers.
    """

    piece: int
    pieces: int
    center: Floats
    radius: Floats
    cell: np.ndarray

    @cached_property
    def _tree(self) -> KDTree:
        from scipy.spatial import KDTree

        # Circles lifted so that the distance to them, squared, is their power plus a constant.
        height = np.sqrt(self.radius.max() ** 2 - self.radius**2)
        return KDTree(np.column_stack([self.center, height]))

    def nearest(self, x: Floats) -> np.ndarray:
        """The circle to which each point has the smallest power."""
        return np.asarray(self._tree.query(np.column_stack([x, np.zeros(len(x))]))[1])

    def __call__(self, x: Floats, piece: np.ndarray) -> np.ndarray:
        cell, mine = np.array(piece), np.asarray(piece) == self.piece
        cell[mine] = self.cell[self.nearest(x[mine])]
        return cell

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return self.center.shape[1]

    def spec(self) -> dict[str, Any]:
        """The map as JSON."""
        circles = {"center": self.center.tolist(), "radius": self.radius.tolist(), "cell": self.cell.tolist()}
        return {"piece": self.piece, "pieces": self.pieces, **circles}

    @staticmethod
    def from_spec(spec: dict[str, Any], cells: int) -> PowerMap:
        """The map read back; it must have the given number of cells."""
        damaged = GeometryError("the file's circles between cells cannot be read; it is damaged.")
        try:
            piece, pieces = spec["piece"], spec["pieces"]
            center, radius, cell = (
                np.array(spec["center"], float),
                np.array(spec["radius"], float),
                np.array(spec["cell"]),
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            raise damaged from None
        whole = type(piece) is int and type(pieces) is int and 0 <= piece < pieces <= cells
        shapes = center.ndim == 2 and 1 <= center.shape[1] <= 3 and radius.shape == cell.shape == center.shape[:1]
        if not whole or not shapes or not len(cell) or cell.dtype.kind != "i":
            raise damaged
        sound = np.isfinite(center).all() and np.isfinite(radius).all() and radius.min() > 0
        if not sound or cell.min() < 0 or cell.max() >= cells:
            raise damaged
        return PowerMap(piece, pieces, center, radius, cell)


class Lines(NamedTuple):
    """Straight cuts: the cells on both sides, the ends, and how well fields are approximated along them.

    The error of n polynomials is about exp(-rate n): the fields that two circles make of each other are singular at the
    two limit points of the pair, as far from the line between them as the root of the power of the point in the middle.
    """

    cells: np.ndarray
    start: Floats
    end: Floats
    rate: Floats

    @property
    def length(self) -> Floats:
        """The length of each."""
        return np.linalg.norm(self.end - self.start, axis=1)


@dataclass(frozen=True, eq=False)
class PowerDiagram:
    """The cells of a piece with many holes: `map.cell` is the cell of each hole, in the order of partition.holes."""

    partition: Partition
    map: PowerMap

    @staticmethod
    def of(partition: Partition, piece: int) -> PowerDiagram | None:
        """The cells; None where circles about the holes overlap, so that no straight cut runs between them."""
        from scipy.spatial import KDTree

        holes = partition.holes(piece)
        center = np.array([(hole.points.min(axis=0) + hole.points.max(axis=0)) / 2 for hole in holes])
        radius = np.array([np.linalg.norm(h.points - c, axis=1).max() for h, c in zip(holes, center, strict=True)])
        pairs = KDTree(center).query_pairs(2 * radius.max(), output_type="ndarray")
        distance = np.linalg.norm(center[pairs[:, 0]] - center[pairs[:, 1]], axis=1)
        if np.any(distance <= radius[pairs].sum(axis=1)):
            return None
        # The first cell has the number of the piece, the others follow those of the other pieces.
        cell = np.r_[piece, partition.size + np.arange(len(center) - 1)]
        return PowerDiagram(partition, PowerMap(piece, partition.size, center, radius, cell))

    @property
    def size(self) -> int:
        """The number of cells, those of the other pieces included."""
        return max(self.partition.size, int(self.map.cell.max()) + 1)

    @cached_property
    def at_piece(self) -> dict[int, set[int]]:
        """For each piece in a hole the cells that surround it."""
        found: dict[int, set[int]] = {}
        for hole, cell in zip(self.partition.holes(self.map.piece), self.map.cell.tolist(), strict=True):
            for piece in hole.pieces:
                found.setdefault(piece, set()).add(cell)
        return found

    @cached_property
    def at_boundary(self) -> set[int]:
        """The cells that reach the outer boundary."""
        x, _, piece, _ = self.partition.sample_boundary(BOUNDARY * self.size, seed=0, method="even")
        return set(self.map(x, piece).tolist())

    @cached_property
    def _edges(self) -> tuple[np.ndarray, Floats, Floats, Floats]:
        """Holes next to each other, the ends of what is between them, and the rates of convergence along it."""
        center, radius = self.map.center, self.map.radius
        pairs = _next_to_each_other(center, radius)
        around: list[set[int]] = [set() for _ in center]
        for a, b in pairs:
            around[a].add(b)
            around[b].add(a)
        lower, upper = (np.asarray(end, float) for end in self.partition.bounds)
        power = (center**2).sum(axis=1) - radius**2
        kept, starts, ends, rates = [], [], [], []
        for a, b in pairs:
            along = center[b] - center[a]
            # Points of equal power: base + t * direction. Others may not be nearer, nor may it leave the box.
            base = along * ((power[b] - power[a]) / 2 / (along @ along))
            base = base + center[a] - along * (center[a] @ along) / (along @ along)
            direction = np.array([-along[1], along[0]]) / np.linalg.norm(along)
            others = np.array(sorted((around[a] | around[b]) - {a, b}), int)
            slope = np.concatenate([2 * (center[others] - center[a]) @ direction, direction, -direction])
            room = np.concatenate(
                [power[others] - power[a] - 2 * (center[others] - center[a]) @ base, upper - base, base - lower]
            )
            with np.errstate(divide="ignore", invalid="ignore"):
                limit = room / slope
            first = limit[slope < 0].max(initial=-np.inf)
            last = limit[slope > 0].min(initial=np.inf)
            if last - first > SHORTEST * min(radius[a], radius[b]) and not np.any(room[slope == 0] < 0):
                kept.append((a, b))
                starts.append(base + first * direction)
                ends.append(base + last * direction)
                away = np.sqrt((base - center[a]) @ (base - center[a]) - radius[a] ** 2)
                singular = (1j * away - (first + last) / 2) / ((last - first) / 2)
                rates.append(abs(np.arccosh(singular).real))  # of the Bernstein ellipse through the singularity
        start, end = (np.array(points).reshape(-1, 2) for points in (starts, ends))
        return np.array(kept, int).reshape(-1, 2), start, end, np.array(rates)

    @cached_property
    def cells(self) -> dict[int, tuple[int, np.ndarray]]:
        """For each cell of the cut piece the hole in it, and those next to it."""
        pairs = self._edges[0]
        both = np.concatenate([pairs, pairs[:, ::-1]])
        both = both[np.lexsort(both.T[::-1])]
        ends = np.searchsorted(both[:, 0], np.arange(len(self.map.cell) + 1))
        beside = (both[a:b, 1] for a, b in pairwise(ends))
        return dict(zip(self.map.cell.tolist(), zip(range(len(self.map.cell)), beside, strict=True), strict=True))

    @cached_property
    def boxes(self) -> dict[int, Bounds]:
        """A box of each cell of the cut piece."""
        pairs, start, end, _ = self._edges
        x, r = self.map.center, self.map.radius[:, None]
        # A cell at the boundary reaches to the corners of the domain that are nearest to it.
        edges = lower, upper = tuple(np.asarray(edge, float) for edge in self.partition.bounds)
        corners = np.stack(np.meshgrid(*zip(*edges, strict=True)), axis=-1).reshape(-1, len(lower))
        points = np.concatenate([start, start, end, end, x - r, x + r, corners])
        every = np.arange(len(x))
        hole = np.concatenate([*pairs.T, *pairs.T, every, every, self.map.nearest(corners)])
        first, last = np.full_like(x, np.inf), np.full_like(x, -np.inf)
        np.minimum.at(first, hole, points)
        np.maximum.at(last, hole, points)
        found = zip(np.maximum(first, lower), np.minimum(last, upper), strict=True)
        return dict(zip(self.map.cell.tolist(), found, strict=True))

    @cached_property
    def lines(self) -> Lines:
        """The cuts, between holes next to each other."""
        pairs, *found = self._edges
        return Lines(self.map.cell[pairs], *found)

    def cuts(self, counts: np.ndarray, rng: np.random.Generator, even: bool) -> tuple[Cuts, np.ndarray]:
        """Points on the cuts, `counts[k]` on cut k, random or at Gauss nodes, and the cut of each."""
        lines = self.lines
        found = [(np.empty((0, 2)), *(np.empty(0, int) for _ in range(3)), np.empty((0, 2)), np.empty(0, int))]
        for one, a, b, piece in stretches(self.partition, lines.start, lines.end):
            if piece != self.map.piece:
                continue
            count = int((b - a) * counts[one]) + 1
            span = lines.end[one] - lines.start[one]
            x = lines.start[one] + (a + (b - a) * spread(count, rng, even))[:, None] * span
            normal = np.array([span[1], -span[0]]) / lines.length[one]
            piece, low, high, line = (np.full(count, value) for value in (piece, *lines.cells[one], one))
            found.append((x, piece, low, high, np.tile(normal, (count, 1)), line))
        *columns, line = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return Cuts(*columns), line


def _next_to_each_other(center: Floats, radius: Floats) -> np.ndarray:
    """Pairs of circles whose regions of smallest power touch: the edges of the regular triangulation."""
    from scipy.spatial import ConvexHull

    if len(center) < 4:  # each is next to each; a hull in space takes four points
        return np.array(list(combinations(range(len(center)), 2)), int).reshape(-1, 2)
    middle = center.mean(axis=0)
    scale = np.abs(center - middle).max()
    x = (center - middle) / scale
    hull = ConvexHull(np.column_stack([x, (x**2).sum(axis=1) - (radius / scale) ** 2]), qhull_options="QJ")
    below = hull.simplices[hull.equations[:, 2] < 0]
    edges = np.concatenate([below[:, [0, 1]], below[:, [1, 2]], below[:, [0, 2]]])
    return np.unique(np.sort(edges, axis=1), axis=0)
