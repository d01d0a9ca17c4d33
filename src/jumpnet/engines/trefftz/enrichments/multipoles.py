"""Multipoles about holes: decaying harmonic functions where they solve the equation, else poles with smooth factors.

Round holes have images in straight sides of the domain and in each other (charts/images.py, after Cheng and Greengard);
holes of a periodic domain have copies.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from jumpnet.charts import Affine, Box, Chart, Joint, Pole, Slit, local_boxes
from jumpnet.charts.choice import charts_of_hole
from jumpnet.charts.images import Circle, mirrored, repeated, segments
from jumpnet.engines.trefftz.functions import HarmonicFunctions, LegendrePolynomials, PolesTimesPolynomials
from jumpnet.engines.trefftz.operator_type import OperatorType, operator_types
from jumpnet.engines.trefftz.reflections import copies, cut_pieces, is_periodic
from jumpnet.engines.trefftz.trial_space import BasisBlock, TrialSpace
from jumpnet.geometry import Box as DomainBox
from jumpnet.geometry import Hole, Partition
from jumpnet.geometry.checks import Bounds
from jumpnet.geometry.walls.corners import OUTSIDE
from jumpnet.problem import Problem
from jumpnet.rows import ConditionKey

# The order of the first multipoles.
FIRST_ORDER = 4
# Multipoles that are added later have an order this much below the degree of the piece's own functions (heuristic).
BELOW_DEGREE = 4


@dataclass(frozen=True)
class Multipoles:
    """Poles in the holes of pieces with varying coefficients; pieces with constant A have theirs in the first space."""

    once: bool = True
    images: bool = True

    def begin(self, problem: Problem, space: TrialSpace) -> Sequence[BasisBlock]:
        """None: `spaces.first_space` makes them for pieces with constant A."""
        return ()

    def propose(self, problem: Problem, space: TrialSpace, marked: Sequence[ConditionKey]) -> Sequence[BasisBlock]:
        """Poles in all holes of the other pieces."""
        types, boxes = operator_types(problem), local_boxes(problem.partition)
        found: list[BasisBlock] = []
        for piece, operator in enumerate(types):
            if not operator.harmonic:
                order = max(FIRST_ORDER, max(block.degree for block in space.of(piece)) - BELOW_DEGREE)
                found += multipoles(problem, piece, types, order, scaled_box(boxes, piece), self.images)
        return found


def multipoles(
    problem: Problem, piece: int, types: Sequence[OperatorType], order: int, own: Affine, images: bool = True
) -> Iterator[BasisBlock]:
    """The blocks about the holes of a piece, and about the images of the holes in each other."""
    parts, harmonic = problem.partition, types[piece].harmonic
    round_holes: list[tuple[Slit, Hole]] = []
    for hole in parts.holes(piece) if parts.dim > 1 else ():
        for chart in charts_of_hole(parts, piece, hole, lambda p, x: problem.A[p].value(x)):
            yield pole(piece, chart, harmonic, order, own, hole.pieces)
            if isinstance(chart, Pole) and harmonic:
                for place in copies(problem, chart.center):
                    yield pole(piece, replace(chart, center=place), harmonic, order, own, (OUTSIDE,))
            if isinstance(chart, Slit) and chart.focus == 0:
                round_holes.append((chart, hole))
    for chart, hole in cut_pieces(problem, piece) if parts.dim == 2 else ():
        yield pole(piece, chart, harmonic, order, own, (*hole.pieces, OUTSIDE))
        if chart.focus == 0:
            round_holes.append((chart, hole))
    if round_holes and images:
        yield from (
            block for block in images_of(problem, piece, round_holes, types, order, own) if _outside_piece(parts, block)
        )


def _outside_piece(parts: Partition, block: BasisBlock) -> bool:
    """Whether an image has its singularities outside its piece; that of a nearly round hole may not."""
    chart: Any = block.chart.charts[-1] if isinstance(block.chart, Joint) else block.chart
    focus = np.linalg.solve(chart.transform, [chart.focus.real, chart.focus.imag])
    return not (parts.label(chart.center + np.linspace(-1, 1, 9)[:, None] * focus) == block.piece).any()


def pole(piece: int, chart: Chart, harmonic: bool, order: int, own: Affine, pieces: tuple[int, ...]) -> BasisBlock:
    """Decaying functions about a pole: harmonic ones, or in the plane poles with smooth factors, or polynomials."""
    if harmonic:
        if isinstance(chart, Pole):
            # In space, exterior solid harmonics are functions of the coordinates about the pole, without inversion.
            chart = Affine(chart.cells, chart.center, chart.transform, chart.radius)
        return BasisBlock(piece, piece, chart, HarmonicFunctions(chart.outputs, pole=True), order, pieces)
    if isinstance(chart, Slit):
        return BasisBlock(piece, piece, Joint((own, chart)), PolesTimesPolynomials(), order, pieces)
    return BasisBlock(piece, piece, chart, LegendrePolynomials(chart.outputs, pole=True), order, pieces)


def images_of(
    problem: Problem,
    piece: int,
    holes: Sequence[tuple[Slit, Hole]],
    types: Sequence[OperatorType],
    order: int,
    own: Affine,
    bounds: Bounds | None = None,
) -> Iterator[BasisBlock]:
    """Poles at the mirror images of round holes in straight walls, and at the images of close holes in each other.

    With `bounds` of a cell, those images in walls only that are near it.
    """
    parts, harmonic, transform = problem.partition, types[piece].harmonic, holes[0][0].transform

    def slit(center: complex, focus: complex, axes_sum: float) -> Slit:
        place = np.linalg.solve(transform, [center.real, center.imag])
        return Slit((piece,), place, transform, focus, axes_sum)

    circles = [
        Circle(complex(*(transform @ chart.center)), chart.axes_sum / 2, number)
        for number, (chart, _) in enumerate(holes)
    ]
    if isinstance(parts.domain, DomainBox) and piece in _at_the_boundary(parts):
        mirror = _mirror_images(problem, circles, transform, bounds)
        for image in mirror:
            # Far enough outside the piece that simple poles suffice for any operator.
            chart = slit(image.center, 0j, 2 * image.radius)
            yield BasisBlock(piece, piece, chart, HarmonicFunctions(2, pole=True), order, (OUTSIDE,))
        circles += mirror
    for segment in segments(circles):
        chart = slit(segment.middle, segment.focus, segment.axes_sum)
        inside, of = ((holes[c.hole][1].pieces if c.hole >= 0 else (OUTSIDE,)) for c in (segment.inside, segment.of))
        yield pole(piece, chart, harmonic, order, own, (*inside, *of))
        # The piece in the other hole has the same images if the tensors are proportional.
        for other in of:
            if other != OUTSIDE and harmonic and types[other].harmonic and _same_metric(problem, piece, other):
                yield pole(other, replace(chart, cells=(other,)), True, order, own, (piece,))


def _mirror_images(
    problem: Problem, circles: list[Circle], transform: Float[np.ndarray, "2 2"], bounds: Bounds | None
) -> list[Circle]:
    """The images of circles in the walls of a box, near the bounds of a cell only, and their periodic copies."""
    (x0, y0), (x1, y1) = problem.partition.bounds
    corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], float) @ transform.T
    periodic = is_periodic(problem)
    mirror = mirrored(circles, corners, (not periodic[1], not periodic[0]) * 2)
    if bounds is not None:
        middle = complex(*(transform @ np.mean(bounds, axis=0)))
        reach = np.linalg.norm(transform @ np.ptp(bounds, axis=0))
        mirror = [image for image in mirror if abs(image.center - middle) < reach]
    return mirror + repeated(circles + mirror, corners, periodic)


def _at_the_boundary(parts: Partition) -> set[int]:
    """The pieces that reach the outer boundary."""
    return set(parts.walls.outer_labels)


def _same_metric(problem: Problem, one: int, other: int) -> bool:
    """Whether the constant tensors of two pieces are proportional."""
    lower, upper = (np.asarray(end, float) for end in problem.partition.bounds)
    A, B = (problem.A[piece].value((lower + upper)[None] / 2)[0] for piece in (one, other))
    return bool(np.allclose(A / np.trace(A), B / np.trace(B), rtol=1e-12))


def scaled_box(boxes: Box, piece: int) -> Affine:
    """The piece's box, scaled to [-1, 1]^d."""
    return Affine((piece,), boxes.center[piece], np.diag(1 / boxes.halfwidth[piece]), 1.0)
