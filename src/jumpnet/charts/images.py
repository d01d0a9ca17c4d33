"""Where the field about circles in the plane has its singularities, when they are close to each other or to a wall.

Between two circles the field is reflected to and fro. The images of one circle's sources in the other lie on a segment:
from the image of its centre to the limit point of the pair. A drawn-out pole on that segment catches all of them,
where an expansion about the centre needs ever higher orders as the gap closes. A straight wall mirrors each circle, and
a periodic box repeats them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

# Circles with a gap below this part of the smaller radius get charts for their images in each other.
CLOSE = 0.7
# A mirror image counts if its centre is nearer to the wall than this part of the domain's halfwidth.
NEAR_WALL = 1.05
# A copy in a neighbouring box counts if its centre is nearer to this box than this part of the box's halfwidth.
NEAR_BOX = 0.4


@dataclass(frozen=True)
class Circle:
    """A circle, and the hole or hole's mirror image that it stands for; `hole` counts the holes, -1 for an image."""

    center: complex
    radius: float
    hole: int


@dataclass(frozen=True)
class Segment:
    """The images in circle `inside` of what is in circle `of`: foci at middle +- focus, |y| = 1 at `axes_sum`."""

    inside: Circle
    of: Circle
    middle: complex
    focus: complex
    axes_sum: float


def mirrored(
    circles: list[Circle], corners: Float[np.ndarray, "corners 2"], walls: tuple[bool, ...] | None = None
) -> list[Circle]:
    """Images of the circles in the sides of a polygon given by its corners in order, where they matter.

    `walls` tells which sides mirror (all, if it is not given); side k begins at corner k.
    """
    z = corners[:, 0] + 1j * corners[:, 1]
    reach = NEAR_WALL * max(np.abs(z - z.mean())) / np.sqrt(2)
    found = []
    for side, (a, b) in enumerate(zip(z, np.roll(z, -1), strict=True)):
        if walls is not None and not walls[side]:
            continue
        along = (b - a) / abs(b - a)
        for circle in circles:
            # In the frame of the side, mirroring is complex conjugation.
            place = (circle.center - a) / along
            if abs(place.imag) < reach:
                found.append(Circle(a + along * np.conj(place), circle.radius, -1))
    return found


def repeated(circles: list[Circle], corners: Float[np.ndarray, "4 2"], periodic: Sequence[bool]) -> list[Circle]:
    """Copies of the circles in the neighbouring boxes of a box that is periodic along some axes, where they matter.

    The box is given by its corners in order, the first side along the first axis; it may be a parallelogram.
    """
    z = corners[:, 0] + 1j * corners[:, 1]
    first, second = z[1] - z[0], z[3] - z[0]
    steps = [range(-1, 2) if one else range(1) for one in periodic]
    reach = NEAR_BOX * max(np.abs(z - z.mean())) / np.sqrt(2)
    known, found = list(circles), []
    for i in steps[0]:
        for j in steps[1]:
            for circle in circles if i or j else ():
                center = circle.center + i * first + j * second
                # Coordinates along the sides; what is beyond 0 and 1 lies outside.
                s, t = np.linalg.solve(
                    [[first.real, second.real], [first.imag, second.imag]],
                    [(center - z[0]).real, (center - z[0]).imag],
                )
                outside = abs((s - np.clip(s, 0, 1)) * first + (t - np.clip(t, 0, 1)) * second)
                if outside < reach and all(abs(center - one.center) > 1e-9 * abs(first) for one in known):
                    known.append(Circle(center, circle.radius, -1))
                    found.append(known[-1])
    return found


def segments(circles: list[Circle]) -> list[Segment]:
    """The segments of images of all close pairs, at least one of which is a real circle."""
    return [
        _segment(one, other)
        for one in circles
        for other in circles
        if one is not other and max(one.hole, other.hole) >= 0 and 0 < _gap(one, other)
        and _gap(one, other) < CLOSE * min(one.radius, other.radius)
    ]  # fmt: skip


def _gap(one: Circle, other: Circle) -> float:
    return abs(one.center - other.center) - one.radius - other.radius


def _segment(inside: Circle, of: Circle) -> Segment:
    distance, r = abs(of.center - inside.center), inside.radius
    direction = (of.center - inside.center) / distance
    axis = (distance**2 + r**2 - of.radius**2) / (2 * distance)  # where the two circles have equal power
    first, limit = r**2 / distance, axis - np.sqrt(axis**2 - r**2)
    middle, half = (first + limit) / 2, abs(limit - first) / 2
    # The largest confocal ellipse inside the circle touches it on the line between the centres.
    long = r - middle
    return Segment(inside, of, inside.center + middle * direction, half * direction, long + np.sqrt(long**2 - half**2))
