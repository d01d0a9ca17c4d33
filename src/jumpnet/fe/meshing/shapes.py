"""Shapes as OpenCASCADE sees them: faces of the plane and solids, from the same objects that state the problem.

A closed curve becomes a chain of splines through its points. Each spline turns by a small angle only, so that a mesh
with one segment for each follows every notch; several open splines, because one periodic spline gave a star-shaped
piece the length 5.04 instead of 4.07.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import add, mul
from typing import Any

import numpy as np
from jaxtyping import Float

from jumpnet.errors import GeometryError
from jumpnet.fe.meshing.contours import Traced
from jumpnet.fe.meshing.frame import Frame
from jumpnet.fe.ngsolve import ngsolve
from jumpnet.geometry import Ball, Box, Curve, Ellipsoid, HalfSpace, Mesh, Path, Star, Superquadric
from jumpnet.geometry.bodies.boolean import Complement, Intersection, Union
from jumpnet.geometry.shape import Shape

TURN = 0.4  # radians by which a curve turns along one spline
SAMPLES = 4096  # of a curve, to measure it
JOINT = 1e-3  # radians between two segments of a level set: a corner
CORNER = 0.3  # radians between two samples: a corner, where a spline must end
POINTS = 17  # of a spline: an error of 1e-9 of its length
REACH = 2.0  # how far beyond the domain what has no end is drawn, in sizes of the domain

Points = Float[np.ndarray, "n 2"]


@dataclass(frozen=True, eq=False)
class Scene:
    """The domain in which shapes are drawn, the size of elements there, and the mesher's coordinates."""

    domain: Shape
    size: float
    frame: Frame

    def point(self, x: Sequence[float] | np.ndarray) -> Any:
        """OpenCASCADE's point; of the plane, in the plane x3 = 0."""
        at = self.frame.inward(np.asarray(x, float)).tolist()
        return ngsolve().occ.Pnt(*at, *[0.0] * (3 - len(at)))

    def length(self, of: float) -> float:
        """A length in the mesher's coordinates."""
        return of / self.frame.unit


def solid(shape: Shape, scene: Scene) -> Any:
    """The shape as a face (2-D) or solid (3-D); refused where there is no way to."""
    if isinstance(shape, Union | Intersection):
        return _combined(shape, scene)
    if isinstance(shape, Complement):
        return _everything(scene) - solid(shape.shape, scene)
    if isinstance(shape, HalfSpace):
        return _half(shape, scene)
    if isinstance(shape, Box):
        return _box(*shape.bounds, scene)
    if shape.dim == 2 and isinstance(shape, Star | Curve):
        return _face(shape.position, shape, shape.start, scene)
    if shape.dim == 2 and isinstance(shape, Ball | Ellipsoid | Superquadric):
        return _face(_polar(shape), shape, 0.0, scene)
    if isinstance(shape, Path):
        inside = _inside_smooth_loop if isinstance(shape, Traced) else _inside_loop
        return reduce(_either, (inside(loop, scene) for loop in shape.loops))
    if isinstance(shape, Ball):
        return ngsolve().occ.Sphere(scene.point(shape.center), scene.length(shape.radius))
    if isinstance(shape, Ellipsoid):
        return _ellipsoid(shape, scene)
    if isinstance(shape, Mesh):
        return _body(shape, scene)
    raise GeometryError(
        f"a fitted mesh cannot be made for {type(shape).__name__} in {shape.dim}-D; it can for boxes, half-spaces, "
        "ellipses, superellipses, stars, curves and paths of the plane, for boxes, half-spaces and balls in space, and "
        "for combinations of them; fem(..., fitted=False) needs no such mesh."
    )


def has_solid(shape: Shape) -> bool:
    """Whether OpenCASCADE has a solid for a shape in space."""
    if isinstance(shape, Union | Intersection):
        return all(map(has_solid, shape.parts))
    if isinstance(shape, Complement):
        return has_solid(shape.shape)
    return isinstance(shape, HalfSpace | Box | Ball | Ellipsoid | Mesh)


