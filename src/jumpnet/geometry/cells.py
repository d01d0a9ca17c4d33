"""Pieces cut into cells by a tree of boxes, and points in them, on their walls and on the cuts between them.

A cell is what a leaf of the tree holds of a piece. Walls are followed as curves, so that cells of any size, at a corner
or in a cusp, get points of theirs; a sample of the whole wall would miss them. Plane partitions whose walls are
given as curves only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.lines import Path, path_of
from jumpnet.geometry.partition import Partition
from jumpnet.geometry.patches import Flipped, Trimmed
from jumpnet.geometry.randomness import EvenlySpread
from jumpnet.geometry.regions import bisected, unit_gauss
from jumpnet.geometry.tracing import Pair
from jumpnet.geometry.tree import BoxTree, CellMap, Lines

BEYOND = (0.0173, 0.0291)
"""How far the tree's box reaches beyond the domain, in parts of its size, below and above: odd numbers, so that cuts
do not run along the walls and through the corners of drawings made with round ones."""
RESOLVED = 1 / 16
"""A wall is known to this part of a leaf's size."""
POOL = 512
"""Points at which a leaf that walls run through is looked at."""
FEWEST = 4
"""Of those, as many as a piece must have to count as a cell."""
ACROSS = 24
"""Points of a piece between which lines are drawn to see whether walls keep them apart."""
MANY = 120
"""Stretches of wall in a leaf beyond which it is too early to look for parts."""
SCAN = 64
"""Places of a cut at which its piece is looked up."""
STEP = 1e-4
"""How far beside a wall its pieces are looked up, in parts of the leaf: cells are never told apart by less."""
DEEPEST = 18
"""Leaves of this depth are not cut; their size is 4e-6 of the domain's."""


class Stretch(NamedTuple):
    """Parts of walls in one leaf: wall, first and last parameter, and the places of both ends."""

    wall: np.ndarray
    first: Floats
    last: Floats
    start: Floats
    end: Floats

    def taken(self, which: np.ndarray) -> Stretch:
        """Some of them."""
        return Stretch(*(part[which] for part in self))


