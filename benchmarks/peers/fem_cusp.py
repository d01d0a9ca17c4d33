"""Finite elements for the heart of pde2, graded towards its cusp: a reference where the solution is not smooth.

The background reaches into the heart as a needle that narrows like the distance from its tip to the power 3/2. Rings
about the tip, each smaller than the last by the same factor, cut it and what surrounds it into quadrilaterals, a few
across the needle however thin it is; beyond the outermost ring netgen's triangles take over. Walls are curved exactly.
More rings leave the elements outside them as they are, so that solutions with different numbers of rings and different
orders can be compared point by point. `converged` does that, and prints what it finds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import ngsolve as ng
import numpy as np
from netgen.geom2d import SplineGeometry
from netgen.meshing import Element1D, Element2D, FaceDescriptor, MeshPoint, Pnt
from netgen.meshing import Mesh as NetgenMesh

import jumpnet as jn
from jumpnet.baselines.fem import EXTRA, _solved
from jumpnet.fe.meshing.fitted import FittedMesh, Surface, points_of

TIP = np.array([-0.25, 0.0])
OUTERMOST = 0.15  # radius of the largest ring
RINGS = (4, 8, 12, 16)  # the last is a radius of 6e-8
FINER = 0.06  # elements of this size check the reference
QUADRATURE = 8  # degree of functions whose squares are integrated exactly
CURVED = 8  # order of the walls, whatever that of the elements
# Counterclockwise; NGSolve takes names as patterns, in which the partition's + would mean something else.
SIDES = {"bottom": "x2-", "right": "x1+", "top": "x2+", "left": "x1-"}


@dataclass(frozen=True)
class Grading:
    """How many rings there are, what each is of the one before, and the size of the triangles beyond them.

    The outermost ring is 0.65 long in the heart and 0.3 in the background; a longer edge than `size` netgen would cut.
    """

    rings: int
    factor: float = 0.4
    size: float = 0.1

    @property
    def in_heart(self) -> int:
        """Quadrilaterals of a ring in the heart."""
        return 2 * int(np.ceil(0.33 / self.size))

    @property
    def in_needle(self) -> int:
        """And in the needle."""
        return 2 * int(np.ceil(0.15 / self.size))

    @property
    def smallest(self) -> float:
        """The radius of the last ring."""
        return OUTERMOST * self.factor**self.rings


@dataclass(frozen=True)
class Reference:
    """Values at quadrature points: `value` is known at `x`, on the side of `piece`, and `weight` integrates.

    The first `outside` of them are beyond the last ring.
    """

    x: np.ndarray
    piece: np.ndarray
    weight: np.ndarray
    value: np.ndarray
    outside: int
    elements: int
    unknowns: int

    def error(self, solution: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> float:
        """The L2 norm of the difference over that of the reference."""
        return self.norm(solution(self.x, self.piece) - self.value) / self.norm(self.value)

    def norm(self, values: np.ndarray) -> float:
        """The L2 norm of values at the points."""
        return float(np.sqrt(self.weight[: len(values)] @ values**2))

    def difference(self, other: "Reference") -> float:
        """The same for a solution on a mesh with more or fewer rings, where both have the same elements."""
        common = len(self.x) if len(self.x) == len(other.x) else min(self.outside, other.outside)
        assert np.abs(self.x[:common] - other.x[:common]).max() < 1e-12
        return self.norm(self.value[:common] - other.value[:common]) / self.norm(self.value)


def on_wall(sigma: np.ndarray, side: float) -> np.ndarray:
    """The heart's upper (side = 1) or lower wall relative to the tip, by the angle from the needle's axis.

    The curve's own parameter is pi - sigma; this form has no cancellation at the tip.
    """
    radius = 2 / 3 * np.sin(sigma / 2) ** 2
    return np.stack([-radius * np.cos(sigma), side * radius * np.sin(sigma)], axis=-1)


def angle_at(radius: float) -> float:
    """The angle at which the wall is so far from the tip."""
    return float(2 * np.arcsin(np.sqrt(1.5 * radius)))


def graded(partition: jn.Partition, grading: Grading, extra_order: int) -> FittedMesh:
    """The mesh of the heart in its square, curved."""
    points, elements, edges = _outer(grading)
    heart = grading.in_heart
    ring = [int(np.argmin(np.hypot(*(points - place).T))) for place in _ring(grading, OUTERMOST)]
    # From the outside to the tip: the elements of fewer rings are the first of more.
    for k in range(1, grading.rings + 1):
        fresh = list(range(len(points), len(points) + len(ring)))
        points = np.concatenate([points, _ring(grading, OUTERMOST * grading.factor**k)])
        for at in range(len(ring)):
            after = (at + 1) % len(ring)
            elements.append((int(at < heart), (fresh[at], ring[at], ring[after], fresh[after])))
        edges += [("upper", (ring[heart], fresh[heart])), ("lower", (fresh[0], ring[0]))]
        ring = fresh
    tip = len(points)
    points = np.concatenate([points, TIP[None]])
    elements += [(int(at < heart), (tip, ring[at], ring[(at + 1) % len(ring)])) for at in range(len(ring))]
    edges += [("upper", (ring[heart], tip)), ("lower", (tip, ring[0]))]
    mesh = _assembled(points, elements, edges)
    _curve(mesh)
    return _fitted(mesh, partition, extra_order)


def _ring(grading: Grading, radius: float) -> np.ndarray:
    """The corners on a ring, counterclockwise from the lower wall through the heart."""
    sigma = angle_at(radius)
    heart = np.linspace(-(np.pi - sigma), np.pi - sigma, grading.in_heart + 1)
    needle = np.linspace(np.pi - sigma, np.pi + sigma, grading.in_needle + 1)[1:-1]
    relative = radius * np.stack([np.cos(np.r_[heart, needle]), np.sin(np.r_[heart, needle])], axis=1)
    relative[0], relative[grading.in_heart] = (on_wall(np.array(sigma), side) for side in (-1.0, 1.0))
    return TIP + relative


def _outer(grading: Grading) -> tuple[np.ndarray, list, list]:
    """Netgen's triangles between the outermost ring and the square: points, (piece, corners), (label, ends)."""
    geometry = SplineGeometry()

    def append(points: np.ndarray) -> list[int]:
        return [geometry.AppendPoint(*point) for point in points]

    def lines(corners: Sequence[int], left: int, right: int, label: str) -> None:
        for a, b in pairwise(corners):
            geometry.Append(["line", a, b], leftdomain=left, rightdomain=right, bc=label)

    heart, ring = grading.in_heart, append(_ring(grading, OUTERMOST))
    lines(ring[: heart + 1], 0, 2, "ring")
    lines([*ring[heart:], ring[0]], 0, 1, "ring")
    # Each wall is 1.2 long beyond the ring, and fastest at first, by 2/3 for a unit of the angle.
    sigma = np.linspace(angle_at(OUTERMOST), np.pi, int(np.ceil(1.5 / grading.size)) + 1)
    upper, lower = append(TIP + on_wall(sigma[1:], 1.0)), append(TIP + on_wall(sigma[1:-1], -1.0))
    lines([ring[heart], *upper], 1, 2, "upper")
    lines([upper[-1], *lower[::-1], ring[0]], 1, 2, "lower")
    corners = append(np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]))
    for side, (a, b) in zip(SIDES, pairwise([*corners, corners[0]]), strict=True):
        geometry.Append(["line", a, b], leftdomain=1, rightdomain=0, bc=side)
    # The two small numbers keep netgen from cutting the chords once more.
    made = geometry.GenerateMesh(maxh=grading.size, grading=0.9, segmentsperedge=0.1, curvaturesafety=0.1)
    points = np.array([point.p[:2] for point in made.Points()])
    triangles = [(one.index - 1, tuple(v.nr - 1 for v in one.vertices)) for one in made.Elements2D()]
    edges = [(made.GetBCName(one.index - 1), tuple(v.nr - 1 for v in one.points)) for one in made.Elements1D()]
    around = sum(label == "ring" for label, _ in edges)
    assert around == len(ring), f"netgen cut the {len(ring)} edges of the ring into {around}"
    return points, triangles, [edge for edge in edges if edge[0] != "ring"]