def _combined(shape: Union | Intersection, scene: Scene) -> Any:
    """Complements in an intersection are cut away, which is more robust than to intersect with them."""
    if isinstance(shape, Union):
        return reduce(add, (solid(part, scene) for part in shape.parts))
    kept = [part for part in shape.parts if not isinstance(part, Complement)]
    whole = reduce(mul, (solid(part, scene) for part in kept)) if kept else _everything(scene)
    for part in shape.parts:
        if isinstance(part, Complement):
            whole = whole - solid(part.shape, scene)
    return whole


def _ellipsoid(shape: Ellipsoid, scene: Scene) -> Any:
    """A unit sphere under the linear map of the ellipsoid."""
    occ = ngsolve().occ
    ball = occ.Sphere(occ.Pnt(0, 0, 0), 1.0)
    turn = np.eye(3) if shape.rotation is None else np.array(shape.rotation)
    matrix = (turn * scene.length(1.0) * np.array(shape.axes)).ravel().tolist()
    return occ.gp_GTrsf(matrix, scene.frame.inward(np.array(shape.center)).tolist())(ball)


def _body(shape: Mesh, scene: Scene) -> Any:
    """Triangles sewn together; those of one plane become one face, so that their edges bind no mesh."""
    occ = ngsolve().occ
    points = [scene.point(x) for x in shape.vertices]
    faces = []
    for a, b, c in shape.faces.tolist():
        sides = [occ.Segment(points[i], points[j]) for i, j in ((a, b), (b, c), (c, a))]
        faces.append(occ.Face(occ.Wire(sides)))
    found = occ.Solid(occ.Sew(faces)).UnifySameDomain()
    return found


def _inside_loop(loop: Sequence[tuple[float, float]], scene: Scene) -> Any:
    """The face inside cubic Bézier segments: start, control, control, start of the next one, and so on."""
    occ = ngsolve().occ
    points = [scene.point(x) for x in (*loop, loop[0])]
    return occ.Face(occ.Wire([occ.BezierCurve(points[k : k + 4]) for k in range(0, len(points) - 1, 3)]))


def _inside_smooth_loop(loop: Sequence[tuple[float, float]], scene: Scene) -> Any:
    """The same for a loop of many short segments: splines through the ends of those that turn little together."""
    occ = ngsolve().occ
    start = np.array(loop).reshape(-1, 3, 2)
    control = np.concatenate([start, np.roll(start[:, :1], -1, axis=0)], axis=1)
    first, last = (_unit(control[:, k + 1] - control[:, k]) for k in (0, 2))
    sharp = np.sum(first * np.roll(last, 1, axis=0), axis=1) < np.cos(JOINT)
    control, first, last, sharp = (np.roll(a, -int(np.argmax(sharp)), axis=0) for a in (control, first, last, sharp))
    turn = np.arccos(np.clip(np.sum(first * last, axis=1), -1.0, 1.0))
    length = np.linalg.norm(control[:, 3] - control[:, 0], axis=1)
    effort = np.r_[0.0, np.cumsum(np.maximum(length / scene.size, turn / TURN))]
    edges = []
    for a, b in pairwise([0, *np.flatnonzero(sharp[1:]) + 1, len(control)]):
        count = max(int(np.ceil(effort[b] - effort[a])), 1 if sharp.any() else 3)
        ends = np.searchsorted(effort[a : b + 1], np.linspace(effort[a], effort[b], count + 1)) + a
        for i, j in pairwise(np.unique(ends)):
            points = [scene.point(x) for x in control[np.arange(i, j + 1) % len(control), 0]]
            tangents = {0: occ.Vec(*first[i].tolist(), 0.0), j - i: occ.Vec(*last[j - 1].tolist(), 0.0)}
            edges.append(occ.SplineInterpolation(points, tangents=tangents))
    return occ.Face(occ.Wire(edges))


def _unit(x: Points) -> Points:
    return x / np.linalg.norm(x, axis=1)[:, None]


def _either(a: Any, b: Any) -> Any:
    """In one of two faces but not in both."""
    return (a - b) + (b - a)


def _everything(scene: Scene) -> Any:
    (lower, upper), beyond = scene.domain.bounds, REACH * scene.domain.size
    return _box(lower - beyond, upper + beyond, scene)


