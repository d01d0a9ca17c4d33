"""Rows and a network make a least-squares system: residual and Jacobian as NumPy arrays, compiled once per shape."""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from jumpnet._precision import float64
from jumpnet.errors import ModelError
from jumpnet.linalg.block_qr import ByCell, Pattern
from jumpnet.models.frozen import Frozen
from jumpnet.models.shallow import Blocks, Shallow
from jumpnet.rows import Layout, Rows, Run, Sites, batch


class Network(Protocol):
    """What a model must be able to do: functionals at sites, and their derivatives by a flat parameter vector.

    Networks hold no trained numbers and are hashable: equal networks on equal shapes share compiled code.
    """

    @property
    def size(self) -> int: ...

    @property
    def inputs(self) -> int: ...

    @property
    def cells(self) -> int: ...

    @property
    def pieces(self) -> int: ...

    @property
    def expansion(self) -> None: ...

    @property
    def shallow(self) -> Shallow | None: ...

    @property
    def own(self) -> Int[np.ndarray, "cells own"]:
        """Where in theta the parameters are that matter in one cell only; the rest is shared by all cells."""
        ...

    def values(self, theta: Array, sites: Sites) -> Array: ...

    def values_and_jacobian(self, theta: Array, sites: Sites) -> tuple[Array, Blocks]:
        """Values, and the transposed Jacobian as blocks of rows in theta's order."""
        ...

    def values_and_own_jacobian(self, theta: Array, sites: Sites) -> tuple[Array, Blocks, Array]:
        """Values, the rows of shared parameters, and the rows of the parameters of each site's own cell."""
        ...

    def initial(self, rng: np.random.Generator) -> np.ndarray: ...


def site_order(layout: Layout) -> Int[np.ndarray, " sites"]:
    """Sites run by run, all first sites of its rows, then all second ones, ...: sums become sums of long slices."""
    parts, start = [np.zeros(0, int)], 0
    for count, rows, _ in layout:
        parts.append(start + np.arange(count * rows).reshape(rows, count).T.ravel())
        start += count * rows
    return np.concatenate(parts)


def _sum(of_sites: Float[Array, "*batch sites"], run: Run) -> Float[Array, "*batch rows"]:
    """Sum the sites of each row of a run, along the last axis; sites are in `site_order`."""
    return of_sites if run.sites == 1 else of_sites.reshape(*of_sites.shape[:-1], run.sites, run.rows).sum(-2)


@partial(jax.jit, static_argnums=0)
def _compiled_values(network: Network, theta: Array, sites: Sites) -> Array:
    n, k = sites.x.shape
    if sites.order < 1:
        sites = replace(sites, a1=jnp.zeros((n, k)))
    if sites.order < 2:
        sites = replace(sites, a2=jnp.zeros((n, k, k)))
    return network.values(theta, sites)


def site_values(network: Network | Frozen, theta: Float[np.ndarray, " parameters"], sites: Sites) -> np.ndarray:
    """The functional of every site, in pieces."""
    if network.expansion is not None:
        return network.expansion.values(theta, network.expansion.placed(sites))
    # Coefficients of derivatives that no row has are not used: empty arrays spare copies to the device.
    nothing = np.zeros(0)
    a1, a2 = sites.a1 if sites.order > 0 else nothing, sites.a2 if sites.order > 1 else nothing
    with float64():
        return np.asarray(_compiled_values(network, theta, replace(sites, a1=a1, a2=a2)))


Runs = tuple[Sites, ...]


@partial(jax.jit, static_argnums=(0, 1))
def _residual(network: Network, layout: Layout, theta: Array, runs: Runs, rhs: Array) -> Array:
    values = [_sum(network.values(theta, sites), run) for run, sites in zip(layout, runs, strict=True)]
    return jnp.concatenate(values) - rhs


@partial(jax.jit, static_argnums=(0, 1))
def _features(network: Any, layout: Layout, theta: Array, runs: Runs) -> Array:
    return jnp.concatenate(
        [_joined((network.features(theta, sites),), run) for run, sites in zip(layout, runs, strict=True)], axis=1
    )


@partial(jax.jit, static_argnums=(0, 1))
def _linearised(network: Network, layout: Layout, theta: Array, runs: Runs, rhs: Array) -> tuple[Array, Array]:
    values, columns = [], []
    for run, sites in zip(layout, runs, strict=True):
        value, blocks = network.values_and_jacobian(theta, sites)
        values.append(_sum(value, run))
        columns.append(_joined(blocks, run))
    return jnp.concatenate(values) - rhs, jnp.concatenate(columns, axis=1)


@partial(jax.jit, static_argnums=(0, 1))
def _linearised_by_cell(
    network: Network, layout: Layout, theta: Array, runs: Runs, rhs: Array
) -> tuple[Array, Array, Array]:
    values, columns, owned = [], [], []
    for run, sites in zip(layout, runs, strict=True):
        value, blocks, own = network.values_and_own_jacobian(theta, sites)
        values.append(_sum(value, run))
        columns.append(_joined(blocks, run))
        owned.append(own)
    return jnp.concatenate(values) - rhs, jnp.concatenate(columns, axis=1), jnp.concatenate(owned, axis=1)


