"""Meshes that follow the interfaces of pde2, pde4 and pde5, for the finite elements of fem.py.

The expert's way: straight elements on chords chosen by length and turning angle, then every boundary node moved to
where it belongs on the exact curve or surface, to any order. The ordinary way: splines through points of the curves,
OpenCASCADE and mesh.Curve. A `Geometry` says, for each label, which exact point and which normal (from the inclusion to
the background) a point of the mesh's boundary stands for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import netgen.occ as occ
import ngsolve as ng
import numpy as np
from netgen.geom2d import SplineGeometry
from netgen.meshing import FaceDescriptor, MeshingParameters
from netgen.meshing import Mesh as NetgenMesh
from scipy.spatial import ConvexHull

TURN = {"pde2": 0.5, "pde4": 0.35}  # radians by which a curve may turn along a chord


@dataclass(frozen=True)
class Geometry:
    """A mesh with the exact boundary points and normals, as coefficient functions by label."""

    mesh: Any
    point: dict[str, Any]
    normal: dict[str, Any]


@dataclass(frozen=True)
class Polar:
    """center + r(t) (cos t, sin t); `m` is the module (numpy or ngsolve) whose functions are meant."""

    label: str
    center: tuple[float, float]
    radius: Callable[[Any, Any], Any]
    slope: Callable[[Any, Any], Any]
    start: float = 0.0

    def at(self, t: Any, m: Any) -> tuple[Any, Any]:
        """The point of a parameter."""
        r = self.radius(t, m)
        return self.center[0] + r * m.cos(t), self.center[1] + r * m.sin(t)

    def normal(self, t: Any) -> Any:
        """The unit normal, outward."""
        if self.label == "heart":  # the formula below divides 0 by 0 at the cusp
            return ng.CF((ng.cos(1.5 * t), ng.sin(1.5 * t)))
        r, dr = self.radius(t, ng), self.slope(t, ng)
        x, y = r * ng.cos(t) + dr * ng.sin(t), r * ng.sin(t) - dr * ng.cos(t)
        return ng.CF((x, y)) / ng.sqrt(r * r + dr * dr)

    def parameters(self, h: float, turn: float) -> np.ndarray:
        """Ends of chords no longer than h along which the curve turns by no more than `turn`; first = last."""
        t = self.start + np.linspace(0, 2 * np.pi, 4001)
        x, y = self.at(t, np)
        dx, dy = np.diff(x), np.diff(y)
        angle = np.unwrap(np.arctan2(dy, dx))
        effort = np.hypot(np.hypot(dx, dy) / h, np.abs(np.diff(angle, append=angle[-1])) / turn)
        spent = np.r_[0, np.cumsum(effort)]
        count = max(4, int(np.ceil(spent[-1])))
        return np.interp(np.arange(count + 1) / count, spent / spent[-1], t)


HEART = Polar("heart", (-0.25, 0), lambda t, m: (1 + m.cos(t)) / 3, lambda t, m: -m.sin(t) / 3, start=-np.pi)
OUTER = Polar(
    "outer",
    (0, 0),
    lambda t, m: 1 / m.sqrt(m.sqrt(m.cos(t) ** 4 + m.sin(t) ** 4)),
    lambda t, m: 0 * t,  # its normal is not needed
)
INCLUSIONS = {
    "pde2": [HEART],
    "pde4": [
        Polar("star1", (-0.5, 0.5), lambda t, m: 0.3 - 0.1 * m.cos(5 * t), lambda t, m: 0.5 * m.sin(5 * t)),
        Polar("star2", (0.4, 0.4), lambda t, m: 0.35 - 0.2 * m.sin(4 * t), lambda t, m: -0.8 * m.cos(4 * t)),
        Polar("star3", (-0.5, -0.4), lambda t, m: 0.45 - 0.05 * m.sin(2 * t), lambda t, m: -0.1 * m.cos(2 * t)),
        Polar("star4", (0.5, -0.5), lambda t, m: 0.35 - 0.05 * m.cos(3 * t), lambda t, m: 0.15 * m.sin(3 * t)),
    ],
}
BALLS = [(-0.45, 0.45, 0.0), (0.45, 0.45, 0.0), (-0.45, -0.45, 0.0), (0.45, -0.45, 0.0)]
# Frequency of the icospheres (outside, balls) and netgen's grading, by mesh size.
SURFACES = {0.25: (6, 2, 0.7), 0.22: (8, 3, 0.7), 0.18: (11, 4, 0.7)}


def labels(name: str) -> list[str]:
    """The interfaces, in the order of the pieces."""
    return [f"ball{i + 1}" for i in range(4)] if name == "pde5" else [curve.label for curve in INCLUSIONS[name]]


def expert(name: str, h: float, order: int) -> Geometry:
    """Straight elements between chords, curved exactly to the given order."""
    found = _balls(h) if name == "pde5" else _plane(name, h)
    mesh, x = found.mesh, ng.CF((ng.x, ng.y, ng.z)[: found.mesh.dim])
    shift = ng.GridFunction(ng.VectorH1(mesh, order=order))
    moved = mesh.BoundaryCF({label: point - x for label, point in found.point.items()})
    shift.Set(moved, definedon=mesh.Boundaries("|".join(found.point)), bonus_intorder=4)
    mesh.SetDeformation(shift)
    return found


def _plane(name: str, h: float) -> Geometry:
    """Netgen's triangles on the polygons of the chords."""
    curves = [*INCLUSIONS[name], *([OUTER] if name == "pde4" else [])]
    geometry, ends = SplineGeometry(), {}
    for piece, curve in enumerate(curves, start=1):
        ends[curve.label] = t = curve.parameters(h, TURN[name])
        corners = [geometry.AppendPoint(*point) for point in zip(*curve.at(t[:-1], np), strict=True)]
        sides = (1, 0) if curve is OUTER else (piece + 1, 1)
        for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
            geometry.Append(["line", a, b], leftdomain=sides[0], rightdomain=sides[1], bc=curve.label)
    if name == "pde2":
        geometry.AddRectangle((-1, -1), (1, 1), leftdomain=1, rightdomain=0, bc="outer")
    for piece in range(len(INCLUSIONS[name]) + 1):
        geometry.SetMaterial(piece + 1, f"piece{piece}")
    # The two small numbers keep netgen from cutting the chords once more.
    mesh = ng.Mesh(geometry.GenerateMesh(maxh=h, grading=0.9, segmentsperedge=0.1, curvaturesafety=0.1))
    cosine, sine = _angles(mesh, {curve.label: (curve, ends[curve.label]) for curve in curves})
    t = ng.atan2(sine, cosine)
    return Geometry(
        mesh,
        {curve.label: ng.CF(curve.at(t, ng)) for curve in curves},
        {curve.label: curve.normal(t) for curve in INCLUSIONS[name]},
    )


