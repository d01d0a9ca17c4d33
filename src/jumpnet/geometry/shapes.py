"""Shapes from data, and sets of shapes: what `jn.shapes` offers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import is_dataclass, replace
from itertools import product

import numpy as np

from jumpnet.errors import GeometryError
from jumpnet.geometry.bodies.packing import random_balls, random_disks, random_ellipses
from jumpnet.geometry.bodies.primitives import Box
from jumpnet.geometry.curves.splines import from_points
from jumpnet.geometry.data.geojson import from_geojson, from_shapely
from jumpnet.geometry.data.meshes import from_mesh
from jumpnet.geometry.data.svg import from_svg
from jumpnet.geometry.randomness import EvenlySpread
from jumpnet.geometry.shape import Shape

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
    "wrapped",
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


def wrapped(shapes: Shape | Sequence[Shape], box: Box) -> list[Shape]:
    """The pieces that shapes make in a periodic box: cut off at its sides, and continued from the opposite ones.

    For shapes that are given by a centre (disks, balls, ellipses, superellipses, stars). A disk that crosses a side
    becomes two pieces, one over a corner four.
    """
    given = [shapes] if isinstance(shapes, Shape) else list(shapes)
    if not isinstance(box, Box) or not all(isinstance(one, Shape) and one.dim == box.dim for one in given):
        raise GeometryError("wrapped takes shapes and the Box that they repeat in, of the same dimension.")
    lower, upper = box.bounds
    found: list[Shape] = []
    for shape in given:
        center = getattr(shape, "center", None)
        if center is None or not is_dataclass(shape):
            raise GeometryError(
                f"a {type(shape).__name__} has no center to move to the other side of the box; give a shape with one."
            )
        if np.any(np.subtract(*shape.bounds[::-1]) > upper - lower):
            raise GeometryError("a shape is larger than the box that it is to be wrapped in; make the box larger.")
        for step in product((0, -1, 1), repeat=box.dim):
            place = np.asarray(center, float) + np.array(step) * (upper - lower)
            copy: Shape = replace(shape, center=tuple(place.tolist()))  # type: ignore[type-var]
            if np.all(copy.bounds[0] >= lower) and np.all(copy.bounds[1] <= upper):
                found.append(copy)
            elif _reaches(copy, lower, upper):
                found.append(copy & box)
    return found


def _reaches(shape: Shape, lower: np.ndarray, upper: np.ndarray) -> bool:
    """Whether a shape has points in a box, seen at points spread over what its bounds share with the box."""
    low, high = np.maximum(shape.bounds[0], lower), np.minimum(shape.bounds[1], upper)
    if np.any(low >= high):
        return False
    x = low + EvenlySpread().random((1 << 13, len(low))) * (high - low)
    return bool(np.any(shape.contains(x)))


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
