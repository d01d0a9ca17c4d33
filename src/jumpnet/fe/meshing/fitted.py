"""Fitted meshes: elements that follow the interfaces of a partition, curved to any order, and what their faces are.

Each face of the geometry gets a name of its own; whether it is an interface, and of which pieces, or a part of the
outer boundary, is found by asking the partition for the labels on both sides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import KDTree

from jumpnet.errors import GeometryError
from jumpnet.fe.field import Field
from jumpnet.fe.mesh import Mesh, from_corners, turned
from jumpnet.fe.meshing.frame import Frame
from jumpnet.fe.meshing.shapes import Scene, solid
from jumpnet.fe.ngsolve import ngsolve
from jumpnet.fe.simplex import Lagrange, lagrange
from jumpnet.geometry import Box, Partition
from jumpnet.geometry.shape import Shape

GRADING = 0.5  # how fast elements may grow away from small ones
# Orders of curved faces beyond that of the elements. With the same order the shape of a mesh is off by as much as its
# functions, which a judge on the same mesh could not see: it found 0.3 of the error of pde4 (order 3).
FINER = 2
# Of an element's size: far enough from a curved face to be sure of the side, near enough not to leave the next piece.
PROBE = 1e-2
NEAR = 0.1  # of an element's size: the exact face is not farther from a mesh's face
ON = 1e-11  # of a shape's size: after a step as short as this the next one would be rounding
NEWTON = 8  # steps from a mesh's face to the exact one

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Surface:
    """All integration points on faces: on the exact surface, with its normal, the pieces around, and the face's name.

    `low` and `high` are the pieces of an interface and the normal points from `high` to `low`; on the outer boundary
    `low` is -1, `high` the piece, and the normal points outward.
    """

    x: Float[np.ndarray, "n d"]
    normal: Float[np.ndarray, "n d"]
    low: Int[np.ndarray, " n"]
    high: Int[np.ndarray, " n"]
    region: Int[np.ndarray, " n"]
    space: Any

    def of(self, values: Mapping[Any, np.ndarray] | np.ndarray) -> Any:
        """Numbers at the points as a coefficient function, for integrals with `rules` only."""
        return function_of(self.space, values)

    @property
    def rules(self) -> Any:
        """The integration rules that have these points."""
        return self.space.GetIntegrationRules()


@dataclass(frozen=True, eq=False)
class FittedMesh:
    """A mesh of a partition with the names of its faces: by pair of pieces, and by part of the boundary."""

    mesh: Any
    partition: Partition
    interfaces: Mapping[Pair, str]
    boundary: Mapping[str, str]
    surface: Surface


def fitted_mesh(partition: Partition, size: float, order: int, extra: int) -> FittedMesh:
    """A mesh with elements of about `size`, faces curved to `order`; `extra` orders for integrals beyond it."""
    comp = ngsolve().comp
    mesh = curved_mesh(partition, size, order + FINER, Frame.identity(partition.dim))
    if _folded(mesh, order + FINER):
        mesh.Curve(order)
        if _folded(mesh, order):
            raise GeometryError("the curved elements of the mesh fold; give a smaller size=, or a lower order=.")
    space = comp.IntegrationRuleSpaceSurface(mesh, order=order + extra)
    surface = _surface(mesh, partition, space, size)
    interfaces, boundary = _named(mesh, partition, surface)
    return FittedMesh(mesh, partition, interfaces, boundary, surface)


def curved_mesh(
    partition: Partition,
    size: float,
    order: int,
    frame: Frame,
    periodic: Sequence[int] = (),
    finer: Sequence[tuple[Float[np.ndarray, " d"], float]] = (),
) -> Any:
    """NGSolve's mesh of a partition, in a frame: materials piece0, piece1, ..., faces curved to an order.

    Along the axes that are `periodic` the meshes of opposite sides of the box match. `finer` are points with the sizes
    of elements there.
    """
    modules = ngsolve()
    ng, occ, meshing = modules.ng, modules.occ, modules.meshing
    glued = occ.Glue(_parts(partition, Scene(partition.domain, size, frame)))
    for k, face in enumerate(glued.edges if partition.dim == 2 else glued.faces):
        face.name = f"face{k}"
    for axis in periodic:
        _identify(partition, frame, glued, axis)
    geometry = occ.OCCGeometry(glued, dim=partition.dim)
    parameters = meshing.MeshingParameters(maxh=size / frame.unit, grading=GRADING)
    for place, there in finer:
        parameters.RestrictH(*frame.inward(place).tolist(), *[0.0] * (3 - partition.dim), h=there / frame.unit)
    mesh = ng.Mesh(geometry.GenerateMesh(mp=parameters))
    mesh.Curve(order)
    return mesh


def _identify(partition: Partition, frame: Frame, glued: Any, axis: int) -> None:
    """Tell the mesher which faces of the upper side are images of those of the lower one."""
    occ = ngsolve().occ
    (lower, upper), near = map(frame.inward, partition.bounds), 1e-6 * partition.domain.size / frame.unit
    shift = np.zeros(3)
    shift[axis] = upper[axis] - lower[axis]
    faces = list(glued.edges if partition.dim == 2 else glued.faces)
    boxes = [np.array([[*corner] for corner in face.bounding_box]) for face in faces]
    middles = [np.array([*face.center]) for face in faces]
    low, high = (
        [k for k, box in enumerate(boxes) if np.abs(box[:, axis] - side[axis]).max() < near] for side in (lower, upper)
    )
    for k in low:
        match = [j for j in high if np.abs(middles[k] + shift - middles[j]).max() < near]
        if len(match) != 1 or len(low) != len(high):
            raise GeometryError(
                f"the pieces at the sides x{axis + 1}- and x{axis + 1}+ of a periodic box do not match."
            )
        move = occ.gp_Trsf.Translation(occ.Vec(*shift))
        faces[k].Identify(faces[match[0]], f"periodic{axis}", occ.IdentificationType.PERIODIC, move)


def same_vertices(partition: Partition, x: Float[np.ndarray, "n d"], periodic: Sequence[int]) -> np.ndarray:
    """Numbers of vertices; the same for those that are images of each other."""
    same, near = np.arange(len(x)), 1e-7 * partition.domain.size
    lower, upper = partition.bounds
    for axis in periodic:
        low, high = (np.flatnonzero(np.abs(x[:, axis] - side[axis]) < near) for side in (lower, upper))
        moved = x[low].copy()
        moved[:, axis] = upper[axis]
        gap, match = KDTree(x[high]).query(moved)
        if len(low) != len(high) or gap.max() > near:
            raise GeometryError(
                f"the meshes of the sides x{axis + 1}- and x{axis + 1}+ of a periodic box do not match."
            )
        for a, b in zip(low, high[match], strict=True):
            same[same == same[b]] = same[a]
    return same


def arrays_of(
    mesh: Any,
    order: int,
    frame: Frame,
    partition: Partition | None = None,
    periodic: Sequence[int] = (),
) -> Mesh:
    """NGSolve's mesh, made in a frame, as plain arrays; its maps are taken as polynomials of an order."""
    ng, dim = ngsolve().ng, mesh.dim
    ngmesh = mesh.ngmesh
    table = (ngmesh.Elements2D() if dim == 2 else ngmesh.Elements3D()).NumPy()
    corners = table["nodes"][:, : dim + 1].astype(int) - 1
    basis = lagrange(dim, order)
    x = frame.outward(_at_nodes(mesh, ng.CF((ng.x, ng.y, ng.z)[:dim]), basis))
    labels = np.array([int(name.removeprefix("piece")) for name in mesh.GetMaterials()])
    same = None
    if periodic and partition is not None:
        same = same_vertices(partition, frame.outward(np.asarray(ngmesh.Coordinates())[:, :dim]), periodic)
    return from_corners(corners, labels[table["index"] - 1], x, order, same)


