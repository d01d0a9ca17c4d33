"""Points on holes that are small beside other walls of their kind.

Points are spread evenly over the boundary, and over the interface of two pieces. A hole of a thousandth of the others'
length gets none of them, yet the functions about it have as many coefficients: these would be left to chance.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from jumpnet.collocation import Collocation, Points
from jumpnet.geometry import Partition
from jumpnet.geometry.partition.interface_detection import Pair, Trace
from jumpnet.problem import Problem

# The boundary of the domain, where a pair of pieces is meant.
BOUNDARY = (-1, -1)
# Walls that have this part of the points that they need get no more (heuristic).
ENOUGH = 0.8


@dataclass(frozen=True)
class HoleWall:
    """What a hole has of a wall between two pieces: its length or area, that of the hole, and that of all such walls.

    `pair` is BOUNDARY for a hole of the domain.
    """

    wall: int
    pair: Pair
    measure: float
    of_hole: float
    of_pair: float

    def missing(self, points: Points, least: int) -> int:
        """The points that it lacks if a hole needs `least`."""
        even = (points.boundary if self.pair == BOUNDARY else points.interface) * self.measure / self.of_pair
        needed = least * self.measure / self.of_hole
        return int(np.ceil(needed - even)) if even < ENOUGH * needed else 0


# The walls of partitions that are still in use: finding them takes longer than the lookup.
_KNOWN: WeakKeyDictionary[Partition, tuple[HoleWall, ...]] = WeakKeyDictionary()


def walls_of_holes(parts: Partition) -> tuple[HoleWall, ...]:
    """The walls of all holes of all pieces; kept, as what is measured of a geometry is."""
    if parts not in _KNOWN:
        _KNOWN[parts] = () if parts.dim == 1 else _walls_of_holes(parts)
    return _KNOWN[parts]


def _walls_of_holes(parts: Partition) -> tuple[HoleWall, ...]:
    walls, of_pair = parts.walls, defaultdict(float)
    found: dict[tuple[int, int], dict[tuple[int, Pair], float]] = {}
    for piece in range(parts.size):
        holes = {x.tobytes(): (piece, k) for k, hole in enumerate(parts.holes(piece)) for x in hole.points}
        for k in walls.of_piece.get(piece, ()) if holes else ():
            for hole, pair, measure in _shares(parts, k, piece, holes):
                found.setdefault(hole, {})[k, pair] = measure
    outer = (walls.on_outer_boundary(trace) for trace in walls.pilot)
    of_pair[BOUNDARY] = sum(w.patch.measure * float(np.mean(o)) for w, o in zip(walls.walls, outer, strict=True))
    of_pair |= walls.interfaces
    return tuple(
        HoleWall(k, pair, measure, sum(shares.values()), of_pair[pair])
        for shares in found.values()
        for (k, pair), measure in shares.items()
    )


def _shares(
    parts: Partition, k: int, piece: int, holes: dict[bytes, tuple[int, int]]
) -> Iterator[tuple[tuple[int, int], Pair, float]]:
    """The holes of a piece that a wall belongs to, the pieces that it lies between there, and how much of it."""
    walls, trace = parts.walls, parts.walls.pilot[k]
    outer, between = walls.on_outer_boundary(trace), walls.between(trace)
    seen = np.flatnonzero((outer | between) & ((trace.ahead == piece) | (trace.behind == piece)))
    counts: dict[tuple[tuple[int, int], Pair], int] = defaultdict(int)
    for at in seen.tolist():
        hole = holes.get(trace.points[at].tobytes())
        if hole is not None:
            low, high = sorted((int(trace.ahead[at]), int(trace.behind[at])))
            counts[hole, BOUNDARY if outer[at] else (low, high)] += 1
    for (hole, pair), count in counts.items():
        yield hole, pair, walls.walls[k].patch.measure * count / len(trace)


def on_small_walls(
    problem: Problem, holes: tuple[HoleWall, ...], points: Points, least: int, rng: np.random.Generator
) -> Collocation | None:
    """Points for the holes that would get fewer than `least` evenly spread ones; None where there are none."""
    parts, walls = problem.partition, problem.partition.walls
    found: dict[Pair, list[Trace]] = defaultdict(list)
    for one in holes:
        if missing := one.missing(points, least):
            found[one.pair].append(walls.trace(one.wall, missing, rng, True))
    if not found:
        return None
    drawn = {pair: Trace.join(traces) for pair, traces in found.items()}
    edge = drawn.pop(BOUNDARY, walls.pilot[0][:0])
    edge = edge[walls.on_outer_boundary(edge)]
    number = parts.part_numbers(edge.points, edge.normals, edge.behind)
    kept = {pair: trace[walls.between(trace, pair)] for pair, trace in drawn.items()}
    interfaces = {
        pair: (one.points, np.where(one.ahead == pair[0], 1.0, -1.0)[:, None] * one.normals)
        for pair, one in kept.items()
    }
    none = np.zeros((0, parts.dim)), np.zeros(0, int)
    return Collocation(*none, edge.points, edge.normals, edge.behind, number, interfaces)
