"""Structured meshes for tests, made without any mesher."""

from itertools import permutations, product

import numpy as np

from jumpnet.fe.mesh import Mesh, from_corners
from jumpnet.fe.simplex import lagrange


def cube(dim: int, cells: int, order: int = 1, bend=None, pieces=lambda x: np.zeros(len(x), int), same=None) -> Mesh:
    """[0, 1]^d in cells^d boxes, each cut into d! simplices; `bend` maps the nodes."""
    number = np.arange((cells + 1) ** dim).reshape((cells + 1,) * dim)
    corner = np.stack(np.meshgrid(*[np.linspace(0, 1, cells + 1)] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    elements = []
    for start in product(range(cells), repeat=dim):
        for way in permutations(range(dim)):
            at, found = np.array(start), [number[start]]
            for axis in way:
                at = at + np.eye(dim, dtype=int)[axis]
                found.append(number[tuple(at)])
            elements.append(found)
    elements = np.array(elements)
    nodes = np.einsum("nc,mcd->mnd", lagrange(dim, order).barycentric, corner[elements])
    piece = pieces(corner[elements].mean(axis=1))
    nodes = nodes if bend is None else bend(nodes)
    return from_corners(elements, piece, nodes, order, None if same is None else same(corner))
