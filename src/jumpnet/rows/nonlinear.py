"""Rows of a nonlinear equation: a table whose coefficients follow u.

A nonlinear equation F(u, grad u, hess u) = 0 at sites is, about a state u0, the row

    F_u u + F_grad . grad u + F_hess : hess u  =  F_u u0 + F_grad . grad u0 + F_hess : hess u0 - F(u0).

At u0 its residual is F(u0), and its coefficients are the derivatives of F: all that Levenberg-Marquardt asks for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from jumpnet.rows.table import Layout, Rows, Sites


class Jets(NamedTuple):
    """u, its gradient and its second derivatives at sites."""

    u: Float[np.ndarray, " sites"]
    grad: Float[np.ndarray, "sites d"]
    hess: Float[np.ndarray, "sites d d"]

    def times(self, factor: float) -> "Jets":
        """The jets of a multiple of u."""
        return Jets(*(factor * part for part in self))


@dataclass(frozen=True, eq=False)
class NonlinearRows:
    """Equations that are rows about every state, at the same sites and in the same order.

    Args:
        first: The rows about the state that a training is weighted by.
        layout: That of rows about any state: coefficients that vanish about one of them may not about another.
        about: The rows about a state, from its jets at the sites; unweighted.
    """

    first: Rows
    layout: Layout
    about: Callable[[Jets], Rows]


def probes(sites: Sites) -> Sites:
    """u, grad u and hess u at sites as functionals, site by site: `jets_of` makes jets of their values."""
    n, d = np.shape(sites.x)
    upper = np.array(np.triu_indices(d)).T
    count = 1 + d + len(upper)
    a0, a1, a2 = np.zeros((n, count)), np.zeros((n, count, d)), np.zeros((n, count, d, d))
    a0[:, 0] = 1.0
    a1[:, 1 + np.arange(d), np.arange(d)] = 1.0
    for at, (i, j) in enumerate(upper, 1 + d):
        a2[:, at, i, j] += 0.5
        a2[:, at, j, i] += 0.5
    x, cell = np.repeat(np.asarray(sites.x), count, axis=0), np.repeat(np.asarray(sites.cell), count)
    return Sites(x, cell, a0.ravel(), a1.reshape(-1, d), a2.reshape(-1, d, d))


def jets_of(values: Float[np.ndarray, " probes"], dim: int) -> Jets:
    """The jets from the values of `probes`."""
    upper = np.triu_indices(dim)
    of_site = values.reshape(-1, 1 + dim + len(upper[0]))
    hess = np.empty((len(of_site), dim, dim))
    hess[:, upper[0], upper[1]] = hess[:, upper[1], upper[0]] = of_site[:, 1 + dim :]
    return Jets(of_site[:, 0], of_site[:, 1 : 1 + dim], hess)
