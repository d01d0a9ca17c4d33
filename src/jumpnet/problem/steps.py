"""Places at which u has no limit, since the values given around them differ: where a hot side meets a cold one.

There u is a function of the angle and A grad u grows like 1/r, so that fluxes through walls that end there, and the
energy, are infinite: no number is their value, whatever quadrature may say. They are looked for at corners and along
the boundary of the plane, and at the edges of a box in space.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from weakref import WeakKeyDictionary

import numpy as np

from jumpnet.fields import point
from jumpnet.geometry import Box
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.walls.corners import OUTSIDE, Corner, Way
from jumpnet.problem.changes import beside, from_outside, kinds_beside, singular_points
from jumpnet.problem.conditions import Pair
from jumpnet.problem.problem import Problem

# Distances from a point, relative to the domain, at which values around it are compared. A step remains the same; the
# difference of continuous values, as r^a, falls to less than LEFT of itself for a > 0.05.
FAR, CLOSE, LEFT = 1e-7, 1e-11, 0.6
# Differences below the part SAME of the range of all given values, or ROUNDING of the values themselves, are none.
SAME, ROUNDING = 1e-6, 1e-9


# What to do about it.
FINITE = "let them change over a distance, give Robin conditions, or leave it out"
# Places along an edge at which values are compared.
ALONG = np.linspace(0.05, 0.95, 7)


@dataclass(frozen=True, eq=False)
class Step:
    """A place where u has no limit: the parts of the boundary and the interfaces that end there, and the pieces."""

    place: Floats
    walls: frozenset[str | Pair]
    pieces: frozenset[int]


def steps(problem: Problem) -> tuple[Step, ...]:
    """The points at which values given on the boundary, or jumps given on interfaces, do not fit together."""
    found = _known.get(problem)
    if found is None:
        found = _known[problem] = tuple(_found(problem)) if 1 < problem.dim < 4 else ()
    return found


_known: WeakKeyDictionary[Problem, tuple[Step, ...]] = WeakKeyDictionary()


def why_infinite(problem: Problem, wall: str | Pair | None = None, piece: int | None = None) -> str:
    """Why the flux through a wall is infinite, or (without one) the energy of a piece or of all; empty if it is not."""
    for step in steps(problem):
        if wall in step.walls if wall is not None else piece is None or piece in step.pieces:
            return f"the given values jump at {point(step.place)}, where the flux density grows like 1/r"
    return ""


def _found(problem: Problem) -> Iterator[Step]:
    if problem.dim == 3:
        yield from _on_edges(problem)
        return
    for corner in singular_points(problem):
        if _remains(problem, *(_misfit(problem, corner, distance) for distance in (FAR, CLOSE))):
            yield _step(problem, corner)


def _remains(problem: Problem, far: Floats | float, close: Floats | float) -> np.ndarray:
    """Whether a difference of values over a small distance is one over none."""
    return np.asarray(np.abs(close) > np.maximum(LEFT * np.abs(far), SAME * _range(problem)))


def _range(problem: Problem) -> float:
    """The range of the values given on the boundary, at its sample points."""
    x, normals, piece, _ = problem.partition.boundary_survey
    found = _values(problem, x, normals, piece)
    return float(np.nanmax(found) - np.nanmin(found)) if np.isfinite(found).any() else 0.0


def _misfit(problem: Problem, corner: Corner, distance: float) -> float:
    """By how much the values given around a point differ at a small distance from it, beyond the jumps given.

    Zero where u is free to have a limit: beside given fluxes, and where pieces touch with a contact resistance.
    """
    ways, pieces, given = corner.ways, corner.pieces, [0.0]
    interfaces = list(zip(ways, (pieces[-1], *pieces[:-1]), pieces, strict=True))
    if OUTSIDE in pieces:
        seen = from_outside(corner)
        if seen is None or kinds_beside(problem, *seen) != ("dirichlet", "dirichlet"):
            return 0.0
        ways, pieces = seen
        begin, end = (ways[0], pieces[0], -1.0), (ways[-1], pieces[-2], 1.0)
        given = [_value(problem, *end, distance), -_value(problem, *begin, distance)]
        interfaces = [(ways[at], pieces[at - 1], pieces[at]) for at in range(1, len(ways) - 1)]
    for way, before, after in interfaces:
        pair, sign = (min(before, after), max(before, after)), 1.0 if after < before else -1.0
        x, normals = beside(problem, way, sign, distance)
        if problem.resistance(pair, x)[0] != 0.0:
            return 0.0
        given.append(-sign * float(problem.jump_data(pair, x, normals)[0][0]))
    change = sum(given)
    return change if abs(change) > ROUNDING * sum(map(abs, given)) else 0.0


def _value(problem: Problem, way: Way, piece: int, sign: float, distance: float) -> float:
    """The value given on a wall of the domain at a distance from where it begins."""
    x, normals = beside(problem, way, sign, distance)
    return float(_values(problem, x, normals, np.array([piece]))[0])


def _on_edges(problem: Problem) -> Iterator[Step]:
    """Edges of a box in space between sides with different values."""
    parts = problem.partition
    if not isinstance(parts.domain, Box):
        return
    ends = np.array([parts.domain.lower, parts.domain.upper])
    for axes in combinations(range(3), 2):
        for ups in product((0, 1), repeat=2):
            x = ends[0] + ALONG[:, None] * (ends[1] - ends[0])
            x[:, axes] = ends[ups, axes]
            outward = (2.0 * np.array(ups) - 1)[:, None] * np.eye(3)[list(axes)]
            piece = parts.label(x - FAR * parts.domain.size * outward.sum(axis=0))
            far, close = (_on_sides(problem, x, outward, piece, distance) for distance in (FAR, CLOSE))
            (found,) = np.nonzero(_remains(problem, far[1] - far[0], close[1] - close[0]))
            if len(found):
                walls = (_parts(problem, x[found], np.tile(n, (len(found), 1)), piece[found]) for n in outward)
                yield Step(x[found[0]], frozenset().union(*walls), frozenset(piece[found].tolist()))


def _on_sides(problem: Problem, x: Floats, outward: Floats, piece: np.ndarray, distance: float) -> Floats:
    """The values given on the two sides that meet at an edge, at a distance from it; nan without any."""
    return np.array([
        _values(problem, x - distance * problem.partition.domain.size * outward[1 - k], outward[k], piece)
        for k in (0, 1)
    ])  # fmt: skip


def _values(problem: Problem, x: Floats, normal: Floats, piece: np.ndarray) -> Floats:
    """The values given at points of the boundary, over the K of their pieces; nan where the condition is another."""
    parts, normals = problem.partition, np.broadcast_to(normal, x.shape)
    number, found = parts.part_numbers(x, normals, piece), np.full(len(x), np.nan)
    for k in np.unique(number).tolist():
        mine, name = number == k, parts.boundary_parts[k]
        if problem.boundary[name].kind == "dirichlet":
            found[mine] = problem.boundary_data(name, x[mine], normals[mine], piece[mine])[2]
    return found / np.asarray(problem.K)[piece]


def _parts(problem: Problem, x: Floats, normals: Floats, piece: np.ndarray) -> set[str | Pair]:
    """The names of the parts of the boundary at points."""
    names = problem.partition.boundary_parts
    return {names[k] for k in problem.partition.part_numbers(x, normals, piece).tolist()}


def _step(problem: Problem, corner: Corner) -> Step:
    """The walls at a point without a limit, by name or pair."""
    walls: set[str | Pair] = set()
    for at, way in enumerate(corner.ways):
        before, after = corner.pieces[at - 1], corner.pieces[at]
        if OUTSIDE not in (before, after):
            walls.add((min(before, after), max(before, after)))
            continue
        piece, sign = max(before, after), 1.0 if after == OUTSIDE else -1.0
        walls |= _parts(problem, *beside(problem, way, sign, FAR), np.array([piece]))
    return Step(corner.place, frozenset(walls), frozenset(corner.pieces) - {OUTSIDE})
