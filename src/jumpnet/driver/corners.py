"""Corners: the functions that solutions have there, whatever the rest of the problem is.

At a point where walls meet, a solution of div(A grad u) = f with A constant in each piece is a smooth function
in each of them and a sum of powers of the distance, with a logarithm where the power is a whole number. A square heated
from inside has z^2 log z at its corners, a re-entrant corner z^(2/3), a square inclusion of conductivity 10 z^0.73.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from jumpnet.charts import Affine, inverse_root
from jumpnet.driver.across import mirrors
from jumpnet.driver.exponents import Sector, exponents
from jumpnet.driver.plan import OUTSIDE, Part
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.corners import NEAR, Corner, Way, corners_of
from jumpnet.models.wedges import WHOLE
from jumpnet.problem import Problem

# Powers at each corner to begin with: so many, and all below this.
FIRST, LOW = 3, 3.0
# So many are known.
MOST, HIGHEST = 60, 32.0
# Points at which the cut of the powers, which leads away from the corner, is looked at, and how far it may come of the
# way on which it meets the piece again.
ALONG, OF_THE_WAY = 2000, 0.5
# A corner has an image in a side of the domain that is nearer than so many lengths of its cut.
NEAR_SIDE = 1.0
# Cuts that would be shorter than this, relative to the domain, are none.
SHORTEST = 1e-3


def corner_parts(problem: Problem, harmonic: set[int], broken: bool = False) -> Iterator[Part]:
    """The functions at corners all of whose pieces are among those with constant A.

    With `broken`, only at those whose powers are not all whole numbers. Others are smooth where nothing disturbs them:
    a logarithm comes with a source, or with values that do not go together.
    """
    for corner in corners_of(problem.partition):
        if set(corner.pieces) <= {OUTSIDE, *harmonic}:
            yield from _at(problem, corner, broken)


def _at(problem: Problem, corner: Corner, broken: bool) -> Iterator[Part]:
    """The functions of each piece at one corner."""
    place, ways, pieces = corner
    ends = None
    if OUTSIDE in pieces:
        first = pieces.index(OUTSIDE) + 1  # so that it comes last
        ways, pieces = ways[first:] + ways[:first], pieces[first:] + pieces[:first]
        if pieces.count(OUTSIDE) > 1:
            return
        kinds = _kind(problem, ways[0], pieces[0], -1.0), _kind(problem, ways[-1], pieces[-2], 1.0)
        if "periodic" in kinds:
            return
        ends = kinds[0] == "dirichlet", kinds[1] == "dirichlet"
    A = {piece: problem.A[piece].value(place[None])[0] for piece in pieces if piece != OUTSIDE}
    directions = np.array([way.direction for way in ways])
    walls = {piece: _complex(directions, inverse_root(A[piece])) for piece in A}
    sectors = [_sector(A[piece], np.roll(walls[piece], -at)) for at, piece in enumerate(pieces) if piece != OUTSIDE]
    powers = exponents(tuple(sectors), ends, HIGHEST)
    powers = (powers if corner.straight else _shifted(powers))[:MOST]
    if broken and np.all(np.abs(powers - np.round(np.real(powers))) < WHOLE):
        return
    for piece in A:
        for begin, end in _gaps(pieces, piece):
            gap = float(np.angle(walls[piece][end] / walls[piece][begin]) % (2 * np.pi))
            middle = walls[piece][begin] / abs(walls[piece][begin]) * np.exp(0.5j * gap)
            transform, others = inverse_root(A[piece]), tuple(sorted(set(pieces) - {piece}))
            cut = _cut(problem, place, piece, transform, middle)
            if cut is None or not len(powers):
                continue
            chart, ends_inside = cut
            count = min(max(FIRST, int(np.count_nonzero(np.real(powers) < LOW))), len(powers))
            known, opening = tuple(powers.tolist()), gap / 2 if ends_inside else 0.0
            part = Part(piece, piece, chart, "corner", count, True, others, powers=known, opening=opening)
            yield part
            if ends_inside and OUTSIDE not in pieces:
                yield from _mirrored(problem, part, transform, middle)


def _sector(A: Floats, walls: np.ndarray) -> Sector:
    """What a piece fills between the first wall and the second."""
    turn = walls[1] / walls[0]
    # Rounded, since the corners of a regular figure are all alike.
    angle, stretch = round(float(np.angle(turn) % (2 * np.pi)), 13), round(float(abs(turn)), 13)
    return Sector(angle, stretch, float(np.sqrt(np.linalg.det(A))))


def _mirrored(problem: Problem, part: Part, transform: Floats, along: complex) -> Iterator[Part]:
    """The images of a corner of a hole in straight sides of the domain that are near."""
    chart: Any = part.chart
    place = complex(*(transform @ chart.center))
    for side in mirrors(problem, part.piece, transform):
        if side.distance(place) < NEAR_SIDE * chart.radius:
            image = side.image(place)
            center = np.linalg.solve(transform, [image.real, image.imag])
            images = replace(chart, center=center, transform=_turned(side.direction(along)) @ transform)
            yield replace(part, chart=images, pieces=(OUTSIDE,))


def _turned(cut: complex) -> Floats:
    """The rotation that takes the direction of a cut to the negative real axis."""
    return -np.array([[cut.real, cut.imag], [-cut.imag, cut.real]])


def _shifted(powers: np.ndarray) -> np.ndarray:
    """The powers between curved walls: those between their tangents, and whole numbers more."""
    every = (powers[:, None] + np.arange(np.ceil(HIGHEST))).ravel()
    every = np.sort_complex(every) if np.iscomplexobj(every) else np.sort(every)
    return every[np.append(True, np.abs(np.diff(every)) > WHOLE)]


def _complex(vectors: Floats, transform: Floats) -> np.ndarray:
    """Vectors after a linear map, as complex numbers."""
    y = vectors @ transform.T
    return y[:, 0] + 1j * y[:, 1]


def _gaps(pieces: Sequence[int], piece: int) -> Iterator[tuple[int, int]]:
    """The sides between which a piece is not: where each gap begins and where it ends, anticlockwise."""
    mine = [at for at, other in enumerate(pieces) if other == piece]
    for at, after in zip(mine, mine[1:] + mine[:1], strict=True):
        yield (at + 1) % len(pieces), after


def _cut(problem: Problem, place: Floats, piece: int, metric: Floats, along: complex) -> tuple[Affine, bool] | None:
    """Coordinates in which a cut leads along the negative real axis, and whether it must end, at -1, before it meets
    the piece again. None if it would be too short."""
    parts, size = problem.partition, problem.partition.domain.size
    away = np.linalg.solve(metric, [along.real, along.imag])
    lengths = 2 * size * np.linspace(1 / ALONG, 1, ALONG) / np.linalg.norm(away)
    met = np.flatnonzero(parts.label(place + lengths[:, None] * away) == piece)
    turn = _turned(along)
    if len(met):
        reach = OF_THE_WAY * lengths[met[0]]
        return (Affine((piece,), place, turn @ metric, float(reach)), True) if reach > SHORTEST * size else None
    lower, upper = (np.asarray(bound, float) for bound in parts.bounds)
    reach = np.linalg.norm(np.abs(metric) @ (upper - lower))
    return Affine((piece,), place, turn @ metric, float(reach)), False


def _kind(problem: Problem, way: Way, piece: int, sign: float) -> str:
    """The kind of condition on a side of the domain near a corner; `sign` says whether outside is to its left."""
    parts = problem.partition
    x, along = way.points(np.array([NEAR * parts.domain.size]))
    outwards = sign * np.stack([-along[:, 1], along[:, 0]], axis=1)
    (part,) = parts.part_numbers(x, outwards, np.array([piece]))
    return problem.boundary[parts.boundary_parts[part]].kind
