"""Shapes, partitions of a domain into pieces, and points on everything a partition has.

parts = Partition(Box((-1, -1), (1, 1)), [Disk((0.2, 0.1), 0.4)])     # piece 0: the rest, piece 1: the disk
parts.label(x)      parts.interfaces      parts.sample_interface((0, 1), 72, seed=0)
"""

from jumpnet.geometry import shapes
from jumpnet.geometry.bodies.boolean import Complement, Intersection, Union
from jumpnet.geometry.bodies.levelset import LevelSet
from jumpnet.geometry.bodies.mesh import Mesh
from jumpnet.geometry.bodies.primitives import Box, HalfSpace, Interval
from jumpnet.geometry.bodies.quadrics import Ball, Disk, Ellipse, Ellipsoid, Superellipse, Superquadric
from jumpnet.geometry.bodies.specs import shape_from_spec
from jumpnet.geometry.curves.closed import Curve, Star
from jumpnet.geometry.curves.path import Path, Polygon
from jumpnet.geometry.partition import Interface, Partition
from jumpnet.geometry.partition.holes import Hole
from jumpnet.geometry.shape import Patch, Shape

__all__ = [
    "Ball",
    "Box",
    "Complement",
    "Curve",
    "Disk",
    "Ellipse",
    "Ellipsoid",
    "HalfSpace",
    "Hole",
    "Interface",
    "Intersection",
    "Interval",
    "LevelSet",
    "Mesh",
    "Partition",
    "Patch",
    "Path",
    "Polygon",
    "Shape",
    "Star",
    "Superellipse",
    "Superquadric",
    "Union",
    "shape_from_spec",
    "shapes",
]
