"""Ball, Ellipsoid, Superquadric and their names in the plane: Disk, Ellipse, Superellipse."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import gamma, pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jumpnet.errors import GeometryError
from jumpnet.geometry import checks
from jumpnet.geometry.bodies.normball import NormBall, SpherePatch, norm
from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.shape import Patch, Shape


class _Quadric(Shape):
    """A shape about a centre that linear coordinates map to the unit ball of a norm (`_kernel`)."""

    center: tuple[float, ...]
    _kernel: cached_property[NormBall]
    _bounds: cached_property[Bounds]

    @property
    def dim(self) -> int:
        return len(self.center)

    @property
    def bounds(self) -> Bounds:
        return self._bounds

    def level(self, x: ArrayLike) -> Floats:
        return self._kernel.level(checks.points(x, self.dim))

    def normal(self, x: ArrayLike) -> Floats:
        return self._kernel.normal(checks.points(x, self.dim))

    def patches(self, within: Bounds | None = None) -> tuple[Patch, ...]:
        return self._kernel.patches()


@dataclass(frozen=True)
class Ball(_Quadric):
    """The ball of a centre and a radius in any dimension; `Disk` is the same in the plane.

    Args:
        center: The coordinates of the centre.
        radius: A positive number.

    Example:
        >>> import jumpnet as jn
        >>> jn.Ball((0, 0, 0), 0.5).dim, jn.Disk((0, 0), 0.5).dim
        (3, 2)
    """

    center: tuple[float, ...]
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", checks.vector(self.center, "the centre of a Disk or Ball"))
        object.__setattr__(self, "radius", checks.positive(self.radius, "the radius of a Disk or Ball"))

    @cached_property
    def _kernel(self) -> NormBall:
        eye = np.eye(self.dim)
        return NormBall(np.array(self.center), eye / self.radius, eye * self.radius, 2.0, self.radius)

    @cached_property
    def _bounds(self) -> Bounds:
        return np.array(self.center) - self.radius, np.array(self.center) + self.radius

    @property
    def volume(self) -> float:
        return pi ** (self.dim / 2) / gamma(self.dim / 2 + 1) * self.radius**self.dim

    def level(self, x: ArrayLike) -> Floats:
        return norm(checks.points(x, self.dim) - self._kernel.center, 2.0) - self.radius

    def patches(self, within: Bounds | None = None) -> tuple[Patch, ...]:
        if self.dim > 1:
            return (SpherePatch(np.array(self.center), self.radius),)
        return self._kernel.patches()

    def spec(self) -> dict[str, Any]:
        return {"shape": "ball", "center": list(self.center), "radius": self.radius}


Disk = Ball


@dataclass(frozen=True)
class Ellipsoid(_Quadric):
    """The ellipsoid of half-axes `axes`, in any dimension.

    Args:
        center: The coordinates of the centre.
        axes: The half-axes, as many.
        rotation: An orthogonal matrix; its column k is the direction of axis k. None: along the coordinates.

    Example:
        >>> import jumpnet as jn
        >>> jn.Ellipsoid((0, 0, 0), (0.6, 0.4, 0.3)).dim
        3
    """

    center: tuple[float, ...]
    axes: tuple[float, ...]
    rotation: tuple[tuple[float, ...], ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", checks.vector(self.center, "the centre of an Ellipse or Ellipsoid"))
        axes = checks.lengths(self.axes, len(self.center), "the half-axes of an Ellipse or Ellipsoid")
        object.__setattr__(self, "axes", axes)
        if self.rotation is not None:
            object.__setattr__(self, "rotation", _orthogonal(self.rotation, self.dim))

    @cached_property
    def _kernel(self) -> NormBall:
        turn = np.eye(self.dim) if self.rotation is None else np.array(self.rotation)
        axes = np.array(self.axes)
        return NormBall(np.array(self.center), turn.T / axes[:, None], turn * axes, 2.0, min(self.axes))

    @cached_property
    def _bounds(self) -> Bounds:
        reach = np.linalg.norm(self._kernel.inverse, axis=1)
        return np.array(self.center) - reach, np.array(self.center) + reach

    @property
    def volume(self) -> float:
        return pi ** (self.dim / 2) / gamma(self.dim / 2 + 1) * float(np.prod(self.axes))

    def spec(self) -> dict[str, Any]:
        rotation = None if self.rotation is None else [list(row) for row in self.rotation]
        return {
            "shape": "ellipsoid",
            "center": list(self.center),
            "axes": list(self.axes),
            "rotation": rotation,
        }


def Ellipse(center: ArrayLike, axes: ArrayLike, angle: float = 0.0) -> Ellipsoid:
    """The ellipse of half-axes `axes` in the plane, turned counter-clockwise by `angle`.

    Args:
        center: Its two coordinates.
        axes: The two half-axes.
        angle: In radians.

    Returns:
        The shape, an `Ellipsoid` of two dimensions.

    Example:
        >>> import jumpnet as jn
        >>> jn.Ellipse((0, 0), (0.6, 0.3), angle=0.5).dim
        2
    """
    middle = checks.vector(center, "the centre of an Ellipse")
    if len(middle) != 2:
        raise GeometryError(f"the centre of an Ellipse must hold 2 numbers, not {len(middle)}; use Ellipsoid.")
    c, s = np.cos(checks.number(angle, "the angle of an Ellipse")), np.sin(angle)
    return Ellipsoid(middle, axes, ((c, -s), (s, c)) if angle else None)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Superquadric(_Quadric):
    """{sum |(x_i - c_i)/a_i|^power < 1} in any dimension; `Superellipse` is the same in the plane.

    Args:
        center: The coordinates c of the centre.
        axes: The half-axes a, as many, or one for all.
        power: At least one; two is an ellipsoid, more is nearer to a box.

    Example:
        >>> import jumpnet as jn
        >>> jn.Superellipse((0, 0), (0.5, 0.4), 4).dim
        2
    """

    center: tuple[float, ...] = (0.0, 0.0)
    axes: tuple[float, ...] = (1.0,)
    power: float = 4.0

    def __post_init__(self) -> None:
        name = "Superellipse or Superquadric"
        object.__setattr__(self, "center", checks.vector(self.center, f"the centre of a {name}"))
        axes = checks.lengths(self.axes, len(self.center), f"the half-axes of a {name}")
        object.__setattr__(self, "axes", axes)
        power = checks.number(self.power, f"the power of a {name}")
        if not 1.0 <= power <= 1000.0:
            raise GeometryError(f"the power of a {name} must lie between 1 and 1000, not {power:g}.")
        object.__setattr__(self, "power", power)

    @cached_property
    def _kernel(self) -> NormBall:
        axes = np.array(self.axes)
        return NormBall(np.array(self.center), np.diag(1.0 / axes), np.diag(axes), self.power, min(self.axes))

    @cached_property
    def _bounds(self) -> Bounds:
        return np.array(self.center) - self.axes, np.array(self.center) + self.axes

    @property
    def volume(self) -> float:
        corner = (2.0 * gamma(1.0 + 1.0 / self.power)) ** self.dim / gamma(1.0 + self.dim / self.power)
        return corner * float(np.prod(self.axes))

    def spec(self) -> dict[str, Any]:
        return {
            "shape": "superquadric",
            "center": list(self.center),
            "axes": list(self.axes),
            "power": self.power,
        }


Superellipse = Superquadric


def _orthogonal(rotation: object, dim: int) -> tuple[tuple[float, ...], ...]:
    try:
        matrix = np.asarray(rotation, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.shape != (dim, dim) or not np.allclose(matrix @ matrix.T, np.eye(dim), atol=1e-10):
        raise GeometryError(
            f"the rotation of an Ellipsoid must be an orthogonal {dim} x {dim} matrix; "
            "its columns are the directions of the axes."
        )
    return tuple(tuple(float(matrix[i, j]) for j in range(dim)) for i in range(dim))
