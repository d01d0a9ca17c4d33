"""Points of a piece that is thin, by lines across it: points thrown at a box hardly ever hit a needle."""

from __future__ import annotations

import numpy as np

from jumpnet.geometry.cells.stretches import Stretch
from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.partition import Partition
from jumpnet.geometry.quadrature.lines import Path
from jumpnet.geometry.quadrature.regions import bisected


def across(
    partition: Partition, paths: tuple[Path, ...], walls: Stretch, box: Bounds, piece: int, draws: Floats
) -> Floats:
    """Points of a piece in a box, one on each line that meets it; `walls` are those in the box and near it.

    Lines run along one axis, that along which more of them meet the piece; the needle's tip gets as many points as the
    rest of it. `draws` (n, 2) are numbers in (0, 1): the place of each line, and that of the point on it.
    """
    return max((_along(partition, paths, walls, box, piece, draws, axis) for axis in (0, 1)), key=len)


def _along(
    partition: Partition, paths: tuple[Path, ...], walls: Stretch, box: Bounds, piece: int, draws: Floats, axis: int
) -> Floats:
    """Those on lines along an axis."""
    lower, upper = box
    other = 1 - axis
    level = lower[other] + draws[:, 0] * (upper - lower)[other]
    line, place = _crossings(paths, walls, level, other)
    inside = (place > lower[axis]) & (place < upper[axis])
    every = np.arange(len(level))
    line = np.concatenate([every, every, line[inside]])
    place = np.concatenate([np.full(len(level), lower[axis]), np.full(len(level), upper[axis]), place[inside]])
    order = np.lexsort((place, line))
    line, place = line[order], place[order]
    same = line[1:] == line[:-1]
    line, start, end = line[:-1][same], place[:-1][same], place[1:][same]

    def points(at: Floats) -> Floats:
        x = np.empty((len(line), 2))
        x[:, axis], x[:, other] = at, level[line]
        return x

    held = partition.label(points((start + end) / 2)) == piece
    # The widest interval of each line.
    order = np.lexsort((start - end, line))
    order = order[held[order]]
    first = order[np.unique(line[order], return_index=True)[1]]
    return points(start + draws[line, 1] * (end - start))[first]


def _crossings(paths: tuple[Path, ...], walls: Stretch, level: Floats, axis: int) -> tuple[np.ndarray, Floats]:
    """Where walls cross the lines x[axis] = level: the line of each crossing, and its place on it."""
    low, high = np.minimum(walls.start, walls.end)[:, axis], np.maximum(walls.start, walls.end)[:, axis]
    line, stretch = np.nonzero((low[None] < level[:, None]) & (level[:, None] <= high[None]))
    place = np.empty(len(line))
    for wall in np.unique(walls.wall[stretch]):
        mine = walls.wall[stretch] == wall
        position, first, last = paths[wall].position, walls.first[stretch[mine]], walls.last[stretch[mine]]
        goal = level[line[mine]]
        at = bisected(lambda t, position=position, goal=goal: position(t)[:, axis] < goal, first, last)
        place[mine] = position(at)[:, 1 - axis]
    return line, place
