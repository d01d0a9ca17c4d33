"""Where walls cross the faces between leaves: what of a face lies in which piece, and what of a wall in which leaf.

Both are cut at the same places, exactly. Pieces looked up at places of a face would miss a needle that is thinner than
the places are apart, and with it the flux that it carries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from jumpnet.geometry.cells.leaves import Leaf
from jumpnet.geometry.cells.tree import BoxTree
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.partition import Partition
from jumpnet.geometry.quadrature.lines import Path
from jumpnet.geometry.quadrature.regions import bisected

SCAN = 64
"""Places of a face at which its piece is looked up besides: a wall that only just touches it may cross it twice."""
HAIR = 1e-9
"""Crossings no farther apart than this part of a face are the same one, found both ways."""


class Crossings(NamedTuple):
    """Where walls cross faces: the face, the place on it (from 0 to 1), the wall and its parameter there."""

    face: np.ndarray
    place: Floats
    wall: np.ndarray
    parameter: Floats


class WallRun(NamedTuple):
    """A part of a wall in one leaf, between two crossings or corners."""

    leaf: int
    wall: int
    first: float
    last: float


def crossings(paths: tuple[Path, ...], tree: BoxTree, known: Mapping[int, Leaf]) -> Crossings:
    """All crossings of walls and faces."""
    faces = tree.faces
    span = faces.end - faces.start
    found: dict[int, list[tuple[np.ndarray, ...]]] = {wall: [] for wall in range(len(paths))}
    for face, (low, high, axis) in enumerate(zip(faces.low, faces.high, faces.axis, strict=True)):
        # The smaller leaf knows its walls in steps that are short beside the face.
        near = known[max(int(low), int(high), key=lambda leaf: tree.depth[leaf])].near
        level = faces.start[face, axis]
        across = (near.start[:, axis] < level) != (near.end[:, axis] < level)
        for wall in np.unique(near.wall[across]).tolist():
            mine = across & (near.wall == wall)
            found[wall].append((np.full(mine.sum(), face), near.first[mine], near.last[mine]))
    columns = [(np.empty(0, int), np.empty(0), np.empty(0, int), np.empty(0))]
    for wall, parts in found.items():
        if parts:
            face, first, last = (np.concatenate(part) for part in zip(*parts, strict=True))
            columns.append(_met(paths[wall], wall, face, first, last, faces.axis[face], faces.start[face], span[face]))
    return Crossings(*(np.concatenate(part) for part in zip(*columns, strict=True)))


def _met(
    path: Path,
    wall: int,
    face: np.ndarray,
    first: Floats,
    last: Floats,
    axis: np.ndarray,
    start: Floats,
    span: Floats,
) -> tuple[np.ndarray, Floats, np.ndarray, Floats]:
    """The crossings of one wall, between given parameters, with the lines of faces; those that are on the faces."""
    every = np.arange(len(face))
    level = start[every, axis]
    parameter = bisected(lambda t: path.position(t)[every, axis] < level, first, last, halvings=50)
    place = np.sum((path.position(parameter) - start) * span, axis=1) / np.sum(span**2, axis=1)
    on = (place >= 0) & (place <= 1)
    return face[on], place[on], np.full(on.sum(), wall), parameter[on]


def wall_runs(paths: tuple[Path, ...], tree: BoxTree, crossed: Crossings) -> list[WallRun]:
    """The walls, cut where they cross faces and at their corners."""
    found: list[WallRun] = []
    for wall, path in enumerate(paths):
        ends = np.concatenate([path.nodes[[0, -1]], path.corners, crossed.parameter[crossed.wall == wall]])
        ends = np.unique(ends)
        ends = ends[np.r_[True, np.diff(ends) > 1e-14 * np.ptp(path.nodes)]]
        leaves = tree.find(path.position((ends[1:] + ends[:-1]) / 2))
        found += [
            WallRun(int(leaf), wall, float(a), float(b)) for leaf, a, b in zip(leaves, ends[:-1], ends[1:], strict=True)
        ]
    return found


def between_walls(
    partition: Partition, tree: BoxTree, known: Mapping[int, Leaf], crossed: Crossings
) -> Iterator[tuple[int, float, float, int]]:
    """The stretches of the tree's faces that lie in one piece: face, first and last place in (0, 1), piece."""
    faces = tree.faces
    span = faces.end - faces.start
    walled = [
        len(known[low].walls.wall) + len(known[high].walls.wall) > 0 for low, high in zip(*faces[:2], strict=True)
    ]
    face, place = _looked_up(partition, faces.start, span, np.flatnonzero(walled))
    face, place = np.concatenate([face, crossed.face]), np.concatenate([place, crossed.place])
    order = np.lexsort((place, face))
    face, place = face[order], place[order]
    ends = []
    for met in np.split(place, np.searchsorted(face, np.arange(1, len(span)))):
        inner = met[(met > HAIR) & (met < 1 - HAIR)]
        ends.append(np.concatenate([[0.0], inner[np.diff(inner, prepend=0.0) > HAIR], [1.0]]))
    middles = [faces.start[k] + ((end[1:] + end[:-1]) / 2)[:, None] * span[k] for k, end in enumerate(ends)]
    labels = np.split(partition.label(np.concatenate(middles)), np.cumsum([len(x) for x in middles])[:-1])
    for one, (end, pieces) in enumerate(zip(ends, labels, strict=True)):
        new = np.r_[True, np.diff(pieces) != 0]
        for a, b, piece in zip(end[:-1][new], np.r_[end[1:-1][new[1:]], 1.0], pieces[new], strict=True):
            if piece >= 0:
                yield one, float(a), float(b), int(piece)


def _looked_up(partition: Partition, start: Floats, span: Floats, some: np.ndarray) -> tuple[np.ndarray, Floats]:
    """Where the piece changes from one place of a face to the next: the face and the place."""
    scan = (np.arange(SCAN) + 0.5) / SCAN
    on_face = start[some, None] + scan[:, None] * span[some, None]
    labels = partition.label(on_face.reshape(-1, 2)).reshape(-1, SCAN)
    number, place = np.nonzero(np.diff(labels, axis=1))
    face, after = some[number], scan[place]
    breaks = bisected(lambda t: partition.label(start[face] + t[:, None] * span[face]), after, after + 1 / SCAN)
    return face, breaks
