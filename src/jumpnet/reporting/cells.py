"""Cells of each piece for programs that show meshes: whole simplices inside, cut ones along the interfaces.

The box of the domain is cut into triangles or tetrahedra; one whose corners lie in several pieces is cut for each of
them at the points where its edges leave the piece, which bisection puts onto the interface. Each piece has its own
points, so that two points stand at the same place of an interface, one with the value of either side. At points where
three pieces meet, a gap smaller than a cell is left.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from jaxtyping import Float, Int

from jumpnet.fe.field import Field
from jumpnet.fe.integration import ElementPoints, subdivided
from jumpnet.geometry import Partition

HALVINGS = 48  # bisections of a grid edge at an interface: down to rounding
MOST_NODES = 2_000_000  # beyond which the grid is not made finer
MOST_TRIANGLES, MOST_PARTS = 120_000, 8  # of finite elements: all together, and along an edge of one
# The cell of a simplex that is not cut, by dimension.
WHOLE = {1: "line", 2: "triangle", 3: "tetra"}
# What is left of a simplex with 1, 2, ... of its corners inside (they come first): a kind of cell, and its corners as
# corners of the simplex, (0, 0), or as points on its edges, (0, 2).
CUTS = {
    1: [("line", [(0, 0), (0, 1)])],
    2: [
        ("triangle", [(0, 0), (0, 1), (0, 2)]),
        ("quad", [(0, 0), (1, 1), (1, 2), (0, 2)]),
    ],
    3: [
        ("tetra", [(0, 0), (0, 1), (0, 2), (0, 3)]),
        ("wedge", [(0, 0), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3)]),
        ("wedge", [(0, 0), (1, 1), (2, 2), (0, 3), (1, 3), (2, 3)]),
    ],
}


@dataclass(frozen=True)
class PieceCells:
    """The cells of one piece: points seen from it, and corners by kind of cell ("triangle", "quad", "tetra", ...).

    Where they are parts of finite elements, `known` says where the points lie in these, and `element` whose parts the
    cells are.
    """

    piece: int
    points: Float[np.ndarray, "n d"]
    cells: dict[str, Int[np.ndarray, "m k"]]
    known: ElementPoints | None = None
    element: Int[np.ndarray, " m"] | None = None


def element_cells(field: Field) -> tuple[PieceCells, ...]:
    """The elements of a plane mesh, each cut into as many triangles as its order wants; each has its own points."""
    mesh = field.mesh
    most = int(np.sqrt(MOST_TRIANGLES / len(mesh)))
    parts = int(np.clip(min(max(field.order, 1 if mesh.straight.all() else 2), most), 1, MOST_PARTS))
    xi, triangles = subdivided(parts)
    found = []
    for piece in np.unique(mesh.piece).tolist():
        element = np.flatnonzero(mesh.piece == piece)
        x = mesh.points(xi, element).reshape(-1, 2)
        known = ElementPoints(mesh, element, xi, x, np.ones(len(x)), np.full(x.shape, np.nan))
        corners = (len(xi) * np.arange(len(element))[:, None, None] + triangles).reshape(-1, 3)
        number = np.repeat(element, len(triangles))
        found.append(PieceCells(piece, x, {"triangle": _turned("triangle", corners, x)}, known, number))
    return tuple(found)


def cut_cells(partition: Partition, resolution: int) -> tuple[PieceCells, ...]:
    """The cells of all pieces, from a grid with `resolution` steps along the longer side.

    Where a piece has no grid point, the grid is refined, up to eight times.
    """
    for finer in (1, 2, 4, 8):
        nodes, simplices = _simplices(partition, finer * resolution)
        label = partition.label(nodes)
        seen = np.unique(label)
        if (seen >= 0).sum() == partition.size or len(nodes) > MOST_NODES:
            break
    return tuple(_cells_of(partition, int(piece), nodes, label, simplices) for piece in seen if piece >= 0)


def _simplices(partition: Partition, resolution: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes of a grid over the domain's box; its cells cut into simplices, one for each order of the axes (Kuhn)."""
    lower, upper = (np.asarray(end, float) for end in partition.bounds)
    d = partition.dim
    counts = np.maximum(np.ceil((upper - lower) / (upper - lower).max() * resolution).astype(int), 1)
    axes = [np.linspace(a, b, n + 1) for a, b, n in zip(lower, upper, counts, strict=True)]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, d)
    number = np.arange(len(nodes)).reshape(counts + 1)
    first = number[tuple(slice(None, -1) for _ in range(d))].ravel()
    strides = np.array([int(np.prod(counts[k + 1 :] + 1)) for k in range(d)])
    paths = [np.r_[0, np.cumsum(strides[list(order)])] for order in permutations(range(d))]
    return nodes, np.concatenate([first[:, None] + path for path in paths])


