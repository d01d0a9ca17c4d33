"""Frozen features: each cell has functions of its own, in its own charts, and only their weights are sought.

The rows are then linear in the unknowns: one least-squares problem instead of a training. Sites are in physical
coordinates; the charts are part of the features.
"""

from collections.abc import Iterator
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

    def values(self, theta: Float[np.ndarray, " weights"], sites: Sites) -> Float[np.ndarray, " sites"]:
        """The functional of every site."""
        out = np.zeros(len(np.asarray(sites.cell)))
        for own, mine, matrix in self.matrices(sites):
            out[mine] = matrix @ theta[own]
        return out

    def matrices(self, sites: Sites) -> Iterator[tuple[np.ndarray, np.ndarray, Float[np.ndarray, "mine own"]]]:
        """Cell by cell: where its weights are, which sites are in it, and their functionals, feature by feature."""
        cell = np.asarray(sites.cell)
        for l, (own, features) in enumerate(zip(self.own, self.of_cell, strict=True)):
            mine = np.flatnonzero(cell == l)
            if len(mine):
                yield own, mine, features.functionals(_taken(sites, mine))


class LinearSystem:
    """The least-squares problem of frozen features on weighted rows: columns scaled to one, ready for elimination."""

    def __init__(self, network: Frozen, rows: Rows):
        self.network, self.rows = network, rows
        cell, weight = np.asarray(rows.sites.cell), np.repeat(rows.weight, rows.counts)
        self.pattern = Pattern(network.own, network.size, rows.row_of_site, cell, len(rows))
        self.column_size = np.ones(network.size)
        padded = np.zeros((len(cell), max(map(len, network.own))))
        for own, mine, matrix in network.matrices(rows.sites):
            matrix *= weight[mine, None]
            norm = np.linalg.norm(matrix, axis=0)
            self.column_size[own] = np.where(norm > 0, norm, 1.0)
            padded[mine, : len(own)] = matrix / self.column_size[own]
        self.J = ByCell(np.zeros((len(rows), 0)), padded, self.pattern)
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
