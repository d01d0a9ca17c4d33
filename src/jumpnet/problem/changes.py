"""Places of the boundary, between corners, where the kind of condition changes or its data have a jump or a kink.

Solutions are singular there, with known functions: r^(1/2) between a Dirichlet and a Neumann condition, the angle where
values jump, r log r where the flux or the slope of the values jumps. Named parts of the boundary end at such places,
and data given by cases jump; both are found by samples along the boundary, with more samples between two that differ.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from jumpnet.fields.scalar import ConstantField
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.walls.corners import (
    NEAR,
    OUTSIDE,
    Corner,
    Stretch,
    Way,
    corners_of,
    on_the_boundary,
    outer_stretches,
)
from jumpnet.geometry.walls.sides import beside as pieces_beside
from jumpnet.problem.conditions import BoundaryCondition, GivenOnBoundary
from jumpnet.problem.problem import Problem

# Samples of a wall from corner to corner, and the most of all walls together (heuristic). Narrower parts are missed.
SAMPLES, MOST_SAMPLES = 256, 4096
# Data may jump between two samples if their second difference exceeds the part JUMP of their range and OUTLIER times
# its median, since second differences of smooth data are similar. The largest MOST_JUMPS are examined; if there are
# more outliers, data are a table of numbers, which is not searched for kinks. Differences below ROUNDING are rounding.
JUMP, OUTLIER, MOST_JUMPS, ROUNDING = 1e-6, 5.0, 8, 1e-12
# An interval is divided into PARTS parts, then the part with the largest change again, DIVISIONS times, down to
# rounding. A smooth change falls to 1/PARTS each time; a change of which the part STAYS remains is a jump.
PARTS, DIVISIONS, STAYS = 16, 14, 0.3
# For a kink two of the parts are divided again: the second difference falls to an eighth at a kink, to a sixty-fourth
# elsewhere. There are fewer divisions, before rounding dominates; the place is where the tangents intersect.
DIVISIONS_AT_KINK, BENDS = 5, 0.04
# Kinds of conditions; arrays hold their positions in this tuple.
KINDS = ("dirichlet", "neumann", "robin", "periodic")
# Values on both sides of a corner are extrapolated from the distance BESIDE (relative to the domain). They differ if
# the difference exceeds the part DIFFERENT of the largest given value, taken over every SPARSE-th sample of the
# boundary.
BESIDE, DIFFERENT, SPARSE = 1e-7, 1e-9, 32


def singular_points(problem: Problem) -> tuple[Corner, ...]:
    """Corners, and the places between them where the condition on the boundary changes."""
    return (*corners_of(problem.partition), *changes(problem))


def changes(problem: Problem) -> tuple[Corner, ...]:
    """The places between corners where the kind of condition changes or its data jump."""
    found = _known.get(problem)
    if found is None:
        found = _known[problem] = tuple(_found(problem)) if problem.dim == 2 else ()
    return found


_known: WeakKeyDictionary[Problem, tuple[Corner, ...]] = WeakKeyDictionary()


# --- beside a corner ------------------------------------------------------------------------------------------


def from_outside(corner: Corner) -> tuple[tuple[Way, ...], tuple[int, ...]] | None:
    """Walls and pieces of a corner of the domain, anticlockwise from its first side; the outside comes last.

    None if the corner is not on the boundary, or is outside more than once.
    """
    if corner.pieces.count(OUTSIDE) != 1:
        return None
    first = corner.pieces.index(OUTSIDE) + 1
    return corner.ways[first:] + corner.ways[:first], corner.pieces[first:] + corner.pieces[:first]


def kinds_beside(problem: Problem, ways: tuple[Way, ...], pieces: tuple[int, ...]) -> tuple[str, str]:
    """The kinds of condition on the first and the last wall at a corner of the domain."""
    return _kind(problem, ways[0], pieces[0], -1.0), _kind(problem, ways[-1], pieces[-2], 1.0)


def values_jump(problem: Problem, ways: tuple[Way, ...], pieces: tuple[int, ...]) -> bool:
    """Whether values given on both sides of a corner differ by more than the jumps given on interfaces between them."""
    begin, end = _given(problem, ways[0], pieces[0], -1.0), _given(problem, ways[-1], pieces[-2], 1.0)
    steps = [_step_across(problem, ways[at], pieces[at - 1], pieces[at]) for at in range(1, len(ways) - 1)]
    return bool(abs(end - begin - sum(steps)) > DIFFERENT * _size_of_values(problem))


def _size_of_values(problem: Problem) -> float:
    """The largest given value on the boundary, over a few points."""
    found = _sizes.get(problem)
    if found is None:
        x, normals, piece, _ = (part[::SPARSE] for part in problem.partition.boundary_survey)
        kind, _, g = _conditions(problem, x, normals, piece)
        found = _sizes[problem] = float(np.abs(g[kind == KINDS.index("dirichlet")]).max(initial=0.0))
    return found


_sizes: WeakKeyDictionary[Problem, float] = WeakKeyDictionary()


def beside(problem: Problem, way: Way, sign: float, *distances: float) -> tuple[Floats, Floats]:
    """Points of a wall at distances from its corner, in parts of the domain's size, and normals; to the left: 1."""
    x, along = way.points(problem.partition.domain.size * np.array(distances))
    return x, sign * np.stack([-along[:, 1], along[:, 0]], axis=1)


