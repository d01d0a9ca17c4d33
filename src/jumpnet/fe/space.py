"""Continuous piecewise polynomials on a mesh: one unknown for each node, unknowns of different pieces apart."""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from jaxtyping import Float, Int

from jumpnet.fe.mesh import Mesh
from jumpnet.fe.simplex import Lagrange, lagrange

# Bytes for each entry of the matrices of elements without their inner unknowns: rows, columns and values, twice while
# they are summed, and the sum with its factors. Measured: 4,000 to 9,000 elements of order 4 to 7 in space.
ENTRY = 60
BITS = 21  # of a vertex number: three of them make a name of 63 bits


@dataclass(frozen=True, eq=False)
class Space:
    """Polynomials of a degree on the elements of a mesh, continuous within each piece."""

    mesh: Mesh
    order: int

    @property
    def basis(self) -> Lagrange:
        """The polynomials of an element."""
        return lagrange(self.mesh.dim, self.order)

    @cached_property
    def dofs(self) -> Int[np.ndarray, "m nodes"]:
        """The unknown at each node of each element."""
        mesh, basis = self.mesh, self.basis
        corners = mesh.dim + 1
        found, start = np.empty((len(mesh), basis.size), int), 0
        # Vertices of a piece have numbers of their own, and so have edges and faces, which are named by them.
        key = mesh.piece[:, None] * len(mesh.same) + mesh.elements
        vertex = np.unique(key, return_inverse=True)[1].reshape(key.shape).astype(np.int64)
        for count in range(1, corners + 1):
            sets = list(combinations(range(corners), count))
            inner = [self._inside(list(one)) for one in sets]
            if not len(inner[0]):
                continue
            if count == corners:
                number = np.arange(len(mesh))[:, None]
            else:
                columns = [vertex[:, [s[j] for s in sets]] << (BITS * j) for j in range(count)]
                names = np.sum(columns, axis=0)
                number = np.unique(names, return_inverse=True)[1].reshape(names.shape)
            for k, nodes in enumerate(inner):
                found[:, nodes] = start + number[:, k, None] * len(nodes) + np.arange(len(nodes))
            start += (int(number.max()) + 1) * len(inner[0])
        return found

    def _inside(self, corners: list[int]) -> Int[np.ndarray, " nodes"]:
        """The nodes inside the part of an element between some of its vertices, in the same order for all parts."""
        index = self.basis.index[:, corners]
        found = np.flatnonzero((index > 0).all(axis=1) & (index.sum(axis=1) == self.order))
        return found[np.lexsort(index[found].T)]

    @cached_property
    def size(self) -> int:
        """The number of unknowns."""
        return int(self.dofs.max()) + 1

    @property
    def memory(self) -> float:
        """Bytes that its equations take to set up and to solve, about."""
        return memory_of(len(self.mesh), self.mesh.dim, self.order)

    def gathered(self, unknowns: Float[np.ndarray, " n"]) -> Float[np.ndarray, "m nodes"]:
        """The values at the nodes of each element."""
        return unknowns[self.dofs]


def memory_of(elements: float, dim: int, order: int) -> float:
    """An estimate of the bytes needed to assemble and solve the equations on `elements` elements."""
    basis = lagrange(dim, order)
    outer = int((basis.index == 0).any(axis=1).sum())
    inner = basis.size - outer
    return elements * (ENTRY * outer**2 + 8.0 * inner * (outer + inner))
