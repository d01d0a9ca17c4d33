"""Regions with flat sides: Interval, Box, HalfSpace."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from jumpnet.errors import GeometryError
from jumpnet.geometry import checks
from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.patches import FacePatch, PlanePatch, PointPatch
from jumpnet.geometry.shape import Patch, Shape


@dataclass(frozen=True)
class Interval(Shape):
    """The open interval (a, b) of the line.

    Args:
        a: Its left end.
        b: Its right end.

    Example:
        >>> import jumpnet as jn
        >>> jn.Partition(jn.Interval(0, 3), [jn.Interval(1, 2)]).size
        2
    """

    a: float
    b: float
    connected: ClassVar[bool] = False

    def __post_init__(self) -> None:
        a, b = (
            checks.number(self.a, "the start of an Interval"),
            checks.number(self.b, "the end of an Interval"),
        )
        if a >= b:
            raise GeometryError(f"Interval({a:g}, {b:g}) is empty; its start must lie below its end.")
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "b", b)

    @property
    def dim(self) -> int:
        return 1

    @property
    def bounds(self) -> Bounds:
        return np.array([self.a]), np.array([self.b])

    @property
    def center(self) -> tuple[float, ...]:
        """The midpoint."""
        return (0.5 * (self.a + self.b),)

    @property
    def volume(self) -> float:
        return self.b - self.a

    def level(self, x: ArrayLike) -> Floats:
        t = checks.points(x, 1)[:, 0]
        return np.maximum(self.a - t, t - self.b)

    def normal(self, x: ArrayLike) -> Floats:
        middle = self.center[0]
        return np.where(checks.points(x, 1) < middle, -1.0, 1.0)

    def patches(self, within: Bounds | None = None) -> tuple[Patch, ...]:
        return PointPatch(self.a, -1.0), PointPatch(self.b, 1.0)

    def spec(self) -> dict[str, Any]:
        return {"shape": "interval", "a": self.a, "b": self.b}


@dataclass(frozen=True)
class Box(Shape):
    """The box between two corners, in any dimension.

    Args:
        lower: The corner with the smallest coordinates.
        upper: The corner with the largest.

    Example:
        >>> import jumpnet as jn
        >>> jn.Partition(jn.Box((0, 0), (2, 1))).measure(0)
        2.0
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]

    def __post_init__(self) -> None:
        lower, upper = checks.box((self.lower, self.upper), "a Box")
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    @property
    def dim(self) -> int:
        return len(self.lower)

    @property
    def bounds(self) -> Bounds:
        return self._bounds

    @cached_property
    def _bounds(self) -> Bounds:
        return np.array(self.lower), np.array(self.upper)

    @property
    def center(self) -> tuple[float, ...]:
        """The midpoint."""
        return tuple(0.5 * (a + b) for a, b in zip(self.lower, self.upper, strict=True))

    @property
    def volume(self) -> float:
        return float(np.prod(self.bounds[1] - self.bounds[0]))

    def level(self, x: ArrayLike) -> Floats:
        x = checks.points(x, self.dim)
        lower, upper = self.bounds
        result = np.maximum(lower[0] - x[:, 0], x[:, 0] - upper[0])
        for k in range(1, self.dim):
            np.maximum(result, np.maximum(lower[k] - x[:, k], x[:, k] - upper[k]), out=result)
        return result

    def normal(self, x: ArrayLike) -> Floats:
        x = checks.points(x, self.dim)
        lower, upper = self.bounds
        gaps = np.concatenate([lower - x, x - upper], axis=1)
        face = np.argmax(gaps, axis=1)
        rows = np.arange(len(x))
        normals = np.zeros_like(x)
        normals[rows, face % self.dim] = np.where(face < self.dim, -1.0, 1.0)
        second = np.partition(gaps, -2, axis=1)[:, -2] if self.dim > 1 else np.full(len(x), -np.inf)
        normals[gaps[rows, face] - second <= 1e-12 * self.size] = np.nan  # an edge or a corner
        return normals

    def patches(self, within: Bounds | None = None) -> tuple[Patch, ...]:
        lower, upper = self.bounds
        if self.dim == 1:
            return PointPatch(lower[0], -1.0), PointPatch(upper[0], 1.0)
        return tuple(FacePatch(lower, upper, axis, side) for axis in range(self.dim) for side in (-1, 1))

    def spec(self) -> dict[str, Any]:
        return {"shape": "box", "lower": list(self.lower), "upper": list(self.upper)}


@dataclass(frozen=True)
class HalfSpace(Shape):
    """The half-space {normal . x < offset}; a partition cuts it off at its domain.

    Args:
        normal: A vector that points out of it, of any length.
        offset: The value of normal . x on its boundary.

    Example:
        >>> import jumpnet as jn
        >>> parts = jn.Partition(jn.Box((0, 0), (1, 1)), [jn.HalfSpace((1, 0), 0.25)])
        >>> parts.label([[0.1, 0.5], [0.9, 0.5]]).tolist()
        [1, 0]
    """

    direction: tuple[float, ...]
    offset: float
    clipped: ClassVar[bool] = True

    def __init__(self, normal: ArrayLike, offset: float) -> None:
        direction = checks.vector(normal, "the normal of a HalfSpace")
        if not any(direction):
            raise GeometryError("the normal of a HalfSpace is zero; give the direction in which the region ends.")
        object.__setattr__(self, "direction", direction)
        object.__setattr__(self, "offset", checks.number(offset, "the offset of a HalfSpace"))

    @property
    def dim(self) -> int:
        return len(self.direction)

    @cached_property
    def unit(self) -> Floats:
        """The outward unit normal (d,)."""
        n = np.array(self.direction)
        return n / np.linalg.norm(n)

    @property
    def bounds(self) -> Bounds:
        return self._bounds

    @cached_property
    def _bounds(self) -> Bounds:
        lower, upper = np.full(self.dim, -np.inf), np.full(self.dim, np.inf)
        used = np.flatnonzero(self.unit)
        if len(used) == 1:  # parallel to a coordinate plane
            k = used[0]
            (upper if self.unit[k] > 0 else lower)[k] = self.offset / self.direction[k]
        return lower, upper

    def level(self, x: ArrayLike) -> Floats:
        return checks.points(x, self.dim) @ self.unit - self.offset / float(np.linalg.norm(self.direction))

    def normal(self, x: ArrayLike) -> Floats:
        return np.broadcast_to(self.unit, checks.points(x, self.dim).shape).copy()

    def patches(self, within: Bounds | None = None) -> tuple[Patch, ...]:
        if within is None:
            raise GeometryError(
                "the boundary of a HalfSpace has no end; use it as a piece of a Partition, which cuts it, "
                "or cut it yourself, `half_space & box`."
            )
        offset = self.offset / float(np.linalg.norm(self.direction))
        if self.dim == 1:
            return (PointPatch(offset * self.unit[0], self.unit[0]),)
        plane = PlanePatch(self.unit, offset, within)
        return (plane,) if plane.measure > 0.0 else ()

    def spec(self) -> dict[str, Any]:
        return {"shape": "half-space", "normal": list(self.direction), "offset": self.offset}
