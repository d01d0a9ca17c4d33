"""Corners of the domain: the functions that solutions have there, whatever the rest of the problem is.

At a corner between straight sides, a solution of div(A grad u) = f with constant A is a smooth function and a sum of
known ones: in coordinates that make A the identity, powers z^(k pi/omega) of the distance, omega being the angle of
the corner (k - 1/2 for k, where values are given on one side and the flux on the other), with a logarithm where the
power is a whole number. A square heated from inside has z^2 log z at its corners, a re-entrant corner z^(2/3).
"""

from collections.abc import Iterator

import numpy as np

from jumpnet.charts import Affine, inverse_root
from jumpnet.driver.plan import OUTSIDE, Part
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.corners import Corner, corners_of
from jumpnet.problem import Problem

# Powers at each corner to begin with.
FIRST = 3
# A corner is looked at from so near, relative to the domain; sides that turn by less are one.
NEAR, STRAIGHT = 1e-5, 1e-6
# Points at which the cut of the powers, which leads away from the corner, must be outside the domain.
ALONG = 2000


def corner_parts(problem: Problem, piece: int) -> Iterator[Part]:
    """The functions of a piece with constant A at the corners of the domain that it fills."""
    for corner in corners_of(problem.partition.domain):
        found = _at(problem, piece, corner)
        if found is not None:
            yield found


def _at(problem: Problem, piece: int, corner: Corner) -> Part | None:
    """The functions at one corner; None if the piece does not fill it, or its powers would be cut inside the domain."""
    parts, size = problem.partition, problem.partition.domain.size
    metric = inverse_root(problem.A[piece].value(corner.place[None])[0])
    back = np.linalg.inv(metric)
    begin, end = (complex(*(metric @ side)) for side in (corner.after, -corner.before))
    angle = float(np.angle(end / begin) % (2 * np.pi))
    if not STRAIGHT < angle < 2 * np.pi - STRAIGHT or abs(angle - np.pi) < STRAIGHT:
        return None
    middle = begin / abs(begin) * np.exp(0.5j * angle)  # the direction of half the angle, which becomes the real axis

    def places(directions: np.ndarray, lengths: np.ndarray) -> Floats:
        away = np.stack([np.real(directions), np.imag(directions)], axis=1) @ back.T
        return corner.place + lengths[:, None] * away / np.linalg.norm(away, axis=1, keepdims=True)

    inside = places(middle * np.exp(1j * angle * np.linspace(-0.48, 0.48, 9)), np.full(9, NEAR * size))
    behind = places(np.full(ALONG, -middle), 2 * size * np.linspace(1 / ALONG, 1, ALONG))
    if np.any(parts.label(inside) != piece) or np.any(parts.domain.contains(behind)):
        return None
    kinds = [_kind(problem, corner.place, side) for side in (corner.after, -corner.before)]
    if None in kinds or "periodic" in kinds:
        return None
    given = [kind == "dirichlet" for kind in kinds]
    step = np.pi / angle
    turn = np.array([[middle.real, middle.imag], [-middle.imag, middle.real]])
    lower, upper = (np.asarray(bound, float) for bound in parts.bounds)
    reach = float(np.linalg.norm(np.abs(metric) @ (upper - lower)))
    powers = (step if given[0] == given[1] else step / 2, step)
    chart = Affine((piece,), corner.place, turn @ metric, reach)
    return Part(piece, piece, chart, "corner", FIRST, True, (OUTSIDE,), powers=powers)


def _kind(problem: Problem, place: Floats, side: Floats) -> str | None:
    """The kind of condition on a side near the corner where it begins; None if no point of it is known."""
    parts = problem.partition
    x, _, _, part = parts.boundary_survey
    length = np.linalg.norm(side)
    along, across = ((x - place) @ (direction / length) for direction in (side, np.array([-side[1], side[0]])))
    on_side = np.flatnonzero((np.abs(across) < 1e-9 * parts.domain.size) & (along > 0) & (along < length))
    if not len(on_side):
        return None
    nearest = on_side[np.argmin(along[on_side])]
    return problem.boundary[parts.boundary_parts[part[nearest]]].kind
