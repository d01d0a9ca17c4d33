"""Jacobians by cell: which parameters belong to one cell only, and hence where a Jacobian is zero.

A row touches the cells of its sites, one or two of them. The columns of parameters that another cell has to itself
(its label, its row of a one-hot matrix, its own network) are zero there. With hundreds of cells almost everything is:
the Jacobian is kept as two small matrices, and factorised cell by cell in an order that this module plans.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

# Elimination by cell has smaller matrices, on which LAPACK is slower; it must save so much to be worth it.
WORTH_IT = 0.6
# What handling one cell costs beside its arithmetic, in floating-point operations of a dense factorisation.
OVERHEAD = 1e6


class Pairs(NamedTuple):
    """Rows of a front and, for each of its cells, which of these rows touch it and by which (row, cell) pair."""

    rows: Int[np.ndarray, " rows"]
    touched: tuple[tuple[np.ndarray, np.ndarray], ...]  # per cell: places among `rows`, pairs


class Front(NamedTuple):
    """One cell's turn in the elimination.

    `alone` are rows that touch no other cell, `coupled` those that touch `neighbours` too: cells whose turn is still
    to come, the next one first. Rows that earlier fronts leave over to this one are not listed.
    """

    cell: int
    neighbours: tuple[int, ...]
    alone: Pairs
    coupled: Pairs


@dataclass(frozen=True, eq=False)
class Pattern:
    """The zero pattern of the Jacobian of a network on rows.

    `own[l]` is where in theta the parameters of cell l alone are; cells may have different numbers of them.
    """

    own: tuple[Int[np.ndarray, " own"], ...]
    size: int
    row_of_site: Int[np.ndarray, " sites"]
    cell_of_site: Int[np.ndarray, " sites"]
    rows: int

    @cached_property
    def shared(self) -> Int[np.ndarray, " shared"]:
        """Where in theta the parameters of all cells are."""
        return np.setdiff1d(np.arange(self.size), np.concatenate(self.own))

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
        row, cell, _, _ = self._pairs
        turns, neighbours = _elimination_order([len(own) for own in self.own], row, cell)
        place = np.empty(len(self.own), int)
        place[turns] = np.arange(len(turns))
        # A row belongs to the front of its cell that is eliminated first.
        front_of_row = np.full(self.rows, len(turns))
        np.minimum.at(front_of_row, row, place[cell])
        cells_of_row = np.bincount(row, minlength=self.rows)
        by_front = np.argsort(front_of_row[row], kind="stable")
        cuts = np.searchsorted(front_of_row[row][by_front], np.arange(len(turns) + 1))
        fronts = []
        for at, turn in enumerate(turns):
            mine = by_front[cuts[at] : cuts[at + 1]]
            single = cells_of_row[row[mine]] == 1
            later = tuple(sorted(neighbours[turn], key=lambda other: place[other]))
            alone = _gathered(mine[single], row, cell, (turn,))
            coupled = _gathered(mine[~single], row, cell, (turn, *later))
            fronts.append(Front(turn, later, alone, coupled))
        return tuple(fronts)

    @cached_property
    def pays(self) -> bool:
        """Whether elimination by cell is cheaper than a dense factorisation."""
        cells, shared = len(self.own), len(self.shared)
        if cells < 2 or shared == self.size:
            return False
        dense = 2.0 * self.rows * self.size * min(self.rows, self.size)
        left, root, work = np.zeros(cells, int), 0, OVERHEAD * cells
        for front in self.plan:
            alone, coupled = len(front.alone.rows), len(front.coupled.rows)
            own = len(self.own[front.cell])
            rest = sum(len(self.own[one]) for one in front.neighbours) + shared + 1
            if len(front.neighbours) == 0:
                alone += left[front.cell]
            else:
                coupled += left[front.cell]
                left[front.neighbours[0]] += min(coupled, rest)
                work += 2.0 * coupled * rest**2 if coupled > rest else 0.0  # to compress what is left over
            work += 2.0 * own * (alone * (own + 2 * shared) + coupled * (own + 2 * rest))
            root += alone
        work += 2.0 * root * shared * min(root, shared)
        return bool(work < WORTH_IT * dense)


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


def _elimination_order(widths: Sequence[int], row: np.ndarray, cell: np.ndarray) -> tuple[list[int], list[set[int]]]:
    """Greedy minimum degree: the cells in turn, and the neighbours each still has when its turn comes.

    First those with one neighbour, which couple nothing new, then always the one whose neighbours have the fewest
    columns.
    """
    cells = len(widths)
    around: list[set[int]] = [set() for _ in range(cells)]
    # Pairs of cells in the same row, the further apart in it the later; most rows have one or two cells.
    apart = 1
    while apart < len(row) and (same := row[apart:] == row[:-apart]).any():
        for one, other in set(zip(cell[:-apart][same].tolist(), cell[apart:][same].tolist(), strict=True)):
            around[one].add(other)
            around[other].add(one)
        apart += 1

    def key(one: int) -> tuple[bool, int, int]:
        return len(around[one]) > 1, sum(widths[other] for other in around[one]), one

    turns, at_turn = [], [set[int]() for _ in range(cells)]
    current = [key(one) for one in range(cells)]
    queue = list(current)
    heapify(queue)
    while queue:
        first = heappop(queue)
        turn = first[-1]
        if first != current[turn]:  # an entry from before a neighbour's turn
            continue
        current[turn] = (True, -1, turn)
        turns.append(turn)
        at_turn[turn] = around[turn]
        for one in around[turn]:
            around[one] = (around[one] | around[turn]) - {one, turn}
        for one in around[turn]:
            current[one] = key(one)
            heappush(queue, current[one])
    return turns, at_turn


def _summed(matrix: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The sum over consecutive sites of the same row."""
    starts = np.flatnonzero(np.r_[True, np.diff(rows) != 0]) if len(rows) else np.zeros(0, int)
    return matrix if len(starts) == len(rows) else np.add.reduceat(matrix, starts)


def _gathered(pairs: np.ndarray, row: np.ndarray, cell: np.ndarray, cells: tuple[int, ...]) -> Pairs:
    """The pairs of a front's rows, cell by cell."""
    rows, place = np.unique(row[pairs], return_inverse=True)
    of_cell = [np.flatnonzero(cell[pairs] == one) for one in cells]
    return Pairs(rows, tuple((place[found], pairs[found]) for found in of_cell))
