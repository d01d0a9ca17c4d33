"""Jacobians by cell: which parameters belong to one cell only, and hence where a Jacobian is zero.

A row touches the cells of its sites, one or two of them. The columns of parameters that another cell has to itself
(its label, its row of a one-hot matrix, its own network) are zero there. With hundreds of cells almost everything is:
the Jacobian is kept as two small matrices, and factorised cell by cell in an order that this module plans.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from jumpnet.linalg.ordering import Turn, dissected, minimum_degree

# Elimination by cell is used if its operations are below this part of those of the dense factorisation, as LAPACK is
# slower on small matrices (heuristic).
WORTH_IT = 0.6
# The overhead of one cell, in floating-point operations of a dense factorisation (heuristic).
OVERHEAD = 1e6
# With at least this many cells, nested dissection is tried besides minimum degree.
MANY = 100


class Group(NamedTuple):
    """Rows that touch the same cells: these in the order of their turns, and for each the (row, cell) pairs."""

    cells: tuple[int, ...]
    rows: Int[np.ndarray, " rows"]
    pairs: Int[np.ndarray, "cells rows"]


class Front(NamedTuple):
    """One turn in the elimination: cells that are eliminated together.

    `neighbours` are cells whose turn is still to come, the next one first; `groups` the rows that touch none of those
    eliminated before. Rows that earlier fronts leave over to this one are not listed.
    """

    cells: tuple[int, ...]
    neighbours: tuple[int, ...]
    groups: tuple[Group, ...]


@dataclass(frozen=True, eq=False)
class Pattern:
    """The zero pattern of the Jacobian of a network on rows.

    `own[l]` is where in theta the parameters of cell l alone are; cells may have different numbers of them. With `x`,
    the places of the sites, the order of elimination may follow the places of the cells.
    """

    own: tuple[Int[np.ndarray, " own"], ...]
    size: int
    row_of_site: Int[np.ndarray, " sites"]
    cell_of_site: Int[np.ndarray, " sites"]
    rows: int
    x: Float[np.ndarray, "sites dim"] | None = None

    @cached_property
    def shared(self) -> Int[np.ndarray, " shared"]:
        """Where in theta the parameters of all cells are."""
        shared = np.ones(self.size, bool)
        shared[np.concatenate(self.own)] = False
        return np.flatnonzero(shared)

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Row and cell of every touching pair, the sites sorted by pair, and where each pair's sites start."""
        order = np.lexsort((self.cell_of_site, self.row_of_site))
        row, cell = self.row_of_site[order], self.cell_of_site[order]
        starts = np.flatnonzero(np.r_[True, (np.diff(row) != 0) | (np.diff(cell) != 0)])
        return row[starts], cell[starts], order, starts

    def blocks(self, own: "np.ndarray | tuple[np.ndarray, ...]") -> tuple[list[np.ndarray], Int[np.ndarray, " pairs"]]:
        """Derivatives by a cell's own parameters: a matrix for each cell, and the row of each pair in its cell's.

        `own` is (sites, own) padded to the widest cell, or for each cell the matrix of its sites, in their order. Sites
        of a row in the same cell are summed.
        """
        _, cell, order, starts = self._pairs
        by_cell = np.argsort(cell, kind="stable")
        ends = np.searchsorted(cell[by_cell], np.arange(len(self.own) + 1))
        place = np.empty(len(cell), int)
        place[by_cell] = np.arange(len(cell)) - ends[cell[by_cell]]
        single = len(starts) == len(order)
        if isinstance(own, tuple):
            if single:
                return list(own), place
            of_cell = (self.row_of_site[self.cell_of_site == l] for l in range(len(own)))
            return [_summed(matrix, rows) for matrix, rows in zip(own, of_cell, strict=True)], place
        of_pair = own[order] if single else np.add.reduceat(own[order], starts)
        of_pair = of_pair[by_cell]
        return [of_pair[a:b, : len(mine)] for (a, b), mine in zip(pairwise(ends), self.own, strict=True)], place

    @cached_property
    def plan(self) -> tuple[Front, ...]:
        """The fronts, in the order of elimination."""
        return self._planned[0]

    @property
    def operations(self) -> float:
        """The floating-point operations of the elimination by that plan."""
        return self._planned[1]

    @property
    def pays(self) -> bool:
        """Whether elimination by cell is cheaper than a dense factorisation."""
        if len(self.own) < 2 or len(self.shared) == self.size:
            return False
        dense = 2.0 * self.rows * self.size * min(self.rows, self.size)
        return bool(OVERHEAD * len(self.own) + self._planned[1] < WORTH_IT * dense)

    @cached_property
    def _planned(self) -> tuple[tuple[Front, ...], float]:
        """The cheapest plan, and its floating-point operations."""
        row, cell, _, _ = self._pairs
        groups = list(_groups(row, cell))
        widths, touched = [len(own) for own in self.own], [group.cells for group in groups]
        orders = [minimum_degree(widths, touched)]
        if self.x is not None and len(widths) > MANY:
            sites = np.bincount(self.cell_of_site, minlength=len(widths)).clip(1)
            where = np.stack([np.bincount(self.cell_of_site, x, len(widths)) / sites for x in self.x.T], axis=1)
            orders.append(minimum_degree(widths, touched, dissected(widths, touched, where)))
        plans = [_fronts(turns, groups) for turns in orders]
        work = [_operations(plan, widths, len(self.shared)) for plan in plans]
        best = int(np.argmin(work))
        return plans[best], work[best]


