"""Where straight walls meet: corners of the domain and of pieces, and points where several pieces meet."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jumpnet.geometry.checks import Floats
from jumpnet.geometry.leaves import path_of_wall
from jumpnet.geometry.lines import Path
from jumpnet.geometry.partition import Partition

# Points no farther apart than this, relative to the domain, are one; directions that differ by less are the same.
SAME, PARALLEL = 1e-9, 1e-7
# A corner is looked at from so near, relative to the domain, in so many directions between two walls.
NEAR, BETWEEN = 1e-5, 9
# Beyond so many straight walls, corners are not looked for.
MOST_SIDES = 2000


class Corner(NamedTuple):
    """A point where straight walls meet: where these lead, anticlockwise, and the piece between each and the next.

    Outside the domain there is no piece: -1.
    """

    place: Floats
    sides: Floats
    pieces: tuple[int, ...]


def corners_of(partition: Partition) -> Iterator[Corner]:
    """The corners between straight walls of a plane partition."""
    if partition.dim != 2:
        return
    start, end = _straight_walls(partition)
    if not 0 < len(start) <= MOST_SIDES:
        return
    size = partition.domain.size
    for place in _meetings(start, end, size):
        sides = _sides(place, start, end, size)
        # A single wall, and a straight one, are no corners; a kink in what is given there is one, but not of walls.
        if len(sides) < 2:
            continue
        pieces = _pieces_between(partition, place, sides)
        if pieces is None:
            continue
        walls = [at for at, piece in enumerate(pieces) if piece != pieces[at - 1]]  # others are of no piece's boundary
        kept = Corner(place, sides[walls], tuple(pieces[at] for at in walls))
        if len(walls) > 2 or (len(walls) == 2 and not _opposite(*kept.sides)):
            yield kept


def _straight_walls(partition: Partition) -> tuple[Floats, Floats]:
    """The ends of all straight stretches of walls."""
    ends = [np.empty((0, 2, 2))]
    for wall in partition._walls.walls:
        path = path_of_wall(wall)
        if path is not None and len(path.corners):
            ends.append(_straight_stretches(path, partition.domain.size))
    both = np.concatenate(ends)
    return both[:, 0], both[:, 1]


def _straight_stretches(path: Path, size: float) -> Floats:
    """The ends of those stretches of a wall between two corners that are straight."""
    corners = np.unique(np.append(path.corners, path.nodes[-1]))
    t = corners[:-1, None] + np.diff(corners)[:, None] * np.linspace(0.0, 1.0, 8)
    x = path.position(t.ravel()).reshape(*t.shape, 2)
    along = x[:, -1] - x[:, 0]
    across = np.stack([-along[:, 1], along[:, 0]], axis=1)[:, None]
    length = np.linalg.norm(along, axis=1)
    off = np.abs(np.sum((x[:, 1:-1] - x[:, :1]) * across, axis=2)).max(axis=1)
    straight = (length > SAME * size) & (off <= 1e-12 * size * length)
    return x[straight][:, [0, -1]]


def _meetings(start: Floats, end: Floats, size: float) -> Floats:
    """The places where stretches end or cross, each once."""
    along = end - start
    places = [start, end]
    for at in range(len(start) - 1):
        # start + s along = start' + t along'
        other, apart = along[at + 1 :], start[at + 1 :] - start[at]
        turn = along[at, 0] * other[:, 1] - along[at, 1] * other[:, 0]
        lengths = np.linalg.norm(along[at]) * np.linalg.norm(other, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            s = (apart[:, 0] * other[:, 1] - apart[:, 1] * other[:, 0]) / turn
            t = (apart[:, 0] * along[at, 1] - apart[:, 1] * along[at, 0]) / turn
        crossed = (np.abs(turn) > PARALLEL * lengths) & (s > 0) & (s < 1) & (t > 0) & (t < 1)
        places.append(start[at] + s[crossed, None] * along[at])
    found = np.concatenate(places)
    _, first = np.unique(np.round(found / (SAME * size)), axis=0, return_index=True)
    found = found[np.sort(first)]
    near = np.linalg.norm(found[:, None] - found[None], axis=2) < 2 * SAME * size
    return found[~np.any(np.tril(near, -1), axis=1)]


def _sides(place: Floats, start: Floats, end: Floats, size: float) -> Floats:
    """Where the stretches through a place lead from there, anticlockwise, each direction once."""
    along = end - start
    length = np.linalg.norm(along, axis=1)
    unit = along / length[:, None]
    at = np.sum((place - start) * unit, axis=1)
    off = np.abs((place - start)[:, 0] * unit[:, 1] - (place - start)[:, 1] * unit[:, 0])
    through = (off < 2 * SAME * size) & (at > -2 * SAME * size) & (at < length + 2 * SAME * size)
    forward, backward = through & (at < length - SAME * size), through & (at > SAME * size)
    sides = np.concatenate([end[forward] - place, start[backward] - place])
    angle = np.arctan2(sides[:, 1], sides[:, 0])
    sides = sides[np.argsort(angle)]
    angle = np.sort(angle)
    if len(angle) > 1:
        sides = sides[np.diff(np.append(angle, angle[0] + 2 * np.pi)) > PARALLEL]
    return sides


def _pieces_between(partition: Partition, place: Floats, sides: Floats) -> list[int] | None:
    """The piece between each side and the next; None if other walls run there too."""
    angle = np.arctan2(sides[:, 1], sides[:, 0])
    turn = np.diff(np.append(angle, angle[0] + 2 * np.pi))
    theta = (angle[:, None] + turn[:, None] * np.linspace(0.02, 0.98, BETWEEN)).ravel()
    around = place + NEAR * partition.domain.size * np.stack([np.cos(theta), np.sin(theta)], axis=1)
    labels = partition.label(around).reshape(len(sides), BETWEEN)
    return labels[:, 0].tolist() if np.all(labels == labels[:, :1]) else None


def _opposite(one: Floats, other: Floats) -> bool:
    """Whether two sides are a straight line."""
    turn, along = one[0] * other[1] - one[1] * other[0], one @ other
    return bool(along < 0 and abs(turn) <= PARALLEL * -along)
