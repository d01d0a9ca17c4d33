"""Level sets of the plane as paths: their zero curves followed on a grid, with corners where curves cross.

Points of the curves are exact, and so are the tangents there; cubic segments between them are off by the fourth power
of the grid's spacing, until the nodes of a mesh are moved onto the level set itself (fitting.py). In a box whose pieces
are level sets and paths the curves end at its sides; elsewhere they go on a little beyond the domain, and OpenCASCADE
cuts them there.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from contourpy import FillType, contour_generator
from jaxtyping import Float

from jumpnet.errors import GeometryError
from jumpnet.geometry import Box, Partition, Path
from jumpnet.geometry.bodies.boolean import Complement, Intersection, Union
from jumpnet.geometry.bodies.levelset import LevelSet
from jumpnet.geometry.shape import Shape

# Cells of the grid along the longest side of the domain: structure below two of them is not seen.
CELLS = 360
# In cells: points of the curves this near to a crossing are replaced by it.
NEAR = 1.2
# Steps to the exact curve, and to a crossing.
HALVINGS, NEWTON = 50, 30
# Relative to the change of phi in a cell: smaller stationary values are zero, so that curves cross there; smaller
# values at nodes mean that the node is on the curve.
ZERO, ON = 1e-9, 1e-8
# Of the domain: the step of differences of the gradient.
STEP = 1e-5
# Of the domain: points nearer to a side are on it; curves that OpenCASCADE will cut go on so far beyond it.
SAME, BEYOND = 1e-9, 0.03

Points = Float[np.ndarray, "n 2"]


class Traced(Path):
    """A level set as a path that goes on beyond the domain, which cuts it."""

    clipped: ClassVar[bool] = True


def drawn(parts: Partition) -> Partition:
    """The partition with its level sets as paths, also those within combinations; the same if there are none."""
    shapes = (parts.domain, *parts.pieces)
    if parts.dim != 2 or not any(map(_has_level_set, shapes)):
        return parts
    if isinstance(parts.domain, Box) and all(isinstance(shape, LevelSet | Path | Box) for shape in parts.pieces):
        plain = [_Contours(shape, parts).path() if isinstance(shape, LevelSet) else shape for shape in parts.pieces]
        return Partition(parts.domain, plain, parts.names)
    domain, *pieces = (_traced(shape, parts) for shape in shapes)
    return Partition(domain, pieces, parts.names)


def _has_level_set(shape: Shape) -> bool:
    if isinstance(shape, Union | Intersection):
        return any(map(_has_level_set, shape.parts))
    return _has_level_set(shape.shape) if isinstance(shape, Complement) else isinstance(shape, LevelSet)


def _traced(shape: Shape, parts: Partition) -> Shape:
    """The shape with paths in place of level sets."""
    if isinstance(shape, Union | Intersection):
        return type(shape)(tuple(_traced(part, parts) for part in shape.parts))
    if isinstance(shape, Complement):
        return Complement(_traced(shape.shape, parts))
    if not isinstance(shape, LevelSet):
        return shape
    if shape is parts.domain:
        return Traced(_Contours(shape, parts).path().loops)
    return Traced(_Contours(_going_on(shape, parts), parts, BEYOND).path().loops)


def _going_on(shape: LevelSet, parts: Partition) -> LevelSet:
    """The same without bounds where those are the domain's: the region goes on there."""
    if shape.corners is None:
        return shape
    far, (lower, upper) = 2 * parts.domain.size, parts.bounds
    below = np.where(shape.bounds[0] <= lower + SAME * far, lower - far, shape.bounds[0])
    above = np.where(shape.bounds[1] >= upper - SAME * far, upper + far, shape.bounds[1])
    return LevelSet(shape.field, bounds=(below, above))