def _fronts(turns: Sequence[Turn], groups: Sequence[Group]) -> tuple[Front, ...]:
    """Which rows take part in which turn."""
    place = {one: at for at, one in enumerate(one for cells, _ in turns for one in cells)}
    front_of = {one: at for at, (cells, _) in enumerate(turns) for one in cells}
    of_front: list[list[Group]] = [[] for _ in turns]
    for cells, rows, pairs in groups:
        order = sorted(range(len(cells)), key=lambda at: place[cells[at]])
        ordered = Group(tuple(cells[at] for at in order), rows, pairs[order])
        of_front[front_of[ordered.cells[0]]].append(ordered)
    return tuple(
        Front(cells, tuple(sorted(around, key=place.__getitem__)), tuple(mine))
        for (cells, around), mine in zip(turns, of_front, strict=True)
    )


def _operations(plan: Sequence[Front], widths: Sequence[int], shared: int) -> float:
    """Floating-point operations of an elimination."""
    left, root, work = np.zeros(len(widths), int), 0, 0.0
    for front in plan:
        own, beside = (sum(widths[one] for one in some) for some in (front.cells, front.neighbours))
        rest, alone, coupled = beside + shared + 1, 0, 0
        for group in front.groups:
            later = sum(widths[one] for one in group.cells if one not in front.cells)
            kept = min(len(group.rows), later)
            alone, coupled = alone + len(group.rows) - kept, coupled + kept
        inherited = sum(left[one] for one in front.cells)
        if front.neighbours:
            coupled += inherited
            left[front.neighbours[0]] += min(coupled, beside)
            root += max(coupled - beside, 0)
            work += 2.0 * coupled * beside * rest if coupled > beside else 0.0  # to turn what is left over
        else:
            alone += inherited
        work += 2.0 * own * (alone * (own + 2 * shared) + coupled * (own + 2 * rest))
        root += alone
    return work + 2.0 * root * shared * min(root, shared)


def trained_labels(size: int, labels: int, cells: int) -> Int[np.ndarray, "cells labels"]:
    """Where in theta the label of each cell is, E being its last part, stored label by label."""
    return size - labels * cells + np.arange(labels * cells).reshape(labels, cells).T


class ByCell(NamedTuple):
    """A Jacobian by cell: derivatives of every row by the shared parameters, of every site by its cell's own.

    The latter as one matrix, padded to the widest cell, or as a matrix for each cell.
    """

    shared: Float[np.ndarray, "rows shared"]
    own: Float[np.ndarray, "sites own"] | tuple[np.ndarray, ...]
    pattern: Pattern

    def dense(self) -> Float[np.ndarray, "rows parameters"]:
        """The same as one matrix, in Fortran order, for factorisations that know nothing of cells."""
        pattern = self.pattern
        (blocks, place), (row, cell, _, _) = pattern.blocks(self.own), pattern._pairs
        matrix = np.zeros((pattern.rows, pattern.size), order="F")
        matrix[:, pattern.shared] = self.shared
        for one, (own, block) in enumerate(zip(pattern.own, blocks, strict=True)):
            mine = cell == one
            matrix[np.ix_(row[mine], own)] = block[place[mine]]
        return matrix


def _groups(row: np.ndarray, cell: np.ndarray) -> Iterator[Group]:
    """The rows by the cells that they touch, from pairs sorted by row and cell."""
    starts = np.flatnonzero(np.r_[True, np.diff(row) != 0]) if len(row) else np.zeros(0, int)
    counts = np.diff(np.r_[starts, len(row)])
    for count in np.flatnonzero(np.bincount(counts)):
        pairs = starts[counts == count, None] + np.arange(count)
        cells = cell[pairs]
        order = np.lexsort(cells.T[::-1])
        changes = np.flatnonzero(np.any(np.diff(cells[order], axis=0) != 0, axis=1)) + 1
        for a, b in pairwise((0, *changes.tolist(), len(order))):
            mine = pairs[order[a:b]]
            yield Group(tuple(cells[order[a]].tolist()), row[mine[:, 0]], mine.T)


def _summed(matrix: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The sum over consecutive sites of the same row."""
    starts = np.flatnonzero(np.r_[True, np.diff(rows) != 0]) if len(rows) else np.zeros(0, int)
    return matrix if len(starts) == len(rows) else np.add.reduceat(matrix, starts)
