"""Nodes on the exact surfaces: meshes come with curves that are near them, and refinements keep those."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from jaxtyping import Bool

from jumpnet.fe.mesh import Faces, Mesh
from jumpnet.fe.meshing.fitted import projected
from jumpnet.geometry import Partition
from jumpnet.geometry.shape import Shape

# Of the size of an element: nodes that are nearer to the surface are on it.
ON = 1e-14
# Likewise: faces that are off their chords by less are straight.
CURVED = 1e-11


def fitted(parts: Partition, mesh: Mesh) -> Mesh:
    """The mesh with the nodes of curved interfaces and boundaries moved onto the surfaces, wherever they are near."""
    nodes = _with_vertices_on(parts, mesh)
    moved = replace(mesh, nodes=nodes)
    for shape, element, local in _walls(parts, mesh):
        for k in range(mesh.dim + 1):
            mine = element[local == k]
            inner = _inside_face(mesh, k)
            if len(mine) and len(inner):
                at = nodes[mine[:, None], inner]
                nodes[mine[:, None], inner] = _onto(shape, moved, mine, k, at)
    made = replace(mesh, nodes=nodes)
    return made if made.sound else mesh


def _walls(parts: Partition, mesh: Mesh) -> Iterator[tuple[Shape, np.ndarray, np.ndarray]]:
    """Shapes with the elements and local faces that are curved along their boundaries; both sides of interfaces.

    A face that is straight stays so: it lies on a straight wall, or elements would fold if it did not.
    """
    faces = mesh.interfaces[_curved(mesh, mesh.interfaces)]
    piece = mesh.piece[faces.element]
    for high in np.unique(piece[:, 1]).tolist():
        mine = (piece[:, 1] == high) & (piece[:, 0] != high)
        if high and mine.any():
            for side in (0, 1):
                yield parts.pieces[high - 1], faces.element[mine, side], faces.local[mine, side]
    faces = mesh.boundary[_curved(mesh, mesh.boundary)]
    yield parts.domain, faces.element[:, 0], faces.local[:, 0]


def _curved(mesh: Mesh, faces: Faces) -> Bool[np.ndarray, " faces"]:
    """Which faces are curved, as seen from their first side."""
    element, local = faces.element[:, 0], faces.local[:, 0]
    found = np.zeros(len(faces), bool)
    corners = mesh.vertices[mesh.elements[element]]
    for k in range(mesh.dim + 1):
        mine, on = np.flatnonzero(local == k), mesh.basis.on_face(k)
        chord = np.einsum("kc,mcd->mkd", mesh.basis.barycentric[on], corners[mine])
        off = np.abs(mesh.nodes[element[mine]][:, on] - chord).max(axis=(1, 2), initial=0.0)
        found[mine] = off > CURVED * mesh.size[element[mine]]
    return found


def _inside_face(mesh: Mesh, face: int) -> np.ndarray:
    """The nodes of a face but for its vertices."""
    on = mesh.basis.on_face(face)
    return on[(mesh.basis.index[on] < mesh.order).all(axis=1)]


def _onto(shape: Shape, mesh: Mesh, element: np.ndarray, face: int, x: np.ndarray) -> np.ndarray:
    """Points (m, k, d) of faces moved along the normals of the elements' chords to the surface."""
    normal = np.broadcast_to(_chord_normals(mesh, element, face)[:, None], x.shape)
    size = np.repeat(mesh.size[element], x.shape[1])
    found, _ = projected(shape, x.reshape(-1, mesh.dim), normal.reshape(-1, mesh.dim), size)
    return found.reshape(x.shape)


def _chord_normals(mesh: Mesh, element: np.ndarray, face: int) -> np.ndarray:
    """Unit normals of the planes (lines) through the vertices of faces."""
    corners = mesh.vertices[mesh.elements[element]]
    J = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)
    inward = np.full(mesh.dim, -1.0) if face == 0 else np.eye(mesh.dim)[face - 1]
    covector = -np.matmul(np.linalg.pinv(np.swapaxes(J, 1, 2)), inward[:, None])[..., 0]
    return covector / np.maximum(np.linalg.norm(covector, axis=1), 1e-300)[:, None]


def _with_vertices_on(parts: Partition, mesh: Mesh) -> np.ndarray:
    """The nodes with vertices on the surfaces; elements around follow linearly, which keeps straight ones straight."""
    d = mesh.dim
    shift = np.zeros((len(mesh.same), d))  # set, not added to: both sides of an interface have the same vertices
    for shape, element, local in _walls(parts, mesh):
        for k in range(d + 1):
            mine = element[local == k]
            if not len(mine):
                continue
            vertex = mesh.elements[mine][:, [j for j in range(d + 1) if j != k]]
            x = mesh.vertices[vertex]
            move = _onto(shape, mesh, mine, k, x) - x
            far = np.linalg.norm(move, axis=2) > ON * mesh.size[mine][:, None]
            shift[vertex[far]] = move[far]
    hit = np.flatnonzero(np.any(shift[mesh.elements] != 0, axis=(1, 2)))
    nodes = mesh.nodes.copy()
    nodes[hit] += np.matmul(mesh.basis.barycentric, shift[mesh.elements[hit]])
    return nodes
