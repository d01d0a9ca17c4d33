"""Meshes of boxes in space: cubes cut into six tetrahedra each, from which bodies are cut."""

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from jumpnet.fe.mesh import Mesh, from_corners
from jumpnet.fe.simplex import lagrange
from jumpnet.geometry.checks import Bounds


def lattice(bounds: Bounds, size: float, periodic: Sequence[int] = ()) -> Mesh:
    """The box as straight tetrahedra of piece 0, cubes of about `size` cut along their diagonals (Kuhn).

    Along periodic axes there are at least three cubes, so that no two edges join the same vertices.
    """
    lower, upper = (np.asarray(end, float) for end in bounds)
    counts = np.maximum(np.round((upper - lower) / size).astype(int), 1)
    counts[list(periodic)] = np.maximum(counts[list(periodic)], 3)
    index = np.stack(np.meshgrid(*[np.arange(n + 1) for n in counts], indexing="ij"), axis=-1).reshape(-1, 3)
    x = lower + (upper - lower) * index / counts
    cube = np.stack(np.meshgrid(*[np.arange(n) for n in counts], indexing="ij"), axis=-1).reshape(-1, 3)
    corners = []
    for axes in permutations(range(3)):
        steps = np.cumsum(np.vstack([np.zeros(3, int), np.eye(3, dtype=int)[list(axes)]]), axis=0)
        corners.append(np.ravel_multi_index(np.moveaxis(cube[:, None] + steps, -1, 0), tuple(counts + 1)))
    elements = np.concatenate(corners)
    image = index.copy()
    image[:, list(periodic)] %= counts[list(periodic)]
    same = np.ravel_multi_index(tuple(image.T), tuple(counts + 1))
    nodes = np.matmul(lagrange(3, 1).barycentric, x[elements])
    return from_corners(elements, np.zeros(len(elements), int), nodes, 1, same)
