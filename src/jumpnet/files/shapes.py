"""The shapes a problem file may name: what each is written with, and how it is made."""

from abc import ABC, abstractmethod
from dataclasses import replace
from math import radians
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from jumpnet.errors import GeometryError
from jumpnet.files.values import Formula, Matrix, Number, Scope, Vector, at
from jumpnet.geometry import (
    Ball,
    Box,
    Curve,
    Ellipse,
    Ellipsoid,
    HalfSpace,
    Intersection,
    Interval,
    LevelSet,
    Polygon,
    Shape,
    Star,
    Superquadric,
    Union,
    shapes,
)
from jumpnet.geometry.bodies.boolean import complement

MOST_PARTS = 50  # shapes in a union or an intersection; limits as in schema.py
MOST_VERTICES = 5000  # of a polygon


class Entry(BaseModel):
    """A table of the file: unknown keys are refused, and a text is not a number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ShapeEntry(Entry, ABC):
    """A region; `kind` says which."""

    @abstractmethod
    def make(self, scope: Scope, key: str) -> Shape:
        """The shape itself."""


class IntervalEntry(ShapeEntry):
    """The interval from a to b."""

    kind: Literal["interval"]
    a: Number
    b: Number

    def make(self, scope: Scope, key: str) -> Shape:
        return Interval(scope.number(self.a, f"{key}.a"), scope.number(self.b, f"{key}.b"))


class BoxEntry(ShapeEntry):
    """The box between two corners."""

    kind: Literal["box"]
    lower: Vector
    upper: Vector

    def make(self, scope: Scope, key: str) -> Shape:
        return Box(*(tuple(scope.vector(v, f"{key}.{n}")) for v, n in ((self.lower, "lower"), (self.upper, "upper"))))


class HalfSpaceEntry(ShapeEntry):
    """Where normal . x < offset, cut off at the domain."""

    kind: Literal["half-space"]
    normal: Vector
    offset: Number = 0.0

    def make(self, scope: Scope, key: str) -> Shape:
        return HalfSpace(scope.vector(self.normal, f"{key}.normal"), scope.number(self.offset, f"{key}.offset"))


class BallEntry(ShapeEntry):
    """A disk or a ball."""

    kind: Literal["disk", "ball"]
    center: Vector | None = None
    radius: Number

    def make(self, scope: Scope, key: str) -> Shape:
        return Ball(_center(self, scope, key), scope.number(self.radius, f"{key}.radius"))


class EllipseEntry(ShapeEntry):
    """An ellipse of half-axes `axes`, turned counter-clockwise by `angle` degrees."""

    kind: Literal["ellipse"]
    center: Vector | None = None
    axes: Vector
    angle: Number = 0.0

    def make(self, scope: Scope, key: str) -> Shape:
        angle = radians(scope.number(self.angle, f"{key}.angle"))
        return Ellipse(_center(self, scope, key), scope.vector(self.axes, f"{key}.axes"), angle)


class EllipsoidEntry(ShapeEntry):
    """An ellipsoid of half-axes `axes`; the columns of `rotation` are their directions."""

    kind: Literal["ellipsoid"]
    center: Vector | None = None
    axes: Vector
    rotation: Matrix | None = None

    def make(self, scope: Scope, key: str) -> Shape:
        turn = self.rotation and [scope.vector(row, f"{key}.rotation") for row in self.rotation]
        return Ellipsoid(_center(self, scope, key), tuple(scope.vector(self.axes, f"{key}.axes")), turn)  # type: ignore[arg-type]


class SuperquadricEntry(ShapeEntry):
    """Where sum |(x_i - c_i)/a_i|^power < 1."""

    kind: Literal["superellipse", "superquadric"]
    center: Vector | None = None
    axes: Vector
    power: Number = 4.0

    def make(self, scope: Scope, key: str) -> Shape:
        axes, power = scope.vector(self.axes, f"{key}.axes"), scope.number(self.power, f"{key}.power")
        return Superquadric(_center(self, scope, key), tuple(axes), power)


class StarEntry(ShapeEntry):
    """Where the distance from the centre is below `radius`, a formula in theta."""

    kind: Literal["star"]
    center: Vector | None = None
    radius: Formula

    def make(self, scope: Scope, key: str) -> Shape:
        return Star(_center(self, scope, key), scope.univariate(self.radius, "theta", f"{key}.radius"))


class CurveEntry(ShapeEntry):
    """The inside of the closed curve x(t), y(t), t from 0 to 2 pi."""

    kind: Literal["curve"]
    x: Formula
    y: Formula

    def make(self, scope: Scope, key: str) -> Shape:
        return Curve(scope.univariate(self.x, "t", f"{key}.x"), scope.univariate(self.y, "t", f"{key}.y"))


class LevelSetEntry(ShapeEntry):
    """Where phi < 0, within the corners `lower` and `upper` if they are given."""

    kind: Literal["level-set"]
    phi: Formula
    lower: Vector | None = None
    upper: Vector | None = None

    def make(self, scope: Scope, key: str) -> Shape:
        corners = [v and scope.vector(v, f"{key}.{n}") for v, n in ((self.lower, "lower"), (self.upper, "upper"))]
        if (corners[0] is None) != (corners[1] is None):
            raise GeometryError(f"{key} has one of lower and upper; give both corners or none.")
        dim = len(corners[0]) if corners[0] else scope.dim
        if not dim:
            raise GeometryError(f"{key} has no end; give the corners lower and upper of a box that holds it.")
        phi = replace(scope, dim=dim).field(self.phi, f"{key}.phi")
        return LevelSet(phi, bounds=corners if corners[0] else None, dim=dim)


class PolygonEntry(ShapeEntry):
    """The inside of a polygon, less polygonal holes."""

    kind: Literal["polygon"]
    vertices: list[Vector] = Field(min_length=3, max_length=MOST_VERTICES)
    holes: list[list[Vector]] = Field(default=[], max_length=MOST_PARTS)

    def make(self, scope: Scope, key: str) -> Shape:
        rings = [
            [scope.pair(v, f"{key}.vertices") for v in self.vertices],
            *([scope.pair(v, f"{key}.holes") for v in hole] for hole in self.holes),
        ]
        return Polygon(rings[0], rings[1:])


class SplineEntry(ShapeEntry):
    """The inside of a smooth closed curve through (with `smoothing`: near) points."""

    kind: Literal["spline"]
    points: list[Vector] = Field(min_length=3, max_length=MOST_VERTICES)
    smoothing: Number = 0.0

    def make(self, scope: Scope, key: str) -> Shape:
        points = [scope.pair(p, f"{key}.points") for p in self.points]
        return shapes.from_points(points, scope.number(self.smoothing, f"{key}.smoothing"))


class DrawingEntry(ShapeEntry):
    """A region of a drawing, by its name, from a file beside the problem file."""

    kind: Literal["svg", "geojson"]
    file: str
    name: str | None = Field(default=None, description="which region, if there are several")
    scale: Number = Field(default=1.0, description="times the coordinates of the drawing")

    def make(self, scope: Scope, key: str) -> Shape:
        path, scale = scope.beside(self.file, f"{key}.file"), scope.number(self.scale, f"{key}.scale")
        read = shapes.from_svg if self.kind == "svg" else shapes.from_geojson
        drawing = self.kind, path, scale
        if drawing not in scope.drawings:
            scope.drawings[drawing] = read(path, scale=scale)
        found = scope.drawings[drawing]
        if self.name is None and len(found) == 1:
            return next(iter(found.values()))
        if self.name is None or self.name not in found:
            listed = ", ".join(list(found)[:10]) or "none"
            raise GeometryError(f"{key}.name is {self.name!r}; the regions of {self.file!r} are: {listed}.")
        return found[self.name]


class MeshEntry(ShapeEntry):
    """The body inside a closed surface (STL, OBJ, PLY) from a file beside the problem file."""

    kind: Literal["mesh"]
    file: str
    scale: Number = 1.0
    offset: Vector | None = None
    smooth: bool | None = Field(default=None, description="round the surface; by default unless it has edges")

    def make(self, scope: Scope, key: str) -> Shape:
        path = scope.beside(self.file, f"{key}.file")
        offset = [0.0] * 3 if self.offset is None else replace(scope, dim=3).point(self.offset, f"{key}.offset")
        return shapes.from_mesh(path, scale=scope.number(self.scale, f"{key}.scale"), offset=offset, smooth=self.smooth)


class PartsEntry(ShapeEntry):
    """All points of any (union), or of all (intersection), of several shapes."""

    kind: Literal["union", "intersection"]
    parts: list["AnyShape"] = Field(min_length=1, max_length=MOST_PARTS)

    def make(self, scope: Scope, key: str) -> Shape:
        made = tuple(make(part, scope, f"{key}.parts[{k}]") for k, part in enumerate(self.parts))
        return Union(made) if self.kind == "union" else Intersection(made)


class DifferenceEntry(ShapeEntry):
    """What is left of a shape without another."""

    kind: Literal["difference"]
    of: "AnyShape"
    without: "AnyShape"

    def make(self, scope: Scope, key: str) -> Shape:
        return make(self.of, scope, f"{key}.of") - make(self.without, scope, f"{key}.without")


class ComplementEntry(ShapeEntry):
    """Everything outside a shape, cut off at the domain."""

    kind: Literal["complement"]
    of: "AnyShape"

    def make(self, scope: Scope, key: str) -> Shape:
        return complement(make(self.of, scope, f"{key}.of"))


AnyShape = Annotated[
    IntervalEntry
    | BoxEntry
    | HalfSpaceEntry
    | BallEntry
    | EllipseEntry
    | EllipsoidEntry
    | SuperquadricEntry
    | StarEntry
    | CurveEntry
    | LevelSetEntry
    | PolygonEntry
    | SplineEntry
    | DrawingEntry
    | MeshEntry
    | PartsEntry
    | DifferenceEntry
    | ComplementEntry,
    Field(discriminator="kind"),
]


def make(entry: ShapeEntry, scope: Scope, key: str) -> Shape:
    """The shape of an entry; errors name its key."""
    with at(key):
        return entry.make(scope, key)


def _center(entry: Any, scope: Scope, key: str) -> tuple[float, ...]:
    if entry.center is None:
        raise GeometryError(f"{key}.center is missing; give one number per coordinate, e.g. center = [0.0, 0.0].")
    return tuple(scope.vector(entry.center, f"{key}.center"))


PartsEntry.model_rebuild()
DifferenceEntry.model_rebuild()
ComplementEntry.model_rebuild()