def _angles(mesh: Any, curves: dict[str, tuple[Polar, np.ndarray]]) -> tuple[Any, Any]:
    """cos t and sin t of each boundary vertex's parameter, linear along the edges of the mesh."""
    space = ng.H1(mesh, order=1)
    fields = ng.GridFunction(space), ng.GridFunction(space)
    places = np.array([vertex.point for vertex in mesh.vertices])
    on_curve: dict[str, set[int]] = {label: set() for label in curves}
    for edge in mesh.Elements(ng.BND):
        if edge.mat in curves:
            on_curve[edge.mat].update(vertex.nr for vertex in edge.vertices)
    for label, (curve, ends) in curves.items():
        vertices = np.array(sorted(on_curve[label]))
        corners = np.stack(curve.at(ends, np), axis=1)
        a, chord = corners[:-1], np.diff(corners, axis=0)
        offset = places[vertices][:, None] - a
        share = np.clip(np.sum(offset * chord, axis=2) / np.sum(chord**2, axis=1), 0, 1)
        distance = np.linalg.norm(offset - share[..., None] * chord, axis=2)
        nearest = np.argmin(distance, axis=1)
        t = ends[nearest] + share[np.arange(len(vertices)), nearest] * np.diff(ends)[nearest]
        for field, values in zip(fields, (np.cos(t), np.sin(t)), strict=True):
            field.vec.FV().NumPy()[vertices] = values
    return fields