def _cells_of(
    partition: Partition, piece: int, nodes: np.ndarray, label: np.ndarray, simplices: np.ndarray
) -> PieceCells:
    inside = (label == piece)[simplices]
    count, d = inside.sum(axis=1), nodes.shape[1]
    mixed = (count > 0) & (count < d + 1)
    # The corners inside come first, so that a cut depends on their number alone.
    order = np.argsort(~inside[mixed], axis=1, kind="stable")
    cut, held = np.take_along_axis(simplices[mixed], order, axis=1), count[mixed]
    # A corner of a new cell is a pair of nodes: the same twice, or the ends of the edge that leaves the piece.
    n = len(nodes)
    corners = {WHOLE[d]: [_pairs(simplices[count == d + 1], [(k, k) for k in range(d + 1)], n)]}
    for k in range(1, d + 1):
        kind, wanted = CUTS[d][k - 1]
        corners.setdefault(kind, []).append(_pairs(cut[held == k], wanted, n))
    joined = {kind: np.concatenate(parts) for kind, parts in corners.items()}
    joined = {kind: cells for kind, cells in joined.items() if len(cells)}
    if not joined:
        return PieceCells(piece, np.zeros((0, d)), {})
    every = np.concatenate([cells.ravel() for cells in joined.values()])
    used, number = np.unique(every, return_inverse=True)
    points = _points(partition, piece, nodes, used // n, used % n)
    starts = np.cumsum([0, *(cells.size for cells in joined.values())])
    numbered = {
        kind: number[start : start + cells.size].reshape(cells.shape)
        for start, (kind, cells) in zip(starts[:-1].tolist(), joined.items(), strict=True)
    }
    return PieceCells(piece, points, {kind: _turned(kind, cells, points) for kind, cells in numbered.items()})


def _turned(kind: str, cells: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The same cells in VTK's orientation: positive volumes, polygons anticlockwise."""
    if kind == "line":
        return cells
    sides = points[cells[:, [1, 2] if points.shape[1] == 2 else [1, 2, 3]]] - points[cells[:, [0]]]
    wrong = np.linalg.det(sides) < 0
    other = {"triangle": [0, 2, 1], "quad": [0, 3, 2, 1], "tetra": [0, 2, 1, 3], "wedge": [0, 2, 1, 3, 5, 4]}[kind]
    if kind == "wedge":  # whose first face looks outward
        wrong = ~wrong
    return np.where(wrong[:, None], cells[:, other], cells)


def _pairs(simplices: np.ndarray, wanted: Sequence[tuple[int, int]], nodes: int) -> np.ndarray:
    """Pairs of corners of simplices, each pair as one number."""
    return np.stack([simplices[:, i] * nodes + simplices[:, j] for i, j in wanted], axis=1)


def _points(
    partition: Partition, piece: int, nodes: np.ndarray, inner: np.ndarray, outer: np.ndarray
) -> Float[np.ndarray, "n d"]:
    """Nodes, and the points where edges from the inside leave the piece."""
    points = nodes[inner]
    edge = inner != outer
    low, high = nodes[inner[edge]], nodes[outer[edge]]
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        held = (partition.label(middle) == piece)[:, None]
        low, high = np.where(held, middle, low), np.where(held, high, middle)
    points[edge] = low
    return points
