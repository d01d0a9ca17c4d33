"""Frozen features: each cell has functions of its own, in its own charts, and only their weights are sought.

The rows are then linear in the unknowns: one least-squares problem instead of a training. Sites are in physical
coordinates; the charts are part of the features.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int

from jumpnet.charts import Atlas, Chart
from jumpnet.geometry.cells.power_diagram import PowerMap
from jumpnet.linalg.block_qr import ByCell, Pattern
from jumpnet.models.families import Family
from jumpnet.rows import Rows, Sites

# Floating-point operations in whose time a row is made (80 levels of 20 problems: 13 microseconds against 37
# picoseconds for an operation).
PER_ROW = 3.6e5


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
        found = [family.functionals(Atlas((chart,)).push(sites)) for chart, family in self.parts]
        return found[0] if len(found) == 1 else np.concatenate(found, axis=1)


@dataclass(frozen=True, eq=False)
class Frozen:
    """Features for each cell; the weights of cell l are the l-th part of theta.

    Cells are the pieces, unless `cut` says which cell a point of a piece is in.
    """

    of_cell: tuple[Features, ...]
    cut: PowerMap | None = None

    @property
    def inputs(self) -> None:
        """None: sites are in physical coordinates, and the charts are part of the features."""
        return None

    @property
    def shallow(self) -> None:
        """None: no network."""
        return None

    @property
    def expansion(self) -> "Frozen":
        """Itself: u is an expansion in known functions."""
        return self

    @property
    def pieces(self) -> int:
        """The number of pieces."""
        return len(self.of_cell) if self.cut is None else self.cut.pieces

    @property
    def size(self) -> int:
        """The number of weights."""
        return sum(features.size for features in self.of_cell)

    @cached_property
    def own(self) -> tuple[Int[np.ndarray, " own"], ...]:
        """Where in theta the weights of each cell are."""
        ends = np.cumsum([0, *(features.size for features in self.of_cell)])
        return tuple(np.arange(a, b) for a, b in pairwise(ends))

    def placed(self, sites: Sites) -> Sites:
        """Sites of pieces as sites of cells."""
        if self.cut is None:
            return sites
        return replace(sites, cell=self.cut(np.asarray(sites.x), np.asarray(sites.cell)))

    def values(self, theta: Float[np.ndarray, " weights"], sites: Sites) -> Float[np.ndarray, " sites"]:
        """The functional of every site."""
        out = np.zeros(len(np.asarray(sites.cell)))
        for l, mine, matrix in self.matrices(sites):
            out[mine] = matrix @ theta[self.own[l]]
        return out

    def matrices(self, sites: Sites) -> Iterator[tuple[int, np.ndarray, Float[np.ndarray, "mine own"]]]:
        """Cell by cell: its number, which sites are in it, and their functionals, feature by feature."""
        cell = np.asarray(sites.cell)
        order = np.argsort(cell, kind="stable")
        ends = np.searchsorted(cell[order], np.arange(len(self.of_cell) + 1))
        for l, (a, b) in enumerate(pairwise(ends)):
            if b > a:
                yield l, order[a:b], self.of_cell[l].functionals(_taken(sites, order[a:b]))


class LinearSystem:
    """The least-squares problem of frozen features on weighted rows: columns scaled to one, ready for elimination."""

    def __init__(self, network: Frozen, rows: Rows):
        self.network, self.rows = network, rows
        cell, weight = np.asarray(rows.sites.cell), np.repeat(rows.weight, rows.counts)
        pattern = Pattern(network.own, network.size, rows.row_of_site, cell, len(rows), np.asarray(rows.sites.x))
        self.column_size = np.ones(network.size)
        self._mine: list[np.ndarray] = [np.zeros(0, int)] * len(network.own)
        blocks = [np.zeros((0, len(own))) for own in network.own]
        s = rows.sites
        weighted = replace(s, a0=s.a0 * weight, a1=s.a1 * weight[:, None], a2=s.a2 * weight[:, None, None])
        for l, mine, matrix in network.matrices(weighted):
            norm = np.sqrt(np.einsum("ij,ij->j", matrix, matrix))
            size = np.where(norm > 0, norm, 1.0)
            matrix *= 1 / size
            self.column_size[network.own[l]] = size
            blocks[l], self._mine[l] = matrix, mine
        self.J = ByCell(np.zeros((len(rows), 0)), tuple(blocks), pattern)
        self.rhs = rows.rhs * rows.weight

    @property
    def operations(self) -> float:
        """About the floating-point operations of setting it up and solving it."""
        return self.J.pattern.operations + PER_ROW * len(self.rhs)

    def residual(self, weights: Float[np.ndarray, " weights"]) -> Float[np.ndarray, " rows"]:
        """J w - rhs for scaled weights."""
        of_site = np.empty(len(self.J.pattern.row_of_site))
        for own, mine, block in zip(self.network.own, self._mine, self.J.own, strict=True):
            of_site[mine] = block @ weights[own]
        return np.bincount(self.J.pattern.row_of_site, weights=of_site, minlength=len(self.rhs)) - self.rhs

    def slope(self, r: Float[np.ndarray, " rows"]) -> Float[np.ndarray, " weights"]:
        """J^T r."""
        of_site = r[self.J.pattern.row_of_site]
        return np.concatenate([of_site[mine] @ block for mine, block in zip(self._mine, self.J.own, strict=True)])


def _taken(sites: Sites, mine: np.ndarray) -> Sites:
    x, cell, a0, a1, a2 = (np.asarray(part)[mine] for part in (sites.x, sites.cell, sites.a0, sites.a1, sites.a2))
    return Sites(x, cell, a0, a1, a2, order=2 if a2.any() else int(a1.any()))
