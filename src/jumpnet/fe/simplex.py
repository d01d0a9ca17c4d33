"""The reference simplex: nodes, Lagrange polynomials, and Gauss rules.

A point of a simplex with the vertices v_0 .. v_d is given by xi = (lambda_1 .. lambda_d), its barycentric coordinates
but the first; lambda_0 = 1 - sum xi. Face k is the one opposite to v_k, its own vertices in the same order.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

import numpy as np
from jaxtyping import Float, Int
from scipy.special import roots_jacobi

FINER = 2  # degrees
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
        return np.linalg.inv(dubiner(self.dim, self.order, self.barycentric[:, 1:]))

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
        return modes @ dubiner(self.dim, self.order, self.barycentric[:, 1:]).T

    def value(self, xi: Points) -> Float[np.ndarray, "n nodes"]:
        """The polynomials at points."""
        return self._kept("value", xi, lambda: dubiner(self.dim, self.order, xi) @ self._coefficients)

    def gradient(self, xi: Points) -> Float[np.ndarray, "n nodes d"]:
        """Their gradients with respect to xi."""
        return self._kept("gradient", xi, lambda: self._slopes(xi))

    def slopes(self, values: Float[np.ndarray, "m nodes"], xi: Points) -> Float[np.ndarray, "m n d"]:
        """The gradients with respect to xi, at points, of functions with values at the nodes."""
        table = self.gradient(xi).transpose(1, 0, 2).reshape(self.size, -1)
        return (values @ table).reshape(len(values), len(xi), self.dim)

    def _slopes(self, xi: Points) -> Float[np.ndarray, "n nodes d"]:
        slopes = [dubiner_gradient(self.dim, self.order, xi, axis) @ self._coefficients for axis in range(self.dim)]
        return np.stack(slopes, axis=2)

    @cached_property
    def _tables(self) -> dict[tuple[str, bytes], np.ndarray]:
        return {}

    def _kept(self, what: str, xi: Points, made: Callable[[], np.ndarray]) -> np.ndarray:
        """Tables of rules of few points, which are asked for again and again, are kept."""
        if len(xi) > FEW:
            return made()
        key = (what, xi.tobytes())
        if key not in self._tables:
            self._tables[key] = made()
        return self._tables[key]


def dubiner(dim: int, order: int, xi: Points) -> Float[np.ndarray, "n m"]:
    """The orthonormal polynomials of the simplex (Dubiner) up to a degree.

    Products of factors t^k P_k(x/t) with Jacobi polynomials P_k and linear x, t, by their recurrence: nothing is
    divided by what vanishes at a vertex.
    """
    return np.stack([value for value, _ in _dubiner(dim, order, xi, None)], axis=1)


def dubiner_gradient(dim: int, order: int, xi: Points, axis: int) -> Float[np.ndarray, "n m"]:
    """The derivatives of these polynomials along an axis."""
    return np.stack([slope for _, slope in _dubiner(dim, order, xi, axis)], axis=1)


Pair = tuple[np.ndarray, np.ndarray]  # a function at points, and its derivative


def _dubiner(dim: int, order: int, xi: Points, along: int | None) -> list[Pair]:
    """The polynomials with their derivatives along an axis (or with anything at all in the place of those)."""
    n = len(xi)
    none = np.zeros(n)
    below: Pair = (1.0 - xi.sum(axis=1), none if along is None else np.full(n, -1.0))
    partial: dict[tuple[int, ...], Pair] = {(): (np.ones(n), none)}
    for axis in range(dim):
        own: Pair = (xi[:, axis], np.ones(n) if axis == along else none)
        x, t = (own[0] - below[0], own[1] - below[1]), (own[0] + below[0], own[1] + below[1])
        factors = {}
        longer = {}
        for degrees, (value, slope) in partial.items():
            used = sum(degrees)
            if used not in factors:
                factors[used] = _jacobi(order - used, 2 * used + axis, x, t, along is not None)
            for k, (factor, its_slope) in enumerate(factors[used]):
                size = np.sqrt(2.0 * (used + k) + axis + 1.0)
                product_slope = slope if along is None else size * (value * its_slope + factor * slope)
                longer[(*degrees, k)] = (size * value * factor, product_slope)
        partial, below = longer, t
    return list(partial.values())


def _jacobi(degree: int, a: int, x: Pair, t: Pair, slopes: bool) -> list[Pair]:
    """t^k P_k^(a, 0)(x/t) for k up to a degree, each with its derivative; x and t come with theirs."""
    found = [(np.ones_like(x[0]), np.zeros_like(x[1]))]
    square = (t[0] ** 2, 2 * t[0] * t[1])
    for k in range(degree):
        c = 2 * k + a
        if k == 0:
            A, B, C = (a + 2) / 2, a / 2, 0.0
        else:
            A = (c + 1) * (c + 2) / (2 * (k + 1) * (k + 1 + a))
            B = a * a * (c + 1) / (2 * (k + 1) * (k + 1 + a) * c)
            C = (k + a) * k * (c + 2) / ((k + 1) * (k + 1 + a) * c)
        p, before = found[-1], found[-2] if k else (np.zeros_like(x[0]), np.zeros_like(x[1]))
        linear = A * x[0] + B * t[0]
        value = linear * p[0] - C * square[0] * before[0]
        slope = p[1]
        if slopes:
            slope = linear * p[1] + p[0] * (A * x[1] + B * t[1]) - C * (square[0] * before[1] + before[0] * square[1])
        found.append((value, slope))
    return found


@cache
def lagrange(dim: int, order: int) -> Lagrange:
    """The polynomials, made once."""
    return Lagrange(dim, order)


@cache
def lattice(dim: int, order: int) -> Points:
    """Points of the simplex on an even grid, vertices and edges included, finer than the nodes of an order."""
    return np.ascontiguousarray(lagrange(dim, order + FINER).barycentric[:, 1:])


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
