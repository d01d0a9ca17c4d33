"""Values on fine grids of a plane, each point seen from its own piece: interfaces stay sharp."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float, Int

from jumpnet.errors import SolutionError
from jumpnet.geometry import Partition
from jumpnet.geometry.shape import Shape

MARGIN = 0.03  # of the longer side, on each side: room for the outline of a box

# Where the domain is cut, of its extent, if planes through its middle and those of pieces lie along walls.
OFF_MIDDLE = (0.6, 0.4, 0.7, 0.3)
# The points at which that is looked at.
IN_PLANE = 64


@dataclass(frozen=True)
class Plane:
    """Where a map is drawn: the two coordinates that vary, and the values at which all others stand."""

    axes: tuple[int, int]
    fixed: tuple[float, ...]

    @property
    def name(self) -> str:
        """The fixed coordinates, such as $x_3 = 0$; empty in 2-D."""
        still = [k for k in range(len(self.fixed)) if k not in self.axes]
        return ", ".join(f"$x_{k + 1} = {self.fixed[k]:.3g}$" for k in still)

    def lifted(self, flat: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n d"]:
        """Points of the plane, given by the two coordinates that vary, in space."""
        points = np.tile(np.asarray(self.fixed, float), (len(flat), 1))
        points[:, list(self.axes)] = flat
        return points


@dataclass(frozen=True)
class Grid:
    """Points of a plane in rows and columns, with the piece of each (-1 outside the domain)."""

    plane: Plane
    x: Float[np.ndarray, " columns"]
    y: Float[np.ndarray, " rows"]
    label: Int[np.ndarray, "rows columns"]

    def points(self, where: np.ndarray | None = None) -> Float[np.ndarray, "n d"]:
        """The points, or those of them where a mask is true."""
        X, Y = np.meshgrid(self.x, self.y)
        chosen = slice(None) if where is None else where.ravel()
        return self.plane.lifted(np.column_stack([X.ravel()[chosen], Y.ravel()[chosen]]))

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top of the picture, half a cell beyond the outermost points."""
        dx, dy = (self.x[1] - self.x[0]) / 2, (self.y[1] - self.y[0]) / 2
        return self.x[0] - dx, self.x[-1] + dx, self.y[0] - dy, self.y[-1] + dy


def planes(partition: Partition, at: tuple[float, ...] | None = None) -> tuple[Plane, ...]:
    """The plane itself in 2-D, else the three planes of the first three coordinates through a point."""
    if partition.dim == 2:
        return (Plane((0, 1), at or (0.0, 0.0)),)
    through = _cut_most(partition) if at is None else at
    return tuple(Plane(pair, through) for pair in [(0, 1), (0, 2), (1, 2)])


def _cut_most(partition: Partition) -> tuple[float, ...]:
    """In each coordinate the value that cuts most pieces: the middle of the domain or of a piece, the former first.

    Planes along walls are avoided, if need be off the middle.
    """
    lower, upper = partition.bounds
    boxes = [np.clip(shape.bounds, lower, upper) for shape in partition.pieces]
    middles = np.array([(lower + upper) / 2, *(box.mean(axis=0) for box in boxes)])
    through = []
    for k in range(partition.dim):
        off = [float(lower[k] + part * (upper[k] - lower[k])) for part in OFF_MIDDLE]
        clear = ([v for v in values if not _along_a_wall(partition, k, v)] for values in (middles[:, k].tolist(), off))
        values = next(filter(None, clear), middles[:1, k].tolist())
        through.append(max(values, key=lambda value, k=k: sum(box[0, k] < value < box[1, k] for box in boxes)))
    return tuple(through)


def _along_a_wall(partition: Partition, axis: int, value: float) -> bool:
    """Whether a surface has a part of the plane of points with this coordinate."""
    x = np.random.default_rng(0).uniform(*partition.bounds, (IN_PLANE, partition.dim))
    x[:, axis] = value
    level = np.array([shape.level(x) for shape in (partition.domain, *partition.pieces)])
    return bool(np.any(np.sum(np.abs(level) < 1e-9 * partition.domain.size, axis=1) > 1))


def whole_resolution(given: int | None, default: int) -> int:
    """The number of points along the longer side that a user asks for."""
    if given is None:
        return default
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not 10 <= given <= 5000:
        raise SolutionError(f"resolution is {given!r}; give a whole number of points from 10 to 5000.")
    return int(given)


def make_grid(partition: Partition, plane: Plane, resolution: int) -> Grid:
    """A grid over the domain's box with `resolution` points along its longer side."""
    bare = unlabelled(partition, plane, resolution)
    known = _LABELLED.setdefault(partition, {})
    if (plane, resolution) not in known:
        known[plane, resolution] = partition.label(bare.points()).reshape(bare.label.shape)
    return replace(bare, label=known[plane, resolution])


def unlabelled(partition: Partition, plane: Plane, resolution: int) -> Grid:
    """The same grid with no labels (all are 0): to follow curves, which need its lines only."""
    lower, upper = (np.asarray(end)[list(plane.axes)] for end in partition.bounds)
    lower, upper = lower - MARGIN * (upper - lower).max(), upper + MARGIN * (upper - lower).max()
    step = (upper - lower).max() / (resolution - 1)
    counts = np.maximum(np.round((upper - lower) / step).astype(int) + 1, 8)
    x, y = (np.linspace(lower[k], upper[k], counts[k]) for k in (0, 1))
    return Grid(plane, x, y, np.zeros((len(y), len(x)), int))


# The labels of grids that were drawn: several pictures have the same.
_LABELLED: WeakKeyDictionary[Partition, dict[tuple[Plane, int], np.ndarray]] = WeakKeyDictionary()


def thinned(grid: Grid, most: int) -> Grid:
    """Every second, third, ... point of a grid, so that there are at most about `most` along the longer side."""
    every = -(-max(grid.label.shape) // (most + 1))
    return Grid(grid.plane, grid.x[::every], grid.y[::every], grid.label[::every, ::every])


def on_grid(grid: Grid, function: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Float[np.ndarray, "rows columns"]:
    """function(points, pieces) where the grid is inside the domain, nan elsewhere."""
    inside = grid.label >= 0
    values = np.full(grid.label.shape, np.nan)
    if inside.any():
        values[inside] = function(grid.points(inside), grid.label[inside])
    return values


def outlines(
    partition: Partition, grid: Grid, wanted: Collection[int] | None = None
) -> list[Float[np.ndarray, "rows columns"]]:
    """Level functions whose zero lines are the boundaries of the pieces within the domain; the domain's comes last.

    `wanted` are the numbers of those that are needed, counted in this order.
    """
    last = len(partition.pieces)
    chosen = range(last + 1) if wanted is None else sorted(wanted)
    domain = partition.domain.level(grid.points()).reshape(grid.label.shape)
    return [domain if k == last else np.maximum(_level_near(partition.pieces[k], grid), domain) for k in chosen]


def _level_near(shape: Shape, grid: Grid) -> Float[np.ndarray, "rows columns"]:
    """The level function in and around the shape's box, nan elsewhere: a level function may be costly."""
    near = np.ones(grid.label.shape, bool)
    for axis, values, where in ((0, grid.x, (None, slice(None))), (1, grid.y, (slice(None), None))):
        step = 3 * (values[1] - values[0])
        coordinate = grid.plane.axes[axis]
        low, high = shape.bounds[0][coordinate] - step, shape.bounds[1][coordinate] + step
        near &= ((values >= low) & (values <= high))[where]
    level = np.full(grid.label.shape, np.nan)
    if near.any():
        level[near] = shape.level(grid.points(near))
    return level
