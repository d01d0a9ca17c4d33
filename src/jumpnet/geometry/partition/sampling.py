"""Interior points, measures and boxes of the pieces of a partition."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from jumpnet.errors import GeometryError
from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.partition.interface_detection import Walls
from jumpnet.geometry.partition.labels import Labeller
from jumpnet.geometry.partition.validity import extents, probe
from jumpnet.geometry.randomness import Stream

STEP = 1e-8
"""How far to either side of a wall the labels are taken, relative to the size of the domain."""
DENSE = 1 << 16
"""Sample points of an estimated volume (low-discrepancy), whose error is about 1e-4 of the box, in space up to 3e-4."""


def check_rest(labeller: Labeller) -> None:
    """Refuse a partition whose pieces leave nothing for piece 0."""
    if not labeller.pieces:
        return
    volumes = [shape.volume for shape in (labeller.domain, *labeller.pieces)]
    if all(v is not None for v in volumes) and _rest(volumes) > 1e-6 * (volumes[0] or 0.0):
        return
    for n in (1 << 10, 1 << 13, DENSE):
        if np.any(labeller(probe(labeller.domain.bounds, n)) == 0):
            return
    units = next(filter(None, (extents(piece, labeller.domain) for piece in labeller.pieces)), "")
    raise GeometryError(
        f"the pieces fill the whole domain and leave nothing for piece 0; leave one of them out.{units}"
    )


def _rest(volumes: list[float | None]) -> float:
    known = [v for v in volumes if v is not None]
    return known[0] - sum(known[1:])


def measures(labeller: Labeller) -> tuple[float, ...]:
    """The measure of every piece, closed forms where the shapes have them."""
    domain = labeller.domain
    closed = [None if piece.clipped else piece.volume for piece in labeller.pieces]
    whole = domain.volume
    box = domain.bounds
    cell = float(np.prod(box[1] - box[0])) / DENSE
    if whole is not None and None not in closed:
        return (_rest([whole, *closed]), *(float(v) for v in closed if v is not None))
    shares = np.bincount(labeller(_dense(box)) + 1, minlength=labeller.size + 1)[1:] * cell
    return tuple(float(v) if v is not None else float(s) for v, s in zip([None, *closed], shares, strict=True))


def _dense(box: Bounds) -> Floats:
    """The points of an estimated volume.

    In space the Kronecker sequence of `probe` misses slabs and boxes by 8e-4, as random points do; that of the powers
    of 2^(1/4) by 8e-5 (both by at most 3e-4 of balls and tori).
    """
    lower, upper = box
    dim = len(lower)
    if dim < 3:
        return probe(box, DENSE)
    steps = 2.0 ** (np.arange(1, dim + 1) / (dim + 1))
    return lower + np.mod(0.5 + np.arange(1, DENSE + 1)[:, None] * steps, 1.0) * (upper - lower)


def piece_boxes(labeller: Labeller, walls: Walls) -> tuple[Bounds, ...]:
    """The box of every piece: its shape's where that is tight, else that of samples, snapped to the domain's."""
    lower, upper = labeller.domain.bounds
    x = probe((lower, upper), DENSE // 4)
    labels = labeller(x)
    seen = [(x, labels)] + [(t.points, side) for t in walls.pilot for side in (t.ahead, t.behind)]
    points, labels = np.concatenate([p for p, _ in seen]), np.concatenate([s for _, s in seen])
    near = 0.01 * (upper - lower)
    boxes: list[Bounds] = []
    for k in range(labeller.size):
        shape = labeller.pieces[k - 1] if k else None
        if shape is not None and shape.volume is not None and not shape.clipped:
            boxes.append(shape.bounds)
            continue
        own = points[labels == k]
        if len(own) == 0:
            boxes.append((lower, upper))
            continue
        low, high = own.min(axis=0), own.max(axis=0)
        boxes.append((np.where(low - lower < near, lower, low), np.where(upper - high < near, upper, high)))
    return tuple(boxes)


def interior(
    labeller: Labeller,
    n: int,
    minimum: int,
    rng: np.random.Generator,
    quasi: bool,
    box_of: Callable[[int], Bounds],
) -> tuple[Floats, np.ndarray]:
    """`n` uniform points of the domain; surplus points give way to pieces that have fewer than `minimum`."""
    if quasi and minimum * labeller.size == n:
        return _each(labeller, minimum, rng, box_of)
    x, labels = _fill(labeller, n, labeller.domain.bounds, None, rng, quasi)
    if minimum == 0:
        return x, labels
    counts = np.bincount(labels, minlength=labeller.size)
    short = np.flatnonzero(counts < minimum)
    if len(short) == 0:
        return x, labels
    rank = np.empty(n, dtype=int)  # a point's place among those of its piece
    for k in range(labeller.size):
        rank[labels == k] = np.arange(counts[k])
    spare = rng.permutation(np.flatnonzero(rank >= minimum))
    x, labels = x.copy(), labels.copy()
    for k in short:
        missing = minimum - counts[k]
        place, spare = spare[:missing], spare[missing:]
        if quasi:  # one sequence for the whole piece, in its order: parts of it are then spread evenly too
            place = np.sort(np.concatenate([place, np.flatnonzero(labels == k)]))
        x[place] = _fill(labeller, len(place), box_of(int(k)), int(k), rng, quasi)[0]
        labels[place] = k
    return x, labels


def _fill(
    labeller: Labeller, n: int, box: Bounds, piece: int | None, rng: np.random.Generator, quasi: bool
) -> tuple[Floats, np.ndarray]:
    """`n` points of a box that carry the label `piece` (None: any piece)."""
    lower, upper = box
    stream = Stream(len(lower), rng, quasi)
    points, labels, have, drawn = [np.empty((0, len(lower)))], [np.empty(0, dtype=int)], 0, 0
    while have < n:
        rate = have / drawn if have else (1.0 if drawn == 0 else 0.5 / drawn)
        batch = min(int((n - have) / rate * 1.1) + 16, 1 << 17)
        x = lower + stream.draw(batch) * (upper - lower)
        found = labeller(x)
        kept = found >= 0 if piece is None else found == piece
        points.append(x[kept])
        labels.append(found[kept])
        have, drawn = have + int(kept.sum()), drawn + batch
        if drawn > 1 << 24 and have == 0:
            name = "the domain" if piece is None else f"piece {piece}"
            raise GeometryError(f"no point of {name} was found in {drawn} draws; it is too small for its bounds.")
    return np.concatenate(points)[:n], np.concatenate(labels)[:n]


def _each(
    labeller: Labeller, n: int, rng: np.random.Generator, box_of: Callable[[int], Bounds]
) -> tuple[Floats, np.ndarray]:
    """`n` evenly spread points of every piece, one piece after the other; the labels of all are asked for at once."""
    boxes = [box_of(k) for k in range(labeller.size)]
    streams = [Stream(len(lower), rng, True) for lower, _ in boxes]
    found: list[list[Floats]] = [[] for _ in boxes]
    have, drawn = np.zeros((2, labeller.size), int)
    while (short := np.flatnonzero(have < n)).size:
        rate = np.where(have, have / drawn.clip(1), np.where(drawn, 0.5 / drawn.clip(1), _shares(labeller, boxes)))
        batch = np.minimum((n - have) / rate * 1.1 + 16, 1 << 17).astype(int)[short]
        ends = np.cumsum([0, *batch])
        x = np.empty((ends[-1], len(boxes[0][0])))
        for k, (a, b) in zip(short, pairwise(ends), strict=True):
            lower, upper = boxes[k]
            x[a:b] = lower + streams[k].draw(b - a) * (upper - lower)
        labels = labeller(x)
        for k, (a, b) in zip(short, pairwise(ends), strict=True):
            found[k].append(x[a:b][labels[a:b] == k])
            have[k], drawn[k] = have[k] + len(found[k][-1]), drawn[k] + b - a
            if drawn[k] > 1 << 24 and have[k] == 0:
                raise GeometryError(
                    f"no point of piece {k} was found in {drawn[k]} draws; it is too small for its bounds."
                )
    return np.concatenate([np.concatenate(parts)[:n] for parts in found]), np.repeat(np.arange(labeller.size), n)


def _shares(labeller: Labeller, boxes: list[Bounds]) -> Floats:
    """The part of each piece's box that it fills, from the volume of its shape; a guess if that is not known."""
    volumes = [None, *(piece.volume for piece in labeller.pieces)]
    share = [1.0 if one is None else one / float(np.prod(b - a)) for one, (a, b) in zip(volumes, boxes, strict=True)]
    return np.clip(share, 0.01, 1.0)
