"""Frozen features: each cell has functions of its own, in its own charts, and only their weights are sought.

The rows are then linear in the unknowns: one least-squares problem instead of a training. Sites are in physical
coordinates; the charts are part of the features.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int

from jumpnet.charts import Atlas, Chart
from jumpnet.models.bycell import ByCell, Pattern
from jumpnet.models.families import Family
from jumpnet.rows import Rows, Sites


@dataclass(frozen=True, eq=False)
class Features:
    """The functions of one cell: families, each in the coordinates of a chart."""

    parts: tuple[tuple[Chart, Family], ...]

    @property
    def size(self) -> int:
        """The number of functions."""
        return sum(family.size for _, family in self.parts)

    def functionals(self, sites: Sites) -> Float[np.ndarray, "sites functions"]:
        """The functional of every site, function by function."""
        return np.concatenate([family.functionals(Atlas((chart,)).push(sites)) for chart, family in self.parts], axis=1)


@dataclass(frozen=True, eq=False)
class Frozen:
    """Features for each cell; the weights of cell l are the l-th part of theta."""

    of_cell: tuple[Features, ...]

    @property
    def size(self) -> int:
        """The number of weights."""
        return sum(features.size for features in self.of_cell)

    @cached_property
    def own(self) -> tuple[Int[np.ndarray, " own"], ...]:
        """Where in theta the weights of each cell are."""
        ends = np.cumsum([0, *(features.size for features in self.of_cell)])
        return tuple(np.arange(a, b) for a, b in pairwise(ends))

    def matrix(self, sites: Sites) -> Float[np.ndarray, "sites widest"]:
        """The functional of every site for the features of its own cell, padded with zeros to the widest cell."""
        cell = np.asarray(sites.cell)
        out = np.zeros((len(cell), max(features.size for features in self.of_cell)))
        for l, features in enumerate(self.of_cell):
            mine = np.flatnonzero(cell == l)
            if len(mine):
                out[mine, : features.size] = features.functionals(_taken(sites, mine))
        return out

    def values(self, theta: Float[np.ndarray, " weights"], sites: Sites) -> Float[np.ndarray, " sites"]:
        """The functional of every site."""
        cell = np.asarray(sites.cell)
        out = np.zeros(len(cell))
        for l, features in enumerate(self.of_cell):
            mine = np.flatnonzero(cell == l)
            if len(mine):
                out[mine] = features.functionals(_taken(sites, mine)) @ theta[self.own[l]]
        return out


class LinearSystem:
    """The least-squares problem of frozen features on weighted rows: columns scaled to one, ready for elimination."""

    def __init__(self, network: Frozen, rows: Rows):
        self.network, self.rows = network, rows
        own = network.matrix(rows.sites) * np.repeat(rows.weight, rows.counts)[:, None]
        cell = np.asarray(rows.sites.cell)
        self.pattern = Pattern(network.own, network.size, rows.row_of_site, cell, len(rows))
        size = np.ones((len(network.own), own.shape[1]))
        for l in range(len(network.own)):
            norm = np.linalg.norm(own[cell == l], axis=0)
            size[l] = np.where(norm > 0, norm, 1.0)
        self.column_size = np.concatenate([size[l, : len(mine)] for l, mine in enumerate(network.own)])
        self.J = ByCell(np.zeros((len(rows), 0)), own / size[cell], self.pattern)
        self.rhs = rows.rhs * rows.weight

    def residual(self, weights: Float[np.ndarray, " weights"]) -> Float[np.ndarray, " rows"]:
        """J w - rhs for scaled weights."""
        J, cell = self.J, self.pattern.cell_of_site
        padded = np.zeros((len(self.network.own), J.own.shape[1]))
        for l, mine in enumerate(self.network.own):
            padded[l, : len(mine)] = weights[mine]
        of_site = np.einsum("sk,sk->s", J.own, padded[cell])
        return np.bincount(self.pattern.row_of_site, weights=of_site, minlength=len(self.rhs)) - self.rhs


def _taken(sites: Sites, mine: np.ndarray) -> Sites:
    x, cell, a0, a1, a2 = (np.asarray(part)[mine] for part in (sites.x, sites.cell, sites.a0, sites.a1, sites.a2))
    return Sites(x, cell, a0, a1, a2)
