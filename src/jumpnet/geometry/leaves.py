"""What is known of a leaf of a tree: the walls that run through it, and points of each piece in it.

Walls are followed as curves from a leaf to its children, so that nothing of them gets lost however small the leaf.
Parts of a piece that walls keep apart in a leaf are told apart by a line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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

COARSE = 257
"""Places of a wall from which it is followed into leaves."""
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


def paths_of(partition: Partition) -> tuple[Path, ...] | None:
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


def all_walls(paths: tuple[Path, ...]) -> Stretch:
    """Every wall from end to end."""
    every = []
    for number, path in enumerate(paths):
        ends = np.unique(np.concatenate([path.nodes, np.linspace(path.nodes[0], path.nodes[-1], COARSE)]))
        places = path.position(ends)
        every.append(Stretch(np.full(len(ends) - 1, number), ends[:-1], ends[1:], places[:-1], places[1:]))
    return Stretch(*(np.concatenate(parts) for parts in zip(*every, strict=True)))


def looked_at(partition: Partition, paths: tuple[Path, ...], box: Bounds, walls: Stretch) -> Leaf:
    """A box: of given walls those that run through it, and points of the pieces in it."""
    lower, upper = box
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
    if len(unbroken(walls)) > 1 and len(walls.wall) <= MANY:
        found = {piece: _line_between_parts(points, near) for piece, points in pool.items()}
        lines = {piece: line for piece, line in found.items() if line is not None}
    return Leaf(walls, near, pool, lines)


def unbroken(walls: Stretch) -> list[np.ndarray]:
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
