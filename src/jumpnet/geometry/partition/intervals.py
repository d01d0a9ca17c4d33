"""The intervals of a one-dimensional partition, from left to right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jumpnet.geometry.checks import Floats

if TYPE_CHECKING:
    from jumpnet.geometry.partition.partition import Partition

SAME = 1e-14  # two ends this near to each other, relative to the domain, are one


def intervals(partition: Partition) -> tuple[Floats, Floats, np.ndarray]:
    """Starts, ends and pieces of the intervals that a partition of the line consists of, gaps of the domain left out.

    Neighbours of the same piece are one interval. Labels are asked for at midpoints only: an interval may be as short
    as rounding allows.
    """
    walls = [trace.points[:, 0] for trace in partition.walls.pilot if len(trace)]
    ends = np.unique(np.concatenate([np.asarray(partition.bounds, float).ravel(), *walls]))
    ends = ends[np.concatenate([[True], np.diff(ends) > SAME * partition.domain.size])]
    piece = np.asarray(partition.label(0.5 * (ends[1:] + ends[:-1])[:, None]), int)
    first = np.concatenate([[True], piece[1:] != piece[:-1]])
    start, end, piece = ends[:-1][first], ends[1:][np.concatenate([first[1:], [True]])], piece[first]
    inside = piece >= 0
    return start[inside], end[inside], piece[inside]
