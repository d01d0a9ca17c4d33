"""The ball of a p-norm, moved, stretched and turned: {|M (x - c)|_p < 1}, in any dimension.

On the unit sphere of directions u, the surface point c + M^-1 u/|u|_p carries the
area element |det M|^-1 |u|_p^-d |M^T grad| d(omega), grad being the gradient of the norm at u: points uniform
in area are uniform directions accepted in proportion to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import gamma, pi
from typing import ClassVar

import numpy as np

from jumpnet.geometry.checks import Floats
from jumpnet.geometry.curves.arc import ArcPatch, parameter_nodes
from jumpnet.geometry.patches import PointPatch, collect
from jumpnet.geometry.randomness import EvenlySpread, Stream
from jumpnet.geometry.shape import Patch


@dataclass(frozen=True, eq=False)
class NormBall:
    """The kernel the three shapes share: y = M (x - c), |y|_p < 1."""

    center: Floats
    matrix: Floats
    inverse: Floats
    power: float
    scale: float  # the smallest half-axis: makes the level a length

    def level(self, x: Floats) -> Floats:
        """(|y|_p - 1) times the smallest half-axis."""
        return (norm((x - self.center) @ self.matrix.T, self.power) - 1.0) * self.scale

    def normal(self, x: Floats) -> Floats:
        """The gradient of the level, normalised."""
        g = norm_gradient((x - self.center) @ self.matrix.T, self.power) @ self.matrix
        with np.errstate(invalid="ignore"):
            return g / np.linalg.norm(g, axis=1, keepdims=True)

    def patches(self) -> tuple[Patch, ...]:
        """Two points, a closed curve or a surface."""
        if len(self.center) == 1:
            half = abs(self.inverse[0, 0])
            return PointPatch(self.center[0] - half, -1.0), PointPatch(self.center[0] + half, 1.0)
        if len(self.center) == 2:
            orientation = 1.0 if np.linalg.det(self.inverse) > 0.0 else -1.0
            return (ArcPatch(self, parameter_nodes(self), orientation),)
        return (NormSphere(self),)

    @property
    def start(self) -> float:
        """The first angle of the plane curve."""
        return -pi

    def position(self, t: Floats) -> Floats:
        """The plane curve of direction angle t."""
        u = np.stack([np.cos(t), np.sin(t)], axis=1)
        return self.center + (u / norm(u, self.power)[:, None]) @ self.inverse.T

    def velocity(self, t: Floats) -> Floats:
        """d position / dt: of u/|u|_p with du/dt = (-sin t, cos t)."""
        u, du = np.stack([np.cos(t), np.sin(t)], axis=1), np.stack([-np.sin(t), np.cos(t)], axis=1)
        size = norm(u, self.power)[:, None]
        slope = np.sum(norm_gradient(u, self.power) * du, axis=1, keepdims=True)
        return (du / size - u * slope / size**2) @ self.inverse.T


@dataclass(frozen=True, eq=False)
class NormSphere(Patch):
    """The surface of a NormBall in three or more dimensions."""

    ball: NormBall
    closed: ClassVar[bool] = True

    @cached_property
    def _ceiling(self) -> float:
        """An upper bound of |u|_p^-d |M^T grad|."""
        d, p = len(self.ball.center), self.ball.power
        return d ** (d * (0.5 - 1.0 / p) if p >= 2.0 else 1.0 / p - 0.5) / self.ball.scale

    def _weigh(self, u: Floats) -> tuple[Floats, Floats, Floats]:
        """Points, normals and relative area elements of the directions u."""
        size = norm(u, self.ball.power)[:, None]
        g = norm_gradient(u, self.ball.power) @ self.ball.matrix
        length = np.linalg.norm(g, axis=1)
        weight = size[:, 0] ** -len(self.ball.center) * length
        return self.ball.center + (u / size) @ self.ball.inverse.T, g / length[:, None], weight

    @property
    def measure(self) -> float:
        return self._area

    @cached_property
    def _area(self) -> float:
        d = len(self.ball.center)
        volume = abs(float(np.linalg.det(self.ball.inverse)))
        if d == 3:  # Gauss's rule in the height, equal steps in the angle
            z, share = np.polynomial.legendre.leggauss(96)
            angle = 2.0 * pi * (np.arange(192) + 0.5) / 192
            ring = np.sqrt(1.0 - z * z)[:, None]
            u = np.stack([ring * np.cos(angle), ring * np.sin(angle), z[:, None] + 0.0 * angle], axis=2)
            weight = self._weigh(u.reshape(-1, 3))[2].reshape(96, 192).mean(axis=1)
            return 2.0 * pi * float(share @ weight) * volume
        weight = self._weigh(_directions(EvenlySpread().random((1 << 14, d))))[2]
        return 2.0 * pi ** (d / 2) / gamma(d / 2) * float(np.mean(weight)) * volume

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
    from scipy.special import ndtri

    z = ndtri(np.clip(u, 1e-16, 1.0 - 1e-16))
    return z / np.linalg.norm(z, axis=1, keepdims=True)


def norm(y: Floats, p: float) -> Floats:
    """|y|_p of every row."""
    if p == 2.0:
        return np.sqrt(np.einsum("ij,ij->i", y, y))
    if p == 4.0:
        y = y * y
        return np.sqrt(np.sqrt(np.einsum("ij,ij->i", y, y)))
    y = np.abs(y)
    top = y.max(axis=1)
    safe = np.where(top > 0.0, top, 1.0)  # no overflow for large p
    return top * np.sum((y / safe[:, None]) ** p, axis=1) ** (1.0 / p)


def norm_gradient(y: Floats, p: float) -> Floats:
    """The gradient of the norm, nan at the origin."""
    size = norm(y, p)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        z = y / size  # nan at the centre, where there is no direction
        return z if p == 2.0 else np.sign(z) * np.abs(z) ** (p - 1.0)


@dataclass(frozen=True, eq=False)
class SpherePatch(Patch):
    """A circle or a sphere, in two or more dimensions."""

    center: Floats
    radius: float
    closed: ClassVar[bool] = True

    @property
    def measure(self) -> float:
        d = len(self.center)
        return 2.0 * pi ** (d / 2) / gamma(d / 2) * self.radius ** (d - 1)

    def sample(self, n: int, rng: np.random.Generator, quasi: bool = False) -> tuple[Floats, Floats]:
        d = len(self.center)
        u = Stream(1 if d == 2 else d, rng, quasi).draw(n)
        angle = 2.0 * pi * u[:, 0]
        normals = np.stack([np.cos(angle), np.sin(angle)], axis=1) if d == 2 else _directions(u)
        return self.center + self.radius * normals, normals
