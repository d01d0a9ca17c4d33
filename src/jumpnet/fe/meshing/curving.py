"""Curved elements in space: the faces of a straight mesh bent onto the surfaces that they approximate.

Edges are moved first, and elements around them follow by blending; then the nodes inside faces. An element that would
fold stays as straight as it has to.
"""

from dataclasses import replace
from itertools import combinations

import numpy as np
from jaxtyping import Float, Int

from jumpnet.fe.mesh import Mesh
from jumpnet.fe.simplex import gauss, lagrange
from jumpnet.fe.small import determinant
from jumpnet.fe.space import Space
from jumpnet.geometry import Box, Partition
from jumpnet.geometry.shape import Shape

# Newton steps to the surface, and the largest displacement of a node relative to the size of its element.
NEWTON, FARTHEST = 12, 0.35
# Attempts to unfold elements.
ROUNDS = 8
# The least determinant of a curved element over that of the straight one (heuristic).
LEAST = 0.1

Walls = list[tuple[Shape, Int[np.ndarray, " f"], Int[np.ndarray, " f"]]]


def curved(parts: Partition, mesh: Mesh, order: int) -> tuple[Mesh, Int[np.ndarray, " k"]]:
    """The straight mesh with maps of an order, interfaces and boundaries on the exact surfaces where nothing folds.

    And the elements that would, which were kept straight.
    """
    basis = lagrange(3, order)
    straight = np.matmul(basis.barycentric, mesh.vertices[mesh.elements])
    raised = replace(mesh, nodes=straight, order=order)
    dofs = Space(replace(raised, piece=np.zeros(len(mesh), int)), order).dofs
    node = _straight(raised, dofs)
    bent = np.ones(len(node), bool)  # which nodes may be moved
    walls = _walls(parts, mesh)
    move = _moves(parts, raised, dofs, node, walls)
    found, every = raised, np.empty(0, int)
    for _ in range(ROUNDS):
        found = replace(raised, nodes=_bent(parts, raised, dofs, np.where(bent[:, None], move, 0.0), walls))
        bent_now = np.flatnonzero(np.any(found.nodes != straight, axis=(1, 2)))
        det = determinant(found.jacobians(gauss(3, order + 1)[0], bent_now))
        base = determinant(raised.jacobians(np.full((1, 3), 0.25), bent_now))
        folded = bent_now[(det / base).min(axis=1) < LEAST]
        if not len(folded):
            return found, every
        every = np.union1d(every, folded)
        bent[dofs[folded]] = False
    return raised, np.arange(len(mesh))


def _walls(parts: Partition, mesh: Mesh) -> Walls:
    """Shapes with elements and local faces at their surfaces."""
    faces = mesh.interfaces
    piece = mesh.piece[faces.element]
    found: Walls = []
    for high in np.unique(piece[:, 1]).tolist():
        mine = (piece[:, 1] == high) & (piece[:, 0] != high)
        if high and mine.any():
            found.append((parts.pieces[high - 1], faces.element[mine, 0], faces.local[mine, 0]))
    if not isinstance(parts.domain, Box):
        found.append((parts.domain, mesh.boundary.element[:, 0], mesh.boundary.local[:, 0]))
    return found


def _moves(
    parts: Partition, mesh: Mesh, dofs: Int[np.ndarray, "m nodes"], node: Float[np.ndarray, "n 3"], walls: Walls
) -> Float[np.ndarray, "n 3"]:
    """How far nodes inside the edges of walls are from the surfaces; where they cannot reach those, nothing."""
    size, move = _sizes(mesh, dofs), np.zeros_like(node)
    for shape, element, local in walls:
        at = _nodes(mesh, dofs, element, local, 2)
        move[at] = onto(shape, node[at], size[at], _free(parts, node[at])) - node[at]
    return move


def _sizes(mesh: Mesh, dofs: Int[np.ndarray, "m nodes"]) -> Float[np.ndarray, " n"]:
    size = np.zeros(int(dofs.max()) + 1)
    np.maximum.at(size, dofs, mesh.size[:, None])
    return size


