"""Nodes on the exact surfaces: meshes come with curves that are near them, and refinements keep those."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
from jaxtyping import Bool, Float

from jumpnet.fe.mesh import Faces, Mesh, edge_keys
from jumpnet.fe.meshing.fitted import projected
from jumpnet.fe.simplex import lagrange
from jumpnet.geometry import Partition
from jumpnet.geometry.shape import Shape

# Of the size of an element: nodes that are nearer to the surface are on it.
ON = 1e-14
# Likewise: faces that are off their chords by less are straight.
CURVED = 1e-11
END = 1e-12  # barycentric coordinates below it are zero


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
    if mesh.dim == 2 and mesh.origin is None and (smooth := _redrawn(parts, made)).sound:
        return smooth
    return made if made.sound else mesh


def _redrawn(parts: Partition, mesh: Mesh) -> Mesh:
    """The plane mesh with curved edges as functions of the points on their chords, blended into the elements.

    The mesher's curves are splines. Along these the maps of elements have components of all degrees, of 1e-7 of the
    size of an element: in a space of a lower order, linear functions have errors as large as that.
    """
    straight = np.matmul(mesh.basis.barycentric, mesh.vertices[mesh.elements])
    off = np.abs(mesh.nodes - straight).max(axis=2) > CURVED * mesh.size[:, None]
    inner = [_inside_face(mesh, k) for k in range(3)]
    bent = np.stack([off[:, on].any(axis=1) for on in inner], axis=1)
    walls = [(shape, element[local == k], k) for shape, element, local in _walls(parts, mesh) for k in range(3)]
    at_wall = np.zeros_like(bent)
    for _, element, k in walls:
        at_wall[element, k] = True
    free = ~np.any(bent & ~at_wall, axis=1)
    pairs = mesh.same[mesh.elements[:, [[1, 2], [0, 2], [0, 1]]]]
    keys = edge_keys(pairs.reshape(-1, 2)).reshape(-1, 3)
    drawn, fixed = mesh.nodes.copy(), [keys[~free].ravel()]
    for shape, element, k in walls:
        place = (element[:, None], inner[k])
        drawn[place] = _onto(shape, mesh, element, k, straight[place])
        far = np.abs(shape.level(drawn[place].reshape(-1, 2))) > CURVED * np.repeat(mesh.size[element], len(inner[k]))
        fixed.append(keys[element[far.reshape(len(element), len(inner[k])).any(axis=1)], k])
    stays = np.isin(keys, np.concatenate(fixed))
    nodes = np.where((free & at_wall.any(axis=1))[:, None, None], straight, mesh.nodes)
    for k in range(3):
        mine = np.flatnonzero(free & at_wall[:, k])
        source = np.where(stays[mine, k][:, None, None], mesh.nodes[mine][:, inner[k]], drawn[mine][:, inner[k]])
        nodes[mine] += np.matmul(_blending(mesh.order, k), source - straight[mine][:, inner[k]])
    return replace(mesh, nodes=nodes)


@cache
def _blending(order: int, face: int) -> Float[np.ndarray, "nodes inner"]:
    """What displacements at the nodes inside an edge of the triangle are at all nodes (Gordon and Hall)."""
    basis, line = lagrange(2, order), lagrange(1, order)
    i, j = (k for k in range(3) if k != face)
    bary, on = basis.barycentric, basis.on_face(face)
    inner = on[(basis.index[on] < order).all(axis=1)]
    s = (1.0 + bary[:, j] - bary[:, i]) / 2.0
    within = (bary[:, i] > END) & (bary[:, j] > END)
    weight = np.divide(bary[:, i] * bary[:, j], s * (1.0 - s), out=np.zeros_like(s), where=within)
    column = [line.position[tuple(row)] for row in basis.index[inner][:, [i, j]].tolist()]
    return weight[:, None] * line.value(s[:, None])[:, column]


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
