"""Separate networks, one per cell, coupled only through the interface rows.

The alternative the shared network is measured against: it needs as many hidden layers as there are cells, and each
must be determined by the points of its own cell.
"""

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from jumpnet.models.shallow import Blocks, Shallow
from jumpnet.models.trained import Trained
from jumpnet.rows import Sites


@dataclass(frozen=True)
class PerCell(Trained):
    """`cells` copies of one shallow network without label; the parameters of cell l are the l-th row of theta."""

    one: Shallow
    cells: int

    @property
    def size(self) -> int:
        """The number of trained parameters."""
        return self.cells * self.one.size

    @property
    def inputs(self) -> int:
        """The number of coordinates."""
        return self.one.inputs

    @property
    def own(self) -> Int[np.ndarray, "cells own"]:
        """Where in theta each cell's network is: there is nothing else."""
        return np.arange(self.size).reshape(self.cells, -1)

    def values(self, theta: Float[Array, " parameters"], sites: Sites) -> Float[Array, " sites"]:
        """The functional of every site, by the network of its cell."""
        return jax.vmap(lambda own, site: self.one.values(own, site)[0])(*self._one_by_one(theta, sites))

    def values_and_own_jacobian(
        self, theta: Float[Array, " parameters"], sites: Sites
    ) -> tuple[Float[Array, " sites"], Blocks, Float[Array, "own sites"]]:
        """The functional of every site and its derivatives by the parameters of the site's own cell."""

        def at_one(own: Array, site: Sites) -> tuple[Array, Array]:
            value, blocks = self.one.values_and_jacobian(own, site)
            return value[0], jnp.concatenate(blocks)[:, 0]

        values, own = jax.vmap(at_one)(*self._one_by_one(theta, sites))
        return values, (jnp.zeros((0, len(sites))),), own.T

    def values_and_jacobian(
        self, theta: Float[Array, " parameters"], sites: Sites
    ) -> tuple[Float[Array, " sites"], Blocks]:
        """The same with all parameters: zero in those of other cells."""
        values, _, own = self.values_and_own_jacobian(theta, sites)
        return values, tuple(jnp.where(sites.cell == cell, own, 0.0) for cell in range(self.cells))

    def _one_by_one(self, theta: Float[Array, " parameters"], sites: Sites) -> tuple[Array, Sites]:
        """Each site's own parameters, and each site as sites of length one with the only label there is."""
        unlabelled = replace(sites, cell=jnp.zeros_like(sites.cell))
        return theta.reshape(self.cells, -1)[sites.cell], jax.tree.map(lambda part: part[:, None], unlabelled)

    def initial(self, rng: np.random.Generator) -> Float[np.ndarray, " parameters"]:
        """Independent random networks."""
        return np.concatenate([self.one.initial(rng) for _ in range(self.cells)])