def _bent(
    parts: Partition, mesh: Mesh, dofs: Int[np.ndarray, "m nodes"], move: Float[np.ndarray, "n 3"], walls: Walls
) -> Float[np.ndarray, "m nodes 3"]:
    """The nodes of elements with those on edges moved, and those inside faces on the surfaces where all edges are."""
    size, x = _sizes(mesh, dofs), mesh.nodes + _blended(mesh, move[dofs])
    place = np.empty_like(move)
    place[dofs] = x
    for shape, element, local in walls:
        at = _nodes(mesh, dofs, element, local, 3)
        moved = np.linalg.norm(place[at] - _straight(mesh, dofs)[at], axis=1) > 0
        at = at[moved]
        place[at] = onto(shape, place[at], size[at], _free(parts, place[at]))
    found = place[dofs]
    inner = _between(mesh) == 4
    found[:, inner] = x[:, inner]
    return found


def _straight(mesh: Mesh, dofs: Int[np.ndarray, "m nodes"]) -> Float[np.ndarray, "n 3"]:
    node = np.empty((int(dofs.max()) + 1, 3))
    node[dofs] = mesh.nodes
    return node


def _between(mesh: Mesh) -> Int[np.ndarray, " nodes"]:
    """The number of vertices that each node of an element is between: 2 on an edge, 3 inside a face."""
    return (mesh.basis.index > 0).sum(axis=1)


def _nodes(
    mesh: Mesh, dofs: np.ndarray, element: np.ndarray, local: np.ndarray, vertices: int
) -> Int[np.ndarray, " n"]:
    """The numbers of the nodes on faces of a given number of vertices."""
    kind = _between(mesh) == vertices
    found = []
    for k in range(4):
        on = mesh.basis.on_face(k)
        found.append(dofs[element[local == k]][:, on[kind[on]]].ravel())
    return np.unique(np.concatenate(found))


def _blended(mesh: Mesh, move: Float[np.ndarray, "m nodes 3"]) -> Float[np.ndarray, "m nodes 3"]:
    """Displacements of edges continued into elements: s^p d(t) at a share t of an edge, s the edge's coordinates' sum.

    That is a polynomial of the degree p of the map, and on a face it depends on the face's edges alone.
    """
    basis, p = mesh.basis, mesh.order
    found = np.zeros_like(move)
    line = lagrange(1, p)
    for i, j in combinations(range(4), 2):
        on = np.flatnonzero(basis.index[:, [i, j]].sum(axis=1) == p)
        on = on[np.argsort(basis.index[on, j])]
        hit = np.flatnonzero(np.abs(move[:, on]).max(axis=(1, 2)) > 0)
        if not len(hit):
            continue
        total = basis.barycentric[:, i] + basis.barycentric[:, j]
        t = np.divide(basis.barycentric[:, j], total, out=np.zeros_like(total), where=total > 0)
        along = line.value(t[:, None])[:, np.argsort(line.index[:, 1])]
        # Ends of an edge do not move here: vertices are on the surface already.
        inner = np.concatenate([np.zeros((len(hit), 1, 3)), move[hit][:, on[1:-1]], np.zeros((len(hit), 1, 3))], axis=1)
        found[hit] += np.matmul(total[:, None] ** p * along, inner)
    return found


def _free(parts: Partition, x: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3"]:
    """1 along the axes along which points may move, 0 across the sides of a box that they lie on."""
    if not isinstance(parts.domain, Box):
        return np.ones_like(x)
    lower, upper = parts.bounds
    near = 1e-9 * parts.domain.size
    return ((np.abs(x - lower) > near) & (np.abs(x - upper) > near)).astype(float)


def onto(
    shape: Shape, x: Float[np.ndarray, "n 3"], size: Float[np.ndarray, " n"], free: Float[np.ndarray, "n 3"]
) -> Float[np.ndarray, "n 3"]:
    """Points moved onto a shape's surface along its normals, without the axes that are not free; else as they are."""
    y = x.copy()
    if not len(x):
        return y
    step, move = 1e-6 * size, np.zeros(len(x))
    for _ in range(NEWTON):
        normal = np.nan_to_num(shape.normal(y)) * free
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
        level = shape.level(y)
        slope = (shape.level(y + step[:, None] * normal) - level) / step
        move = np.divide(level, slope, out=np.zeros_like(level), where=np.abs(slope) > 1e-6)
        y = y - np.clip(move, -size, size)[:, None] * normal
        if np.all(np.abs(move) < 1e-13 * shape.size):
            break
    good = (np.linalg.norm(y - x, axis=1) < FARTHEST * size) & (np.abs(move) < 1e-9 * size)
    return np.where(good[:, None], y, x)
