"""Integrals over the pieces, the interfaces and the boundary of a partition, each with its error.

On curves and plane regions, on balls and on faces and uncut spheres in space Gauss's rule is used, and two orders of it
tell the error. What is left (cut surfaces and pieces in space, more dimensions) is sampled with low-discrepancy points,
and the spread of independent samples tells the error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from jumpnet.geometry.bodies.normball import NormBall
from jumpnet.geometry.bodies.shell import ShellPatch
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.partition import Partition
from jumpnet.geometry.partition.interface_detection import Pair, Trace, Walls
from jumpnet.geometry.patches import PILOT, Flipped, Trimmed
from jumpnet.geometry.quadrature.curve_quadrature import NOWHERE, ORDERS, Known, along, path_of, zero_line
from jumpnet.geometry.quadrature.regions import region_rules, unit_gauss
from jumpnet.geometry.quadrature.rules import ENDS, SLIVERS, Held, Quadrature, Rule, bodily
from jumpnet.geometry.quadrature.solids import in_ball, on_surface
from jumpnet.geometry.randomness import Stream
from jumpnet.geometry.shape import Patch

SAMPLED, REPLICATES = 1 << 12, 8
SEED = 20011
"""Of the sampled integrals: any number, always the same."""
MOST_CORNERS = 2000  # that are looked at
SHORT = 1 / (4 * PILOT)  # of a wall: stretches of it that a survey of PILOT points finds are found


def over_interface(partition: Partition, pair: Pair) -> list[Quadrature]:
    """Rules for the interface of the pieces a < b; normals point from b to a."""
    walls = _walls(partition)
    known = Known(_ends(partition))
    found = [
        _wall(walls, k, lambda t: walls.between(t, pair), known)
        for k, pilot in enumerate(walls.pilot)
        if walls.between(pilot, pair).any()
    ]
    return [_turned(q, lambda x, n: partition.label(x + walls.step * n) == pair[0]) for q in found]


def over_boundary(
    partition: Partition,
    part: str | None = None,
    piece: int | None = None,
    kinks: Floats | None = None,
    fine: Floats | None = None,
) -> list[Quadrature]:
    """Rules for the outer boundary, for a part of it, or for what bounds a piece; normals point outward.

    What is integrated may be not smooth at the points `kinks`, and change fast about the points `fine`.
    """
    walls, parts = _walls(partition), partition.boundary_parts
    chosen = None if part is None else parts.index(partition.part_name(part))

    def of_part(trace: Trace) -> np.ndarray:
        found = walls.on_outer_boundary(trace)
        if chosen is not None and len(parts) > 1:
            found = found & (partition.part_of(trace.points, trace.wall, trace.behind) == chosen)
        return found

    def wanted(trace: Trace) -> np.ndarray:
        return of_part(trace) if piece is None else of_part(trace) & (trace.behind == piece)

    touched = [k for k, pilot in enumerate(walls.pilot) if of_part(pilot).any() and _meets(partition, piece, pilot)]
    # A condition of the user's may hold on any short stretch; other parts begin and end at corners.
    least = SHORT if partition.named and len(parts) > 1 else 1.0
    kinks, fine = (NOWHERE if x is None else x for x in (kinks, fine))
    known = Known(_ends(partition), kinks, fine, least)
    return [_wall(walls, k, wanted, known._replace(there=bool(wanted(walls.pilot[k]).any()))) for k in touched]


def outer_pieces(partition: Partition) -> list[int]:
    """The pieces that reach the outer boundary, in order; in the plane also along short stretches."""
    found = set(partition.walls.outer_labels)
    for rule in (one.rules[0] for one in over_boundary(partition)) if partition.dim == 2 else ():
        labels = partition.label(rule.points - ENDS * partition.domain.size * rule.normals)
        found |= set(np.unique(labels[labels >= 0]).tolist())
    return sorted(found)


def _meets(partition: Partition, piece: int | None, pilot: Trace) -> bool:
    """Whether a piece may touch a wall: a short stretch has no point of the pilot sample."""
    if partition.dim != 2:
        return piece is None or bool((pilot.behind == piece).any())
    if not piece:
        return True
    lower, upper = partition.piece_bounds(piece)
    spare = 0.01 * (pilot.points.max(axis=0) - pilot.points.min(axis=0)).max()
    beside = (pilot.points.max(axis=0) < lower - spare) | (pilot.points.min(axis=0) > upper + spare)
    return not beside.any()


_ENDS: WeakKeyDictionary[Partition, Floats] = WeakKeyDictionary()
"""Corners of the walls of partitions in use."""


def _ends(partition: Partition) -> Floats:
    """The corners of all walls of the plane, where stretches of other walls may begin and end."""
    if partition not in _ENDS:
        _ENDS[partition] = _corners(partition) if partition.dim == 2 else np.empty((0, partition.dim))
    return _ENDS[partition]


def _walls(partition: Partition) -> Walls:
    return replace(partition.walls, step=ENDS * partition.domain.size)


def _turned(quadrature: Quadrature, forward: Held) -> Quadrature:
    """The same with normals reversed where they point to the wrong side."""
    rules = tuple(
        replace(rule, normals=np.where(forward(rule.points, rule.normals), 1.0, -1.0)[:, None] * rule.normals)
        for rule in quadrature.rules
    )
    return replace(quadrature, rules=rules)


def _wall(walls: Walls, k: int, wanted: Callable[[Trace], np.ndarray], known: Known) -> Quadrature:
    """Rules for the part of a wall that is wanted."""
    patch, sign, keeps = _bare(walls.walls[k].patch)

    def held(x: Floats, normals: Floats) -> np.ndarray:
        ahead, behind = (walls.labeller(x + s * walls.step * normals) for s in (sign, -sign))
        found = wanted(Trace(x, sign * normals, ahead, behind, np.full(len(x), k)))
        for turn, keep in keeps:
            found = found & keep(x, turn * normals)
        return found

    if walls.dim == 1:
        x, normals = patch.sample(1, np.random.default_rng(0))
        rule = Rule(x, np.ones(1), sign * normals)
        return Quadrature((rule, rule))
    if walls.dim == 2 and (path := path_of(patch)) is not None:
        return along(path, held, sign, known)
    if walls.dim == 2 and isinstance(patch, ShellPatch):
        return zero_line(patch, held, sign)
    if walls.dim == 3 and (found := on_surface(patch, held, sign)) is not None:
        return found
    return _sampled_wall(patch, held, sign)


def _bare(patch: Patch) -> tuple[Patch, float, list[tuple[float, Held]]]:
    """The patch inside wrappers, the sign of its normals, and which of its points are kept."""
    sign, keeps = 1.0, []
    layers = []
    while isinstance(patch, Flipped | Trimmed):
        layers.append(patch)
        patch = patch.patch
    for layer in reversed(layers):
        if isinstance(layer, Flipped):
            sign = -sign
        else:
            keeps.append((sign, layer.keep))
    return patch, sign, keeps


def _sampled_wall(patch: Patch, held: Held, sign: float) -> Quadrature:
    rules = []
    for replicate in range(REPLICATES):
        x, normals = patch.sample(SAMPLED, np.random.default_rng([SEED, replicate]), True)
        kept = held(x, normals)
        weights = np.full(int(kept.sum()), patch.measure / len(x))
        rules.append(Rule(x[kept], weights, sign * normals[kept]))
    # The length or area of a level set is an estimate itself (geometry.shell.SURVEY).
    return Quadrature(tuple(rules), sampled=True, relative=5e-3 if isinstance(patch, ShellPatch) else 0.0)


def over_piece(partition: Partition, piece: int) -> Quadrature:
    """Rules for a piece; kept, as they take longer to find than to use."""
    known = _KNOWN.setdefault(partition, {})
    if piece not in known:
        known[piece] = _over_piece(partition, piece)
    return known[piece]


_KNOWN: WeakKeyDictionary[Partition, dict[int, Quadrature]] = WeakKeyDictionary()
"""Rules for the pieces of partitions in use."""


def _over_piece(partition: Partition, piece: int) -> Quadrature:
    if partition.dim == 1:
        return _intervals(partition, piece)
    shape = partition.pieces[piece - 1] if piece else partition.domain
    ball = getattr(shape, "_kernel", None)
    if partition.dim in (2, 3) and isinstance(ball, NormBall) and ball.power == 2.0 and (piece or not partition.pieces):
        return in_ball(ball)
    lower, upper = partition.bounds
    low, high = partition.piece_bounds(piece)  # of samples, where the shape does not know its own
    low, high = np.maximum(low - 0.03 * (high - low), lower), np.minimum(high + 0.03 * (high - low), upper)

    def inside(x: Floats) -> np.ndarray:
        if piece and not shape.clipped:  # pieces are disjoint and lie in the domain
            return shape.contains(x)
        return partition.label(x) == piece

    if partition.dim == 2:
        rules = tuple(
            bodily(rule.points, rule.weights) for rule in region_rules(inside, low, high, _corners(partition))
        )
        return Quadrature(rules, relative=SLIVERS)
    rules = []
    for replicate in range(REPLICATES):
        u = Stream(partition.dim, np.random.default_rng([SEED, replicate]), True).draw(4 * SAMPLED)
        x = low + u * (high - low)
        x = x[inside(x)]
        rules.append(bodily(x, np.full(len(x), float(np.prod(high - low)) / len(u))))
    return Quadrature(tuple(rules), sampled=True)


def _corners(partition: Partition) -> Floats:
    """The corners of all curves."""
    found = []
    for wall in partition.walls.walls:
        path = path_of(_bare(wall.patch)[0])
        if path is not None:
            found.append(path.position(path.corners[:MOST_CORNERS]))
    return np.concatenate(found)[:MOST_CORNERS] if found else np.empty((0, 2))


def _intervals(partition: Partition, piece: int) -> Quadrature:
    """Gauss's rule on the intervals of a piece of the line, eight panels on each."""
    ends = [np.asarray(partition.bounds, float).ravel()]
    ends += [partition.sample_interface(i.pair, 1, seed=0)[0][:, 0] for i in partition.interfaces]
    breaks = np.unique(np.concatenate(ends))
    own = partition.label((0.5 * (breaks[1:] + breaks[:-1]))[:, None]) == piece
    start, length = breaks[:-1][own], np.diff(breaks)[own]
    start = (start[:, None] + length[:, None] * np.arange(8) / 8).ravel()
    length = np.repeat(length / 8, 8)
    rules = []
    for order in ORDERS:
        t, w = unit_gauss(order)
        rules.append(bodily((start[:, None] + length[:, None] * t).reshape(-1, 1), (length[:, None] * w).ravel()))
    return Quadrature(tuple(rules))
