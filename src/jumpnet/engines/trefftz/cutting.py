"""Where pieces are cut into cells, and how many functions each cell gets: decided from held-out residuals.

A cell that is met badly gets a higher degree as long as that helps: on smooth ground it does, and fast. Where it does
not, at a corner, a cusp or a gap, the cell is cut; halves that are hardly met better than the whole are cut again at
once. So cells become small towards what is not smooth, and only there.
"""

from dataclasses import dataclass

import numpy as np

from jumpnet.engines.trefftz.features import own_parts
from jumpnet.engines.trefftz.levels import Level
from jumpnet.engines.trefftz.natures import natures_of
from jumpnet.engines.trefftz.plan import Part, Plan
from jumpnet.geometry.cells.cells import DEEPEST, Cells, Member
from jumpnet.problem import Problem

# The worst cells that together hold this part of the squared residual are looked at (Doerfler's marking): others may be
# met badly only because of these.
BULK = 0.8
# A higher degree helps if it leaves no more than this part of the residual; halving, if a half keeps no more than this.
WITH_MORE, WITH_HALF = 0.5, 0.1
# Degrees: the first, the step, the highest.
START, STEP, HIGHEST = 8, 2, 16
# The first cells: the box is halved so often.
FIRST_CUTS = 2


@dataclass(frozen=True)
class Cell:
    """The degree of a cell's functions, and what was tried last, from which residual."""

    degree: int = START
    tried: str = ""
    before: float = np.inf


class Cutter:
    """The cells of a problem, refined level by level."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self._natures = natures_of(problem)
        self._cells = Cells.whole(problem.partition)
        for _ in range(FIRST_CUTS):
            self._cells = self._cells.split(self._cells.tree.leaves)
        self._known: dict[Member, Cell] = {member: Cell() for member in self._cells.members}

    def plan(self) -> Plan:
        """The features of the cells as they are now."""
        parts: list[Part] = []
        for number, member in enumerate(self._cells.members):
            cell, piece = self._known[member], member.piece
            parts += own_parts(
                self.problem,
                self._natures[piece],
                piece,
                number,
                self._cells.box(number),
                cell.degree,
            )
        return Plan(tuple(parts), tuple(nature.exact for nature in self._natures), self._cells)

    def refine(self, level: Level) -> bool:
        """Change the cells that are met worst; False if nothing is left to change."""
        residual = level.residual_of_cells()
        depth = self._cells.tree.depth
        known, cut = dict(self._known), {}
        for number in _worst(residual).tolist():
            member = self._cells.members[number]
            cell = known[member]
            left = residual[number] / cell.before
            helped = left < (WITH_HALF if cell.tried == "half" else WITH_MORE)
            if (helped or cell.tried == "") and cell.degree < HIGHEST:
                known[member] = Cell(cell.degree + STEP, "more", float(residual[number]))
            elif depth[member.leaf] < DEEPEST:
                cut[member.leaf] = True
        changed = known != self._known
        of_member = dict(zip(self._cells.members, residual, strict=True))
        if cut:
            before = self._cells
            self._cells = before.split(np.array(sorted(cut)))
            parent = _parents(before, self._cells)
            for member in self._cells.members:
                if member not in known:
                    # Which of two cells in the leaf it comes from does not matter much.
                    whole = Member(parent[member.leaf], member.piece, 0)
                    old, was = known.get(whole, Cell()), of_member.get(whole, np.inf)
                    known[member] = Cell(max(START, old.degree - STEP), "half", was)
        self._known = known
        return changed or bool(cut)


def _worst(residual: np.ndarray) -> np.ndarray:
    """The fewest cells that hold the bulk of the squared residual."""
    order = np.argsort(-residual)
    held = np.cumsum(residual[order] ** 2)
    return order[: int(np.searchsorted(held, BULK * held[-1])) + 1]


def _parents(before: Cells, after: Cells) -> dict[int, int]:
    """For each leaf the leaf of the former tree that it lies in."""
    leaves = after.tree.leaves
    middle = np.mean(after.tree.corners(leaves), axis=0)
    return dict(zip(leaves.tolist(), before.tree.find(middle).tolist(), strict=True))
