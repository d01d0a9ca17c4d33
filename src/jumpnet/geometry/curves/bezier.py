"""Closed paths of cubic Bézier segments: the common form of polygons, splines, drawings and outlines in images.

The segments of all loops stand in one table, and the parameter t runs through it: segment floor(t) at t - floor(t).
Loops run with the region on their left. Where two segments meet at an angle there is a corner; what lies between two
corners is an arc, along which Newton's method may walk from one segment to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.curves.arc import CUSP
from jumpnet.geometry.curves.closest_point import Feet, Finder, feet_at, newton_step
from jumpnet.geometry.curves.outline import Outline

if TYPE_CHECKING:
    from scipy.spatial import KDTree

CORNER = 1e-5
"""Segments that meet at a larger angle (radians) meet in a corner; splines meet at about 1e-12."""
TURN = 0.1
"""The tangent turns by at most this along a chord of the fine polygons (radians)."""
CHORDS = 1024
"""Chords of a straight-sided region; none is longer than the perimeter over this."""
ROUNDING = 1e-12
"""A closest point counts as a corner within this distance of one, in parts of a segment."""
FINER = 8
"""Points per chord in the test whether a point is near: far points need no Newton's method."""
CANDIDATES = 8
"""The number of nearest midpoints whose chords are examined."""


def line(a: Floats, b: Floats) -> Floats:
    """Straight segments (n, 4, 2) from points a to points b."""
    return np.stack([a, a + (b - a) / 3.0, b - (b - a) / 3.0, b], axis=1)


def area(loop: Floats) -> float:
    """The signed area of a closed loop, positive if it runs counter-clockwise; exact for cubics."""
    t, w = np.polynomial.legendre.leggauss(3)
    a = _powers(loop)
    total = 0.0
    for u, weight in zip(0.5 * (t + 1.0), 0.5 * w, strict=True):
        x, v = _horner(a, u, 0), _horner(a, u, 1)
        total += 0.5 * weight * np.sum(x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0])
    return float(total)


def sampled(segments: Floats, u: Floats) -> Floats:
    """Points (n, k, 2) of segments (n, 4, 2) at parameters u (k,); ends are met exactly."""
    x = np.stack([_horner(_powers(segments), value, 0) for value in u], axis=1)
    x[:, u == 0.0], x[:, u == 1.0] = segments[:, :1], segments[:, 3:]
    return x


def turned(loop: Floats) -> Floats:
    """A loop run through the other way."""
    return loop[::-1, ::-1]


def starting_at_a_corner(loop: Floats) -> Floats:
    """The loop, begun at its first corner if it has one."""
    corners = np.flatnonzero(_corners(loop))
    return np.roll(loop, -int(corners[0]), axis=0) if len(corners) else loop


def _corners(loop: Floats) -> np.ndarray:
    """Whether there is a corner at the start of each segment (also where a segment's own speed vanishes)."""
    start, end = loop[:, 1] - loop[:, 0], np.roll(loop[:, 3] - loop[:, 2], 1, axis=0)
    cross = start[:, 0] * end[:, 1] - start[:, 1] * end[:, 0]
    with np.errstate(invalid="ignore"):
        angle = np.abs(np.arctan2(cross, np.sum(start * end, axis=1)))
    still = (np.linalg.norm(start, axis=1) == 0.0) | (np.linalg.norm(end, axis=1) == 0.0)
    return still | (angle > CORNER)


def _powers(segments: Floats) -> Floats:
    """Coefficients (4, n, 2) of 1, u, u^2, u^3."""
    p0, p1, p2, p3 = segments.transpose(1, 0, 2)
    return np.stack([p0, 3.0 * (p1 - p0), 3.0 * (p2 - 2.0 * p1 + p0), p3 - 3.0 * p2 + 3.0 * p1 - p0])


def _horner(a: Floats, u: Floats | float, derivative: int) -> Floats:
    """Values or derivatives with respect to u."""
    u = np.asarray(u)[..., None]
    if derivative == 0:
        return a[0] + u * (a[1] + u * (a[2] + u * a[3]))
    if derivative == 1:
        return a[1] + u * (2.0 * a[2] + u * 3.0 * a[3])
    return 2.0 * a[2] + u * 6.0 * a[3]


