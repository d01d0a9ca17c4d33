"""The reference simplex: nodes, Lagrange polynomials, and Gauss rules.

A point of a simplex with the vertices v_0 .. v_d is given by xi = (lambda_1 .. lambda_d), its barycentric coordinates
but the first; lambda_0 = 1 - sum xi. Face k is the one opposite to v_k, its own vertices in the same order.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

import numpy as np
from jaxtyping import Float, Int
from scipy.special import roots_jacobi

FEW = 1000  # points of a rule

Points = Float[np.ndarray, "n d"]


@cache
def _line(order: int) -> tuple[float, ...]:
    """Gauss-Lobatto nodes on [0, 1]."""
    if order < 2:
        return tuple(np.linspace(0.0, 1.0, order + 1)) if order else (0.5,)
    inner = roots_jacobi(order - 1, 1.0, 1.0)[0]
    return (0.0, *((1.0 + inner) / 2.0), 1.0)


@cache
def _node(index: tuple[int, ...]) -> tuple[float, ...]:
    """Barycentric coordinates of a node, recursively from those of its projections to the faces (Isaac 2020).

    On every face they are the nodes of that face, on edges Gauss-Lobatto's; well conditioned up to order 15 or so.
    """
    order = sum(index)
    if len(index) == 1:
        return (1.0,)
    if len(index) == 2:
        return (_line(order)[index[0]], _line(order)[index[1]])
    total, weight = np.zeros(len(index)), 0.0
    for k in range(len(index)):
        share = _line(order)[order - index[k]]
        total[np.arange(len(index)) != k] += share * np.array(_node(index[:k] + index[k + 1 :]))
        weight += share
    return tuple(total / weight)


@dataclass(frozen=True)
class Lagrange:
    """The Lagrange polynomials of a degree on the simplex of a dimension."""

    dim: int
    order: int

    @cached_property
    def index(self) -> Int[np.ndarray, "nodes corners"]:
        """The nodes by numbers: one for each vertex, sum `order`, large near it."""
        every = product(range(self.order + 1), repeat=self.dim)
        return np.array([(self.order - sum(a), *a) for a in every if sum(a) <= self.order])

    @cached_property
    def barycentric(self) -> Float[np.ndarray, "nodes corners"]:
        """The nodes."""
        return np.array([_node(tuple(row)) for row in self.index.tolist()])

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.index)

    @cached_property
    def position(self) -> dict[tuple[int, ...], int]:
        """Where each node stands in `index`."""
        return {tuple(row): k for k, row in enumerate(self.index.tolist())}

    def on_face(self, face: int) -> Int[np.ndarray, " nodes"]:
        """The nodes of a face."""
        return np.flatnonzero(self.index[:, face] == 0)

    @cached_property
    def _coefficients(self) -> Float[np.ndarray, "polynomials nodes"]:
        return np.linalg.inv(dubiner(self.dim, self.order, self.barycentric[:, 1:])[0])

    @cached_property
    def degrees(self) -> Int[np.ndarray, " polynomials"]:
        """The degree of each of the orthonormal polynomials that `modes` are the coefficients of."""
        every = product(range(self.order + 1), repeat=self.dim)
        return np.array([sum(a) for a in every if sum(a) <= self.order])

    def modes(self, values: Float[np.ndarray, "m nodes"]) -> Float[np.ndarray, "m polynomials"]:
        """The coefficients of orthonormal polynomials, from values at the nodes."""
        return values @ self._coefficients.T

    def from_modes(self, modes: Float[np.ndarray, "m polynomials"]) -> Float[np.ndarray, "m nodes"]:
        """Values at the nodes, from the coefficients of orthonormal polynomials."""
        return modes @ dubiner(self.dim, self.order, self.barycentric[:, 1:])[0].T

    def value(self, xi: Points) -> Float[np.ndarray, "n nodes"]:
        """The polynomials at points."""
        if len(xi) > FEW:  # their gradients would take three times as long
            return dubiner_values(self.dim, self.order, xi).T @ self._coefficients
        return self._table(xi)[0]

    def modal(self, values: Float[np.ndarray, "m nodes"]) -> Float[np.ndarray, "polynomials m"]:
        """Coefficients of Dubiner's polynomials for values at the nodes of elements."""
        return self._coefficients @ values.T

    def gradient(self, xi: Points) -> Float[np.ndarray, "n nodes d"]:
        """Their gradients with respect to xi."""
        return self._table(xi)[1]

    @cached_property
    def _tables(self) -> dict[bytes, tuple[np.ndarray, np.ndarray]]:
        return {}

    def _table(self, xi: Points) -> tuple[np.ndarray, np.ndarray]:
        """Values and gradients; kept for rules of few points, which are asked for again and again."""
        key = xi.tobytes() if len(xi) <= FEW else b""
        found = self._tables.get(key) if key else None
        if found is None:
            value, gradient = dubiner(self.dim, self.order, xi)
            slopes = np.matmul(gradient.transpose(0, 2, 1), self._coefficients).transpose(0, 2, 1)
            found = value @ self._coefficients, np.ascontiguousarray(slopes)
            if key:
                self._tables[key] = found
        return found


