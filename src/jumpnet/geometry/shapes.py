"""Shapes from data, and sets of shapes: what `jn.shapes` offers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jumpnet.errors import GeometryError
from jumpnet.geometry.geojson import from_geojson, from_shapely
from jumpnet.geometry.meshes import from_mesh
from jumpnet.geometry.packing import random_balls, random_disks, random_ellipses
from jumpnet.geometry.randomness import EvenlySpread
from jumpnet.geometry.shape import Shape
from jumpnet.geometry.splines import from_points
from jumpnet.geometry.svg import from_svg

__all__ = [
    "from_geojson",
    "from_mesh",
    "from_points",
    "from_shapely",
    "from_svg",
    "random_balls",
    "random_disks",
    "random_ellipses",
    "stack",
]


def stack(shapes: Sequence[Shape]) -> list[Shape]:
    """The same shapes where each one covers those before it: what is left of them, disjoint as pieces must be.

    For nested pieces, from the outside to the inside, and for drawings, in the order of drawing.
    """
    if not all(isinstance(shape, Shape) for shape in shapes):
        raise GeometryError("stack takes a list of shapes, the lowest first.")
    left: list[Shape] = []
    for shape in shapes:
        left = [below - shape if _overlap(below, shape) else below for below in left]
        left.append(shape)
    return left


def _overlap(a: Shape, b: Shape) -> bool:
    """Whether two shapes share points, seen at points of their boundaries (unbounded shapes always may)."""
    box = np.maximum(a.bounds[0], b.bounds[0]), np.minimum(a.bounds[1], b.bounds[1])
    if np.any(box[0] >= box[1]):
        return False
    if not (np.all(np.isfinite(a.bounds)) and np.all(np.isfinite(b.bounds))):
        return True
    small = 1e-9 * max(a.size, b.size)
    for one, other in ((a, b), (b, a)):
        for patch in one.patches():
            x, normals = patch.sample(256, EvenlySpread())
            if np.any(other.contains(x - small * normals, -small)):
                return True
    return False
