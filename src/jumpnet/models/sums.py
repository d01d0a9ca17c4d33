"""Values of frozen features, summed with their weights on the way: no matrix of all functions at all points.

A solve needs every function by itself; who looks at a solution needs their sum only, which Horner's rule and products
of small matrices give in a fraction of the time.
"""

from functools import singledispatch

import numpy as np
from jaxtyping import Float, Int
from numpy.polynomial.legendre import legvander

from jumpnet.models.families import Family
from jumpnet.models.families.harmonic import Powers
from jumpnet.models.families.polynomials import Combination, Legendre, exponents_of
from jumpnet.models.frozen import Frozen
from jumpnet.rows import Sites

MOST_COORDINATES = 3  # beyond which a full table of coefficients is mostly empty

Points = Float[np.ndarray, "n k"]
Weights = Float[np.ndarray, " functions"]
Sums = Float[np.ndarray, " n"]


def frozen_values(
    network: Frozen, theta: Weights, x: Float[np.ndarray, "n d"], cell: Int[np.ndarray, " n"]
) -> Float[np.ndarray, " n"]:
    """u at points seen from pieces."""
    if network.cut is not None:
        cell = network.cut(x, cell)
    values = np.zeros(len(x))
    with np.errstate(divide="ignore", invalid="ignore"):  # a pole may be hit outside its piece
        for l in np.unique(cell):
            mine = np.flatnonzero(cell == l)
            points, at = (x, cell) if len(mine) == len(x) else (x[mine], cell[mine])
            weights, total = theta[network.own[l]], np.zeros(len(mine))
            for chart, family in network.of_cell[l].parts:
                own, weights = weights[: family.size], weights[family.size :]
                total += summed(family, chart.values(points, at), own)
            values[mine] = total
    return values


@singledispatch
def summed(family: Family, y: Points, weights: Weights) -> Sums:
    """The sum of a family's functions with weights; by all of them where nothing quicker is known."""
    return _of_all(family, y, weights)


def _of_all(family: Family, y: Points, weights: Weights) -> Sums:
    n, k = y.shape
    nothing = (np.broadcast_to(0.0, (n, k)), np.broadcast_to(0.0, (n, k, k)))
    return family.functionals(Sites(y, np.zeros(n, np.int32), np.ones(n), *nothing, order=0)) @ weights


@summed.register
def _powers(family: Powers, y: Points, weights: Weights) -> Sums:
    """Re sum (a_n - i b_n) z^n by Horner's rule."""
    degree = family.degree
    z = y[:, 0] + 1j * y[:, 1]
    c = weights[:degree] - 1j * weights[degree : 2 * degree]
    total = np.zeros_like(z)
    for coefficient in c[::-1]:
        total += coefficient
        total *= z
    rest = weights[2 * degree :]
    values = total.real
    if family.constant:
        values = values + rest[0]
    if family.logarithm:
        values = values + rest[-1] * np.log(np.abs(z))
    return values


@summed.register
def _legendre(family: Legendre, y: Points, weights: Weights) -> Sums:
    """One coordinate after the other: sum_i P_i(y1) (sum_j P_j(y2) c_ij)."""
    d, m = family.inputs, family.degree + 1
    if d > MOST_COORDINATES:
        return _of_all(family, y, weights)
    c = np.zeros((m,) * d)
    c[tuple(exponents_of(d, family.degree)[(0 if family.constant else 1) :].T)] = weights
    total = legvander(y[:, 0], family.degree) @ c.reshape(m, -1)
    for k in range(1, d):
        total = np.einsum("nm,nmk->nk", legvander(y[:, k], family.degree), total.reshape(len(y), m, -1))
    return total[:, 0]


@summed.register
def _combination(family: Combination, y: Points, weights: Weights) -> Sums:
    """A single weight on top of the known ones."""
    return weights[0] * _legendre(Legendre(family.inputs, family.degree), y, np.array(family.weights))