def _half(shape: HalfSpace, scene: Scene) -> Any:
    """The part of a large square (or cube) on the inner side of the line (or plane)."""
    lower, upper = scene.domain.bounds
    n, middle = shape.unit, (lower + upper) / 2
    foot = middle - float(shape.level(middle[None])[0]) * n
    reach = REACH * scene.domain.size
    occ = ngsolve().occ
    if shape.dim == 2:
        along = np.array([-n[1], n[0]])
        corners = [foot - reach * along, foot + reach * along]
        corners += [corners[1] - reach * n, corners[0] - reach * n]
        return _polygon(np.array(corners), scene)
    plane = occ.HalfSpace(scene.point(foot), occ.Vec(*n))
    return _everything(scene) * plane


def _box(lower: np.ndarray, upper: np.ndarray, scene: Scene) -> Any:
    if len(lower) == 2:
        return _polygon(np.array([lower, (upper[0], lower[1]), upper, (lower[0], upper[1])]), scene)
    return ngsolve().occ.Box(scene.point(lower), scene.point(upper))


def _polygon(corners: Points, scene: Scene) -> Any:
    occ = ngsolve().occ
    points = [scene.point(x) for x in corners]
    return occ.Face(occ.Wire([occ.Segment(a, b) for a, b in zip(points, points[1:] + points[:1], strict=True)]))


def _polar(shape: Shape) -> Callable[[np.ndarray], Points]:
    """The curve of a shape about its centre: the zero of its level along each ray."""
    center = np.asarray(shape.center)  # pyright: ignore[reportAttributeAccessIssue]

    def position(t: np.ndarray) -> Points:
        ray = np.stack([np.cos(t), np.sin(t)], axis=1)
        low, high = np.zeros(len(t)), np.full(len(t), shape.size)
        for _ in range(60):
            middle = (low + high) / 2
            inside = shape.level(center + middle[:, None] * ray) < 0
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        return center + low[:, None] * ray

    return position


def _face(position: Callable[[np.ndarray], Points], shape: Shape, start: float, scene: Scene) -> Any:
    occ = ngsolve().occ
    edges = []
    ends = spline_ends(position, start, scene.size)
    at_ends = position(ends)
    at_ends[-1] = at_ends[0]
    for k in range(len(ends) - 1):
        x = position(np.linspace(ends[k], ends[k + 1], POINTS))
        x[0], x[-1] = at_ends[k], at_ends[k + 1]
        # The exact tangents at both ends, but for corners: there the curve has two.
        along = {0: x[1] - x[0], POINTS - 1: x[-1] - x[-2]}
        tangents = {}
        for place, n in zip(along, shape.normal(x[[0, -1]]), strict=True):
            tangent = np.array([-n[1], n[0]]) * np.sign(along[place] @ (-n[1], n[0]))
            if np.isfinite(n).all() and along[place] @ tangent > 0.9 * np.linalg.norm(along[place]):
                tangents[place] = occ.Vec(float(tangent[0]), float(tangent[1]), 0.0)
        points = [scene.point(place) for place in x]
        edges.append(occ.SplineInterpolation(points, tangents=tangents))
    return occ.Face(occ.Wire(edges))


def spline_ends(position: Callable[[np.ndarray], Points], start: float, size: float) -> Float[np.ndarray, " ends"]:
    """Parameters between which the curve is no longer than `size` and turns by TURN at most; corners are among them."""
    t = start + np.linspace(0.0, 2.0 * np.pi, SAMPLES + 1)
    chord = np.diff(position(t), axis=0)
    length = np.linalg.norm(chord, axis=1)
    direction = np.unwrap(np.arctan2(chord[:, 1], chord[:, 0]))
    turn = np.abs(np.diff(direction, prepend=direction[0]))
    corners = np.flatnonzero(turn > CORNER)
    turn[corners] = 0.0
    effort = np.r_[0.0, np.cumsum(np.maximum(length / size, turn / TURN))]
    cuts = np.unique(np.r_[0, corners, SAMPLES])
    ends = [t[-1:]]
    for a, b in pairwise(cuts):
        count = max(2, int(np.ceil(effort[b] - effort[a])))
        ends.append(np.interp(np.linspace(effort[a], effort[b], count + 1)[:-1], effort[a : b + 1], t[a : b + 1]))
    return np.sort(np.concatenate(ends))
