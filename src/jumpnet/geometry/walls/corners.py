"""Where walls meet: corners of the domain and of pieces, and points where several pieces meet."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from jumpnet.geometry.checks import Floats
from jumpnet.geometry.partition import Partition
from jumpnet.geometry.quadrature.curve_quadrature import Path
from jumpnet.geometry.walls.sides import path_of_wall

# Points no farther apart than this, relative to the domain, are one; directions that differ by less are the same.
SAME, PARALLEL = 1e-9, 1e-7
# The smallest radius, relative to the domain, and the directions between two walls at which pieces are identified.
NEAR, BETWEEN = 1e-5, 9
# In place of the number of a piece, outside the domain.
OUTSIDE = -1
# With more stretches of wall than this, corners are not searched for.
MOST_STRETCHES = 1000
# Samples of a curved stretch; steps of Newton's method between them, and the step, of the stretch, after which the next
# one would be rounding.
PLACES, STEPS, SETTLED = 257, 12, 1e-10


class Stretch(NamedTuple):
    """A wall between two corners, or a whole one without, between two parameters; and its box."""

    path: Path
    first: float
    last: float
    straight: bool
    x: Floats

    @property
    def t(self) -> Floats:
        """The parameters at which its places `x` are."""
        return np.linspace(self.first, self.last, len(self.x))

    def at(self, place: Floats, size: float) -> float | None:
        """The parameter at which it runs through a place, None if it does not."""
        if self.straight:
            along = self.x[1] - self.x[0]
            share = float(np.clip((place - self.x[0]) @ along / (along @ along), 0.0, 1.0))
            off = np.linalg.norm(self.x[0] + share * along - place)
            return self.first + share * (self.last - self.first) if off < 2 * SAME * size else None
        t = float(self.t[np.argmin(np.sum((self.x - place) ** 2, axis=1))])
        for _ in range(STEPS):
            v = self.path.velocity(np.array([t]))[0]
            step = float((place - self.path.position(np.array([t]))[0]) @ v / (v @ v))
            t += step
            if abs(step) <= SETTLED * abs(self.last - self.first):
                break
        if not self.path.closed:
            t = float(np.clip(t, self.first, self.last))
        off = np.linalg.norm(self.path.position(np.array([t]))[0] - place)
        return t if off < 2 * SAME * size else None


class Way(NamedTuple):
    """A wall that leads away from a corner: its direction there, how far it goes at least, and its curve."""

    place: Floats
    direction: Floats
    length: float
    stretch: Stretch
    parameter: float
    heading: float

    def points(self, distance: Floats) -> tuple[Floats, Floats]:
        """Points at small distances, and the directions of the wall there, away from the corner."""
        if self.stretch.straight:
            return self.place + distance[:, None] * self.direction, np.tile(self.direction, (len(distance), 1))
        path = self.stretch.path
        speed = np.linalg.norm(path.velocity(np.array([self.parameter + self.heading * 1e-9])))
        t = self.parameter + self.heading * distance / speed
        v = self.heading * path.velocity(t)
        return path.position(t), v / np.linalg.norm(v, axis=1, keepdims=True)


class Corner(NamedTuple):
    """A point where walls meet: the walls, anticlockwise, and the piece between each and the next.

    Outside the domain there is no piece: OUTSIDE.
    """

    place: Floats
    ways: tuple[Way, ...]
    pieces: tuple[int, ...]

    @property
    def directions(self) -> Floats:
        """Where the walls lead."""
        return np.array([way.direction for way in self.ways])

    @property
    def straight(self) -> bool:
        """Whether all walls are straight."""
        return all(way.stretch.straight for way in self.ways)

    @property
    def smooth(self) -> bool:
        """Whether one smooth wall runs through it, so that it is no corner."""
        return len(self.ways) == 2 and _opposite(*self.directions)


def corners_of(partition: Partition) -> tuple[Corner, ...]:
    """The corners between walls of a plane partition."""
    found = _known.get(partition)
    if found is None:
        found = _known[partition] = tuple(_found(partition)) if partition.dim == 2 else ()
    return found


_known: WeakKeyDictionary[Partition, tuple[Corner, ...]] = WeakKeyDictionary()


def outer_stretches(partition: Partition) -> list[Stretch]:
    """The walls of the domain from corner to corner; none if there are too many."""
    found = [stretch for stretch, owner in _all_stretches(partition) if owner == 0]
    return found if len(found) <= MOST_STRETCHES else []


def on_the_boundary(partition: Partition, stretch: Stretch, parameters: Floats) -> Iterator[Corner]:
    """Points of an outer wall as corners of 180 degrees, with the same piece on both sides.

    Places at corners, and places of which one side is not outside, are left out.
    """
    size = partition.domain.size
    corners = np.array([corner.place for corner in corners_of(partition)]).reshape(-1, 2)
    meetings = []
    for place in stretch.path.position(parameters):
        ways = _ways(place, [stretch], size)
        apart = np.all(np.linalg.norm(corners - place, axis=1) > 2 * SAME * size)
        if apart and len(ways) == 2 and _opposite(ways[0].direction, ways[1].direction):
            meetings.append((place, ways))
    for (place, ways), pieces in zip(meetings, _pieces_between(partition, meetings), strict=True):
        if len(pieces) == 2 and min(pieces) < 0 <= max(pieces):
            yield Corner(place, tuple(ways), tuple(pieces))


def _all_stretches(partition: Partition) -> Iterator[tuple[Stretch, int]]:
    """The walls from corner to corner, and the pieces that they belong to."""
    for wall in partition.walls.walls:
        for stretch in _stretches(path_of_wall(wall), partition.domain.size):
            yield stretch, wall.owner


def _found(partition: Partition) -> Iterator[Corner]:
    size = partition.domain.size
    stretches = [stretch for stretch, _ in _all_stretches(partition)]
    if not 0 < len(stretches) <= MOST_STRETCHES:
        return
    boxes = np.array([[stretch.x.min(axis=0), stretch.x.max(axis=0)] for stretch in stretches])
    meetings = []
    for place in _meetings(stretches, boxes, size):
        near = np.all((boxes[:, 0] <= place + SAME * size) & (boxes[:, 1] >= place - SAME * size), axis=1)
        ways = _ways(place, [stretches[k] for k in np.flatnonzero(near)], size)
        # A single wall, and a smooth one, are no corners.
        if len(ways) > 2 or (len(ways) == 2 and not _opposite(ways[0].direction, ways[1].direction)):
            meetings.append((place, ways))
    for (place, ways), pieces in zip(meetings, _pieces_between(partition, meetings), strict=True):
        walls = [at for at, piece in enumerate(pieces) if piece != pieces[at - 1]]  # others are of no piece's boundary
        kept = Corner(place, tuple(ways[at] for at in walls), tuple(pieces[at] for at in walls))
        if len(walls) > 2 or (len(walls) == 2 and not _opposite(*kept.directions)):
            yield kept


def _stretches(path: Path | None, size: float) -> Iterator[Stretch]:
    """A wall from corner to corner; the shortest, into which a cusp is cut up, are left out."""
    if path is None:
        return
    ends = np.unique(np.concatenate([path.nodes[:1], path.corners, path.nodes[-1:]]))
    for first, last in pairwise(ends):
        x = path.position(np.linspace(first, last, 9))
        along = x[-1] - x[0]
        off, extent = np.abs((x - x[0]) @ np.array([-along[1], along[0]])).max(), np.ptp(x, axis=0).max()
        if extent <= SAME * size:
            continue
        if np.abs(along).max() == extent and off <= 1e-12 * extent**2:
            yield Stretch(path, float(first), float(last), True, x[[0, -1]])
        else:
            yield Stretch(path, float(first), float(last), False, path.position(np.linspace(first, last, PLACES)))


def _meetings(stretches: Sequence[Stretch], boxes: Floats, size: float) -> Floats:
    """The places where stretches end or cross, each once."""
    places = [stretch.x[[0, -1]] for stretch in stretches]
    apart = np.any(boxes[:, None, 0] > boxes[None, :, 1] + SAME * size, axis=2)
    beside = ~np.logical_or(apart, apart.T)
    for one, other in np.argwhere(np.triu(beside, 1)):
        if stretches[one].path is not stretches[other].path:  # no wall crosses itself
            places.append(_crossings(stretches[one], stretches[other]))
    found = np.concatenate(places)
    _, first = np.unique(np.round(found / (SAME * size)), axis=0, return_index=True)
    found = found[np.sort(first)]
    near = np.linalg.norm(found[:, None] - found[None], axis=2) < 2 * SAME * size
    return found[~np.any(np.tril(near, -1), axis=1)]


def _crossings(one: Stretch, other: Stretch) -> Floats:
    """The places where two stretches cross."""
    first, second = _beside(one.x, other.x), _beside(other.x, one.x)
    a, b = one.x[first, None], other.x[None, second]
    along, across = one.x[first + 1, None] - a, other.x[second + 1] - b[0]
    # a + s along = b + t across
    turn, gap = _cross(along, across), b - a
    with np.errstate(divide="ignore", invalid="ignore"):
        s, t = _cross(gap, across) / turn, _cross(gap, along) / turn
    lengths = np.linalg.norm(along, axis=2) * np.linalg.norm(across, axis=1)
    i, j = np.nonzero((np.abs(turn) > PARALLEL * lengths) & (s > -0.01) & (s < 1.01) & (t > -0.01) & (t < 1.01))
    if one.straight and other.straight:
        return one.x[0] + s[i, j, None] * (one.x[1] - one.x[0])
    p = one.first + (first[i] + s[i, j]) * (one.last - one.first) / (len(one.x) - 1)
    q = other.first + (second[j] + t[i, j]) * (other.last - other.first) / (len(other.x) - 1)
    for _ in range(STEPS):
        gap = other.path.position(q) - one.path.position(p)
        along, across = one.path.velocity(p), other.path.velocity(q)
        turn = _cross(along, across)
        sound = np.abs(turn) > PARALLEL * np.linalg.norm(along, axis=1) * np.linalg.norm(across, axis=1)
        p, q, gap, along, across, turn = (part[sound] for part in (p, q, gap, along, across, turn))
        step = _cross(gap, across) / turn
        p, q = p + step, q + _cross(gap, along) / turn
        if np.abs(step).max(initial=0.0) <= SETTLED * abs(one.last - one.first):
            break
    return one.path.position(p)


def _beside(x: Floats, other: Floats) -> np.ndarray:
    """The edges of a polygon that come near the box of another one."""
    low, high = np.minimum(x[1:], x[:-1]), np.maximum(x[1:], x[:-1])
    margin = 0.01 * np.max(high - low, initial=0.0) + 0.01 * np.ptp(other, axis=0).max()
    apart = np.any((low > other.max(axis=0) + margin) | (high < other.min(axis=0) - margin), axis=1)
    return np.flatnonzero(~apart)


def _cross(u: Floats, v: Floats) -> Floats:
    return u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]


def _ways(place: Floats, stretches: Sequence[Stretch], size: float) -> list[Way]:
    """Where the stretches through a place lead from there, anticlockwise, each direction once."""
    found = []
    for stretch in stretches:
        at = stretch.at(place, size)
        if at is None:
            continue
        smooth_loop = stretch.path.closed and not stretch.straight and len(stretch.path.corners) < 2
        for heading, end in ((1.0, stretch.last), (-1.0, stretch.first)):
            if stretch.straight:
                far = stretch.x[1 if heading > 0 else 0] - place
            else:
                far = stretch.path.position(np.array([(at + end) / 2]))[0] - place
            length = float(np.linalg.norm(far))
            if smooth_loop:
                length = max(length, 0.1 * float(np.ptp(stretch.x, axis=0).max()))
            if length < SAME * size:
                continue
            v = heading * stretch.path.velocity(np.array([at + heading * 1e-9 * (stretch.last - stretch.first)]))[0]
            direction = far / length if stretch.straight else v / np.linalg.norm(v)
            found.append(Way(place, direction, length, stretch, at, heading))
    found.sort(key=lambda way: np.arctan2(way.direction[1], way.direction[0]))
    angle = np.array([np.arctan2(way.direction[1], way.direction[0]) for way in found])
    if len(found) > 1:
        after = np.diff(np.append(angle, angle[0] + 2 * np.pi))
        found = [way for way, turn in zip(found, after, strict=True) if turn > PARALLEL]
    return found


def _pieces_between(partition: Partition, meetings: Sequence[tuple[Floats, list[Way]]]) -> Iterator[list[int]]:
    """At each place the piece between each wall and the next; nothing if other walls run there too."""
    around = []
    for place, ways in meetings:
        angle = np.array([np.arctan2(*way.direction[::-1]) for way in ways])
        turn = np.diff(np.append(angle, angle[0] + 2 * np.pi))
        theta = (angle[:, None] + turn[:, None] * np.linspace(0.02, 0.98, BETWEEN)).ravel()
        around.append(place + NEAR * partition.domain.size * np.stack([np.cos(theta), np.sin(theta)], axis=1))
    labels = partition.label(np.concatenate(around)) if around else np.empty(0, int)
    for x in around:
        mine, labels = labels[: len(x)].reshape(-1, BETWEEN), labels[len(x) :]
        yield mine[:, 0].tolist() if np.all(mine == mine[:, :1]) else []


def _opposite(one: Floats, other: Floats) -> bool:
    """Whether two directions are those of a straight line."""
    return bool(one @ other < 0 and abs(_cross(one, other)) <= PARALLEL)
