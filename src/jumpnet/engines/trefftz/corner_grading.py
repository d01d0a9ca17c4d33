"""Graded collocation near corners, for functions that are not smooth there.

Evenly spread points do not determine the singular functions between a corner and the nearest point. Therefore there are
additional points at geometrically graded distances, each weighted by the length it represents.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from jumpnet.collocation import Collocation, Points, Stream
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.walls.corners import OUTSIDE, Corner
from jumpnet.problem import Problem
from jumpnet.rows import ON_BOUNDARY, ConditionKey, Rows, on_surfaces

# Points on each wall that ends at a corner, and the ratio of successive distances from it (geometric grading).
STEPS, RATIO = 16, 2.0

Pair = tuple[int, int]


def equations_near(problem: Problem, corners: Sequence[Corner], points: Points, stream: Stream) -> Rows | None:
    """The equations on the walls that end at corners, between these and the evenly spread points nearest to them.

    None if no walls are known there.
    """
    parts = problem.partition
    around = sum(wall.patch.measure for wall in parts.walls.walls if wall.owner == 0)
    spacing = {i.pair: i.measure / max(points.interface, 1) for i in parts.interfaces}
    spacing[OUTSIDE, OUTSIDE] = around / max(points.boundary, 1)
    # Held-out points lie between those of the solve.
    steps: Floats = RATIO ** -(np.arange(STEPS, dtype=float) + (0.5 if stream is Stream.HELD_OUT else 0.0))
    found: dict[Pair, list[tuple[Floats, Floats, int]]] = defaultdict(list)
    for _, ways, pieces in corners:
        for at, way in enumerate(ways):
            pair, inside, sign = _between(pieces[at - 1], pieces[at])
            if pair in spacing:
                x, along = way.points(min(spacing[pair], way.length / 2) * steps)
                found[pair].append((x, sign * np.stack([-along[:, 1], along[:, 0]], axis=1), inside))
    if not found:
        return None
    joined = {pair: _joined(walls) for pair, walls in found.items()}
    none, nowhere = np.empty((0, 2)), np.empty(0, int)
    x, normals, piece = joined.pop((OUTSIDE, OUTSIDE), (none, none, nowhere))
    interfaces = {pair: walls[:2] for pair, walls in joined.items()}
    part = parts.part_numbers(x, normals, piece)
    rows = on_surfaces(problem, Collocation(none, nowhere, x, normals, piece, part, interfaces))
    first = np.cumsum(rows.counts) - rows.counts
    places = np.array([corner.place for corner in corners])
    distance = np.linalg.norm(np.asarray(rows.sites.x)[first][:, None] - places, axis=2).min(axis=1)
    between = np.array([spacing[_pair(key)] for key in rows.terms])[rows.term]
    return rows.weighted(np.sqrt(np.log(RATIO) * np.minimum(distance / between, 1.0)))


def _between(right: int, left: int) -> tuple[Pair, int, float]:
    """The pieces that a wall lies between, the piece inside of a boundary, and whether normals lead to the left."""
    if OUTSIDE in (right, left):
        return (OUTSIDE, OUTSIDE), max(right, left), 1.0 if left == OUTSIDE else -1.0
    return (min(right, left), max(right, left)), right, 1.0 if left < right else -1.0


def _joined(walls: Sequence[tuple[Floats, Floats, int]]) -> tuple[Floats, Floats, np.ndarray]:
    """Points, normals and pieces of several walls."""
    x, normals, piece = zip(*walls, strict=True)
    return np.concatenate(x), np.concatenate(normals), np.repeat(piece, STEPS)


def _pair(key: ConditionKey) -> Pair:
    """The pieces that a condition on a surface lies between."""
    if key.kind in ON_BOUNDARY:
        return OUTSIDE, OUTSIDE
    a, b = key.pieces
    return a, b
