"""What is known of a leaf of a tree: the walls that run through it, and points of each piece in it.

Walls are followed as curves from a leaf to its children, so that nothing of them gets lost however small the leaf.
Parts of a piece that walls keep apart in a leaf are told apart by a line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from jumpnet.geometry.cells.slivers import across
from jumpnet.geometry.cells.stretches import Stretch, followed, unbroken
from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.partition import Partition
from jumpnet.geometry.partition.labels import INSIDE
from jumpnet.geometry.partition.tracing import Wall
from jumpnet.geometry.patches import Flipped, Trimmed
from jumpnet.geometry.quadrature.lines import Path, path_of
from jumpnet.geometry.randomness import EvenlySpread

POOL = 512
"""Points at which a leaf that walls run through is looked at."""
FEWEST = 4
"""Of those, as many as a piece must have to count as a cell."""
ACROSS = 24
"""Points of a piece between which lines are drawn to see whether walls keep them apart."""
BESIDE = (0.02, 0.002)
"""How far beside a wall points are looked at, in parts of the leaf."""
COATING = 1e-7
"""The pieces beside a wall are looked up no farther away than this part of the domain's size: a coating is not thicker
than a small part of a leaf. Heuristic; thinner ones have no cells."""
THIN, LINES = 32, 64
"""A piece with fewer points than this is looked for on so many lines across the leaf."""
FINER, FINEST = 0.1, 1e-13
"""Where both sides of a wall look the same, they are looked up this much nearer to it, but not nearer than this part of
the domain: labels know a wall to 1e-14 of it."""
MANY = 120
"""Stretches of wall in a leaf beyond which it is too early to look for parts."""


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
        path = path_of_wall(wall)
        if path is None:
            return None
        found.append(path)
    return tuple(found)


def path_of_wall(wall: Wall) -> Path | None:
    """A wall as a curve; what is kept of it, and which side is out, labels tell."""
    patch = wall.patch
    while isinstance(patch, Flipped | Trimmed):
        patch = patch.patch
    return path_of(patch)


def looked_at(partition: Partition, paths: tuple[Path, ...], box: Bounds, walls: Stretch) -> Leaf:
    """A box: of given walls those that run through it, and points of the pieces in it."""
    lower, upper = box
    near = followed(paths, walls, lower, upper)
    middle = (near.start + near.end) / 2
    walls = near.taken(np.all((middle >= lower) & (middle <= upper), axis=1))
    x = lower + EvenlySpread().random((POOL if len(walls.wall) else 8, 2)) * (upper - lower)
    if not len(walls.wall):
        piece = int(partition.label(x[:1])[0])
        return Leaf(walls, near, {piece: x} if piece >= 0 else {}, {})
    around, there = [], []
    for wall in np.unique(walls.wall):
        mine = walls.wall == wall
        at, normal, _ = paths[wall].at((walls.first[mine] + walls.last[mine]) / 2)
        sound = np.isfinite(normal).all(axis=1) & np.all((at >= lower) & (at <= upper), axis=1)
        at, normal, size = at[sound], normal[sound], float((upper - lower).max())
        around += [at + sign * step * size * normal for step in BESIDE for sign in (-1, 1)]
        there += beside(partition, at, normal, np.full((len(at), 1), min(BESIDE) * size))
        there += beside(partition, at, normal, np.full((len(at), 1), COATING * partition.domain.size))
    x = np.concatenate([x, *around])
    x = x[np.all((x >= lower) & (x <= upper), axis=1)]
    label = partition.label(x)
    pool = {}
    for piece in np.unique(np.concatenate([label, *there])).tolist():
        points = x[label == piece]
        if 0 <= piece and len(points) < THIN:
            found = across(partition, paths, near, box, piece, EvenlySpread().random((LINES, 2)))
            points = np.concatenate([points, found])
        if 0 <= piece and len(points) >= FEWEST:
            pool[piece] = points
    lines = {}
    # A single wall leaves everything in one part; many are for smaller leaves to sort out.
    if len(unbroken(walls)) > 1 and len(walls.wall) <= MANY:
        found = {piece: _line_between_parts(points, near) for piece, points in pool.items()}
        lines = {piece: line for piece, line in found.items() if line is not None}
    return Leaf(walls, near, pool, lines)


def beside(partition: Partition, x: Floats, normal: Floats, step: Floats) -> tuple[np.ndarray, np.ndarray]:
    """The pieces along the normals of walls and against them, a step away or, in a needle, as near as it must be."""
    # The outer boundary is known less well.
    step = np.maximum(step, 4 * INSIDE * partition.domain.size)
    ahead, behind = partition.label(np.concatenate([x + step * normal, x - step * normal])).reshape(2, -1)
    while True:
        step = FINER * step
        alike = np.flatnonzero((ahead == behind) & (step[:, 0] > FINEST * partition.domain.size))
        if not len(alike):
            return ahead, behind
        away = (step * normal)[alike]
        sides = partition.label(np.concatenate([x[alike] + away, x[alike] - away])).reshape(2, -1)
        ahead[alike], behind[alike] = sides


def _line_between_parts(points: Floats, walls: Stretch) -> tuple[Floats, float] | None:
    """A line between two parts of a piece that walls keep apart; None for one part, more than two, or no such line."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

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
