"""Balls of a p-norm, moved, stretched and turned: Ball, Ellipsoid, Superquadric, in any dimension.

All three are {|M (x - c)|_p < 1}. On the unit sphere of directions u, the surface point c + M^-1 u/|u|_p carries the
area element |det M|^-1 |u|_p^-d |M^T grad| d(omega), grad being the gradient of the norm at u: points uniform in area
are uniform directions accepted in proportion to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import gamma, pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from jumpnet.errors import GeometryError
from jumpnet.geometry import checks
from jumpnet.geometry.arc import ArcPatch, parameter_nodes
from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.patches import PILOT, PointPatch, collect
from jumpnet.geometry.randomness import Stream
from jumpnet.geometry.shape import Patch, Shape


@dataclass(frozen=True, eq=False)
class NormBall:
    """The kernel the three shapes share: y = M (x - c), |y|_p < 1."""

    center: Floats
    matrix: Floats
    inverse: Floats
    power: float
    scale: float  # the smallest half-axis: makes the level a length

    def level(self, x: Floats) -> Floats:
        return (_norm((x - self.center) @ self.matrix.T, self.power) - 1.0) * self.scale

    def normal(self, x: Floats) -> Floats:
        g = _norm_gradient((x - self.center) @ self.matrix.T, self.power) @ self.matrix
        with np.errstate(invalid="ignore"):
            return g / np.linalg.norm(g, axis=1, keepdims=True)

    def patches(self) -> tuple[Patch, ...]:
        if len(self.center) == 1:
            half = abs(self.inverse[0, 0])
            return PointPatch(self.center[0] - half, -1.0), PointPatch(self.center[0] + half, 1.0)
        if len(self.center) == 2:
            orientation = 1.0 if np.linalg.det(self.inverse) > 0.0 else -1.0
            return (ArcPatch(self, parameter_nodes(self), orientation),)
        return (_NormSphere(self),)

    @property
    def start(self) -> float:
        """The first angle of the plane curve."""
        return -pi

    def position(self, t: Floats) -> Floats:
        """The plane curve of direction angle t."""
        u = np.stack([np.cos(t), np.sin(t)], axis=1)
        return self.center + (u / _norm(u, self.power)[:, None]) @ self.inverse.T

    def velocity(self, t: Floats) -> Floats:
        """d position / dt: of u/|u|_p with du/dt = (-sin t, cos t)."""
        u, du = np.stack([np.cos(t), np.sin(t)], axis=1), np.stack([-np.sin(t), np.cos(t)], axis=1)
        size = _norm(u, self.power)[:, None]
        slope = np.sum(_norm_gradient(u, self.power) * du, axis=1, keepdims=True)
        return (du / size - u * slope / size**2) @ self.inverse.T


@dataclass(frozen=True, eq=False)
class _NormSphere(Patch):
    """The surface of a NormBall in three or more dimensions."""

    ball: NormBall

    @cached_property
    def _ceiling(self) -> float:
        """An upper bound of |u|_p^-d |M^T grad|."""
        d, p = len(self.ball.center), self.ball.power
        return d ** (d * (0.5 - 1.0 / p) if p >= 2.0 else 1.0 / p - 0.5) / self.ball.scale

    def _weigh(self, u: Floats) -> tuple[Floats, Floats, Floats]:
        """Points, normals and relative area elements of the directions u."""
        size = _norm(u, self.ball.power)[:, None]
        g = _norm_gradient(u, self.ball.power) @ self.ball.matrix
        length = np.linalg.norm(g, axis=1)
        weight = size[:, 0] ** -len(self.ball.center) * length
        return self.ball.center + (u / size) @ self.ball.inverse.T, g / length[:, None], weight

    @cached_property
    def measure(self) -> float:
        d = len(self.ball.center)
        stream = Stream(d, np.random.default_rng(0), True)
        weight = self._weigh(_directions(stream.draw(8 * PILOT)))[2]
        sphere = 2.0 * pi ** (d / 2) / gamma(d / 2)
        return sphere * float(np.mean(weight)) * abs(float(np.linalg.det(self.ball.inverse)))

    def sample(self, n: int, rng: np.random.Generator, quasi: bool = False) -> tuple[Floats, Floats]:
        d = len(self.ball.center)
        stream = Stream(d + 1, rng, quasi)

        def draw(batch: int) -> tuple[Floats, Floats]:
            u = stream.draw(batch)
            x, normals, weight = self._weigh(_directions(u[:, :d]))
            accepted = u[:, d] * self._ceiling <= weight
            return x[accepted], normals[accepted]

        return collect(n, draw, d, 0.5)


def _directions(u: Floats) -> Floats:
    """Uniform directions from numbers uniform in (0, 1)^d, by way of normal deviates."""
    z = ndtri(np.clip(u, 1e-16, 1.0 - 1e-16))
    return z / np.linalg.norm(z, axis=1, keepdims=True)


def _norm(y: Floats, p: float) -> Floats:
    if p == 2.0:
        return np.sqrt(np.einsum("ij,ij->i", y, y))
    if p == 4.0:
        y = y * y
        return np.sqrt(np.sqrt(np.einsum("ij,ij->i", y, y)))
    y = np.abs(y)
    top = y.max(axis=1)
    safe = np.where(top > 0.0, top, 1.0)  # no overflow for large p
    return top * np.sum((y / safe[:, None]) ** p, axis=1) ** (1.0 / p)


def _norm_gradient(y: Floats, p: float) -> Floats:
    size = _norm(y, p)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        z = y / size  # nan at the centre, where there is no direction
        return z if p == 2.0 else np.sign(z) * np.abs(z) ** (p - 1.0)


@dataclass(frozen=True)
class Ball(Shape):
    """The ball of a centre and a radius in any dimension; `Disk` is the same in the plane."""

    center: tuple[float, ...]
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", checks.vector(self.center, "the centre of a Disk or Ball"))
        object.__setattr__(self, "radius", checks.positive(self.radius, "the radius of a Disk or Ball"))

    @cached_property
    def _kernel(self) -> NormBall:
        eye = np.eye(self.dim)
        return NormBall(np.array(self.center), eye / self.radius, eye * self.radius, 2.0, self.radius)

    @property
    def dim(self) -> int:
        return len(self.center)

    @cached_property
    def bounds(self) -> Bounds:
        return np.array(self.center) - self.radius, np.array(self.center) + self.radius

    @property
    def volume(self) -> float:
        return pi ** (self.dim / 2) / gamma(self.dim / 2 + 1) * self.radius**self.dim

    def level(self, x: ArrayLike) -> Floats:
        return _norm(checks.points(x, self.dim) - self._kernel.center, 2.0) - self.radius

    def normal(self, x: ArrayLike) -> Floats:
        return self._kernel.normal(checks.points(x, self.dim))

    def patches(self, within: Bounds | None = None) -> tuple[Patch, ...]:
        return self._kernel.patches()

    def spec(self) -> dict[str, Any]:
        return {"shape": "ball", "center": list(self.center), "radius": self.radius}


Disk = Ball


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """The ellipsoid of half-axes `axes`; column k of the orthogonal matrix `rotation` is the direction of axis k."""

    center: tuple[float, ...]
    axes: tuple[float, ...]
    rotation: tuple[tuple[float, ...], ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "center", checks.vector(self.center, "the centre of an Ellipse or Ellipsoid")
        )
        axes = checks.lengths(self.axes, len(self.center), "the half-axes of an Ellipse or Ellipsoid")
        object.__setattr__(self, "axes", axes)
        if self.rotation is not None:
            object.__setattr__(self, "rotation", _orthogonal(self.rotation, self.dim))

    @cached_property
    def _kernel(self) -> NormBall:
        turn = np.eye(self.dim) if self.rotation is None else np.array(self.rotation)
        axes = np.array(self.axes)
        return NormBall(np.array(self.center), turn.T / axes[:, None], turn * axes, 2.0, min(self.axes))

    @property
    def dim(self) -> int:
        return len(self.center)

    @cached_property
    def bounds(self) -> Bounds:
        reach = np.linalg.norm(self._kernel.inverse, axis=1)
        return np.array(self.center) - reach, np.array(self.center) + reach

    @property
    def volume(self) -> float:
        return pi ** (self.dim / 2) / gamma(self.dim / 2 + 1) * float(np.prod(self.axes))

    def level(self, x: ArrayLike) -> Floats:
        return self._kernel.level(checks.points(x, self.dim))

    def normal(self, x: ArrayLike) -> Floats:
        return self._kernel.normal(checks.points(x, self.dim))

    def patches(self, within: Bounds | None = None) -> tuple[Patch, ...]:
        return self._kernel.patches()

    def spec(self) -> dict[str, Any]:
        rotation = None if self.rotation is None else [list(row) for row in self.rotation]
        return {
            "shape": "ellipsoid",
            "center": list(self.center),
            "axes": list(self.axes),
            "rotation": rotation,
        }


def Ellipse(center: ArrayLike, axes: ArrayLike, angle: float = 0.0) -> Ellipsoid:
    """The ellipse of half-axes `axes` in the plane, turned counter-clockwise by `angle` (radians)."""
    middle = checks.vector(center, "the centre of an Ellipse")
    if len(middle) != 2:
        raise GeometryError(
            f"the centre of an Ellipse must hold 2 numbers, not {len(middle)}; use Ellipsoid."
        )
    c, s = np.cos(checks.number(angle, "the angle of an Ellipse")), np.sin(angle)
    return Ellipsoid(middle, axes, ((c, -s), (s, c)) if angle else None)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Superquadric(Shape):
    """{sum |(x_i - c_i)/a_i|^power < 1} in any dimension; `Superellipse` is the same in the plane."""

    center: tuple[float, ...] = (0.0, 0.0)
    axes: tuple[float, ...] = field(default=(1.0,))
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

    @property
    def dim(self) -> int:
        return len(self.center)

    @cached_property
    def bounds(self) -> Bounds:
        return np.array(self.center) - self.axes, np.array(self.center) + self.axes

    @property
    def volume(self) -> float:
        corner = (2.0 * gamma(1.0 + 1.0 / self.power)) ** self.dim / gamma(1.0 + self.dim / self.power)
        return corner * float(np.prod(self.axes))

    def level(self, x: ArrayLike) -> Floats:
        return self._kernel.level(checks.points(x, self.dim))

    def normal(self, x: ArrayLike) -> Floats:
        return self._kernel.normal(checks.points(x, self.dim))

    def patches(self, within: Bounds | None = None) -> tuple[Patch, ...]:
        return self._kernel.patches()

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
    return tuple(tuple(row) for row in matrix.tolist())