def _assembled(points: np.ndarray, elements: list, edges: list) -> Any:
    """The mesh of NGSolve; corners are turned counterclockwise."""
    mesh = NetgenMesh(dim=2)
    numbers = [mesh.Add(MeshPoint(Pnt(float(x), float(y), 0.0))) for x, y in points]
    for piece in (0, 1):
        mesh.Add(FaceDescriptor(surfnr=piece + 1, domin=piece + 1, bc=piece + 1))
        mesh.SetMaterial(piece + 1, f"piece{piece}")
    for piece, corners in elements:
        a, b, c = (points[corner] for corner in corners[:3])
        turned = corners if np.cross(b - a, c - a) > 0 else corners[::-1]
        mesh.Add(Element2D(piece + 1, [numbers[corner] for corner in turned]))
    labels = [*SIDES, "upper", "lower"]
    for label, ends in edges:
        mesh.Add(Element1D([numbers[end] for end in ends], index=labels.index(label) + 1))
    for at, label in enumerate(labels):
        mesh.SetBCName(at, label)
    return ng.Mesh(mesh)


def _curve(mesh: Any) -> None:
    """Move the edges on the walls to where they belong: linear in the angle along each."""
    angle = ng.GridFunction(ng.H1(mesh, order=1))
    places = np.array([vertex.point for vertex in mesh.vertices]) - TIP
    angle.vec.FV().NumPy()[:] = 2 * np.arcsin(np.sqrt(np.clip(1.5 * np.hypot(*places.T), 0, 1)))
    radius = 2 / 3 * ng.sin(angle / 2) ** 2
    move = {
        label: ng.CF((TIP[0] - radius * ng.cos(angle) - ng.x, side * radius * ng.sin(angle) - ng.y))
        for label, side in (("upper", 1.0), ("lower", -1.0))
    }
    shift = ng.GridFunction(ng.VectorH1(mesh, order=CURVED))
    shift.Set(mesh.BoundaryCF(move), definedon=mesh.Boundaries("upper|lower"), bonus_intorder=6)
    mesh.SetDeformation(shift)


