"""Plane regions inside closed paths: Path, of cubic Bézier segments, and Polygon, of straight ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jumpnet.errors import GeometryError
from jumpnet.geometry import checks
from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.curves import bezier
from jumpnet.geometry.curves.arc import ArcPatch
from jumpnet.geometry.curves.bezier import Loops, PathFinder
from jumpnet.geometry.curves.closest_point import Outlined
from jumpnet.geometry.curves.outline import crossing
from jumpnet.geometry.shape import Patch

MOST_SEGMENTS = 200_000
"""More segments than this are refused as a probable mistake."""
Loop = tuple[tuple[float, float], ...]


@dataclass(frozen=True, init=False)
class Path(Outlined):
    """The region inside closed paths of cubic Bézier segments; a path inside another cuts a hole (even-odd rule).

    Args:
        loops: Lists of points, one for each closed path: start, control, control, start of the next segment, control,
            control, and so on; the last segment leads back to the first point.

    Example:
        >>> import jumpnet as jn
        >>> leaf = jn.Path([[(-0.5, 0), (-0.2, 0.4), (0.2, 0.4), (0.5, 0), (0.2, -0.4), (-0.2, -0.4)]])
        >>> jn.Partition(jn.Box((-1, -1), (1, 1)), [leaf]).label([[0.0, 0.0]]).tolist()
        [1]
    """

    loops: tuple[Loop, ...]
    curves: Loops = field(repr=False, compare=False)

    def __init__(self, loops: Sequence[ArrayLike]) -> None:
        arrays = [_segments(loop) for loop in loops]
        if not arrays:
            raise GeometryError("a Path needs at least one closed loop of points.")
        if sum(len(loop) for loop in arrays) > MOST_SEGMENTS:
            raise GeometryError(f"a Path may have at most {MOST_SEGMENTS} segments; simplify it first.")
        found = bezier.loops_of(arrays)
        object.__setattr__(self, "loops", tuple(_stored(loop) for loop in found.loops))
        object.__setattr__(self, "curves", found)
        crossed = crossing(found.chords.a, found.chords.b)
        if crossed is not None:
            x = found.chords.a[crossed[0]]
            raise GeometryError(
                f"a path crosses itself or another one near ({x[0]:.6g}, {x[1]:.6g}); "
                "a region needs closed paths that do not cross: split it into several."
            )
        if self.volume <= 1e-12 * self.size**2:
            raise GeometryError("a Path encloses no area; give the points of a closed outline in order.")

    def __repr__(self) -> str:
        return f"Path({len(self.loops)} loops, {len(self.curves.segments)} segments)"

    @cached_property
    def _finder(self) -> PathFinder:
        return PathFinder(self.curves.outline, self.curves)

    @property
    def connected(self) -> bool:  # type: ignore[override]
        return len(self.loops) == 1

    @property
    def dim(self) -> int:
        return 2

    @property
    def bounds(self) -> Bounds:
        return self.curves.bounds

    @property
    def volume(self) -> float:
        return self._area

    @cached_property
    def _area(self) -> float:
        return sum(bezier.area(loop) for loop in self.curves.loops)

    def patches(self, within: Bounds | None = None) -> tuple[Patch, ...]:
        return tuple(ArcPatch(self.curves, nodes) for nodes in self.curves.nodes)

    def spec(self) -> dict[str, Any]:
        return {"shape": "path", "loops": [[list(point) for point in loop] for loop in self.loops]}


def Polygon(vertices: ArrayLike, holes: Sequence[ArrayLike] = ()) -> Path:
    """The region inside a polygon, less polygonal holes.

    Args:
        vertices: Three or more points in order; the last side leads back to the first.
        holes: Lists of vertices.

    Returns:
        The shape, a `Path` of straight segments.

    Example:
        >>> import jumpnet as jn
        >>> triangle = jn.Polygon([(0, 0), (1, 0), (0, 1)])
        >>> round(jn.Partition(triangle).measure(0), 9)
        0.5
    """
    return Path([polygon_loop(ring) for ring in (vertices, *holes)])


def _points(points: object, what: str) -> Floats:
    try:
        array = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty((0, 2))
    if array.ndim != 2 or array.shape[1] != 2 or len(array) < 3:
        raise GeometryError(f"{what} must be a list of at least three points (x, y).")
    if not np.all(np.isfinite(array)):
        raise GeometryError(f"{what} must hold finite numbers.")
    if float(np.ptp(array, axis=0).max()) == 0.0:
        raise GeometryError(f"{what} are all the same point.")
    checks.sizes((array.min(axis=0), array.max(axis=0)), "an outline")
    return array


def ring(points: object, what: str) -> Floats:
    """Points (n, 2) of a closed outline, without repetitions of one after the other or of the first at the end."""
    array = _points(points, what)
    apart = np.any(array != np.roll(array, 1, axis=0), axis=1)
    if apart.sum() < 3:
        raise GeometryError(f"{what} must hold at least three different points.")
    return array[apart]


def polygon_loop(vertices: object) -> Floats:
    """The loop of a Path with straight segments between vertices."""
    x = ring(vertices, "the vertices of a Polygon")
    return bezier.line(x, np.roll(x, -1, axis=0))[:, :3].reshape(-1, 2)


def _segments(loop: object) -> Floats:
    """The segments (m, 4, 2) of a loop given by its points; segments of no length are dropped."""
    x = _points(loop, "a loop of a Path")
    if len(x) % 3:
        raise GeometryError(
            f"a loop of a Path must hold three points for each segment (start, control, control), not {len(x)} points."
        )
    x = x.reshape(-1, 3, 2)
    segments = np.concatenate([x, np.roll(x[:, :1], -1, axis=0)], axis=1)
    return segments[np.any(segments != segments[:, :1], axis=(1, 2))]


def _stored(loop: Floats) -> Loop:
    return tuple((x, y) for x, y in loop[:, :3].reshape(-1, 2).tolist())
