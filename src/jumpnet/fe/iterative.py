"""Large systems of elements in space: conjugate gradients with two levels, the second one of linear elements.

A sparse factor of n unknowns in space takes time like n^2; this takes it like n. Flat elements and needles, in which
point smoothers do not work, are in the second level as they are: they lie along edges and in thin layers, so that the
factors of their part of the matrix are sparse. Pieces are held together by a penalty, which point smoothers cannot see
through. So unknowns at the same place are replaced by the value of the first piece and the differences of the others
from it: the penalty is then on the differences alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from jaxtyping import Bool, Float, Int
from scipy.sparse.csgraph import connected_components

from jumpnet.errors import SolutionError
from jumpnet.fe.mesh import Mesh
from jumpnet.fe.space import Space

# The most iterations; more indicate a singular or indefinite matrix.
MOST = 400
# Sweeps of symmetric smoothing before and after the coarse correction.
SWEEPS = 1

# The ratio of the singular values of an element's map, from the regular simplex, above which it counts as flat. A
# re-entrant edge with three layers (order 5, 90,521 unknowns): 4 takes 7.4 s with 25 iterations, 13 takes 4.6 s with
# 33, 20 takes 4.1 s with 36; none, several hundreds.
FLAT = 15.0
# From the regular to the reference simplex.
REGULAR = np.linalg.inv(np.array([[1.0, 0.5, 0.5], [0.0, 0.75**0.5, 0.75**0.5 / 3], [0.0, 0.0, (2 / 3) ** 0.5]]))

Vector = Float[np.ndarray, " n"]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The change of unknowns (values and differences) and the linear elements among the values."""

    change: Any  # from values and differences to the unknowns
    coarse: Any  # from values at vertices, and unknowns of flat elements, to values and differences


def hierarchy(space: Space, shared: int, pairs: Int[np.ndarray, "k 2"]) -> Hierarchy:
    """The levels of a space, of which the first `shared` unknowns remain; `pairs` of them are at the same place."""
    graph = sp.coo_matrix((np.ones(len(pairs)), tuple(pairs.T)), shape=(shared, shared))
    place = connected_components(graph, directed=False)[1]
    _, first = np.unique(place, return_index=True)
    first = first[place]  # the first unknown at the place of each
    apart = np.flatnonzero(first != np.arange(shared))
    change = sp.identity(shared, format="csr") + sp.coo_matrix(
        (np.ones(len(apart)), (apart, first[apart])), shape=(shared, shared)
    )
    # Values of linear elements at the nodes, for those unknowns that are values.
    basis, corners = space.basis, space.mesh.dim + 1
    skeleton = np.flatnonzero((basis.index > 0).sum(axis=1) < corners)
    vertex = [basis.position[tuple(space.order if j == k else 0 for j in range(corners))] for k in range(corners)]
    dofs, at = space.dofs[:, skeleton], first[space.dofs[:, vertex]]
    rows = np.repeat(dofs[:, :, None], corners, axis=2)
    columns = np.repeat(at[:, None], len(skeleton), axis=1)
    weight = np.broadcast_to(basis.barycentric[skeleton], rows.shape)
    flat = np.unique(dofs[_flat(space.mesh)])
    alone = np.zeros(shared, bool)
    alone[flat] = True
    kept = (weight != 0) & (first[rows] == rows) & ~alone[rows]
    keys, index = np.unique(rows[kept].astype(np.int64) << 32 | columns[kept], return_index=True)
    numbers, column = np.unique(keys & 0xFFFFFFFF, return_inverse=True)
    coarse = sp.coo_matrix((weight[kept][index], (keys >> 32, column)), shape=(shared, len(numbers)))
    own = sp.coo_matrix((np.ones(len(flat)), (flat, np.arange(len(flat)))), shape=(shared, len(flat)))
    return Hierarchy(change.tocsr(), sp.hstack([coarse, own]).tocsr())


def _flat(mesh: Mesh) -> Bool[np.ndarray, " m"]:
    """Which elements are flat or needles: point smoothers do not reduce their errors."""
    corners = mesh.vertices[mesh.elements]
    stretch = np.linalg.svd(np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2) @ REGULAR, compute_uv=False)
    return stretch[:, 0] > FLAT * stretch[:, -1]


def iterated(
    matrix: Any, levels: Hierarchy, factor: Callable[[Any], Callable[[Vector], Vector]]
) -> Callable[[Vector, float], Vector]:
    """The inverse of a positive definite matrix by conjugate gradients; `factor` inverts that of linear elements.

    The iteration ends where the residual, in the norm of the preconditioner, is a given part of the first one.
    """
    from pyamg.amg_core import gauss_seidel  # its import takes a second

    K = (levels.change.T @ matrix @ levels.change).tocsr()
    K.sort_indices()
    n = K.shape[0]
    inverse = factor((levels.coarse.T @ K @ levels.coarse).tocsr())

    def cycle(right: Vector) -> Vector:
        x = np.zeros(n)
        for _ in range(SWEEPS):
            gauss_seidel(K.indptr, K.indices, K.data, x, right, 0, n, 1)
        x += levels.coarse @ inverse(levels.coarse.T @ (right - K @ x))
        for _ in range(SWEEPS):
            gauss_seidel(K.indptr, K.indices, K.data, x, right, n - 1, -1, -1)
        return x

    def solved(right: Vector, accuracy: float) -> Vector:
        return levels.change @ _conjugate_gradients(K, cycle, levels.change.T @ right, accuracy)

    return solved


def _conjugate_gradients(K: Any, precondition: Callable[[Vector], Vector], right: Vector, accuracy: float) -> Vector:
    """K^-1 right; SolutionError where it does not converge."""
    x, r = np.zeros_like(right), right.copy()
    z = precondition(r)
    p, rho = z.copy(), float(r @ z)
    start = rho
    for _ in range(MOST):
        if not rho > accuracy**2 * start:
            return x
        q = K @ p
        step = rho / float(p @ q)
        x += step * p
        r -= step * q
        z = precondition(r)
        rho, before = float(r @ z), rho
        p = z + (rho / before) * p
    if rho <= 1e-12 * start:  # six digits suffice, as corrections follow
        return x
    raise SolutionError("the iteration for the equations of the finite elements does not converge.")
