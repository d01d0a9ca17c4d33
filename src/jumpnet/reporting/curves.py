"""The curves in which a plane cuts the interfaces, as points in order, exact to rounding, with their normals.

Contours of the level functions on a grid give the order; each of their points lies on an edge of the grid between a
point inside a piece and one outside, and bisection along that edge puts it on the interface itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from contourpy import contour_generator
from jaxtyping import Float

from jumpnet.geometry import Partition
from jumpnet.geometry.partition.sampling import STEP
from jumpnet.geometry.shape import Shape
from jumpnet.reporting.grid import Grid, Plane, outlines
from jumpnet.reporting.outlines import rings_of

HALVINGS = 60  # bisections that move a contour point onto the interface: down to rounding
CROWDED = 0.25  # of a cell: contour points closer than this to the one before are left out
FEWEST = 3  # points of a stretch worth showing


@dataclass(frozen=True)
class Curve:
    """A stretch of the interface of the pieces a < b; normals point from b to a, `arc` is the length so far."""

    pair: tuple[int, int]
    points: Float[np.ndarray, "n d"]
    normals: Float[np.ndarray, "n d"]
    closed: bool

    @property
    def arc(self) -> Float[np.ndarray, " n"]:
        """The length along the curve from its first point, by chords."""
        return np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(self.points, axis=0), axis=1))]


def interface_curves(partition: Partition, grid: Grid) -> tuple[Curve, ...]:
    """All stretches of interfaces in the plane of a grid, in the order of their pairs."""
    cell = float(min(grid.x[1] - grid.x[0], grid.y[1] - grid.y[0]))
    known = _FOLLOWED.setdefault(partition, {})
    if (grid.plane, cell) not in known:
        known[grid.plane, cell] = _followed(partition, grid, cell)
    return known[grid.plane, cell]


# The curves of grids that were drawn: several pictures have the same.
_FOLLOWED: WeakKeyDictionary[Partition, dict[tuple[Plane, float], tuple[Curve, ...]]] = WeakKeyDictionary()


def _followed(partition: Partition, grid: Grid, cell: float) -> tuple[Curve, ...]:
    rings = [rings_of(shape, cell) if partition.dim == 2 else None for shape in partition.pieces]
    unknown = [k for k, ring in enumerate(rings) if ring is None]
    levels = dict(zip(unknown, outlines(partition, grid, unknown), strict=True)) if unknown else {}
    found: list[Curve] = []
    for piece, (shape, ring) in enumerate(zip(partition.pieces, rings, strict=True), start=1):
        if ring is not None:
            lines = [_thinned(one.points, cell) for one in ring]
        else:
            level = np.ma.masked_invalid(levels[piece - 1])
            contours = contour_generator(grid.x, grid.y, level, name="serial").lines(0.0)
            lines = [_on_shape(shape, grid, np.asarray(line)) for line in contours]
        found += _stretches(partition, piece, [line for line in lines if len(line) >= FEWEST])
    return tuple(sorted(found, key=lambda curve: curve.pair))


def _thinned(points: Float[np.ndarray, "n 2"], cell: float) -> Float[np.ndarray, "m 2"]:
    """Points of a polygon at distances of about a cell; the last one stays."""
    arc = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))]
    kept = np.unique(np.searchsorted(arc, np.arange(0.0, arc[-1], cell)))
    return points[np.unique(np.r_[kept[kept < len(points)], len(points) - 1])]


def _on_shape(shape: Shape, grid: Grid, line: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n d"]:
    """The points of a contour, each moved along its edge of the grid onto the boundary of the shape."""
    cell = np.array([grid.x[1] - grid.x[0], grid.y[1] - grid.y[0]])
    origin = np.array([grid.x[0], grid.y[0]])
    place = (line - origin) / cell
    along = np.argmax(np.abs(place - np.round(place)), axis=1)  # the coordinate in which the point is between nodes
    rows = np.arange(len(line))
    ends = np.stack([place, place])
    ends[0, rows, along], ends[1, rows, along] = np.floor(place[rows, along]), np.floor(place[rows, along]) + 1
    low, high = (grid.plane.lifted(origin + cell * end) for end in ends)
    turned = shape.level(low) > 0
    low[turned], high[turned] = high[turned], low[turned].copy()
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        inside = shape.level(middle) < 0
        low[inside], high[~inside] = middle[inside], middle[~inside]
    points = (low + high) / 2
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    return points[np.r_[True, steps > CROWDED * cell.min()]]


def _stretches(partition: Partition, piece: int, lines: list[Float[np.ndarray, "n d"]]) -> Iterator[Curve]:
    """A piece's outlines, cut where its neighbour changes; the parts on the boundary of the domain are left out."""
    if not lines:
        return
    step, points = STEP * partition.domain.size, np.concatenate(lines)
    normals = partition.pieces[piece - 1].normal(points)
    sound = np.all(np.isfinite(normals), axis=1)
    normals = np.where(sound[:, None], normals, 0.0)
    ahead, behind = partition.label(points + step * normals), partition.label(points - step * normals)
    # Each interface is an outline of both of its pieces: the higher one's is taken.
    other: np.ndarray = np.where(sound & (behind == piece) & (ahead < piece), ahead, -1)
    ends = np.cumsum([len(line) for line in lines])[:-1]
    for line, own, beyond in zip(lines, np.split(normals, ends), np.split(other, ends), strict=True):
        closed = bool(np.linalg.norm(line[0] - line[-1]) <= 1e-9 * partition.domain.size)
        for run in _runs(beyond):
            if run.stop - run.start >= FEWEST and (neighbour := int(beyond[run.start])) >= 0:
                whole = closed and run.stop - run.start == len(line)
                yield Curve((neighbour, piece), line[run], own[run], whole)


def _runs(values: np.ndarray) -> Iterator[slice]:
    """Stretches of equal values."""
    edges = np.r_[0, np.flatnonzero(np.diff(values)) + 1, len(values)]
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        yield slice(start, stop)
