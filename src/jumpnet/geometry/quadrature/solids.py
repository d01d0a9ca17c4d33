"""Quadrature in space: faces, whole spheres, and balls."""

from __future__ import annotations

from math import pi

import numpy as np

from jumpnet.geometry.bodies.normball import NormBall, NormSphere, SpherePatch
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.patches import FacePatch
from jumpnet.geometry.quadrature.regions import region_rules, square_gauss, unit_gauss
from jumpnet.geometry.quadrature.rules import SLIVERS, Held, Quadrature, Rule, bodily
from jumpnet.geometry.randomness import EvenlySpread
from jumpnet.geometry.shape import Patch


def on_surface(patch: Patch, held: Held, sign: float) -> Quadrature | None:
    """Gauss's rule on a face, also a cut one, and on a whole sphere; None for other surfaces."""
    if isinstance(patch, FacePatch):
        return _face(patch, held, sign)
    if isinstance(patch, SpherePatch | NormSphere):
        rules = []
        for u, share in (_directions(48), _directions(32)):
            if isinstance(patch, SpherePatch):
                x, normals, weights = patch.center + patch.radius * u, u, share * patch.radius**2
            else:
                x, normals, relative = patch._weigh(u)
                weights = share * relative * abs(float(np.linalg.det(patch.ball.inverse)))
            if not held(x, normals).all():
                return None
            rules.append(Rule(x, weights, sign * normals))
        return Quadrature(tuple(rules))
    return None


def _face(patch: FacePatch, held: Held, sign: float) -> Quadrature:
    axis, across = patch.axis, [k for k in range(3) if k != patch.axis]
    level = patch.upper[axis] if patch.side > 0 else patch.lower[axis]
    lower, upper = patch.lower[across], patch.upper[across]

    def lifted(y: Floats) -> tuple[Floats, Floats]:
        x, normals = np.full((len(y), 3), level), np.zeros((len(y), 3))
        x[:, across] = y
        normals[:, axis] = patch.side
        return x, normals

    whole = bool(held(*patch.sample(1 << 12, EvenlySpread())).all())
    if whole:
        plain = [square_gauss(order) for order in (32, 24)]
        flat = [(lower + t * (upper - lower), w * float(np.prod(upper - lower))) for t, w in plain]
    else:
        flat = [(r.points, r.weights) for r in region_rules(lambda y: held(*lifted(y)), lower, upper)]
    rules = []
    for y, weights in flat:
        x, normals = lifted(y)
        rules.append(Rule(x, weights, sign * normals))
    return Quadrature(tuple(rules), relative=0.0 if whole else SLIVERS)


def _directions(order: int) -> tuple[Floats, Floats]:
    """Directions in space with weights that add up to 4 pi: Gauss's rule in the height, equal steps in the angle."""
    z, share = np.polynomial.legendre.leggauss(order)
    angle = 2.0 * pi * (np.arange(2 * order) + 0.5) / (2 * order)
    ring = np.sqrt(1.0 - z * z)[:, None]
    u = np.stack([ring * np.cos(angle), ring * np.sin(angle), z[:, None] + 0.0 * angle], axis=2)
    return u.reshape(-1, 3), np.repeat(share * pi / order, 2 * order)


def _angles(order: int) -> tuple[Floats, Floats]:
    """Directions in the plane with weights that add up to 2 pi."""
    angle = 2.0 * pi * (np.arange(2 * order) + 0.5) / (2 * order)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1), np.full(2 * order, pi / order)


def in_ball(ball: NormBall) -> Quadrature:
    """A ball in the plane or in space (stretched, turned, of another norm): Gauss's rule along the radius times
    directions."""
    d, volume = len(ball.center), abs(float(np.linalg.det(ball.inverse)))
    rules = []
    for order in (24, 16):
        u, share = _directions(order) if d == 3 else _angles(2 * order)
        size = np.sum(np.abs(u) ** ball.power, axis=1) ** (1.0 / ball.power)
        r, w = unit_gauss(order)
        x = ball.center + (r[:, None, None] * (u / size[:, None])).reshape(-1, d) @ ball.inverse.T
        rules.append(bodily(x, ((w * r ** (d - 1))[:, None] * (share / size**d)).ravel() * volume))
    return Quadrature(tuple(rules))
