"""Where the faces between leaves run through which piece: walls are met where they cross a face.

Pieces looked up at places of a face would miss a needle that is thinner than the places are apart, and with it the
flux that it carries.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from jumpnet.geometry.checks import Floats
from jumpnet.geometry.leaves import Leaf
from jumpnet.geometry.lines import Path
from jumpnet.geometry.partition import Partition
from jumpnet.geometry.regions import bisected
from jumpnet.geometry.tree import BoxTree

SCAN = 64
"""Places of a face at which its piece is looked up besides: a wall that only just touches it may cross it twice."""
HAIR = 1e-9
"""Crossings no farther apart than this part of a face are the same one, found both ways."""


def between_walls(
    partition: Partition, paths: tuple[Path, ...], tree: BoxTree, known: Mapping[int, Leaf]
) -> list[tuple[Floats, np.ndarray]]:
    """For each face of the tree the places, from 0 to 1, between which it runs through one piece, and the pieces."""
    faces = tree.faces
    span = faces.end - faces.start
    walled = [
        len(known[low].walls.wall) + len(known[high].walls.wall) > 0 for low, high in zip(*faces[:2], strict=True)
    ]
    looked_up = _looked_up(partition, faces.start, span, np.array(walled))
    ends = []
    for face, seen in enumerate(looked_up):
        crossed = _crossed(paths, tree, known, face) if walled[face] else np.empty(0)
        met = np.sort(np.concatenate([seen, crossed]))
        met = met[(met > HAIR) & (met < 1 - HAIR)]
        ends.append(np.concatenate([[0.0], met[np.diff(met, prepend=0.0) > HAIR], [1.0]]))
    middles = [faces.start[k] + ((end[1:] + end[:-1]) / 2)[:, None] * span[k] for k, end in enumerate(ends)]
    labels = np.split(partition.label(np.concatenate(middles)), np.cumsum([len(x) for x in middles])[:-1])
    found = []
    for end, pieces in zip(ends, labels, strict=True):
        new = np.r_[True, np.diff(pieces) != 0]
        found.append((np.r_[end[:-1][new], 1.0], pieces[new]))
    return found


def _looked_up(partition: Partition, start: Floats, span: Floats, walled: np.ndarray) -> list[Floats]:
    """Where the piece changes from one place of a face to the next."""
    scan = (np.arange(SCAN) + 0.5) / SCAN
    at = np.flatnonzero(walled)
    on_face = start[at, None] + scan[:, None] * span[at, None]
    labels = partition.label(on_face.reshape(-1, 2)).reshape(-1, SCAN)
    face, place = np.nonzero(np.diff(labels, axis=1))
    low, low_span, after = start[at[face]], span[at[face]], scan[place]
    breaks = bisected(lambda t: partition.label(low + t[:, None] * low_span), after, after + 1 / SCAN)
    found = [np.empty(0)] * len(walled)
    for one in np.unique(face):
        found[at[one]] = breaks[face == one]
    return found


def _crossed(paths: tuple[Path, ...], tree: BoxTree, known: Mapping[int, Leaf], face: int) -> Floats:
    """Where walls cross a face, in parts of its length."""
    faces = tree.faces
    axis, start = int(faces.axis[face]), faces.start[face]
    span = faces.end[face] - start
    # The smaller leaf knows its walls in steps that are short beside the face.
    small = max(int(faces.low[face]), int(faces.high[face]), key=lambda leaf: tree.depth[leaf])
    near = known[small].near
    across = (near.start[:, axis] < start[axis]) != (near.end[:, axis] < start[axis])
    found = [np.empty(0)]
    for wall in np.unique(near.wall[across]):
        mine, position = near.taken(across & (near.wall == wall)), paths[wall].position
        at = bisected(lambda t, position=position: position(t)[:, axis] < start[axis], mine.first, mine.last)
        found.append(((position(at) - start) @ span) / (span @ span))
    return np.concatenate(found)
