"""Refinement of meshes: elements cut at the middles of their edges, where they are marked, or towards vertices.

Elements are cut in their reference simplex, so that the geometry stays the same.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from jaxtyping import Bool, Int

from jumpnet.fe.mesh import Mesh, edge_keys

FACTOR = 0.2  # grading factor towards a vertex: between the theoretical optimum, 0.15, and bisection
# Relative to the largest coordinate: smaller triangles get no more layers, as vertices have rounding errors of 1e-16.
SMALLEST = 1e-10
END = 1e-6  # of a face: nearer to its end no vertex is put

# The children of a simplex cut at the middles of its edges, as pairs of vertices; (k, k) is the vertex k itself.
_CHILDREN = {
    2: [((0, 0), (0, 1), (0, 2)), ((0, 1), (1, 1), (1, 2)), ((0, 2), (1, 2), (2, 2)), ((0, 1), (0, 2), (1, 2))],
    3: [
        ((0, 0), (0, 1), (0, 2), (0, 3)),
        ((0, 1), (1, 1), (1, 2), (1, 3)),
        ((0, 2), (1, 2), (2, 2), (2, 3)),
        ((0, 3), (1, 3), (2, 3), (3, 3)),
        ((0, 1), (0, 2), (0, 3), (1, 3)),
        ((0, 1), (0, 2), (1, 2), (1, 3)),
        ((0, 2), (0, 3), (1, 3), (2, 3)),
        ((0, 2), (1, 2), (1, 3), (2, 3)),
    ],
}

# The parts of a triangle (a, b, c) whose longest edge (a, b) is cut, with none, one (b, c) or both of the others.
_BISECTED = {
    1: [("a", "ab", "c"), ("ab", "b", "c")],
    2: [("a", "ab", "c"), ("ab", "b", "bc"), ("ab", "bc", "c")],
    3: [("a", "ab", "ca"), ("ab", "b", "bc"), ("ca", "bc", "c"), ("ab", "bc", "ca")],
}


def refined(mesh: Mesh) -> Mesh:
    """Every element cut at the middles of its edges, into 4 or 8."""
    d = mesh.dim
    edges = list(combinations(range(d + 1), 2))
    ends = mesh.elements[:, np.array(edges)]  # m, edges, 2
    _, first, number = np.unique(ends.reshape(-1, 2), axis=0, return_index=True, return_inverse=True)
    number = number.reshape(len(mesh), -1) + len(mesh.same)
    shared = np.unique(np.sort(mesh.same[ends.reshape(-1, 2)[first]], axis=1), axis=0, return_inverse=True)[1]
    same = np.concatenate([mesh.same, shared.ravel() + mesh.same.max() + 1])
    names = {**{(k, k): mesh.elements[:, k] for k in range(d + 1)}, **dict(zip(edges, number.T, strict=True))}
    ids = np.stack([np.stack([names[pair] for pair in child], axis=1) for child in _CHILDREN[d]], axis=1)
    share = np.array([[np.eye(d + 1)[list(pair)].mean(axis=0) for pair in child] for child in _CHILDREN[d]])
    children = len(_CHILDREN[d])
    parent = np.repeat(np.arange(len(mesh)), children)
    return mesh.parts(parent, np.tile(share, (len(mesh), 1, 1)), ids.reshape(-1, d + 1), same)


def refined_at(mesh: Mesh, marked: Bool[np.ndarray, " m"]) -> Mesh:
    """The marked triangles cut into 4, those around them cut at their longest edges until all fit (Rivara)."""
    corners = np.array([(1, 2), (0, 2), (0, 1)])  # edge k is opposite to corner k
    ends = mesh.elements[:, corners]
    x = mesh.vertices[ends]
    longest = np.argmax(np.linalg.norm(x[:, :, 0] - x[:, :, 1], axis=2), axis=1)
    pairs = ends.reshape(-1, 2)
    _, first, number = np.unique(edge_keys(pairs), return_index=True, return_inverse=True)
    _, shared = np.unique(edge_keys(np.sort(mesh.same[pairs[first]], axis=1)), return_inverse=True)
    edge = shared[number].reshape(-1, 3)  # periodic images have the same
    cut = np.zeros(int(shared.max()) + 1, bool)
    cut[edge[marked]] = True
    each = np.arange(len(mesh))
    while True:
        touched = cut[edge].any(axis=1)
        fits = cut[edge[each, longest]]
        if np.all(fits | ~touched):
            break
        cut[edge[each, longest][touched]] = True
    same = np.concatenate([mesh.same, shared + mesh.same.max() + 1])
    middle = number.reshape(-1, 3) + len(mesh.same)  # edges that are not cut have numbers too, which nothing uses
    parts = [_parts_of(mesh, k, cut[edge], longest, middle) for k in range(1, 4)]
    parent, share, ids = (np.concatenate(column) for column in zip(*parts, strict=True))
    return mesh.replaced(np.flatnonzero(cut[edge].any(axis=1)), mesh.parts(parent, share, ids, same))


def _parts_of(
    mesh: Mesh, count: int, cut: np.ndarray, longest: np.ndarray, middle: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The parts of triangles with a given number of cut edges: parents, barycentric corners, vertex numbers."""
    at = np.flatnonzero(cut.sum(axis=1) == count)
    # c is opposite to the longest edge (a, b); where two are cut, the other one is (b, c).
    c = longest[at]
    a, b = (c + 1) % 3, (c + 2) % 3
    swap = cut[at, b] & (count == 2)  # edge b is (c, a)
    a, b = np.where(swap, b, a), np.where(swap, a, b)
    eye, row = np.eye(3), np.arange(len(at))
    vertex, between = mesh.elements[at], middle[at]
    named = {
        "a": (eye[a], vertex[row, a]), "b": (eye[b], vertex[row, b]), "c": (eye[c], vertex[row, c]),
        "ab": ((eye[a] + eye[b]) / 2, between[row, c]),
        "bc": ((eye[b] + eye[c]) / 2, between[row, a]),
        "ca": ((eye[c] + eye[a]) / 2, between[row, b]),
    }  # fmt: skip
    made = _BISECTED[count]
    share = np.concatenate([np.stack([named[name][0] for name in part], axis=1) for part in made])
    ids = np.concatenate([np.stack([named[name][1] for name in part], axis=1) for part in made])
    return np.tile(at, len(made)), share, ids