class _Contours:
    """The zero curves of a level set on a grid of the domain's box, and of a part of its size around it."""

    def __init__(self, shape: LevelSet, parts: Partition, beyond: float = 0.0):
        self.shape, self.size = shape, parts.domain.size
        lower, upper = (np.asarray(end, float) for end in parts.bounds)
        self.lower, self.upper = lower - beyond * self.size, upper + beyond * self.size
        counts = np.maximum(np.ceil(CELLS * (self.upper - self.lower) / (self.upper - self.lower).max()), 8).astype(int)
        self.axes = [np.linspace(a, b, n + 1) for a, b, n in zip(self.lower, self.upper, counts, strict=True)]
        self.cell = np.array([axis[1] - axis[0] for axis in self.axes])
        x, y = np.meshgrid(*self.axes)
        places = np.column_stack([x.ravel(), y.ravel()])
        level = shape.level(places).reshape(x.shape)
        wild = ~np.isfinite(level)
        if wild.any() and parts.domain.contains(places[wild.ravel()]).any():
            raise GeometryError("the level function of a piece is not finite everywhere in the domain.")
        level[wild] = 1.0
        self.level = np.where(level == 0.0, np.finfo(float).tiny, level)
        self.slope = np.hypot(*np.gradient(self.level, *self.cell[::-1]))
        self.scale = float(np.median(self.slope)) * float(self.cell.max())  # how much phi changes in a cell
        self.crossings = self._crossings()

    def path(self) -> Path:
        """The region where the level function is negative."""
        bottom = float(self.level.min()) * 2 - 1
        made = contour_generator(self.axes[0], self.axes[1], self.level, name="serial", fill_type=FillType.OuterOffset)
        filled: Any = made.filled(bottom, 0.0)  # points and offsets of rings, by the type asked for
        points, offsets = filled
        loops = []
        for polygon, ends in zip(points, offsets, strict=True):
            for start, stop in pairwise(ends.tolist()):
                loops += [self._segments(ring) for ring in self._rings(np.asarray(polygon[start : stop - 1]))]
        loops = [loop for loop in loops if loop is not None]
        if not loops:
            raise GeometryError("a level set is nowhere negative on a grid of the domain; it is too small or too thin.")
        return Path(loops)

    def _crossings(self) -> Points:
        """Where the zero curves cross: stationary points at which the level function is zero."""
        s = np.sign(self.level)
        saddle = (s[:-1, :-1] == s[1:, 1:]) & (s[:-1, 1:] == s[1:, :-1]) & (s[:-1, :-1] != s[:-1, 1:])
        mixed = np.abs(s[:-1, :-1] + s[1:, 1:] + s[:-1, 1:] + s[1:, :-1]) < 4
        slope = self.slope
        flat = np.minimum.reduce([slope[:-1, :-1], slope[1:, 1:], slope[:-1, 1:], slope[1:, :-1]])
        row, column = np.nonzero(saddle | (mixed & (flat < 0.05 * np.median(slope))))
        x = np.column_stack([self.axes[0][column], self.axes[1][row]]) + self.cell / 2
        start, step = x.copy(), STEP * self.size
        for _ in range(NEWTON if len(x) else 0):
            columns = [(self._gradient(x + step * e) - self._gradient(x - step * e)) / (2 * step) for e in np.eye(2)]
            hessian = np.stack(columns, axis=2)
            det = np.linalg.det(hessian)
            sound = np.abs(det) > 1e-12 * np.abs(hessian).max(axis=(1, 2)) ** 2
            move = np.zeros_like(x)
            move[sound] = np.linalg.solve(hessian[sound], self._gradient(x[sound])[..., None])[..., 0]
            x = x - np.clip(move, -self.cell, self.cell)
        near = np.all(np.abs(x - start) <= 2 * self.cell, axis=1)
        crossed = np.concatenate([x[near], self._touching()])
        crossed = crossed[np.abs(self.shape.level(crossed)) <= ZERO * self.scale] if len(crossed) else crossed
        kept: list[np.ndarray] = []
        for place in crossed:
            if all(np.max(np.abs(place - other) / self.cell) > 0.5 for other in kept):
                kept.append(place)
        return np.array(kept).reshape(-1, 2)

    def _touching(self) -> Points:
        """Where the level function is stationary along a side of the box, and small: curves may touch it there."""
        found = [np.zeros((0, 2))]
        for axis in (0, 1):
            for end, row in ((self.lower, 0), (self.upper, -1)):
                level = np.abs(self.level[row] if axis == 0 else self.level[:, row])
                least = np.flatnonzero((level[1:-1] <= level[:-2]) & (level[1:-1] <= level[2:])) + 1
                x = np.empty((len(least), 2))
                x[:, axis], x[:, 1 - axis] = self.axes[axis][least], end[1 - axis]
                step = STEP * self.size * np.eye(2)[axis]
                for _ in range(NEWTON if len(x) else 0):
                    slope = self._gradient(x)[:, axis]
                    bend = (self._gradient(x + step) - self._gradient(x - step))[:, axis] / (2 * step[axis])
                    move = np.divide(slope, bend, out=np.zeros_like(slope), where=bend != 0)
                    x[:, axis] -= np.clip(move, -self.cell[axis], self.cell[axis])
                start = self.axes[axis][least]
                found.append(x[np.abs(x[:, axis] - start) <= self.cell[axis]])
        return np.concatenate(found)

    def _gradient(self, x: Points) -> Points:
        return np.asarray(self.shape.field.gradient(x), float)

    def _rings(self, ring: Points) -> Iterator[tuple[Points, np.ndarray]]:
        """Closed polygons with exact points, cut where they meet a crossing twice; and which points are crossings."""
        ring = self._exact(ring)
        at = self._at_crossings(ring)
        start = int(np.argmax(at < 0))  # begin away from crossings
        ring, at = np.roll(ring, -start, axis=0), np.roll(at, -start)
        kept = (at < 0) | (at != np.roll(at, 1))
        places = np.where((at >= 0)[:, None], self.crossings[at] if len(self.crossings) else ring, ring)[kept]
        yield from _simple(places, at[kept])

    def _at_crossings(self, x: Points) -> np.ndarray:
        """The crossing that each point is near to, -1 if there is none."""
        if not len(self.crossings):
            return np.full(len(x), -1)
        gap = np.max(np.abs(x[:, None] - self.crossings) / self.cell, axis=2)
        return np.where(gap.min(axis=1) < NEAR, gap.argmin(axis=1), -1)

    def _sides(self, x: Points) -> np.ndarray:
        """Which coordinates of points are those of a side of the box."""
        near = SAME * self.size
        return (np.abs(x - self.lower) < near) | (np.abs(x - self.upper) < near)

    def _exact(self, ring: Points) -> Points:
        """A polygon along the grid: points between nodes moved onto the curve, nodes left out but for corners."""
        place = (ring - self.lower) / self.cell
        off = np.abs(place - np.round(place))
        between = off.max(axis=1) > 1e-9
        corner = np.all(
            (np.abs(ring - self.lower) < 1e-9 * self.size) | (np.abs(ring - self.upper) < 1e-9 * self.size), 1
        )
        on = np.abs(self.shape.level(ring)) <= ON * self.scale
        kept = between | corner | on | (self._at_crossings(ring) >= 0)
        ring, place, off, between = ring[kept], place[kept], off[kept], between[kept]
        along, rows = np.argmax(off, axis=1), np.arange(len(ring))
        low, high = place.copy(), place.copy()
        low[rows, along], high[rows, along] = np.floor(place[rows, along]), np.floor(place[rows, along]) + 1
        low, high = self.lower + self.cell * low, self.lower + self.cell * high
        turned = self.shape.level(low) > 0
        low[turned], high[turned] = high[turned], low[turned].copy()
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            inside = self.shape.level(middle) < 0
            low[inside], high[~inside] = middle[inside], middle[~inside]
        return np.where(between[:, None], (low + high) / 2, ring)

    def _even(self, x: Points, at: np.ndarray) -> tuple[Points, np.ndarray]:
        """The same with points at even distances between corners: what is made of them shall be smooth."""
        fixed = np.flatnonzero((at >= 0) | self._sides(x).any(axis=1))
        if not len(fixed):
            fixed = np.zeros(1, int)
        places, numbers = [], []
        for start, stop in zip(fixed, np.r_[fixed[1:], fixed[0] + len(x)], strict=True):
            run = x[np.arange(start, stop + 1) % len(x)]
            arc = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(run, axis=0), axis=1))]
            count = max(int(np.ceil(arc[-1] / self.cell.max())), 2) if len(run) > 2 else 1
            t = np.linspace(0.0, arc[-1], count + 1)[:-1]
            new = np.column_stack([np.interp(t, arc, run[:, k]) for k in (0, 1)])
            new[1:] = self._onto(new[1:])
            places.append(new)
            numbers.append(np.r_[at[start], np.full(count - 1, -1)])
        return np.concatenate(places), np.concatenate(numbers)

    def _onto(self, x: Points) -> Points:
        """Points near the curve moved onto it along the gradient; as they are where that leads away."""
        found = x.copy()
        for _ in range(6):
            slope = self._gradient(found)
            square = np.sum(slope**2, axis=1)
            found = found - (self.shape.level(found) / np.where(square > 0, square, np.inf))[:, None] * slope
        good = np.all(np.isfinite(found) & (np.abs(found - x) < 0.5 * self.cell), axis=1)
        return np.where(good[:, None], np.clip(found, self.lower, self.upper), x)

    def _segments(self, ring: tuple[Points, np.ndarray]) -> Points | None:
        """A closed polygon as cubic segments, straight along the sides of the box."""
        x, at = ring
        chord = np.roll(x, -1, axis=0) - x
        length = np.linalg.norm(chord, axis=1)
        apart = length > 1e-6 * self.cell.min()
        x, at = self._even(x[apart], at[apart])
        if len(x) < 3:
            return None
        chord = np.roll(x, -1, axis=0) - x
        length = np.linalg.norm(chord, axis=1, keepdims=True)
        middle = x + chord / 2
        straight = np.any((np.abs(chord) < SAME * self.size) & self._sides(middle), axis=1)
        normal = self.shape.normal(np.where((at >= 0)[:, None], middle, x))
        tangent = np.stack([-normal[:, 1], normal[:, 0]], axis=1)
        unit = chord / length
        first = _ahead(tangent, unit)
        last = _ahead(np.roll(tangent, -1, axis=0), unit)
        sharp, after = at >= 0, np.roll(at, -1) >= 0
        both = sharp & after
        first = np.where((sharp & ~both)[:, None], 2 * unit - last, first)  # the direction of a parabola
        last = np.where((after & ~both)[:, None], 2 * unit - first, last)
        plain = (straight | both | ~np.isfinite(first + last).all(axis=1))[:, None]
        one = x + np.where(plain, chord, first * length) / 3
        two = x + chord - np.where(plain, chord, last * length) / 3
        return np.stack([x, one, two], axis=1).reshape(-1, 2)


def _ahead(tangent: Points, along: Points) -> Points:
    """Tangents with the sign that leads along a direction."""
    return tangent * np.where(np.sum(tangent * along, axis=1, keepdims=True) < 0, -1.0, 1.0)


def _simple(x: Points, at: np.ndarray) -> Iterator[tuple[Points, np.ndarray]]:
    """Closed polygons that meet no crossing twice: a polygon is cut in two where it does."""
    seen: dict[int, int] = {}
    for k, which in enumerate(at.tolist()):
        if which >= 0 and which in seen:
            first = seen[which]
            yield from _simple(x[first:k], at[first:k])
            yield from _simple(np.concatenate([x[:first], x[k:]]), np.concatenate([at[:first], at[k:]]))
            return
        if which >= 0:
            seen[which] = k
    if len(x) > 2:
        yield x, at