def _balls(h: float) -> Geometry:
    """Icospheres for the surfaces; netgen fills the background, and a ball is the cone of its surface's triangles.

    (Tetrahedra with two faces on a ball, which netgen likes to make inside, are nearly flat once they are curved.)
    """
    outside, of_ball, grading = SURFACES[h]
    mesh, first, cones = NetgenMesh(dim=3), 0, []
    for piece, label in enumerate(["outer", *labels("pde5")]):
        points, triangles = _icosphere(of_ball if piece else outside)
        if piece:
            points, triangles = np.array(BALLS[piece - 1]) + 0.4 * points, triangles[:, ::-1]
            cones.append(triangles[:, ::-1] + first)
        else:
            points = points * (1, 1, 0.5)
            points /= (points**4 @ (1, 1, 16))[:, None] ** 0.25
        mesh.AddPoints(np.ascontiguousarray(points))
        mesh.Add(FaceDescriptor(surfnr=piece + 1, domin=1, domout=0, bc=piece + 1))
        mesh.AddElements(dim=2, index=piece + 1, data=np.ascontiguousarray(triangles + first, np.int32), base=0)
        mesh.SetBCName(piece, label)
        first += len(points)
    mesh.GenerateVolumeMesh(mp=MeshingParameters(maxh=h, grading=grading, parallel_meshing=False))
    mesh.SetMaterial(1, "piece0")
    for piece, (center, triangles) in enumerate(zip(BALLS, cones, strict=True), start=1):
        apex = len(mesh.Points())
        mesh.AddPoints(np.array([center]))
        cells = np.ascontiguousarray(np.c_[triangles, np.full(len(triangles), apex)], np.int32)
        mesh.AddElements(dim=3, index=piece + 1, data=cells, base=0)
        mesh.SetMaterial(piece + 1, f"piece{piece}")
    x = ng.CF((ng.x, ng.y, ng.z))
    point = {"outer": x / ng.sqrt(ng.sqrt(ng.x**4 + ng.y**4 + 16 * ng.z**4))}
    normal = {}
    for label, center in zip(labels("pde5"), BALLS, strict=True):
        normal[label] = (x - ng.CF(center)) / ng.Norm(x - ng.CF(center))
        point[label] = ng.CF(center) + 0.4 * normal[label]
    return Geometry(ng.Mesh(mesh), point, normal)


def _icosphere(frequency: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of the unit sphere and its triangles, seen from outside counterclockwise."""
    golden = (1 + np.sqrt(5)) / 2
    corners = np.array([(0, a, b * golden) for a in (-1, 1) for b in (-1, 1)])
    corners = np.concatenate([corners, np.roll(corners, 1, axis=1), np.roll(corners, 2, axis=1)])
    shares = [(i, j, frequency - i - j) for i in range(frequency + 1) for j in range(frequency + 1 - i)]
    points = np.concatenate([np.array(shares) @ corners[face] for face in ConvexHull(corners).simplices])
    points /= np.linalg.norm(points, axis=1)[:, None]
    points = points[np.unique(points.round(9), axis=0, return_index=True)[1]]
    triangles = ConvexHull(points).simplices
    inward = np.linalg.det(points[triangles]) < 0
    triangles[inward] = triangles[inward][:, ::-1]
    return points, triangles


def ordinary(name: str, h: float, order: int) -> Geometry:
    """OpenCASCADE faces bounded by splines, meshed and curved by NGSolve itself."""
    if name == "pde4":
        outer = _face(OUTER, pieces=8, points=1600)
    else:
        outer = occ.MoveTo(-1, -1).Rectangle(2, 2).Face()
        outer.edges.name = "outer"
    # Several open splines: one periodic spline gave a star the length 5.04 instead of 4.07, silently.
    inner = [_face(curve, pieces=8 if name == "pde4" else 2, points=1600) for curve in INCLUSIONS[name]]
    rest = outer
    for piece, face in enumerate(inner, start=1):
        face.faces.name = f"piece{piece}"
        rest = rest - face
    rest.faces.name = "piece0"
    mesh = ng.Mesh(occ.OCCGeometry(occ.Glue([rest, *inner]), dim=2).GenerateMesh(maxh=h, grading=0.5))
    mesh.Curve(order)
    x, normal = ng.CF((ng.x, ng.y)), {}
    for curve in INCLUSIONS[name]:
        normal[curve.label] = curve.normal(ng.atan2(ng.y - curve.center[1], ng.x - curve.center[0]))
    return Geometry(mesh, dict.fromkeys(["outer", *normal], x), normal)


def _face(curve: Polar, pieces: int, points: int) -> Any:
    edges = []
    for k in range(pieces):
        t = curve.start + np.linspace(k, k + 1, points // pieces + 1) * 2 * np.pi / pieces
        edges.append(occ.SplineInterpolation([occ.Pnt(x, y, 0) for x, y in zip(*curve.at(t, np), strict=True)]))
    face = occ.Face(occ.Wire(edges))
    face.edges.name = curve.label
    # Found by hand: the notches of these two have radii of 0.017 and 0.0074, and larger elements fold.
    face.edges.maxh = {"star1": 0.02, "star2": 0.008}.get(curve.label, 1e9)
    return face
