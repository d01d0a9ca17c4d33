"""Edges in space at which solutions are not smooth: re-entrant ones, those of bodies, and changes of condition."""

import numpy as np
from jaxtyping import Int

from jumpnet.fe.mesh import Mesh, edge_keys, on_faces
from jumpnet.fe.meshing.bisection import EDGES
from jumpnet.fe.meshing.edges import dihedral_angles
from jumpnet.geometry import Box, HalfSpace
from jumpnet.geometry import Mesh as Body
from jumpnet.geometry.bodies.boolean import Complement, Intersection, Union
from jumpnet.problem import Problem

# Radians by which an angle at an edge must differ from that of a smooth surface (a ball of 24 segments has 0.26).
SHARP = 0.6
# Singularities between pieces whose conductivities differ by less than this factor are weak and ignored (heuristic).
CONTRAST = 1.5
# Shapes that may have edges.
ANGULAR = (Box, HalfSpace, Body, Complement, Intersection, Union)


def singular_edges(problem: Problem, mesh: Mesh) -> Int[np.ndarray, "edges 2"]:
    """The edges of a mesh in space at which the gradient of u may be infinite, as pairs of vertices."""
    names = np.sort(mesh.same[mesh.elements[:, EDGES]], axis=2).reshape(-1, 2)
    edge, number = np.unique(edge_keys(names), return_inverse=True)
    number = number.ravel()
    angle = np.zeros((len(edge), problem.partition.size))
    np.add.at(angle, (number, np.repeat(mesh.piece, 6)), dihedral_angles(mesh).ravel())
    total = angle.sum(axis=1)
    outer, changing = (np.isin(edge, names) for names in _on_boundary(problem, mesh))
    found = outer & (total > np.pi + SHARP)
    found |= changing & (total > np.pi / 2 + SHARP)
    found |= _between_materials(problem, mesh, angle, total, np.isin(edge, _crossings(mesh)))
    ends = mesh.elements[:, EDGES].reshape(-1, 2)  # all images of an edge
    return np.unique(ends[found[number]], axis=0)


def _between_materials(
    problem: Problem, mesh: Mesh, angle: np.ndarray, total: np.ndarray, crossed: np.ndarray
) -> np.ndarray:
    """Which edges belong to a piece whose conductivity differs from that of its surroundings.

    At crossings of interfaces, as of a chessboard, both pieces may have half of the angle.
    """
    k = np.array([_conductivity(problem, mesh, piece) for piece in range(problem.partition.size)])
    there = angle > 0
    high, low = np.where(there, k, 0.0).max(axis=1), np.where(there, k, np.inf).min(axis=1)
    bent = (there & (np.abs(angle - total[:, None] / 2) > SHARP)).any(axis=1) | crossed
    # Elements at smooth surfaces are left straight if they would fold: their edges are not edges of the body.
    angular = there[:, 1:][:, [isinstance(shape, ANGULAR) for shape in problem.partition.pieces]].any(axis=1)
    return (there.sum(axis=1) > 1) & bent & angular & (high > CONTRAST * low)


def _crossings(mesh: Mesh) -> Int[np.ndarray, " edges"]:
    """The names of edges at which more than two interfaces end."""
    (first, second), local = mesh.interfaces.element.T, mesh.interfaces.local[:, 0]
    apart = mesh.piece[first] != mesh.piece[second]
    names, count = np.unique(_of_faces(mesh, first[apart], local[apart]), return_counts=True)
    return names[count > 2]


def _of_faces(mesh: Mesh, element: np.ndarray, local: np.ndarray) -> Int[np.ndarray, "faces 3"]:
    """The names of the edges of faces."""
    ids = np.array([np.delete(mesh.elements[e], k) for e, k in zip(element, local, strict=True)], int).reshape(-1, 3)
    pairs = np.sort(mesh.same[ids[:, [[0, 1], [0, 2], [1, 2]]]], axis=2)
    return edge_keys(pairs.reshape(-1, 2)).reshape(-1, 3)


def _conductivity(problem: Problem, mesh: Mesh, piece: int) -> float:
    mine = np.flatnonzero(mesh.piece == piece)
    if not len(mine):
        return 1.0
    x = mesh.vertices[mesh.elements[mine[:64]]].mean(axis=1)
    return float(np.exp(np.mean(np.log(np.trace(problem.A[piece].value(x), axis1=1, axis2=2) / 3))))


def _on_boundary(problem: Problem, mesh: Mesh) -> tuple[Int[np.ndarray, " edges"], Int[np.ndarray, " edges"]]:
    """The names of all edges on the boundary, and of those between given values and given fluxes."""
    faces = mesh.boundary
    if not len(faces):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    element, local = faces.element[:, 0], faces.local[:, 0]
    given = np.array([kind == "dirichlet" for kind in kinds_of_faces(problem, mesh)])
    names = _of_faces(mesh, element, local)
    return np.unique(names), np.intersect1d(names[given], names[~given])


def kinds_of_faces(problem: Problem, mesh: Mesh) -> list[str]:
    """The kind of condition on each face of the boundary."""
    element, local, parts = mesh.boundary.element[:, 0], mesh.boundary.local[:, 0], problem.partition
    at = on_faces(mesh, element, local, 1)
    part = parts.part_numbers(at.x[:, 0], at.normal[:, 0], mesh.piece[element])
    kinds = [problem.boundary[name].kind for name in parts.boundary_parts]
    return [kinds[k] for k in part.tolist()]