def graded(mesh: Mesh, vertices: Sequence[int], levels: int, factor: float = FACTOR) -> Mesh:
    """Layers of triangles that shrink by a factor each towards some vertices, as long as rounding allows."""
    for _ in range(levels):
        for group in _apart(mesh, _large_around(mesh, np.asarray(vertices, int))):
            mesh = _one_layer(mesh, group, factor)
    return mesh


def _large_around(mesh: Mesh, vertices: Int[np.ndarray, " k"]) -> Int[np.ndarray, " k"]:
    """The vertices without those at which triangles, also at a periodic image, are near rounding already."""
    least = np.full(int(mesh.same.max()) + 1, np.inf)
    np.minimum.at(least, mesh.same[mesh.elements], mesh.size[:, None])
    return vertices[least[mesh.same[vertices]] > SMALLEST * float(np.abs(mesh.nodes).max())]


def _apart(mesh: Mesh, vertices: Int[np.ndarray, " k"]) -> Iterator[Int[np.ndarray, " k"]]:
    """The vertices and their periodic images in groups: no element has two vertices of a group.

    Images are in the same group: what is cut there must have the same numbers.
    """
    corners, left = mesh.same[mesh.elements], np.unique(mesh.same[vertices])
    while len(left):
        own = np.where(np.isin(corners, left), corners, -1)
        # Of the vertices of an element, the highest comes first.
        waiting = np.unique(own[(own >= 0) & (own < own.max(axis=1, keepdims=True))])
        yield np.flatnonzero(np.isin(mesh.same, np.setdiff1d(left, waiting)))
        left = waiting


def _one_layer(mesh: Mesh, vertices: Int[np.ndarray, " k"], factor: float) -> Mesh:
    at, corner = np.nonzero(np.isin(mesh.elements, vertices))
    if not len(at):
        return mesh
    p, q = (corner + 1) % 3, (corner + 2) % 3
    here = mesh.elements[at, corner]
    others = np.stack([mesh.elements[at, p], mesh.elements[at, q]], axis=1)
    pairs = np.stack([np.repeat(here, 2), others.ravel()], axis=1)
    _, first, number = np.unique(edge_keys(pairs), return_index=True, return_inverse=True)
    near = number.reshape(-1, 2) + len(mesh.same)
    _, shared = np.unique(edge_keys(mesh.same[pairs[first]]), return_inverse=True)
    same = np.concatenate([mesh.same, shared + mesh.same.max() + 1])
    eye = np.eye(3)
    c, P, Q = eye[corner], eye[p], eye[q]
    p1, q1 = c + factor * (P - c), c + factor * (Q - c)
    shares = [(c, p1, q1), (p1, P, Q), (p1, Q, q1)]
    ids = [(here, near[:, 0], near[:, 1]), (near[:, 0], *others.T), (near[:, 0], others[:, 1], near[:, 1])]
    made = mesh.parts(
        np.tile(at, 3),
        np.concatenate([np.stack(share, axis=1) for share in shares]),
        np.concatenate([np.stack(three, axis=1) for three in ids]),
        same,
    )
    return mesh.replaced(at, made)


def split(mesh: Mesh, element: int, local: int, share: float) -> tuple[Mesh, int]:
    """With the triangle of a boundary face cut at a share of it, and the new vertex (or an end that is near)."""
    a, b = (k for k in range(3) if k != local)
    ends = mesh.elements[element]
    if min(share, 1 - share) < END:
        return mesh, int(ends[a] if share < END else ends[b])
    new = len(mesh.same)
    same = np.append(mesh.same, mesh.same.max() + 1)
    eye = np.eye(3)
    middle = (1 - share) * eye[a] + share * eye[b]
    ids = np.array([[ends[local], ends[a], new], [ends[local], new, ends[b]]])
    made = mesh.parts(
        np.full(2, element), np.array([[eye[local], eye[a], middle], [eye[local], middle, eye[b]]]), ids, same
    )
    return mesh.replaced(np.array([element]), made), new