def field_of(mesh: Any, arrays: Mesh, functions: Sequence[Any], order: int) -> Field:
    """A function of each piece on NGSolve's mesh as values at the nodes of the same mesh as arrays."""
    ng, ngmesh, dim = ngsolve().ng, mesh.ngmesh, mesh.dim
    table = (ngmesh.Elements2D() if dim == 2 else ngmesh.Elements3D()).NumPy()
    whole = mesh.MaterialCF({f"piece{piece}": function for piece, function in enumerate(functions)})
    values = _at_nodes(mesh, ng.CF(whole), lagrange(dim, order))
    corners = table["nodes"][:, : dim + 1].astype(int) - 1
    return Field(arrays, order, turned(corners, arrays.same, values, dim, order)[..., 0])


def _at_nodes(mesh: Any, function: Any, basis: Lagrange) -> Float[np.ndarray, "m nodes components"]:
    """A coefficient function at the nodes of all elements, whose vertices stand in the order that NGSolve has."""
    ng = ngsolve().ng
    # Of NGSolve's reference simplex the last vertex is the origin.
    places = [tuple(row) for row in basis.barycentric[:, :-1].tolist()]
    rule = ng.IntegrationRule(places, [1.0] * len(places))
    return np.asarray(function(mesh.MapToAllElements(rule, ng.VOL))).reshape(mesh.ne, basis.size, -1)


