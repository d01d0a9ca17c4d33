"""Local refinement in space: marked tetrahedra are halved at their longest edges, and so are those around them."""

from itertools import combinations

import numpy as np
from jaxtyping import Bool, Int

from jumpnet.fe.mesh import Mesh, edge_ends, edge_keys

# The edges of a tetrahedron as pairs of vertices.
EDGES = np.array(list(combinations(range(4), 2)))


def bisected(mesh: Mesh, marked: Bool[np.ndarray, " m"]) -> Mesh:
    """Every marked tetrahedron halved at its longest edge, and others until no vertex lies inside an edge (Rivara).

    Images of an edge across a periodic box are cut together.
    """
    cut = np.empty(0, np.int64)  # names of the edges that have been cut, sorted
    new = np.empty(0, np.int64)  # and the vertices in their middles
    todo = np.flatnonzero(marked)
    while len(todo):
        mesh, made, middle = _halved(mesh, todo, _longest(mesh, todo), cut, new)
        cut, first = np.unique(np.concatenate([cut, made]), return_index=True)
        new = np.concatenate([new, middle])[first]
        todo = np.flatnonzero(np.isin(_named(mesh.same[mesh.elements[:, EDGES]]), _images(mesh, cut)).any(axis=1))
    return mesh


def halved(mesh: Mesh, marked: Bool[np.ndarray, " m"]) -> Mesh:
    """Marked tetrahedra halved three times, so that their edges are half as long; the mesh must be its own origin."""
    chosen = np.flatnonzero(marked)
    for _ in range(3):
        assert mesh.origin is not None
        mesh = bisected(mesh, np.isin(mesh.origin.element, chosen))
    return mesh


def separated(mesh: Mesh, edges: Int[np.ndarray, "k 2"]) -> Mesh:
    """Elements cut until the only vertices of `edges` that each of them has are one, or the two ends of one edge.

    They are cut in the middles of lines between vertices of different edges, the longest first.
    """
    vertices, names, none = np.unique(edges), _named(mesh.same[edges]), np.empty(0, np.int64)
    while True:
        ends = mesh.elements[:, EDGES]
        named = _named(mesh.same[ends])
        between = np.isin(ends, vertices).all(axis=2) & ~np.isin(named, names)
        if not between.any():
            return mesh
        x = mesh.vertices[ends]
        length = np.where(between, np.round(np.linalg.norm(x[:, :, 0] - x[:, :, 1], axis=2) / mesh.size.max(), 10), 0.0)
        longest = np.lexsort((named, length), axis=1)[:, -1]
        # A line is cut now if it is the longest one of all elements around it.
        own = np.arange(6) == longest[:, None]
        todo = np.flatnonzero((between & own & ~np.isin(named, named[between & ~own])).any(axis=1))
        mesh = _halved(mesh, todo, longest[todo], none, none)[0]


def _longest(mesh: Mesh, todo: Int[np.ndarray, " k"]) -> Int[np.ndarray, " k"]:
    """The longest edges of elements. Lengths that agree to rounding are the same: of those the highest numbers."""
    ends = mesh.elements[todo][:, EDGES]
    x = mesh.vertices[ends]
    length = np.round(np.linalg.norm(x[:, :, 0] - x[:, :, 1], axis=2) / mesh.size[todo][:, None], 10)
    return np.lexsort((_named(mesh.same[ends]), length), axis=1)[:, -1]


def _named(ends: Int[np.ndarray, "... 2"]) -> Int[np.ndarray, " ..."]:
    """One number for each edge."""
    return edge_keys(np.sort(ends.reshape(-1, 2), axis=1)).reshape(ends.shape[:-1])


def _images(mesh: Mesh, cut: Int[np.ndarray, " edges"]) -> Int[np.ndarray, " edges"]:
    """The names of edges with the vertices that periodic sides identify taken for one."""
    return _named(mesh.same[edge_ends(cut)])


def _halved(
    mesh: Mesh, todo: Int[np.ndarray, " k"], chosen: Int[np.ndarray, " k"], cut: np.ndarray, new: np.ndarray
) -> tuple[Mesh, Int[np.ndarray, " edges"], Int[np.ndarray, " edges"]]:
    """The mesh with elements halved at chosen edges, the names of these edges, and the vertices in their middles."""
    edge = mesh.elements[todo][:, EDGES][np.arange(len(todo)), chosen]
    names, first, number = np.unique(_named(edge), return_index=True, return_inverse=True)
    known = np.searchsorted(cut, names)
    old = (known < len(cut)) & (cut[np.minimum(known, max(len(cut) - 1, 0))] == names) if len(cut) else names < 0
    middle = np.empty(len(names), np.int64)
    middle[old] = new[known[old]] if len(cut) else 0
    middle[~old] = len(mesh.same) + np.arange(int((~old).sum()))
    same = np.concatenate([mesh.same, _identified(mesh, edge[first][~old], cut, new)])
    at, rows = middle[number.ravel()], np.arange(len(todo))
    parts = []
    for keep in (0, 1):  # the end of the edge that a half keeps
        ids, share = mesh.elements[todo].copy(), np.tile(np.eye(4), (len(todo), 1, 1))
        gone = EDGES[chosen, 1 - keep]
        ids[rows, gone] = at
        share[rows, gone] = 0.5 * (np.eye(4)[EDGES[chosen, 0]] + np.eye(4)[EDGES[chosen, 1]])
        parts.append((ids, share))
    ids, share = (np.concatenate(both) for both in zip(*parts, strict=True))
    made = mesh.parts(np.tile(todo, 2), share, ids, same)
    return mesh.replaced(todo, made), names, middle


def _identified(mesh: Mesh, edge: Int[np.ndarray, "k 2"], cut: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Numbers of new vertices in the middles of edges: those that periodic sides identify have the same."""
    known = dict(zip(_images(mesh, cut).tolist(), mesh.same[new].tolist(), strict=True))
    start = len(mesh.same)
    return np.array([known.setdefault(name, start + k) for k, name in enumerate(_named(mesh.same[edge]).tolist())], int)
