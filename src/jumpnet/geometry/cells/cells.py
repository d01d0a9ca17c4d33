"""Pieces cut into cells by a tree of boxes, and points in them, on their walls and on the cuts between them.

A cell is what a leaf of the tree holds of a piece. Walls are followed as curves, so that cells of any size, at a corner
or in a cusp, get points of theirs; a sample of the whole wall would miss them. Plane partitions whose walls are
given as curves only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from jumpnet.geometry.cells.crossings import Crossings, between_walls, crossings, wall_runs
from jumpnet.geometry.cells.cuts import Cuts, spread
from jumpnet.geometry.cells.leaves import COATING, Leaf, beside, looked_at, paths_of
from jumpnet.geometry.cells.slivers import across
from jumpnet.geometry.cells.stretches import all_walls
from jumpnet.geometry.cells.tree import BoxTree, CellMap, Lines
from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.partition import Partition
from jumpnet.geometry.partition.tracing import Pair
from jumpnet.geometry.quadrature.lines import Path
from jumpnet.geometry.randomness import EvenlySpread

BEYOND = (0.0173, 0.0291)
"""How far the tree's box reaches beyond the domain, in parts of its size, below and above: odd numbers, so that cuts
do not run along the walls and through the corners of drawings made with round ones."""
STEP = 1e-4
"""How far beside a wall its pieces are looked up, in parts of the leaf: cells are never told apart by less."""
SHORT = 1e-3
"""Walls in a leaf whose length is below this part of its size are neglected."""
TIP = 0.01
"""Within this part of a wall in a leaf, its sides need not be told apart: the tip of a needle."""
ROUNDS = 8
"""Of drawing points in a cell: half of them in its box, the rest on lines across it."""
DEEPEST = 26
"""Leaves of this depth are not cut; their size is 2e-8 of the domain's."""


class Runs(NamedTuple):
    """Points of walls or cuts as quadrature rules: the run each point belongs to (-1: none) and its length element."""

    run: np.ndarray
    length: Floats


class CellPoints(NamedTuple):
    """Points of all cells: inside, on the outer boundary, on the interfaces (normals from b to a), on the cuts.

    Well-spread points are Gauss points of a kind: `interface_runs` and `cut_runs` integrate over the stretch of a wall
    or cut between two cells.
    """

    interior: Floats
    piece: np.ndarray
    boundary: Floats
    boundary_normal: Floats
    boundary_piece: np.ndarray
    boundary_part: np.ndarray
    interfaces: Mapping[Pair, tuple[Floats, Floats]]
    cuts: Cuts
    interface_runs: Mapping[Pair, Runs]
    cut_runs: Runs