def _kind(problem: Problem, way: Way, piece: int, sign: float) -> str:
    """The kind of condition on a side of the domain near a corner."""
    (part,) = problem.partition.part_numbers(*beside(problem, way, sign, NEAR), np.array([piece]))
    return problem.boundary[problem.partition.boundary_parts[part]].kind


def _given(problem: Problem, way: Way, piece: int, sign: float) -> float:
    """The value that is given on a side of the domain where it reaches a corner."""
    near, far = _conditions(problem, *beside(problem, way, sign, BESIDE, 2 * BESIDE), np.full(2, piece))[2]
    return float(2 * near - far)


def _step_across(problem: Problem, way: Way, before: int, after: int) -> float:
    """The jump of u that is given on an interface at a corner, from the piece to its right to the one to its left."""
    pair, sign = (min(before, after), max(before, after)), 1.0 if after < before else -1.0
    near, far = problem.jump_data(pair, *beside(problem, way, sign, BESIDE, 2 * BESIDE))[0]
    return float(sign * (2 * near - far))


# --- between corners ------------------------------------------------------------------------------------------


def _found(problem: Problem) -> Iterator[Corner]:
    parts = problem.partition
    if not parts.named and all(_is_constant(condition) for condition in problem.boundary.values()):
        return
    stretches = outer_stretches(parts)
    count = int(np.clip(MOST_SAMPLES // max(len(stretches), 1), 8, SAMPLES))
    for stretch in stretches:
        yield from on_the_boundary(parts, stretch, np.array(list(_along(problem, stretch, count))))


def _is_constant(condition: BoundaryCondition) -> bool:
    given = condition.g.function if isinstance(condition.g, GivenOnBoundary) else None
    return isinstance(given, ConstantField) and isinstance(condition.alpha, ConstantField)


def _conditions(problem: Problem, x: Floats, normals: Floats, piece: np.ndarray) -> tuple[np.ndarray, Floats, Floats]:
    """The kind of condition (a number), alpha and g at points of the boundary; they may be infinite or nan."""
    parts = problem.partition
    part = parts.part_numbers(x, normals, piece)
    kind, alpha, g = np.zeros(len(x), int), np.zeros(len(x)), np.zeros(len(x))
    with np.errstate(all="ignore"):
        for number in np.unique(part):
            mine, condition = part == number, problem.boundary[parts.boundary_parts[number]]
            kind[mine] = KINDS.index(condition.kind)
            alpha[mine] = condition.alpha.value(x[mine])
            g[mine] = condition.g.value(x[mine], normals[mine], piece[mine])
    return kind, alpha, g


@dataclass(frozen=True)
class _Interval:
    """A stretch of boundary between two parameters, the piece behind it, and which way its normals point."""

    problem: Problem
    stretch: Stretch
    first: float
    last: float
    piece: int
    sign: float

    def at(self, t: Floats) -> tuple[np.ndarray, Floats, Floats]:
        """Kind, alpha and g of the condition there."""
        x, normals, _ = self.stretch.path.at(t)
        return _conditions(self.problem, x, self.sign * normals, np.full(len(t), self.piece))

    def change(self) -> float:
        """Where the kind of condition changes."""
        low, high = self.first, self.last
        for _ in range(DIVISIONS):
            t = np.linspace(low, high, PARTS + 1)
            kind = self.at(t)[0]
            at = int(np.argmax(kind[1:] != kind[0]))
            low, high = float(t[at]), float(t[at + 1])
        return (low + high) / 2

    def jump(self, which: int, usual: float) -> float | None:
        """Where alpha (1) or g (2) jumps, if it does; `usual` is the size of a smooth change over the interval."""
        low, high, apart = self.first, self.last, 0.0
        for _ in range(DIVISIONS):
            t, usual = np.linspace(low, high, PARTS + 1), usual / PARTS
            values = self.at(t)[which]
            off = np.abs(np.diff(values) - usual)
            at = int(np.argmax(off))
            if not off[at] > max(STAYS * apart, ROUNDING * np.abs(values).max()):
                return None
            low, high, apart = float(t[at]), float(t[at + 1]), float(off[at])
        return (low + high) / 2

    def kink(self, which: int) -> float | None:
        """Where alpha (1) or g (2) has a kink, None if it has none."""
        low, high, bent = self.first, self.last, 0.0
        for _ in range(DIVISIONS_AT_KINK):
            t = np.linspace(low, high, PARTS + 1)
            values = self.at(t)[which]
            bend = np.abs(np.diff(values, 2))
            at = int(np.argmax(bend))
            if not bend[at] > max(BENDS * bent, ROUNDING * np.abs(values).max()):
                return None
            low, high, bent = float(t[at]), float(t[at + 2]), float(bend[at])
        # Where the lines on both sides of it cross.
        width = high - low
        a, b, c, d = self.at(np.array([low - width, low, high, high + width]))[which].tolist()
        slopes = (b - a) / width, (d - c) / width
        place = (
            (c - b + slopes[0] * low - slopes[1] * high) / (slopes[0] - slopes[1]) if slopes[0] != slopes[1] else low
        )
        return place if low <= place <= high else (low + high) / 2


def _along(problem: Problem, stretch: Stretch, count: int) -> Iterator[float]:
    """The parameters of a wall of the domain at which the condition on it changes."""
    step, path = (stretch.last - stretch.first) / count, stretch.path
    t: Floats = stretch.first + step * (np.arange(count, dtype=np.float64) + 0.5)
    if path.closed and len(path.corners) < 2:
        t = np.append(t, t[0] + count * step)  # once around
    x, normals, _ = path.at(t)
    away = np.full((len(x), 1), NEAR * problem.partition.domain.size)
    ahead, behind = pieces_beside(problem.partition, x, normals, away)
    piece, sign = np.maximum(ahead, behind), np.where(ahead < 0, 1.0, -1.0)
    outer = (np.minimum(ahead, behind) < 0) & (piece >= 0)
    kind, alpha, g = _conditions(problem, x, sign[:, None] * normals, piece)
    within = outer[1:] & outer[:-1] & (piece[1:] == piece[:-1])  # else there is a corner between
    alike = within & (kind[1:] == kind[:-1])

    def between(i: int) -> _Interval:
        return _Interval(problem, stretch, float(t[i]), float(t[i + 1]), int(piece[i]), float(sign[i]))

    yield from (between(i).change() for i in np.flatnonzero(within & ~alike).tolist())
    for which, values in ((1, alpha), (2, g)):
        outliers = _outliers(values, alike)
        for i, usual in outliers[:MOST_JUMPS]:
            place = between(i).jump(which, usual)
            if place is None and len(outliers) <= MOST_JUMPS:
                place = between(i).kink(which)
            if place is not None:
                yield place


def _outliers(values: Floats, alike: np.ndarray) -> list[tuple[int, float]]:
    """The intervals over which values may jump, the largest first, and the size of a smooth change over each."""
    if not np.isfinite(values).all() or np.ptp(values) <= ROUNDING * np.abs(values).max():
        return []
    steps = np.where(alike, np.diff(values), 0.0)
    before, after = np.append(steps[1], steps[:-1]), np.append(steps[1:], steps[-2])
    usual = np.where(np.abs(before) < np.abs(after), before, after)
    off = np.where(alike, np.abs(steps - usual), 0.0)
    found = np.flatnonzero(off > max(JUMP * float(np.ptp(values)), OUTLIER * float(np.median(off))))
    return [(int(i), float(usual[i])) for i in found[np.argsort(-off[found])]]