@dataclass(frozen=True, eq=False)
class Chords:
    """Pieces of segments: their ends (m, 2) on the curve, and the parameters t at which they begin and end."""

    a: Floats
    b: Floats
    start: Floats
    end: Floats


@dataclass(frozen=True, eq=False)
class Loops:
    """Closed loops (m, 4, 2), each with the region on its left, starting at a corner if there is one."""

    loops: tuple[Floats, ...]

    @cached_property
    def segments(self) -> Floats:
        """All segments (n, 4, 2)."""
        return np.concatenate(self.loops)

    @cached_property
    def starts(self) -> np.ndarray:
        """The first segment of each loop, and the number of segments at the end."""
        return np.concatenate([[0], np.cumsum([len(loop) for loop in self.loops])])

    @cached_property
    def _coefficients(self) -> Floats:
        return _powers(self.segments)

    @cached_property
    def _arcs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For each segment: where its arc begins and ends, and whether the arc is a whole loop without corners."""
        low, high, closed = (np.empty(len(self.segments), dtype=int) for _ in range(3))
        for loop, start in zip(self.loops, self.starts, strict=False):
            corners = np.flatnonzero(_corners(loop))
            inner = slice(start, start + len(loop))
            closed[inner] = len(corners) == 0
            ends = np.append(corners, len(loop)) if len(corners) else np.array([0, len(loop)])
            arc = np.searchsorted(ends, np.arange(len(loop)), side="right")
            low[inner], high[inner] = start + ends[arc - 1], start + ends[arc]
        return low, high, closed.astype(bool)

    def _at(self, t: Floats, derivative: int, of: np.ndarray | None = None) -> Floats:
        """Values at t; at a corner, of the segments whose arcs `of` stand in."""
        k = np.clip(np.floor(t).astype(int), 0, len(self.segments) - 1)
        if of is not None:
            low, high, _ = self._arcs
            k = np.clip(k, low[of], high[of] - 1)
        return _horner(self._coefficients[:, k], t - k, derivative)

    def position(self, t: Floats) -> Floats:
        """Points (n, 2)."""
        return self._at(t, 0)

    def velocity(self, t: Floats) -> Floats:
        """Derivatives with respect to t (n, 2)."""
        return self._at(t, 1)

    @cached_property
    def nodes(self) -> tuple[Floats, ...]:
        """For each loop, parameters between which its tangent turns little, all joints of segments among them."""
        legs = np.linalg.norm(np.diff(self.segments, axis=1), axis=2).sum(axis=1)
        d = np.diff(self.segments, axis=1)
        cross = d[:, :-1, 0] * d[:, 1:, 1] - d[:, :-1, 1] * d[:, 1:, 0]
        turning = np.abs(np.arctan2(cross, np.sum(d[:, :-1] * d[:, 1:], axis=2))).sum(axis=1)
        counts = np.ceil(np.maximum(turning / TURN, CHORDS * legs / legs.sum())).astype(int)
        counts = np.clip(counts, 1, 4 * CHORDS)
        nodes = []
        for first, last in zip(self.starts[:-1], self.starts[1:], strict=True):
            parts = [k + np.arange(counts[k]) / counts[k] for k in range(first, last)]
            nodes.append(np.concatenate([*parts, [float(last)]]))
        return tuple(nodes)

    @cached_property
    def chords(self) -> Chords:
        """The edges of the fine polygons."""
        start, end = (np.concatenate([t[part] for t in self.nodes]) for part in (slice(None, -1), slice(1, None)))
        rings = self.outline.rings
        a, b = (np.concatenate([ring[part] for ring in rings]) for part in (slice(None, -1), slice(1, None)))
        return Chords(a, b, start, end)

    @cached_property
    def outline(self) -> Outline:
        """The fine polygons."""
        rings = []
        for t in self.nodes:
            ring = self.position(t[:-1])
            rings.append(np.concatenate([ring, ring[:1]]))
        return Outline(tuple(rings))

    @cached_property
    def bounds(self) -> Bounds:
        """The tight box: ends of segments and the zeros of their derivatives."""
        a = self._coefficients
        qa, qb, qc = 3.0 * a[3], 2.0 * a[2], a[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(np.maximum(qb * qb - 4.0 * qa * qc, 0.0))
            q = -0.5 * (qb + np.where(qb < 0.0, -root, root))
            extremes = [q / qa, qc / q]
        x = [self.segments[:, 0]]
        for u in extremes:  # one parameter for each coordinate
            u = np.clip(np.where(np.isfinite(u), u, 0.0), 0.0, 1.0)
            x.append(a[0] + u * (a[1] + u * (a[2] + u * a[3])))
        return np.min(np.concatenate(x), axis=0), np.max(np.concatenate(x), axis=0)


@dataclass(frozen=True, eq=False)
class PathFinder(Finder):
    """The boundary is a set of loops. Far from it (many chords away) distances are right to about a percent."""

    loops: Loops

    @cached_property
    def tree(self) -> KDTree:  # pyright: ignore[reportIncompatibleMethodOverride]
        from scipy.spatial import KDTree

        share = (np.arange(FINER) + 0.5) / FINER
        chords = self.loops.chords
        return KDTree((chords.a[:, None] + share[:, None] * (chords.b - chords.a)[:, None]).reshape(-1, 2))

    @cached_property
    def band(self) -> float:
        """A quarter of the longest chord: a chord that turns by TURN strays by a thirtieth of it at most."""
        return super().band / FINER

    @cached_property
    def _tree(self) -> KDTree:
        from scipy.spatial import KDTree

        return KDTree(0.5 * (self.loops.chords.a + self.loops.chords.b))

    @cached_property
    def _slowest(self) -> float:
        return CUSP * float(np.linalg.norm(self.loops.velocity(self.loops.chords.start), axis=1).max())

    def _nearest(self, x: Floats) -> tuple[np.ndarray, Floats]:
        """The nearest chord of each point and the parameter of the nearest point of it."""
        chords = self.loops.chords
        count = min(CANDIDATES, len(chords.a))
        k = np.asarray(self._tree.query(x, k=count)[1]).reshape(len(x), count)
        edge = chords.b[k] - chords.a[k]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.sum((x[:, None] - chords.a[k]) * edge, axis=2) / np.sum(edge * edge, axis=2)
        share = np.clip(np.nan_to_num(share), 0.0, 1.0)
        gap = np.linalg.norm(chords.a[k] + share[..., None] * edge - x[:, None], axis=2)
        best = np.argmin(gap, axis=1)[:, None]
        k, share = np.take_along_axis(k, best, 1)[:, 0], np.take_along_axis(share, best, 1)[:, 0]
        return k, chords.start[k] + share * (chords.end[k] - chords.start[k])

    def feet(self, x: Floats) -> Feet:
        """Newton's method from the nearest point of the polygons, within the arc (round and round without corners)."""
        loops, chords = self.loops, self.loops.chords
        k, t = self._nearest(x)
        of = np.minimum(chords.start[k].astype(int), len(loops.segments) - 1)
        width = chords.end[k] - chords.start[k]
        low, high, closed = (values[of] for values in loops._arcs)
        for _ in range(8):
            gap, v, acceleration = loops._at(t, 0, of) - x, loops._at(t, 1, of), loops._at(t, 2, of)
            moved = t - np.clip(newton_step(gap, v, acceleration), -width, width)
            round_ = low + np.mod(moved - low, high - low)
            moved = np.where(closed, round_, np.clip(moved, low, high))
            settled = np.all(np.abs(moved - t) <= 1e-15 * len(loops.segments))
            t = moved
            if settled:
                break
        offset, v = x - loops._at(t, 0, of), loops._at(t, 1, of)
        rounding = 1e-13 * float(np.abs(loops.segments).max())
        feet = feet_at(offset, v, self._slowest, rounding)
        corner = ~closed & ((t <= low + ROUNDING) | (t >= high - ROUNDING))
        return Feet(feet.offset, feet.normal, feet.smooth & ~corner)


def loops_of(loops: Sequence[Floats]) -> Loops:
    """Loops in standard form: the region inside an odd number of them is on their left, and they begin at a corner."""
    polygons = Loops(tuple(loops)).outline.rings
    middles = np.array([0.5 * (ring[0] + ring[1]) for ring in polygons])
    around = np.array([Outline((ring,)).contains(middles) for ring in polygons])
    np.fill_diagonal(around, False)
    holes = around.sum(axis=0) % 2 == 1
    turned_right = [
        turned(loop) if (area(loop) > 0.0) == hole else loop for loop, hole in zip(loops, holes, strict=True)
    ]
    return Loops(tuple(starting_at_a_corner(loop) for loop in turned_right))
