"""Parts of walls in a box: followed as curves from a box to the boxes in it, so that nothing of them gets lost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jumpnet.geometry.checks import Floats
from jumpnet.geometry.quadrature.lines import Path

COARSE = 257
"""Places of a wall from which it is followed into leaves."""
RESOLVED = 1 / 16
"""A wall is known to this part of a leaf's size."""


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


def all_walls(paths: tuple[Path, ...]) -> Stretch:
    """Every wall from end to end."""
    every = []
    for number, path in enumerate(paths):
        ends = np.unique(np.concatenate([path.nodes, np.linspace(path.nodes[0], path.nodes[-1], COARSE)]))
        places = path.position(ends)
        every.append(Stretch(np.full(len(ends) - 1, number), ends[:-1], ends[1:], places[:-1], places[1:]))
    return Stretch(*(np.concatenate(parts) for parts in zip(*every, strict=True)))


def unbroken(walls: Stretch) -> list[np.ndarray]:
    """The stretches that follow each other without a break."""
    if not len(walls.wall):
        return []
    new = np.r_[True, (np.diff(walls.wall) != 0) | (walls.first[1:] > walls.last[:-1] + 1e-13)]
    return np.split(np.arange(len(new)), np.flatnonzero(new)[1:])


def followed(paths: tuple[Path, ...], walls: Stretch, lower: Floats, upper: Floats) -> Stretch:
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
