"""Plane regions inside a closed curve: Star, r(theta) about a centre, and Curve, (x(t), y(t))."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jumpnet.errors import GeometryError
from jumpnet.fields import Univariate, univariate
from jumpnet.geometry import checks
from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.chunks import evaluate
from jumpnet.geometry.curves.arc import ArcPatch, ClosedCurve, curve_bounds, enclosed_area, parameter_nodes, wrap
from jumpnet.geometry.curves.closest_point import FootFinder, Outlined
from jumpnet.geometry.curves.outline import Outline, crosses_itself
from jumpnet.geometry.shape import Patch, Shape

Source = float | str | Callable[..., Any] | Univariate


class Closed(Shape, ClosedCurve):
    """A plane region inside one closed curve with a parameter."""

    @property
    def dim(self) -> int:
        return 2

    @property
    def bounds(self) -> Bounds:
        return self._bounds

    @cached_property
    def _bounds(self) -> Bounds:
        return curve_bounds(self, self._nodes)

    @cached_property
    def _nodes(self) -> Floats:
        return parameter_nodes(self)

    @cached_property
    def _area(self) -> float:
        return enclosed_area(self, self._nodes)


@dataclass(frozen=True)
class Star(Closed):
    """The region r < radius(theta) about a centre, in polar coordinates.

    Args:
        center: Its two coordinates.
        radius: A number, a formula in theta or a callable of it.

    Example:
        >>> import jumpnet as jn
        >>> jn.Star((0, 0), "0.4 + 0.1*cos(5*theta)").dim
        2
    """

    center: tuple[float, ...]
    radius: Source

    def __post_init__(self) -> None:
        center = checks.vector(self.center, "the centre of a Star")
        if len(center) != 2:
            raise GeometryError(f"the centre of a Star must hold 2 numbers, not {len(center)}.")
        object.__setattr__(self, "center", center)
        self._check_radius()

    def _check_radius(self) -> None:
        theta = np.linspace(-np.pi, np.pi, 721)
        r = evaluate(self._radius.value, theta, self._radius.field)
        if not np.all(np.isfinite(r)):
            raise GeometryError(
                f"the radius of a Star is not finite at theta = {theta[np.argmin(np.isfinite(r))]:.4g}."
            )
        if r.min() < -1e-12 * np.abs(r).max() or r.max() <= 0.0:
            raise GeometryError(
                f"the radius of a Star must be positive, but it is {r.min():.4g} at theta = "
                f"{theta[np.argmin(r)]:.4g}; raise the constant part of the formula."
            )
        checks.sizes(([0.0], [r.max()]), "a Star")
        if abs(r[0] - r[-1]) > 1e-9 * r.max():
            raise GeometryError(
                f"the radius of a Star must be the same at theta = -pi and pi, but it is {r[0]:.6g} and "
                f"{r[-1]:.6g}; use a formula with period 2 pi."
            )

    @cached_property
    def _radius(self) -> Univariate:
        return univariate(self.radius, "theta", what="the radius of a Star")

    @cached_property
    def _cusped(self) -> bool:
        """Whether the curve runs through its centre."""
        return bool(np.min(self._values(self._nodes)) <= 1e-12 * self.size)

    def _values(self, theta: Floats) -> Floats:
        return evaluate(self._radius.value, theta, self._radius.field)

    def _slopes(self, theta: Floats) -> Floats:
        return evaluate(self._radius.derivative, theta, self._radius.field)

    @property
    def start(self) -> float:
        """The first angle."""
        return -np.pi

    def position(self, t: Floats) -> Floats:
        """The boundary point of angle t."""
        t = wrap(t, -np.pi)
        return np.array(self.center) + self._values(t)[:, None] * np.stack([np.cos(t), np.sin(t)], axis=1)

    def velocity(self, t: Floats) -> Floats:
        """Its derivative with respect to t."""
        t = wrap(t, -np.pi)
        r, dr, c, s = self._values(t), self._slopes(t), np.cos(t), np.sin(t)
        return np.stack([dr * c - r * s, dr * s + r * c], axis=1)

    @property
    def volume(self) -> float:
        return self._area

    def _polar(self, x: ArrayLike) -> tuple[Floats, Floats]:
        x = checks.points(x, 2)
        dx, dy = x[:, 0] - self.center[0], x[:, 1] - self.center[1]
        return np.sqrt(dx * dx + dy * dy), np.arctan2(dy, dx)

    def level(self, x: ArrayLike) -> Floats:
        r, theta = self._polar(x)
        result = r - self._values(theta)
        if self._cusped:
            result[r == 0.0] = 0.0
        return result

    def normal(self, x: ArrayLike) -> Floats:
        r, theta = self._polar(x)
        c, s = np.cos(theta), np.sin(theta)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = self._slopes(theta) / np.where(r > 0.0, r, np.nan)  # gradient = e_r - (R'/r) e_theta
        g = np.stack([c + slope * s, s - slope * c], axis=1)
        return g / np.linalg.norm(g, axis=1, keepdims=True)

    def patches(self, within: Bounds | None = None) -> tuple[Patch, ...]:
        return (ArcPatch(self, self._nodes),)

    def spec(self) -> dict[str, Any] | None:
        radius = _stored(self.radius)
        return None if radius is None else {"shape": "star", "center": list(self.center), "radius": radius}


@dataclass(frozen=True)
class Curve(Outlined, Closed):
    """The region inside a closed curve, 0 <= t < 2 pi.

    Args:
        x: A formula in t; or a callable t -> (n, 2), then `y` is left out.
        y: A formula in t.

    Example:
        >>> import jumpnet as jn
        >>> jn.Curve("0.5*cos(t) + 0.2*cos(2*t)", "0.4*sin(t)").dim
        2
    """

    x: Source
    y: Source | None = None

    def __post_init__(self) -> None:
        if self.y is None and not callable(self.x):
            raise GeometryError("a Curve needs two formulas, x(t) and y(t), or one callable t -> (n, 2).")
        ends = self.position(np.array([0.0, 2.0 * np.pi]))
        points = self._ring
        if not np.all(np.isfinite(points)):
            raise GeometryError("a Curve must be finite for every t from 0 to 2 pi.")
        extent = float(np.ptp(points, axis=0).max())
        if np.abs(ends[1] - ends[0]).max() > 1e-9 * extent:
            raise GeometryError(
                f"a Curve must be closed, but it runs from {_show(ends[0])} at t = 0 to {_show(ends[1])} at "
                "t = 2 pi; use formulas with period 2 pi."
            )
        if extent == 0.0 or crosses_itself(points) or abs(self._area) < 1e-9 * extent**2:
            raise GeometryError("a Curve must enclose a region without crossing itself; split it into several.")

    @cached_property
    def _parts(self) -> tuple[Univariate, Univariate]:
        if self.y is None:
            both: Any = self.x
            return (
                univariate(lambda t: both(t)[:, 0], "t", what="the first coordinate of a Curve"),
                univariate(lambda t: both(t)[:, 1], "t", what="the second coordinate of a Curve"),
            )
        return univariate(self.x, "t", what="x(t) of a Curve"), univariate(self.y, "t", what="y(t) of a Curve")

    @property
    def start(self) -> float:
        """The first parameter."""
        return 0.0

    def position(self, t: Floats) -> Floats:
        """The point of parameter t."""
        t = wrap(t, 0.0)
        return np.stack([evaluate(part.value, t, part.field) for part in self._parts], axis=1)

    def velocity(self, t: Floats) -> Floats:
        """Its derivative with respect to t."""
        t = wrap(t, 0.0)
        return np.stack([evaluate(part.derivative, t, part.field) for part in self._parts], axis=1)

    def acceleration(self, t: Floats) -> Floats:
        """Its second derivative."""
        t = wrap(t, 0.0)
        return np.stack([evaluate(part.second, t, part.field) for part in self._parts], axis=1)

    @cached_property
    def _ring(self) -> Floats:
        vertices = self.position(self._nodes)
        vertices[-1] = vertices[0]
        return vertices

    @property
    def _orientation(self) -> float:
        return 1.0 if self._area > 0.0 else -1.0

    @cached_property
    def _finder(self) -> FootFinder:
        return FootFinder(Outline((self._ring,)), self, self._nodes, self._orientation)

    @property
    def volume(self) -> float:
        return abs(self._area)

    def patches(self, within: Bounds | None = None) -> tuple[Patch, ...]:
        return (ArcPatch(self, self._nodes, self._orientation),)

    def spec(self) -> dict[str, Any] | None:
        x, y = _stored(self.x), _stored(self.y)
        return None if x is None or y is None else {"shape": "curve", "x": x, "y": y}


def _stored(source: object) -> float | str | dict[str, Any] | None:
    """A formula or a number for the description of a shape, None for a callable."""
    if isinstance(source, str):
        return source
    if isinstance(source, Univariate):
        return source.spec()
    return None if source is None or callable(source) else float(source)  # type: ignore[arg-type]


def _show(x: Floats) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in x) + ")"