def _joined(blocks: Blocks, run: Run) -> Array:
    """Blocks of Jacobian rows, summed over the sites of each equation, one below the other.

    Sums of slices: the compiler merges them with what makes the blocks, other than a reduction over an axis.
    """
    if run.sites > 4:
        return jnp.concatenate([_sum(block, run) for block in blocks])
    ends = range(0, run.sites * run.rows, run.rows)
    return jnp.concatenate([sum(block[:, at : at + run.rows] for at in ends) for block in blocks])


def _objective(network: Network, layout: Layout, theta: Array, data: tuple[Runs, Array]) -> Array:
    return jnp.sum(_residual(network, layout, theta, *data) ** 2)


class System:
    """The least-squares system of a network on weighted rows; the optimisers see only this."""

    def __init__(self, network: Network, rows: Rows, layout: Layout | None = None):
        self.network, self.rows = network, rows
        self._layout = rows.layout if layout is None else layout
        # Where in theta the parameters are in which the network is linear; empty where it has none to tell.
        self.output: Int[np.ndarray, " outputs"] = np.arange(network.size)[getattr(network, "output", slice(0))]
        self._objective = partial(_objective, network, self._layout)
        self._order = site_order(self._layout)
        of_site, cell = rows.row_of_site[self._order], np.asarray(rows.sites.cell)[self._order]
        self.pattern = Pattern(tuple(network.own), network.size, of_site, cell, len(rows.rhs))
        self._place()

    def _place(self) -> None:
        """The weighted coefficients, as compiled code wants them."""
        rows, s = self.rows, self.rows.sites
        w = np.repeat(rows.weight, rows.counts)
        weighted = Sites(s.x, s.cell, s.a0 * w, s.a1 * w[:, None], s.a2 * w[:, None, None])
        with float64():
            self._runs = _runs(weighted, self._order, self._layout)
            self._rhs = jnp.asarray(rows.rhs * rows.weight)

    def with_coefficients(self, rows: Rows) -> "System":
        """The system of rows at the same sites with other coefficients and right-hand sides."""
        other = copy(self)
        other.rows = rows
        other._place()
        return other

    @property
    def size(self) -> int:
        """The number of parameters."""
        return self.network.size

    @property
    def terms(self) -> tuple[str, ...]:
        """The conditions that the rows state, as reports call them."""
        return self.rows.labels

    def residual(self, theta: Float[np.ndarray, " parameters"]) -> Float[np.ndarray, " rows"]:
        """Weighted residual of every row."""
        with float64():
            return np.asarray(_residual(self.network, self._layout, theta, self._runs, self._rhs))

    def linearised(self, theta: Float[np.ndarray, " parameters"]) -> tuple[np.ndarray, np.ndarray | ByCell]:
        """Weighted residual and Jacobian: in Fortran order, as LAPACK wants it, or by cell where that is cheaper."""
        return self._by_cell(theta) if self.pattern.pays else self.dense(theta)

    def dense(self, theta: Float[np.ndarray, " parameters"]) -> tuple[np.ndarray, np.ndarray]:
        """Weighted residual and Jacobian, as a matrix."""
        with float64():
            r, jt = _linearised(self.network, self._layout, theta, self._runs, self._rhs)
            return np.asarray(r), np.asarray(jt).T

    def _by_cell(self, theta: Float[np.ndarray, " parameters"]) -> tuple[np.ndarray, ByCell]:
        with float64():
            r, shared, own = _linearised_by_cell(self.network, self._layout, theta, self._runs, self._rhs)
            return np.asarray(r), ByCell(np.asarray(shared).T, np.asarray(own).T, self.pattern)

    def output_columns(
        self, theta: Float[np.ndarray, " parameters"]
    ) -> tuple[np.ndarray, Float[np.ndarray, "rows outputs"]]:
        """Weighted residual and its derivatives by the output parameters, without the rest of the Jacobian."""
        with float64():
            P = np.asarray(_features(self.network, self._layout, theta, self._runs)).T
        return P @ theta[self.output] - np.asarray(self._rhs), P

    def batch(self, share: float, rng: np.random.Generator) -> "System":
        """The system of a random share of the rows of every condition, weighted so that its loss is alike on average.

        For optimisers that look at some of the equations at a time.
        """
        if not 0 < share <= 1:
            raise ModelError(f"the share of a batch is {share!r}; give a part of the rows, above 0 and at most 1.")
        return System(self.network, batch(self.rows, share, rng))

    def loss_of_terms(self, residual: Float[np.ndarray, " rows"]) -> Float[np.ndarray, " terms"]:
        """The loss, family by family."""
        return np.bincount(self.rows.term, weights=residual**2, minlength=len(self.rows.terms))

    def objective(self) -> tuple[Callable[[Array, Any], Array], Any]:
        """The loss as a function JAX can differentiate, and the data it wants as second argument."""
        return self._objective, (self._runs, self._rhs)


def _runs(sites: Sites, order: np.ndarray, layout: Layout) -> Runs:
    """The sites of each run, as arrays on the device."""
    found, start = [], 0
    for run in layout:
        mine = order[start : start + run.sites * run.rows]
        parts = (jnp.asarray(np.asarray(part)[mine]) for part in (sites.x, sites.cell, sites.a0, sites.a1, sites.a2))
        found.append(Sites(*parts, order=run.order))
        start += run.sites * run.rows
    return tuple(found)
