"""Walls as functions of one or two parameters: curves in the plane, faces and (stretched) spheres in space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi

import numpy as np

from jumpnet.geometry.bodies.normball import NormSphere, SpherePatch
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.partition import Partition
from jumpnet.geometry.partition.interface_detection import Trace
from jumpnet.geometry.patches import FacePatch
from jumpnet.geometry.quadrature.curve_quadrature import path_of
from jumpnet.geometry.quadrature.integrals import _bare
from jumpnet.geometry.shape import Patch

At = Callable[[Floats], tuple[Floats, Floats, Floats]]
"""Parameters (n, k) to points (n, d), unit normals (n, d) and lengths or areas of a unit of parameters (n,)."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """A wall of a partition over a box of parameters."""

    number: int
    at: At
    position: Callable[[Floats], Floats]
    lower: Floats
    upper: Floats
    kept: Callable[[Floats, Floats], np.ndarray]

    def trace(self, partition: Partition, t: Floats) -> tuple[Trace, Floats]:
        """Points of the wall with the pieces on both sides, -1 where the wall is cut off, and their elements."""
        x, normals, element = self.at(t)
        walls = partition.walls
        ahead, behind = walls.labeller.beside(x, normals, walls.walls[self.number].owner, walls.step)
        lost = ~self.kept(x, normals)
        ahead[lost] = behind[lost] = -1
        return Trace(x, normals, ahead, behind, np.full(len(x), self.number)), element


def sheet_of(partition: Partition, number: int) -> Sheet | None:
    """A wall as a sheet; None if it is given in another way (a level set, a triangulated surface)."""
    patch, sign, keeps = _bare(partition.walls.walls[number].patch)
    found = _parametrised(patch, partition.dim)
    if found is None:
        return None
    at, position, lower, upper = found

    def turned(t: Floats) -> tuple[Floats, Floats, Floats]:
        x, normals, element = at(t)
        return x, sign * normals, element

    def kept(x: Floats, normals: Floats) -> np.ndarray:
        held = np.isfinite(normals).all(axis=1)
        for turn, keep in keeps:
            held = held & keep(x, sign * turn * normals)
        return np.asarray(held)

    return Sheet(number, turned, position, lower, upper, kept)


def _parametrised(patch: Patch, dim: int) -> tuple[At, Callable[[Floats], Floats], Floats, Floats] | None:
    if dim == 2:
        path = path_of(patch)
        if path is None:
            return None
        return lambda t: path.at(t[:, 0]), lambda t: path.position(t[:, 0]), path.nodes[:1], path.nodes[-1:]
    if isinstance(patch, FacePatch):
        at, lower, upper = _face(patch)
    elif isinstance(patch, SpherePatch | NormSphere):
        at, lower, upper = _sphere(patch)
    else:
        return None
    return at, lambda t: at(t)[0], lower, upper


def _face(patch: FacePatch) -> tuple[At, Floats, Floats]:
    across = [k for k in range(3) if k != patch.axis]
    level = patch.upper[patch.axis] if patch.side > 0 else patch.lower[patch.axis]

    def at(t: Floats) -> tuple[Floats, Floats, Floats]:
        x, normals = np.full((len(t), 3), float(level)), np.zeros((len(t), 3))
        x[:, across] = t
        normals[:, patch.axis] = patch.side
        return x, normals, np.ones(len(t))

    return at, patch.lower[across], patch.upper[across]


def _sphere(patch: SpherePatch | NormSphere) -> tuple[At, Floats, Floats]:
    """Over angle and height, which is uniform in the area of a sphere."""

    def at(t: Floats) -> tuple[Floats, Floats, Floats]:
        angle, z = t.T
        ring = np.sqrt(np.maximum(1.0 - z * z, 0.0))
        u = np.stack([ring * np.cos(angle), ring * np.sin(angle), z], axis=1)
        if isinstance(patch, SpherePatch):
            return patch.center + patch.radius * u, u, np.full(len(u), patch.radius**2)
        x, normals, relative = patch._weigh(u)
        return x, normals, relative * abs(float(np.linalg.det(patch.ball.inverse)))

    return at, np.array([0.0, -1.0]), np.array([2.0 * pi, 1.0])