class Cuts(NamedTuple):
    """Points between two cells of a piece: the piece, the cells below and above the cut, and its axis."""

    x: Floats
    piece: np.ndarray
    low: np.ndarray
    high: np.ndarray
    axis: np.ndarray


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
class Leaf:
    """What is known of a leaf: the walls in it (and those near it, for its children), and points of each piece.

    `lines` has a line (normal, offset) for each piece of which the leaf holds two parts that do not touch, as on both
    sides of a needle.
    """

    walls: Stretch
    near: Stretch
    pool: Mapping[int, Floats]
    lines: Mapping[int, tuple[Floats, float]]

    @property
    def undivided(self) -> bool:
        """Whether the whole leaf is of one piece."""
        return len(self.pool) == 1 and not len(self.walls.wall)

    def points(self, piece: int, side: int) -> Floats:
        """Points of a cell."""
        x = self.pool[piece]
        if piece not in self.lines:
            return x
        normal, offset = self.lines[piece]
        return x[(x @ normal > offset) == bool(side)]


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
        return partition.dim == 2 and _paths(partition) is not None

    @staticmethod
    def whole(partition: Partition) -> Cells:
        """The pieces, uncut: one leaf."""
        lower, upper = (np.asarray(end, float) for end in partition.bounds)
        size = upper - lower
        tree = BoxTree.whole(lower - BEYOND[0] * size, upper + BEYOND[1] * size)
        paths, every = _paths(partition), []
        assert paths is not None, "walls that are not curves; ask Cells.possible first"
        for k, path in enumerate(paths):
            ends = np.unique(np.concatenate([path.nodes, np.linspace(path.nodes[0], path.nodes[-1], 257)]))
            every.append(Stretch(np.full(len(ends) - 1, k), ends[:-1], ends[1:], *_ends(path, ends[:-1], ends[1:])))
        walls = Stretch(*(np.concatenate(parts) for parts in zip(*every, strict=True)))
        return Cells(partition, paths, tree, {0: _looked_at(partition, paths, tree, 0, walls)})

    def split(self, leaves: np.ndarray) -> Cells:
        """With these leaves cut."""
        depth = self.tree.depth
        tree = self.tree.split([leaf for leaf in leaves if depth[leaf] < DEEPEST])
        known = dict(self.known)
        for box in np.flatnonzero(tree.child >= 0).tolist():
            for number in range(tree.child[box], tree.child[box] + 2**tree.dim):
                if number not in known:
                    known[number] = _looked_at(self.partition, self.paths, tree, number, known[box].near)
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
        part = wall if len(self.partition.boundary_parts) > 1 else np.zeros_like(wall)
        low, high = np.minimum(ahead, behind), np.maximum(ahead, behind)
        between = (low >= 0) & (low != high) & (owner == np.where(low == 0, high, low))
        interfaces, runs = {}, {}
        # A run that is not all between the same pieces is no rule for either pair.
        whole = np.bincount(run, minlength=run.max(initial=-1) + 1)
        for a, b in np.unique(np.stack([low, high], axis=1)[between], axis=0):
            mine = between & (low == a) & (high == b)
            sign = np.where(ahead[mine] == a, 1.0, -1.0)[:, None]
            interfaces[int(a), int(b)] = (x[mine], sign * normal[mine])
            complete = np.bincount(run[mine], minlength=len(whole)) == whole
            runs[int(a), int(b)] = Runs(np.where(complete[run[mine]], run[mine], -1), length[mine])
        edge = x[outer], outward[outer], high[outer], part[outer]
        cuts, cut_runs = self._on_cuts(along, rng, even)
        return CellPoints(interior, piece, *edge, interfaces, cuts, runs, cut_runs)

    def _inside(self, counts: np.ndarray, rng: np.random.Generator) -> tuple[Floats, np.ndarray]:
        """Points in the cells; a cell that is hard to hit gets fewer."""
        found, pieces = [np.empty((0, 2))], [np.empty(0, int)]
        for cell in np.flatnonzero(counts).tolist():
            leaf, piece, side = self.members[cell]
            lower, upper = self.box(cell)
            x, rounds = np.empty((0, 2)), 0
            even = EvenlySpread(rng)
            while len(x) < counts[cell] and rounds < 8:
                fresh = lower + even.random((int(1.5 * counts[cell]) + 16, 2)) * (upper - lower)
                if not self.known[leaf].undivided:
                    fresh = fresh[self.partition.label(fresh) == piece]
                    fresh = fresh[self.map(fresh, np.full(len(fresh), piece)) == cell]
                x, rounds = np.concatenate([x, fresh]), rounds + 1
            if len(x) < counts[cell]:  # a sliver: what was seen of it when it was looked at
                x = np.concatenate([x, self.known[leaf].points(piece, side)])
            found.append(x[: counts[cell]])
            pieces.append(np.full(len(found[-1]), piece))
        return np.concatenate(found), np.concatenate(pieces)

    def _on_walls(self, counts: np.ndarray, rng: np.random.Generator, even: bool) -> tuple[np.ndarray, ...]:
        """Points on the walls of the cells: normals, the pieces along them and against, wall, run, length element."""
        of_wall: dict[int, list[tuple[Floats, ...]]] = defaultdict(list)
        runs = 0
        of_leaf: dict[int, int] = {}
        for cell, (leaf, _, _) in enumerate(self.members):
            of_leaf[leaf] = max(of_leaf.get(leaf, 0), int(counts[cell]))
        for leaf, count in of_leaf.items():
            walls = self.known[leaf].walls
            if not len(walls.wall):
                continue
            size = self._size(leaf)
            for run in _runs(walls):
                if np.linalg.norm(walls.end[run] - walls.start[run], axis=1).sum() < 1e-3 * size:
                    continue
                start, width = walls.first[run[0]], walls.last[run[-1]] - walls.first[run[0]]
                at, weight = _spread(count, rng, even)
                columns = start + width * at, width * weight, np.full(count, runs), np.full(count, STEP * size)
                of_wall[int(walls.wall[run[0]])].append(columns)
                runs += 1
        found = []
        for wall, columns in of_wall.items():
            parameter, weight, run, step = (np.concatenate(column) for column in zip(*columns, strict=True))
            x, normal, speed = self.paths[wall].at(parameter)
            sound = np.isfinite(normal).all(axis=1)
            x, normal, step, run = x[sound], normal[sound], step[sound, None], run[sound].astype(int)
            ahead, behind = self.partition.label(np.concatenate([x + step * normal, x - step * normal])).reshape(2, -1)
            found.append((x, normal, ahead, behind, np.full(len(x), wall), run, (speed * weight)[sound]))
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))

    def _on_cuts(self, counts: np.ndarray, rng: np.random.Generator, even: bool) -> tuple[Cuts, Runs]:
        """Points on the cuts, piece by piece."""
        faces, table, place = self.tree.faces, self.map.table, self.map.place
        walled = np.array([len(self.known[leaf].walls.wall) > 0 for leaf in faces.low])
        walled |= np.array([len(self.known[leaf].walls.wall) > 0 for leaf in faces.high])
        labels = np.empty((len(walled), SCAN), int)
        scan = (np.arange(SCAN) + 0.5) / SCAN
        on_face = faces.start[:, None] + scan[:, None] * (faces.end - faces.start)[:, None]
        labels[walled] = self.partition.label(on_face[walled].reshape(-1, 2)).reshape(-1, SCAN)
        labels[~walled] = self.partition.label(on_face[~walled, SCAN // 2])[:, None]
        face, place_of_break = np.nonzero(np.diff(labels, axis=1))
        start, span = faces.start[face], (faces.end - faces.start)[face]
        after = scan[place_of_break]
        breaks = bisected(lambda t: self.partition.label(start + t[:, None] * span), after, after + 1 / SCAN)
        found = []
        for one in range(len(faces.low)):
            mine = face == one
            ends = np.r_[0.0, breaks[mine], 1.0]
            for a, b, piece in zip(ends[:-1], ends[1:], labels[one, np.r_[0, place_of_break[mine] + 1]], strict=True):
                if piece < 0:
                    continue
                middle = faces.start[one] + (a + b) / 2 * (faces.end[one] - faces.start[one])
                either = np.array([table[place[leaf], piece] for leaf in (faces.low[one], faces.high[one])])
                low, high = self.map.beside_line(either, middle)
                if low == high:
                    continue
                count = int(max(counts[low], counts[high]))
                where, weight = _spread(count, rng, even)
                along = faces.end[one] - faces.start[one]
                x = faces.start[one] + (a + (b - a) * where)[:, None] * along
                columns = (np.full(count, value) for value in (piece, low, high, faces.axis[one], len(found)))
                found.append((x, *columns, weight * (b - a) * float(along.max())))
        if not found:
            return Cuts(np.empty((0, 2)), *(np.empty(0, int) for _ in range(4))), Runs(np.empty(0, int), np.empty(0))
        *cuts, run, length = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return Cuts(*cuts), Runs(run, length)

    def _size(self, leaf: int) -> float:
        return float(np.max((self.tree.upper - self.tree.lower) * 2.0 ** -self.tree.depth[leaf]))


def _paths(partition: Partition) -> tuple[Path, ...] | None:
    """The walls of a partition as curves, None if one of them is not given as such."""
    found = []
    for wall in partition._walls.walls:
        patch = wall.patch
        while isinstance(patch, Flipped | Trimmed):  # what is kept of a patch, and which side is out, labels tell
            patch = patch.patch
        path = path_of(patch)
        if path is None:
            return None
        found.append(path)
    return tuple(found)


def _ends(path: Path, first: Floats, last: Floats) -> tuple[Floats, Floats]:
    places = path.position(np.concatenate([first, last]))
    return places[: len(first)], places[len(first) :]


def _looked_at(partition: Partition, paths: tuple[Path, ...], tree: BoxTree, number: int, walls: Stretch) -> Leaf:
    """A box: of given walls those that run through it, and points of the pieces in it."""
    lower, upper = (end[0] for end in tree.corners(np.array([number])))
    near = _followed(paths, walls, lower, upper)
    middle = (near.start + near.end) / 2
    walls = near.taken(np.all((middle >= lower) & (middle <= upper), axis=1))
    x = lower + EvenlySpread().random((POOL if len(walls.wall) else 8, 2)) * (upper - lower)
    if not len(walls.wall):
        piece = int(partition.label(x[:1])[0])
        return Leaf(walls, near, {piece: x} if piece >= 0 else {}, {})
    beside = []
    for wall in np.unique(walls.wall):
        mine = walls.wall == wall
        at, normal, _ = paths[wall].at((walls.first[mine] + walls.last[mine]) / 2)
        sound = np.isfinite(normal).all(axis=1) & np.all((at >= lower) & (at <= upper), axis=1)
        beside += [at[sound] + side * (upper - lower).max() * normal[sound] for side in (-0.02, 0.02, -0.002, 0.002)]
    x = np.concatenate([x, *beside])
    x = x[np.all((x >= lower) & (x <= upper), axis=1)]
    label = partition.label(x)
    counts = np.bincount(label[label >= 0], minlength=partition.size)
    pool = {int(piece): x[label == piece] for piece in np.flatnonzero(counts >= FEWEST)}
    lines = {}
    # A single wall leaves everything in one part; many are for smaller leaves to sort out.
    if len(_runs(walls)) > 1 and len(walls.wall) <= MANY:
        found = {piece: _line_between_parts(points, near) for piece, points in pool.items()}
        lines = {piece: line for piece, line in found.items() if line is not None}
    return Leaf(walls, near, pool, lines)


def _runs(walls: Stretch) -> list[np.ndarray]:
    """The stretches that follow each other without a break."""
    if not len(walls.wall):
        return []
    new = np.r_[True, (np.diff(walls.wall) != 0) | (walls.first[1:] > walls.last[:-1] + 1e-13)]
    return np.split(np.arange(len(new)), np.flatnonzero(new)[1:])


def _line_between_parts(points: Floats, walls: Stretch) -> tuple[Floats, float] | None:
    """A line between two parts of a piece that walls keep apart; None for one part, more than two, or no such line."""
    # Those beside the walls come last, and are the ones that a line must tell apart.
    x = np.concatenate([points[:ACROSS], points[max(ACROSS, len(points) - 2 * ACROSS) :]])
    first, second = np.triu_indices(len(x), 1)
    a, b = x[first, None], x[second, None]
    start, along = walls.start[None], (walls.end - walls.start)[None]

    def turn(u: Floats, v: Floats) -> Floats:
        return u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]

    # Both ends of each on different sides of the other.
    apart = (turn(along, a - start) > 0) != (turn(along, b - start) > 0)
    apart &= (turn(b - a, start - a) > 0) != (turn(b - a, start + along - a) > 0)
    open_ = ~apart.any(axis=1)
    graph = coo_array((np.ones(open_.sum()), (first[open_], second[open_])), shape=(len(x), len(x)))
    count, part = connected_components(graph, directed=False)
    sizes = np.bincount(part)
    if count != 2 or sizes.min() < FEWEST:
        return None
    # The widest margin m: s (n . x - c) >= m with |n| bounded.
    middle, size = x.mean(axis=0), np.ptp(x, axis=0).max()
    y, sign = (x - middle) / size, np.where(part == 0, -1.0, 1.0)[:, None]
    sides = np.hstack([-sign * y, sign, np.ones((len(x), 1))])
    best = linprog([0, 0, 0, -1], sides, np.zeros(len(x)), bounds=[(-1, 1), (-1, 1), (None, None), (0, None)])
    if best.x is None or best.x[3] <= 0:
        return None
    normal = best.x[:2] / size
    return normal, float(best.x[2] + normal @ middle)


def _followed(paths: tuple[Path, ...], walls: Stretch, lower: Floats, upper: Floats) -> Stretch:
    """The parts of walls that run through a box or close by, in steps that are short beside it."""
    short = RESOLVED * float((upper - lower).max())
    for _ in range(60):
        # What is nearer to the box than a step is long may run through it.
        length = np.linalg.norm(walls.end - walls.start, axis=1)
        reach = (length + short)[:, None]
        near = np.all((walls.start > lower - reach) & (walls.start < upper + reach), axis=1)
        walls, length = walls.taken(near), length[near]
        long = length > short
        if not long.any():
            break
        parts = [walls.taken(~long)]
        for k in np.unique(walls.wall[long]):
            mine = walls.taken(long & (walls.wall == k))
            middle = (mine.first + mine.last) / 2
            place = paths[k].position(middle)
            parts.append(Stretch(mine.wall, mine.first, middle, mine.start, place))
            parts.append(Stretch(mine.wall, middle, mine.last, place, mine.end))
        walls = Stretch(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    return walls.taken(np.lexsort((walls.first, walls.wall)))


@cache
def _gauss(count: int) -> tuple[Floats, Floats]:
    return unit_gauss(count)


def _spread(count: int, rng: np.random.Generator, even: bool) -> tuple[Floats, Floats]:
    """Numbers in (0, 1) and their weights as a quadrature rule: Gauss's, denser towards the ends, or random ones."""
    return _gauss(count) if even else (np.sort(rng.random(count)), np.full(count, 1 / count))