class Member(NamedTuple):
    """A cell: what a leaf holds of a piece, or what of that is on one side of a line (0: below, 1: beyond)."""

    leaf: int
    piece: int
    side: int


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells that a tree cuts a partition into."""

    partition: Partition
    paths: tuple[Path, ...]
    tree: BoxTree
    known: Mapping[int, Leaf]

    @staticmethod
    def possible(partition: Partition) -> bool:
        """Whether cells can be made of a partition."""
        return partition.dim == 2 and paths_of(partition) is not None

    @staticmethod
    def whole(partition: Partition) -> Cells:
        """The pieces, uncut: one leaf."""
        lower, upper = (np.asarray(end, float) for end in partition.bounds)
        size = upper - lower
        tree = BoxTree.whole(lower - BEYOND[0] * size, upper + BEYOND[1] * size)
        paths = paths_of(partition)
        assert paths is not None, "walls that are not curves; ask Cells.possible first"
        root = looked_at(partition, paths, (tree.lower, tree.upper), all_walls(paths))
        return Cells(partition, paths, tree, {0: root})

    def split(self, leaves: np.ndarray) -> Cells:
        """With these leaves cut."""
        depth = self.tree.depth
        tree = self.tree.split([leaf for leaf in leaves if depth[leaf] < DEEPEST])
        known = dict(self.known)
        for box in np.flatnonzero(tree.child >= 0).tolist():
            for number in range(tree.child[box], tree.child[box] + 2**tree.dim):
                if number not in known:
                    lower, upper = (end[0] for end in tree.corners(np.array([number])))
                    known[number] = looked_at(self.partition, self.paths, (lower, upper), known[box].near)
        return Cells(self.partition, self.paths, tree, known)

    # --- cells ----------------------------------------------------------------------------------------------

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """The leaf, the piece and the side of each cell."""
        found = []
        for leaf in self.tree.leaves.tolist():
            known = self.known[leaf]
            for piece in sorted(known.pool):
                found += [Member(leaf, piece, side) for side in range(2 if piece in known.lines else 1)]
        return tuple(found)

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.members)

    @cached_property
    def map(self) -> CellMap:
        """From points to cells; where a piece hardly reaches into a leaf, its nearest cell stands in."""
        leaves = self.tree.leaves
        place = {int(leaf): at for at, leaf in enumerate(leaves)}
        table = np.full((len(leaves), self.partition.size), -1)
        lines = Lines.none(len(self.members), self.tree.dim)
        for cell, (leaf, piece, side) in enumerate(self.members):
            if side:
                lines.beyond[cell - 1] = cell
                lines.normal[cell - 1], lines.offset[cell - 1] = self.known[leaf].lines[piece]
            else:
                table[place[leaf], piece] = cell
        middle = np.mean(self.tree.corners(leaves), axis=0)
        for piece in range(self.partition.size):
            there = np.flatnonzero(table[:, piece] >= 0)
            for at in np.flatnonzero(table[:, piece] < 0):
                nearest = there[np.argmin(((middle[there] - middle[at]) ** 2).sum(axis=1))]
                table[at, piece] = table[nearest, piece]
        return CellMap(self.tree, table, lines)

    def box(self, cell: int) -> Bounds:
        """A tight box of a cell."""
        leaf, piece, side = self.members[cell]
        points = self.known[leaf].points(piece, side)
        lower, upper = (np.array(end[0]) for end in self.tree.corners(np.array([leaf])))
        if self.known[leaf].undivided:
            return lower, upper
        margin = 0.03 * (upper - lower)
        return np.maximum(points.min(axis=0) - margin, lower), np.minimum(points.max(axis=0) + margin, upper)

    # --- points ---------------------------------------------------------------------------------------------

    def draw(self, inside: np.ndarray, along: np.ndarray, rng: np.random.Generator, even: bool) -> CellPoints:
        """Points: `inside[c]` in cell c, `along[c]` on each of its walls and cuts; random ones, or well spread."""
        interior, piece = self._inside(inside, rng)
        x, normal, ahead, behind, wall, run, length = self._on_walls(along, rng, even)
        owner = np.array([one.owner for one in self.partition._walls.walls])[wall]
        outer = (owner == 0) & (np.minimum(ahead, behind) < 0) & (np.maximum(ahead, behind) >= 0)
        outward = np.where(behind >= 0, 1.0, -1.0)[:, None] * normal
        low, high = np.minimum(ahead, behind), np.maximum(ahead, behind)
        between = (low >= 0) & (low != high) & (owner == np.where(low == 0, high, low))
        interfaces, runs = {}, {}
        # A run that is not all between the same pieces is no rule for either pair.
        whole = np.bincount(run, minlength=run.max(initial=-1) + 1)
        touching = self.partition._walls.interfaces
        for a, b in np.unique(np.stack([low, high], axis=1)[between], axis=0):
            if (a, b) not in touching:  # two walls that meet in a point, and nowhere else
                continue
            mine = between & (low == a) & (high == b)
            sign = np.where(ahead[mine] == a, 1.0, -1.0)[:, None]
            interfaces[int(a), int(b)] = (x[mine], sign * normal[mine])
            complete = np.bincount(run[mine], minlength=len(whole)) == whole
            runs[int(a), int(b)] = Runs(np.where(complete[run[mine]], run[mine], -1), length[mine])
        part = self.partition.part_numbers(x[outer], outward[outer], high[outer])
        edge = x[outer], outward[outer], high[outer], part
        cuts, cut_runs = self._on_cuts(along, rng, even)
        return CellPoints(interior, piece, *edge, interfaces, cuts, runs, cut_runs)

    def _inside(self, counts: np.ndarray, rng: np.random.Generator) -> tuple[Floats, np.ndarray]:
        """Points in the cells; those that are hard to hit are looked for on lines across them."""
        found, pieces = [np.empty((0, 2))], [np.empty(0, int)]
        for cell in np.flatnonzero(counts).tolist():
            leaf, piece, side = self.members[cell]
            known, (lower, upper) = self.known[leaf], self.box(cell)
            x, rounds = np.empty((0, 2)), 0
            even = EvenlySpread(rng)
            while len(x) < counts[cell] and rounds < ROUNDS:
                draws = even.random((int(1.5 * counts[cell]) + 16, 2))
                if rounds < ROUNDS // 2:
                    fresh = lower + draws * (upper - lower)
                else:
                    fresh = across(self.partition, self.paths, known.near, (lower, upper), piece, draws)
                if not known.undivided:
                    fresh = fresh[self.partition.label(fresh) == piece]
                    fresh = fresh[self.map(fresh, np.full(len(fresh), piece)) == cell]
                x, rounds = np.concatenate([x, fresh]), rounds + 1
            if len(x) < counts[cell]:  # what was seen of it when it was looked at
                x = np.concatenate([x, known.points(piece, side)])
            found.append(x[: counts[cell]])
            pieces.append(np.full(len(found[-1]), piece))
        return np.concatenate(found), np.concatenate(pieces)

    @cached_property
    def _crossings(self) -> Crossings:
        return crossings(self.paths, self.tree, self.known)

    def _on_walls(self, counts: np.ndarray, rng: np.random.Generator, even: bool) -> tuple[np.ndarray, ...]:
        """Points on the walls of the cells: normals, the pieces along them and against, wall, run, length element."""
        of_wall: dict[int, list[tuple[Floats, ...]]] = defaultdict(list)
        of_leaf: dict[int, int] = {}
        for cell, (leaf, _, _) in enumerate(self.members):
            of_leaf[leaf] = max(of_leaf.get(leaf, 0), int(counts[cell]))
        # A wall also runs through leaves in which hardly anything of the domain is seen.
        fewest = int(counts.min())
        for run, (leaf, wall, first, last) in enumerate(wall_runs(self.paths, self.tree, self._crossings)):
            count = of_leaf.get(leaf, fewest)
            at, weight = spread(count, rng, even)
            columns = first + (last - first) * at, (last - first) * weight, np.full(count, run)
            of_wall[wall].append((*columns, np.full(count, self._size(leaf))))
        found = []
        for wall, columns in of_wall.items():
            parameter, weight, run, size = (np.concatenate(column) for column in zip(*columns, strict=True))
            run = run.astype(int)
            x, normal, speed = self.paths[wall].at(parameter)
            length = speed * weight
            # A corner of a leaf that a wall just touches.
            long = np.bincount(run, length)[run] > SHORT * size
            sound = np.isfinite(normal).all(axis=1) & long
            x, normal, size, run, length = x[sound], normal[sound], size[sound], run[sound], length[sound]
            step = np.minimum(STEP * size, COATING * self.partition.domain.size)
            ahead, behind = beside(self.partition, x, normal, step[:, None])
            _completed(ahead, behind, run, length)
            found.append((x, normal, ahead, behind, np.full(len(x), wall), run, length))
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))

    def _on_cuts(self, counts: np.ndarray, rng: np.random.Generator, even: bool) -> tuple[Cuts, Runs]:
        """Points on the cuts, piece by piece."""
        faces, table, place = self.tree.faces, self.map.table, self.map.place
        found = []
        for one, a, b, piece in between_walls(self.partition, self.tree, self.known, self._crossings):
            middle = faces.start[one] + (a + b) / 2 * (faces.end[one] - faces.start[one])
            either = np.array([table[place[leaf], piece] for leaf in (faces.low[one], faces.high[one])])
            low, high = self.map.beside_line(either, middle)
            if low == high:
                continue
            count = int(max(counts[low], counts[high]))
            where, weight = spread(count, rng, even)
            along = faces.end[one] - faces.start[one]
            x = faces.start[one] + (a + (b - a) * where)[:, None] * along
            columns = (np.full(count, value) for value in (piece, low, high))
            normal = np.tile(np.eye(2)[faces.axis[one]], (count, 1))
            run = np.full(count, len(found))
            found.append((x, *columns, normal, run, weight * (b - a) * float(along.max())))
        if not found:
            none = np.empty(0, int)
            return Cuts(np.empty((0, 2)), none, none, none, np.empty((0, 2))), Runs(none, np.empty(0))
        *cuts, run, length = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return Cuts(*cuts), Runs(run, length)

    def _size(self, leaf: int) -> float:
        return float(np.max((self.tree.upper - self.tree.lower) * 2.0 ** -self.tree.depth[leaf]))


def _completed(ahead: np.ndarray, behind: np.ndarray, run: np.ndarray, length: Floats) -> None:
    """Give the pieces of a run to those of its points whose sides cannot be told apart, at the tip of a needle.

    Where they are more than its tip, the wall goes on inside a piece.
    """
    alike = ahead == behind
    for one in np.unique(run[alike]):
        mine = np.flatnonzero(run == one)
        told, tip = mine[~alike[mine]], mine[alike[mine]]
        sides = np.unique(np.stack([ahead[told], behind[told]]), axis=1)
        if sides.shape[1] == 1 and length[tip].sum() < TIP * length[mine].sum():
            ahead[mine], behind[mine] = sides
