"""Separate networks, one per cell, coupled only through the interface rows.

The alternative the shared network is measured against: it needs as many hidden layers as there are cells, and each
must be determined by the points of its own cell.
"""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jumpnet.models.shallow import Shallow
from jumpnet.rows import Sites


@dataclass(frozen=True)
class PerCell:
    """`cells` copies of one shallow network without label; the parameters of cell l are the l-th row of theta."""

    one: Shallow
    cells: int

    @property
    def size(self) -> int:
        """The number of trained parameters."""
        return self.cells * self.one.size

    def values(self, theta: Float[Array, " parameters"], sites: Sites) -> Float[Array, " sites"]:
        """The functional of every site, by the network of its cell."""
        of_cell = theta.reshape(self.cells, -1)
        # Every network at every site, then one picked: cells are few, and the arithmetic stays in matrix products.
        every = jnp.stack([self.one.values(of_cell[l], _unlabelled(sites)) for l in range(self.cells)])
        return every[sites.cell, jnp.arange(len(sites))]

    def values_and_jacobian(
        self, theta: Float[Array, " parameters"], sites: Sites
    ) -> tuple[Float[Array, " sites"], Float[Array, "parameters sites"]]:
        """The functional of every site and the transpose of its Jacobian: zero in other cells' parameters."""
        of_cell = theta.reshape(self.cells, -1)
        values, blocks = jnp.zeros(len(sites)), []
        for cell in range(self.cells):
            mine = sites.cell == cell
            value, jacobian = self.one.values_and_jacobian(of_cell[cell], _unlabelled(sites))
            values = jnp.where(mine, value, values)
            blocks.append(jnp.where(mine, jacobian, 0.0))
        return values, jnp.concatenate(blocks)

    def initial(self, rng: np.random.Generator) -> Float[np.ndarray, " parameters"]:
        """Independent random networks."""
        return np.concatenate([self.one.initial(rng) for _ in range(self.cells)])


def _unlabelled(sites: Sites) -> Sites:
    return Sites(sites.x, jnp.zeros_like(sites.cell), sites.a0, sites.a1, sites.a2)