def _parts(partition: Partition, scene: Scene) -> list[Any]:
    """The pieces cut off at the domain, and what is left of it, with the names of their materials."""
    domain = solid(partition.domain, scene)
    rest, parts = domain, []
    for shape in partition.pieces:
        piece = solid(shape, scene)
        rest = rest - piece
        parts.append(piece * domain if shape.clipped else piece)
    for label, part in enumerate([rest, *parts]):
        (part.faces if partition.dim == 2 else part.solids).name = f"piece{label}"
    return [rest, *parts]


def _folded(mesh: Any, order: int) -> bool:
    """Whether some curved elements fold, which netgen does not report."""
    modules = ngsolve()
    ng, comp = modules.ng, modules.comp
    space = comp.IntegrationRuleSpace(mesh, order=order)
    return bool(points_of(space, ng.Det(ng.specialcf.JacobianMatrix(mesh.dim))).min() <= 0)


def _surface(mesh: Any, partition: Partition, space: Any, size: float) -> Surface:
    ng = ngsolve().ng
    everywhere = mesh.Boundaries(".*")

    def values(function: Any) -> np.ndarray:
        return points_of(space, function, everywhere)

    x = np.stack([values(c) for c in (ng.x, ng.y, ng.z)[: mesh.dim]], axis=1)
    outward = ng.specialcf.normal(mesh.dim)
    normal = np.stack([values(outward[i]) for i in range(mesh.dim)], axis=1)
    names = {name: k for k, name in enumerate(mesh.GetBoundaries())}
    region = values(mesh.BoundaryCF(names)).round().astype(int)
    step = PROBE * np.minimum(size, np.broadcast_to(values(ng.specialcf.mesh_size), len(x)))[:, None]
    ahead, behind = partition.label(x + step * normal), partition.label(x - step * normal)
    ahead, behind = _by_face(region, ahead, behind)
    low, high = np.minimum(ahead, behind), np.maximum(ahead, behind)
    # From high to low, and outward where low is the outside.
    normal = np.where((ahead < behind)[:, None], normal, -normal)
    for piece in np.unique(high):
        for shape, mine in _owners(partition, int(piece), low, high):
            x[mine], normal[mine] = projected(shape, x[mine], normal[mine], size)
    return Surface(x, normal, low, high, region, space)