def dubiner(dim: int, order: int, xi: Points) -> tuple[Float[np.ndarray, "n m"], Float[np.ndarray, "n m d"]]:
    """The orthonormal polynomials of the simplex (Dubiner) up to a degree, and their gradients.

    Products of factors t^k P_k(x/t) with Jacobi polynomials P_k and linear x, t, by their recurrence: nothing is
    divided by what vanishes at a vertex.
    """
    n = len(xi)
    zero = (1.0 - xi.sum(axis=1), np.full((n, dim), -1.0))
    partial = {(): (np.ones(n), np.zeros((n, dim)))}
    below = zero
    for axis in range(dim):
        own = (xi[:, axis], np.broadcast_to(np.eye(dim)[axis], (n, dim)))
        x, t = (
            tuple(a - b for a, b in zip(own, below, strict=True)),
            tuple(a + b for a, b in zip(own, below, strict=True)),
        )
        longer = {}
        for degrees, (value, slope) in partial.items():
            used = sum(degrees)
            weight = 2 * used + axis
            for k, (factor, its_slope) in enumerate(_jacobi(order - used, weight, x, t)):
                size = np.sqrt(2.0 * (used + k) + axis + 1.0)
                product_slope = value[:, None] * its_slope + factor[:, None] * slope
                longer[(*degrees, k)] = (size * value * factor, size * product_slope)
        partial, below = longer, t
    return np.stack([v for v, _ in partial.values()], axis=1), np.stack([g for _, g in partial.values()], axis=1)


def dubiner_values(dim: int, order: int, xi: Points) -> Float[np.ndarray, "m n"]:
    """The same polynomials without gradients, at many points; a row for each polynomial."""
    below, partial = 1.0 - xi.sum(axis=1), {(): np.ones(len(xi))}
    for axis in range(dim):
        own = xi[:, axis]
        x, t = own - below, own + below
        longer = {}
        for degrees, value in partial.items():
            used = sum(degrees)
            for k, factor in enumerate(_jacobi_values(order - used, 2 * used + axis, x, t)):
                longer[(*degrees, k)] = np.sqrt(2.0 * (used + k) + axis + 1.0) * value * factor
        partial, below = longer, t
    return np.stack(list(partial.values()))


def _jacobi_values(degree: int, a: int, x: np.ndarray, t: np.ndarray) -> list[np.ndarray]:
    """t^k P_k^(a, 0)(x/t) for k up to a degree."""
    found = [np.ones_like(x)]
    for k in range(degree):
        A, B, C = _recurrence(k, a)
        found.append((A * x + B * t) * found[-1] - (C * t * t * found[-2] if k else 0.0))
    return found


def _recurrence(k: int, a: int) -> tuple[float, float, float]:
    """P_(k+1) = (A x + B) P_k - C P_(k-1) for Jacobi's polynomials P^(a, 0)."""
    c = 2 * k + a
    if k == 0:
        return (a + 2) / 2, a / 2, 0.0
    A = (c + 1) * (c + 2) / (2 * (k + 1) * (k + 1 + a))
    B = a * a * (c + 1) / (2 * (k + 1) * (k + 1 + a) * c)
    return A, B, (k + a) * k * (c + 2) / ((k + 1) * (k + 1 + a) * c)


def _jacobi(degree: int, a: int, x: tuple[np.ndarray, ...], t: tuple[np.ndarray, ...]) -> list[tuple[np.ndarray, ...]]:
    """t^k P_k^(a, 0)(x/t) for k up to a degree, each with its gradient; x and t come with theirs."""
    found = [(np.ones_like(x[0]), np.zeros_like(x[1]))]
    square = (t[0] ** 2, 2 * t[0][:, None] * t[1])
    for k in range(degree):
        A, B, C = _recurrence(k, a)
        linear = (A * x[0] + B * t[0], A * x[1] + B * t[1])
        p, before = found[-1], found[-2] if k else (np.zeros_like(x[0]), np.zeros_like(x[1]))
        value = linear[0] * p[0] - C * square[0] * before[0]
        slope = linear[0][:, None] * p[1] + p[0][:, None] * linear[1]
        found.append((value, slope - C * (square[0][:, None] * before[1] + before[0][:, None] * square[1])))
    return found


@cache
def lagrange(dim: int, order: int) -> Lagrange:
    """The polynomials, made once."""
    return Lagrange(dim, order)


@cache
def gauss(dim: int, count: int) -> tuple[Points, Float[np.ndarray, " n"]]:
    """Points and weights (sum: the volume of the simplex), exact up to the degree 2 count - 1."""
    xi, weight, left = np.zeros((1, 0)), np.ones(1), np.ones(1)
    for axis in range(dim):
        t, w = roots_jacobi(count, dim - 1 - axis, 0.0)
        t, w = (t + 1.0) / 2.0, w / 2.0 ** (dim - axis)
        n = len(weight)
        xi = np.concatenate([np.repeat(xi, count, axis=0), (left[:, None] * t).reshape(-1, 1)], axis=1)
        weight, left = np.repeat(weight, count) * np.tile(w, n), np.repeat(left, count) * np.tile(1.0 - t, n)
    return xi, weight


@cache
def face_points(dim: int, face: int, count: int) -> tuple[Points, Float[np.ndarray, " n"]]:
    """Gauss points of a face as points of the simplex, with weights that sum to the volume of the reference face."""
    eta, weight = gauss(dim - 1, count) if dim > 1 else (np.zeros((1, 0)), np.ones(1))
    own = np.concatenate([1.0 - eta.sum(axis=1, keepdims=True), eta], axis=1)
    return np.insert(own, face, 0.0, axis=1)[:, 1:], weight
