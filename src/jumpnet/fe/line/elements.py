"""Elements of any order: shape functions, element matrices, and the elimination of the inner functions.

On an element of length h with the coordinate xi in (-1, 1)

    u = u_L + d (1 + xi)/2 + sum over k of c_k N_k(xi),   N_k' = sqrt(k + 1/2) P_k   (integrated Legendre polynomials).

The constant is one of the functions, so that with lam = 0 its row holds nothing but the balance of the flux, whatever A
is: contrasts of 1e12 cost no digits. Eliminating the c_k leaves two equations between values and fluxes at both ends,

    S (u_L, d) + G = (q_R - q_L, q_R).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int
from numpy.polynomial.legendre import leggauss

from jumpnet.fe.line.statement import LineStatement

# Integration points beyond the order: data are resolved by polynomials of degree 15 (resolution.py), so that products
# with two functions of the order are integrated exactly.
MORE_POINTS = 8
ENRICHED = 2  # orders by which the solution that tells the error is higher


@dataclass(frozen=True, eq=False)
class Mesh:
    """Elements from left to right: ends, the interval each belongs to, its order."""

    start: Float[np.ndarray, " n"]
    end: Float[np.ndarray, " n"]
    interval: Int[np.ndarray, " n"]
    order: Int[np.ndarray, " n"]

    def __len__(self) -> int:
        return len(self.start)

    def refined(self, halved: np.ndarray, raised: Int[np.ndarray, " n"]) -> Mesh:
        """The mesh with some elements cut in two and the orders raised."""
        count = np.where(halved, 2, 1)
        parent = np.repeat(np.arange(len(self)), count)
        second = np.concatenate([[False], parent[1:] == parent[:-1]])
        middle = 0.5 * (self.start + self.end)
        start = np.where(second, middle[parent], self.start[parent])
        end = np.where(halved[parent] & ~second, middle[parent], self.end[parent])
        return Mesh(start, end, self.interval[parent], (self.order + raised)[parent])

    def enriched(self, by: int) -> Mesh:
        """The same elements with higher orders."""
        return replace(self, order=self.order + by)


@lru_cache(maxsize=128)
def gauss(points: int) -> tuple[Float[np.ndarray, " q"], Float[np.ndarray, " q"]]:
    """Gauss's points and weights on (-1, 1)."""
    return leggauss(points)


def shapes(xi: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values and two derivatives in xi of the order + 1 functions (..., order + 1): 1, (1 + xi)/2, N_1, N_2, ..."""
    P = np.empty((order + 1, *xi.shape))
    slope = np.zeros_like(P)
    P[0] = 1.0
    if order:
        P[1], slope[1] = xi, 1.0
    for k in range(1, order):
        P[k + 1] = ((2 * k + 1) * xi * P[k] - k * P[k - 1]) / (k + 1)
        slope[k + 1] = slope[k - 1] + (2 * k + 1) * P[k]
    N, D, D2 = (np.zeros((*xi.shape, order + 1)) for _ in range(3))
    N[..., 0] = 1.0
    N[..., 1], D[..., 1] = 0.5 * (1 + xi), 0.5
    for k in range(1, order):
        scale = np.sqrt(k + 0.5)
        N[..., k + 1] = scale * (P[k + 1] - P[k - 1]) / (2 * k + 1)
        D[..., k + 1], D2[..., k + 1] = scale * P[k], scale * slope[k]
    return N, D, D2


@lru_cache(maxsize=128)
def tables(order: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Points, weights, values and derivatives of the functions of one order, for its integrals."""
    xi, w = gauss(order + MORE_POINTS)
    return xi, w, *shapes(xi, order)[:2]


@dataclass(frozen=True, eq=False)
class Group:
    """The elements of one order, with data at their integration points and element matrices K, F.

    Integral of (A u' + drift u + push) t' + lam u t + f t is (K c + F) . t.
    """

    order: int
    index: Int[np.ndarray, " g"]
    h: Float[np.ndarray, " g"]
    K: Float[np.ndarray, "g p p"]
    F: Float[np.ndarray, "g p"]

    def condensed(self, order: int) -> Condensed:
        """The elements with functions up to an order, which may be lower than that of the group."""
        K, F = self.K[:, : order + 1, : order + 1], self.F[:, : order + 1]
        right = -np.concatenate([F[:, 2:, None], K[:, 2:, :2]], axis=2)
        inner = np.linalg.solve(K[:, 2:, 2:], right) if order > 1 else right
        coupling = K[:, :2, 2:] @ inner
        return Condensed(self.index, inner, K[:, :2, :2] + coupling[:, :, 1:], F[:, :2] + coupling[:, :, 0])


@dataclass(frozen=True, eq=False)
class Condensed:
    """S, G of elements, and the inner coefficients: c = inner . (1, u_L, d)."""

    index: Int[np.ndarray, " g"]
    inner: Float[np.ndarray, "g c 3"]
    S: Float[np.ndarray, "g 2 2"]
    G: Float[np.ndarray, "g 2"]

    def coefficients(self, ends: Float[np.ndarray, "g 2"]) -> Float[np.ndarray, "g p"]:
        """All coefficients u_L, d, c_1, ... from u_L and d."""
        inner = self.inner[:, :, 0] + np.einsum("gck,gk->gc", self.inner[:, :, 1:], ends)
        return np.concatenate([ends, inner], axis=1)


def groups(statement: LineStatement, mesh: Mesh) -> Iterator[Group]:
    """The elements of a mesh by their order."""
    for order in np.unique(mesh.order).tolist():
        index = np.flatnonzero(mesh.order == order)
        xi, w, N, D = tables(order)
        start, h = mesh.start[index], mesh.end[index] - mesh.start[index]
        x, piece = start[:, None] + 0.5 * h[:, None] * (1 + xi), statement.piece[mesh.interval[index]]
        A, lam, f = (function(x, piece) for function in (statement.A, statement.lam, statement.f))
        stiff = (A * w * (2 / h)[:, None]) @ _products(D)
        mass = (lam * w * (0.5 * h)[:, None]) @ _products(N)
        K = (stiff + mass).reshape(-1, order + 1, order + 1)
        F = (f * w * (0.5 * h)[:, None]) @ N
        if statement.drift is not None:
            carried = (D[:, :, None] * N[:, None, :]).reshape(len(N), -1)
            K += ((statement.drift(x, piece) * w) @ carried).reshape(K.shape)
        if statement.push is not None:
            F += (statement.push(x, piece) * w) @ D
        yield Group(order, index, h, K, F)


def _products(N: Float[np.ndarray, "q p"]) -> Float[np.ndarray, "q pp"]:
    """N_i N_j at each point."""
    return (N[:, :, None] * N[:, None, :]).reshape(len(N), -1)