def _fitted(mesh: Any, partition: jn.Partition, order: int) -> FittedMesh:
    """The mesh with the names of its faces, as the finite elements of the package want it.

    Nothing is prescribed on walls but zero jumps, so that no exact points and normals are needed there.
    """
    space = ng.comp.IntegrationRuleSpaceSurface(mesh, order=order)
    everywhere = mesh.Boundaries(".*")
    x = np.stack([points_of(space, c, everywhere) for c in (ng.x, ng.y)], axis=1)
    names = {name: k for k, name in enumerate(mesh.GetBoundaries())}
    region = points_of(space, mesh.BoundaryCF(names), everywhere).round().astype(int)
    wall = np.isin(region, [names["upper"], names["lower"]])
    normal = np.stack([points_of(space, ng.specialcf.normal(2)[i], everywhere) for i in range(2)], axis=1)
    surface = Surface(x, normal, np.where(wall, 0, -1), np.where(wall, 1, 0), region, space)
    return FittedMesh(mesh, partition, {(0, 1): "upper|lower"}, {part: side for side, part in SIDES.items()}, surface)


def solve(problem: jn.Problem, grading: Grading, order: int) -> Reference:
    """The solution of a problem in the heart's partition without jumps, at the points of a rule of each element."""
    fitted = graded(problem.partition, grading, order + EXTRA)
    terms, unknowns = _solved(problem, fitted, order)
    mesh, solution = fitted.mesh, terms[0][0]
    rules = {kind: ng.IntegrationRule(kind, 2 * QUADRATURE) for kind in (ng.ET.TRIG, ng.ET.QUAD)}
    weights = [np.array(rules[element.type].weights) for element in mesh.Elements(ng.VOL)]
    points = mesh.MapToAllElements(rules, ng.VOL)

    def values(function: Any) -> np.ndarray:
        return np.asarray(function(points)).reshape(-1)

    x = np.stack([values(ng.x), values(ng.y)], axis=1)
    piece = values(mesh.MaterialCF({"piece0": 0.0, "piece1": 1.0})).round().astype(int)
    weight = np.concatenate(weights) * values(ng.Det(ng.specialcf.JacobianMatrix(2)))
    at_tip = sum(len(one) for one in weights[-(grading.in_heart + grading.in_needle) :])
    return Reference(x, piece, weight, values(solution), len(x) - at_tip, mesh.ne, unknowns)


def converged(problem: jn.Problem, orders: Sequence[int], rings: Sequence[int] = RINGS) -> Reference:
    """The solution of the highest order with the most rings; prints how far from it the others are."""
    ng.SetNumThreads(1)  # more threads spin, and are slower on a core that is not theirs alone
    best = solve(problem, Grading(max(rings)), max(orders))
    print("| rings (smallest) | " + " | ".join(f"order {order}" for order in orders) + " |")
    print("|---|" + "---|" * len(orders))
    for count in rings:
        away = [best.difference(solve(problem, Grading(count), order)) for order in orders]
        smallest = f"{count} ({Grading(count).smallest:.0e})"
        print(f"| {smallest} | " + " | ".join(f"{one:.1e}" for one in away) + " |", flush=True)
    finer = solve(problem, Grading(max(rings), size=FINER), max(orders))
    # On other elements, so that only norms can be compared.
    change = finer.norm(finer.value) / best.norm(best.value) - 1
    print(
        f"\n{best.elements} elements, {best.unknowns} unknowns; "
        f"with {finer.elements} elements the norm changes by {change:.0e}\n"
    )
    return best
