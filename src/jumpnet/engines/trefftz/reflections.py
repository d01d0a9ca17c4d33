"""Images of holes across the sides of the domain: mirror images, periodic copies, and holes that a side cuts."""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from jumpnet.charts import Slit, inverse_root
from jumpnet.charts.choice import Tensor, charts_of_hole
from jumpnet.geometry import Box, Hole
from jumpnet.problem import Problem

# A wall counts as an arc of a circle if no point deviates by more than this part of the radius.
ROUND = 1e-7
# Sample points at which a wall is tested for being an arc or straight.
POINTS = 200
# Walls count as straight if their normals differ by less than this.
STRAIGHT = 1e-6
# In space, copies of a hole are used if their centre is within this distance of the box, in halves of its longest side
# (heuristic).
NEAR = 1.45


def is_periodic(problem: Problem) -> tuple[bool, ...]:
    """Along which axes the problem is periodic."""
    sides = (problem.boundary.get(f"x{axis + 1}-") for axis in range(problem.dim))
    return tuple(side is not None and side.kind == "periodic" for side in sides)


class Mirror(NamedTuple):
    """A straight side of the domain in the coordinates of a piece, as complex numbers: a point and its direction."""

    at: complex
    along: complex

    def distance(self, place: complex) -> float:
        """The distance of a place from the side."""
        return abs(((place - self.at) / self.along).imag)

    def image(self, place: complex) -> complex:
        """The image of a place."""
        return self.at + self.direction(place - self.at)

    def direction(self, vector: complex) -> complex:
        """The image of a direction."""
        return self.along**2 * vector.conjugate()


def mirrors(problem: Problem, piece: int, transform: np.ndarray) -> Iterator[Mirror]:
    """The sides of a box that is not periodic, for a piece that reaches them."""
    parts = problem.partition
    if not isinstance(parts.domain, Box) or piece not in parts.walls.outer_labels or any(is_periodic(problem)):
        return
    (x0, y0), (x1, y1) = parts.bounds
    corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], float) @ transform.T @ np.array([1, 1j])
    for a, b in zip(corners.tolist(), np.roll(corners, -1).tolist(), strict=True):
        yield Mirror(a, (b - a) / abs(b - a))


def copies(problem: Problem, center: np.ndarray) -> Iterator[np.ndarray]:
    """The periodic copies of a point in neighbouring boxes that are close to this box."""
    lower, upper = (np.asarray(end, float) for end in problem.partition.bounds)
    for step in product(*(range(-1, 2) if one else range(1) for one in is_periodic(problem))):
        place = center + np.array(step) * (upper - lower)
        outside = np.linalg.norm(place - np.clip(place, lower, upper))
        if any(step) and 0 < outside <= NEAR * np.max(upper - lower) / 2:
            yield place


def cut_pieces(problem: Problem, piece: int) -> Iterator[tuple[Slit, Hole]]:
    """Poles for the pieces that a side of the domain cuts, and that bulge into a piece.

    An arc of a circle (where A is the identity) is treated as that of a hole which the side cuts; other walls get a
    pole as holes do.
    """
    parts = problem.partition
    outer = parts.walls.outer_labels
    around = {other for hole in parts.holes(piece) for other in hole.pieces}
    for interface in parts.interfaces:
        if piece not in interface.pair:
            continue
        (other,) = set(interface.pair) - {piece}
        if other not in outer or other in around:
            continue
        x, normals = parts.sample_interface(interface.pair, POINTS, seed=0)
        transform = inverse_root(problem.A[piece].value(x).mean(axis=0))
        center, radius, off = _circle(x @ transform.T)
        outward = normals if piece == interface.pair[0] else -normals  # outward for the other piece
        if np.ptp(outward, axis=0).max() < STRAIGHT:
            continue
        if off < ROUND * radius:
            chart = Slit((piece,), np.linalg.solve(transform, center), transform, 0j, 2 * radius)
        elif any(is_periodic(problem)):
            continue
        else:
            chart = next(charts_of_hole(parts, piece, Hole(other, x, x.mean(axis=0), (other,)), _tensor(problem)))
            assert isinstance(chart, Slit)
        # The wall must be convex as seen from the pole; otherwise the pole would lie on the wrong side of it.
        bulges = np.all(np.sum((x - chart.center) * outward, axis=1) > 0)
        if bulges and parts.label(chart.center[None])[0] != piece:
            yield chart, Hole(other, x, chart.center, (other,))


def _tensor(problem: Problem) -> Tensor:
    return lambda piece, x: problem.A[piece].value(x)


def _circle(z: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Centre and radius of the circle nearest to points, and how far the farthest of them is from it."""
    middle = z.mean(axis=0)
    y = z - middle
    fit = np.linalg.lstsq(np.c_[2 * y, np.ones(len(y))], np.sum(y * y, axis=1), rcond=None)[0]
    radius = float(np.sqrt(max(fit[2] + fit[:2] @ fit[:2], 0.0)))
    return middle + fit[:2], radius, float(np.abs(np.linalg.norm(y - fit[:2], axis=1) - radius).max())
