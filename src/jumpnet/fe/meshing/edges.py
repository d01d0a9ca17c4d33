"""Layers of tetrahedra that shrink towards edges: thin across an edge, as long along it as they were."""

import numpy as np
from jaxtyping import Bool, Float, Int

from jumpnet.fe.mesh import Mesh, edge_keys
from jumpnet.fe.meshing.bisection import EDGES, separated
from jumpnet.fe.meshing.implicit import prism
from jumpnet.fe.small import inverse

# By which elements shrink towards an edge from layer to layer. Errors at a re-entrant edge, order 4, two layers
# (28,093 unknowns): 0.15 1.4e-4, 0.25 8.6e-5; order 5, three layers (80,946): 4.4e-5 and 2.6e-5, 0.35 1.8e-5.
FACTOR = 0.25
# The two vertices opposite to each edge of a tetrahedron.
ACROSS = np.array([(2, 3), (1, 3), (1, 2), (0, 3), (0, 2), (0, 1)])


def dihedral_angles(mesh: Mesh) -> Float[np.ndarray, "m 6"]:
    """The angles between the faces of elements at the middles of their edges, of curved faces too."""
    corners = np.concatenate([np.zeros((1, 3)), np.eye(3)])
    back = inverse(mesh.jacobians(corners[EDGES].mean(axis=1)))
    inward = np.concatenate([np.full((1, 3), -1.0), np.eye(3)])  # gradients of the barycentric coordinates
    first, second = (np.einsum("ei,meij->mej", inward[ACROSS[:, k]], back) for k in (0, 1))
    cosine = np.sum(first * second, axis=2) / (np.linalg.norm(first, axis=2) * np.linalg.norm(second, axis=2))
    return np.pi - np.arccos(np.clip(cosine, -1.0, 1.0))


def graded_edges(mesh: Mesh, edges: Int[np.ndarray, "k 2"], layers: int, factor: float = FACTOR) -> Mesh:
    """Elements at edges (pairs of vertices) cut, `layers` times, at a part of the way from the edges."""
    if not layers or not len(edges):
        return mesh
    mesh = separated(mesh, edges)
    for _ in range(layers):
        mesh = _one_layer(mesh, np.isin(mesh.elements, edges), factor)
    return mesh


def _one_layer(mesh: Mesh, at: Bool[np.ndarray, "m 4"], factor: float) -> Mesh:
    todo = np.flatnonzero(at.any(axis=1))
    ids = mesh.elements[todo]
    near, far = (np.where(at[todo], ids, -1), np.where(at[todo], -1, ids))
    pairs = np.stack([np.repeat(near, 4, axis=1).ravel(), np.tile(far, (1, 4)).ravel()], axis=1)
    pairs = pairs[(pairs >= 0).all(axis=1)]
    keys, first = np.unique(edge_keys(pairs), return_index=True)
    _, shared = np.unique(edge_keys(mesh.same[pairs[first]]), return_inverse=True)
    same = np.concatenate([mesh.same, shared + mesh.same.max() + 1])
    number = dict(zip(keys.tolist(), range(len(mesh.same), len(mesh.same) + len(keys)), strict=True))
    parent, shares, corners = [], [], []
    for k, vertex, mark in zip(todo.tolist(), ids.tolist(), at[todo].tolist(), strict=True):
        for part in _parts(vertex, mark, number, same, factor):
            parent.append(k)
            corners.append([one for one, _ in part])
            shares.append([share for _, share in part])
    made = mesh.parts(np.array(parent), np.array(shares), np.array(corners), same)
    return mesh.replaced(todo, made)


Corner = tuple[int, tuple[float, ...]]


def _parts(
    vertex: list[int], mark: list[bool], number: dict[int, int], same: Int[np.ndarray, " vertices"], factor: float
) -> list[list[Corner]]:
    """The parts of an element, as vertices with their barycentric coordinates.

    With one vertex at the edge: the corner, and a prism; with two: two prisms.
    """
    eye = [tuple(float(i == k) for i in range(4)) for k in range(4)]
    own = {k: (vertex[k], eye[k]) for k in range(4)}
    near, far = [k for k in range(4) if mark[k]], [k for k in range(4) if not mark[k]]
    cut = {}
    for a in near:
        for b in far:
            share = tuple((1 - factor) * s + factor * t for s, t in zip(eye[a], eye[b], strict=True))
            cut[a, b] = (number[vertex[a] << 32 | vertex[b]], share)
    if len(near) == 1:
        (a,), inner = near, [cut[near[0], b] for b in far]
        return [[own[a], *inner], *_prism(inner, [own[b] for b in far], same)]
    (a, b), (c, d) = near, far
    inside = _prism([own[a], cut[a, c], cut[a, d]], [own[b], cut[b, c], cut[b, d]], same)
    return inside + _prism([own[c], cut[a, c], cut[b, c]], [own[d], cut[a, d], cut[b, d]], same)


def _prism(first: list[Corner], second: list[Corner], same: Int[np.ndarray, " vertices"]) -> list[list[Corner]]:
    """Three tetrahedra, the same as seen from neighbours and across a periodic box."""
    known = {int(same[one]): (one, share) for one, share in (*first, *second)}
    a, b, c, d, e, f = known
    return [[known[name] for name in four] for four in prism((a, b, c), (d, e, f))]
