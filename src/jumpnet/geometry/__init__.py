"""Shapes, partitions of a domain into pieces, and points on everything a partition has.

parts = Partition(Box((-1, -1), (1, 1)), [Disk((0.2, 0.1), 0.4)])     # piece 0: the rest, piece 1: the disk
parts.label(x)      parts.interfaces      parts.sample_interface((0, 1), 72, seed=0)
"""

from jumpnet.geometry import shapes
from jumpnet.geometry.boolean import Complement, Intersection, Union
from jumpnet.geometry.curves import Curve, Star
from jumpnet.geometry.holes import Hole
from jumpnet.geometry.levelset import LevelSet
from jumpnet.geometry.mesh import Mesh
from jumpnet.geometry.partition import Interface, Partition
from jumpnet.geometry.path import Path, Polygon
from jumpnet.geometry.primitives import Box, HalfSpace, Interval
from jumpnet.geometry.quadrics import Ball, Disk, Ellipse, Ellipsoid, Superellipse, Superquadric
from jumpnet.geometry.shape import Patch, Shape
from jumpnet.geometry.specs import shape_from_spec

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
