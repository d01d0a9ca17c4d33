"""The elimination order of the cells of a Jacobian: minimum degree or nested dissection.

Eliminating a cell couples all of its neighbours that are still there. Minimum degree always takes the cell that couples
the fewest columns, which is best for chains, for inclusions in a background, for a few dozen cells of any kind. With
hundreds of cells that fill a plane, its fronts become large; nested dissection is better there: the cells on a line
across the domain are eliminated last, those on lines across the two halves before them, and so on.
"""

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import combinations

import numpy as np
from jaxtyping import Float, Int

# Positions of the line that are tried, as parts of the cells on one side of it.
SHARES = (0.4, 0.45, 0.5, 0.55, 0.6)
# Sets with fewer cells are not dissected further.
FEW = 24

Turn = tuple[tuple[int, ...], set[int]]


def minimum_degree(
    widths: Sequence[int], touched: Iterable[tuple[int, ...]], stages: Sequence[int] | None = None
) -> list[Turn]:
    """The cells in turn, and the neighbours they still have when their turn comes.

    First those with one neighbour, which couple nothing new, then always the one whose neighbours have the fewest
    columns. Neighbours that have the same neighbours are eliminated with it, which couples nothing more. Where `stages`
    are given, cells of a lower one go first.
    """
    cells = len(widths)
    stage = stages or [0] * cells
    around: list[set[int]] = [set() for _ in range(cells)]
    for group in touched:
        for one in group:
            around[one].update(group)
    for one in range(cells):
        around[one].discard(one)

    def key(one: int) -> tuple[int, bool, int, int]:
        return stage[one], len(around[one]) > 1, sum(widths[other] for other in around[one]), one

    turns = []
    current = [key(one) for one in range(cells)]
    queue = list(current)
    heapify(queue)
    while queue:
        first = heappop(queue)
        turn = first[-1]
        if first != current[turn]:  # an entry from before a neighbour's turn
            continue
        all_of_them = around[turn] | {turn}
        together = (turn, *sorted(one for one in around[turn] if around[one] | {one} == all_of_them))
        later = all_of_them.difference(together)
        for one in together:
            current[one] = (-1, True, -1, one)
        turns.append((together, later))
        for one in later:
            around[one] = (around[one] | later).difference(together, (one,))
        for one in later:
            current[one] = key(one)
            heappush(queue, current[one])
    return turns


def dissected(
    widths: Sequence[int], touched: Iterable[tuple[int, ...]], where: Float[np.ndarray, "cells dim"]
) -> list[int]:
    """The stage of each cell: the higher, the longer the line on which it lies; zero for cells on no line.

    A line splits a set of cells by one coordinate of where they are. Of two neighbours on different sides the one with
    fewer columns is put on the line, and of several lines the one with the fewest columns is taken.
    """
    width = np.asarray(widths)
    pairs = {pair for group in touched for pair in combinations(group, 2)}
    edges = np.array(sorted(pairs), int).reshape(-1, 2)
    depth = np.zeros(len(width), int)

    def split(members: Int[np.ndarray, " members"], edges: Int[np.ndarray, "edges 2"], level: int) -> None:
        if len(members) < FEW:
            return
        lines = [
            _line(where[:, axis] < np.quantile(where[members, axis], share), edges, width)
            for axis in range(where.shape[1])
            for share in SHARES
        ]
        columns, below, on_line = min(lines, key=lambda line: line[0])
        if not columns:
            return
        depth[on_line] = level
        for side in (below, ~below):
            kept = side.copy()
            kept[on_line] = False
            mine = members[kept[members]]
            if len(mine) < len(members):
                split(mine, edges[kept[edges].all(axis=1)], level + 1)

    split(np.arange(len(width)), edges, 1)
    return np.where(depth > 0, depth.max(initial=0) + 1 - depth, 0).tolist()


def _line(
    below: np.ndarray, edges: Int[np.ndarray, "edges 2"], width: Int[np.ndarray, " cells"]
) -> tuple[int, np.ndarray, np.ndarray]:
    """The columns on a line, which cells are below it, and the cells on it."""
    crossing = edges[below[edges[:, 0]] != below[edges[:, 1]]]
    narrow = np.take_along_axis(crossing, np.argmin(width[crossing], axis=1, keepdims=True), axis=1)
    on_line = np.unique(narrow)
    return int(width[on_line].sum()), below, on_line