def _by_face(region: np.ndarray, ahead: np.ndarray, behind: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The labels on both sides of each face, by the majority of its points: some may be misled, near a cusp say."""
    ahead, behind = ahead.copy(), behind.copy()
    for k in np.unique(region):
        mine = region == k
        sides, counts = np.unique(np.stack([ahead[mine], behind[mine]]), axis=1, return_counts=True)
        ahead[mine], behind[mine] = sides[:, np.argmax(np.where(sides[0] != sides[1], counts, 0))]
    return ahead, behind


def _owners(
    partition: Partition, piece: int, low: np.ndarray, high: np.ndarray
) -> list[tuple[Shape, Bool[np.ndarray, " n"]]]:
    """Whose boundary the faces of a piece are: the domain's outside, else that of the higher of the two pieces."""
    mine = high == piece
    found = [(partition.domain, mine & (low < 0))]
    return found + ([(partition.pieces[piece - 1], mine & (low >= 0))] if piece else [])


def projected(
    shape: Shape, x: np.ndarray, normal: np.ndarray, size: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest points of the exact surface along the normals, and its normals there; as they are if there are none.

    A piece that ends at its neighbour's boundary has none there. `size` is that of the elements, one or one for each.
    """
    if not len(x):
        return x, normal
    size, s, level = np.broadcast_to(size, len(x)), np.zeros(len(x)), shape.level(x)
    step = 1e-6 * size
    slope = (shape.level(x + step[:, None] * normal) - level) / step
    moving = np.arange(len(x))
    for _ in range(NEWTON):
        move = np.divide(level, slope, out=np.zeros_like(s), where=np.abs(slope) > 1e-3)
        s[moving] -= move[moving]
        moving = moving[np.abs(move[moving]) > ON * shape.size]
        if not len(moving):
            break
        here = shape.level(x[moving] + s[moving, None] * normal[moving])
        slope[moving], level[moving] = (level[moving] - here) / move[moving], here  # a secant
    on = x + s[:, None] * normal
    good = np.isfinite(s) & (np.abs(s) < NEAR * size) & (np.abs(level) < 1e-9 * shape.size)
    exact = shape.normal(np.where(good[:, None], on, x))
    exact = exact * np.where(np.sum(exact * normal, axis=1) < 0, -1.0, 1.0)[:, None]
    sound = good & np.isfinite(exact).all(axis=1)
    return np.where(good[:, None], on, x), np.where(sound[:, None], exact, normal)


def _named(mesh: Any, partition: Partition, surface: Surface) -> tuple[dict[Pair, str], dict[str, str]]:
    """The faces of each interface and of each part of the boundary, as patterns of names."""
    interfaces: dict[Pair, list[str]] = {}
    boundary: dict[str, list[str]] = {}
    for k, name in enumerate(mesh.GetBoundaries()):
        mine = surface.region == k
        a, b = int(surface.low[mine][0]), int(surface.high[mine][0])
        if a < 0:
            boundary.setdefault(boundary_part(partition, surface.x[mine].mean(axis=0)), []).append(name)
        elif a != b:
            interfaces.setdefault((a, b), []).append(name)
    return {k: "|".join(v) for k, v in interfaces.items()}, {k: "|".join(v) for k, v in boundary.items()}


def boundary_part(partition: Partition, x: np.ndarray) -> str:
    """The part of the outer boundary that a point on it belongs to."""
    if not isinstance(partition.domain, Box):
        return partition.boundary_parts[0]
    lower, upper = partition.bounds
    gaps = np.stack([np.abs(x - lower), np.abs(x - upper)], axis=1).ravel()
    return partition.boundary_parts[int(np.argmin(gaps))]


def points_of(space: Any, function: Any, where: Any = None) -> np.ndarray:
    """A coefficient function at the integration points."""
    given = ngsolve().ng.GridFunction(space)
    if where is None:
        given.Interpolate(function)
    else:
        given.Interpolate(function, definedon=where)
    return given.vec.FV().NumPy().copy()


def function_of(space: Any, values: Any) -> Any:
    """Numbers at the integration points as a coefficient function."""
    made = ngsolve().ng.GridFunction(space)
    made.vec.FV().NumPy()[:] = values
    return made
