"""Which frozen features a problem gets: chosen piece by piece from geometry and coefficients, never from the solution.

Where A is constant and there is no source, the features solve the equation exactly: harmonic functions after the
linear map that makes A the identity, growing ones and poles in the holes. Elsewhere they are polynomials. Each part
has a degree of its own, which the direct solver raises where residuals are large. A piece with many holes is cut
between them into cells that know the holes near them only. Pieces that are cut by a tree of boxes have the same
functions cell by cell, without poles.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from jumpnet.charts import Affine, Box, Chart, Joint, Pole, Slit, local_boxes
from jumpnet.charts.choice import charts_of_hole
from jumpnet.charts.images import Circle, mirrored, repeated, segments
from jumpnet.engines.trefftz.across import copies, cut_pieces, is_periodic
from jumpnet.engines.trefftz.enrichments.bessel import bessel_parts
from jumpnet.engines.trefftz.enrichments.corners import Only, corner_parts
from jumpnet.engines.trefftz.natures import NEITHER, Nature, natures_of, own_chart, scaled
from jumpnet.engines.trefftz.plan import OUTSIDE, Part, Plan
from jumpnet.geometry import Box as DomainBox
from jumpnet.geometry import Hole, Partition
from jumpnet.geometry.cells.cells import Cells
from jumpnet.geometry.cells.surroundings import Surroundings
from jumpnet.geometry.checks import Bounds
from jumpnet.geometry.walls.corners import corners_of
from jumpnet.models import FrozenModel, Harmonics, RandomFeatures
from jumpnet.problem import Problem

# Where the first attempt starts; smooth pieces need about twice as much for 1e-8.
FIRST_DEGREE, FIRST_ORDER = 6, 4
# A piece with constant A and more holes and corners of them than this is cut between holes.
MANY_HOLES = 16
# Up to so many corners a piece has their powers from the start; up to so many they are tried when nothing else helps. A
# polygon that stands for a curve has more, and they are weak.
FEW_CORNERS, MANY_CORNERS = 24, 80


def first_plan(problem: Problem) -> Plan:
    """The features to start with: poles in the holes of pieces whose equation they solve, where they cost little."""
    natures = natures_of(problem)
    orders = [FIRST_ORDER if one.harmonic else 0 for one in natures]
    plan = _plan(problem, natures, "legendre", FIRST_DEGREE, orders)
    plan = replace(plan, parts=(*plan.parts, *bessel_parts(problem)))
    # A source hardly ever goes with the values at a corner.
    only = "any" if any(nature.answer for nature in natures) else "broken"
    return with_corners(plan, problem, only, most=FEW_CORNERS) or plan


def with_all_poles(plan: Plan, problem: Problem) -> Plan | None:
    """A plan of whole pieces with poles in all holes; None if it has them already."""
    natures, boxes = natures_of(problem), local_boxes(problem.partition)
    more: list[Part] = []
    for piece, nature in enumerate(natures):
        if not nature.harmonic:
            order = max(FIRST_ORDER, max(part.degree for part in plan.of(piece)) - 4)
            more += _poles(problem, piece, natures, order, _scaled_box(boxes, piece))
    return replace(plan, parts=(*plan.parts, *more)) if more else None


def with_corners(plan: Plan, problem: Problem, only: Only = "any", most: int = MANY_CORNERS) -> Plan | None:
    """A plan with powers at corners (see `corner_parts`); None if there are no more of them.

    If a piece that is not cut has more than `most` of them, only where the condition on the boundary changes.
    """
    cut = plan.cells
    harmonic = {part.piece for part in plan.parts if part.kind == "harmonic" and not part.pole}
    if isinstance(cut, Cells) or not harmonic:
        return None
    at = Counter(piece for corner in corners_of(problem.partition) for piece in corner.pieces if piece in harmonic)
    if cut is None and max(at.values(), default=0) > most:
        only = "sudden"
    known = {part.place for part in plan.parts if part.kind == "corner"}
    more: list[Part] = []
    for part in corner_parts(problem, harmonic, only):
        if part.place in known:
            continue
        if cut is not None and part.piece == cut.map.piece:
            (cell,) = cut.map(np.array([part.place]), np.array([part.piece])).tolist()
            part = _in_cell(cell, part, set(part.pieces or ()))
        more.append(part)
    return replace(plan, parts=(*plan.parts, *more)) if more else None


def plan_of(model: FrozenModel, problem: Problem) -> Plan:
    """The features that a user asks for."""
    size = problem.partition.size
    if isinstance(model, RandomFeatures):
        plan = _plan(problem, [NEITHER] * size, "ridges", model.neurons, [0] * size)
        return replace(plan, parts=tuple(replace(part, scale=model.scale) for part in plan.parts))
    natures = natures_of(problem) if isinstance(model, Harmonics) else [NEITHER] * size
    return _plan(problem, natures, "legendre", model.degree, [model.order] * size)


def _plan(problem: Problem, natures: Sequence[Nature], kind: str, degree: int, orders: Sequence[int]) -> Plan:
    """Harmonic functions in pieces whose equation they solve, elsewhere functions of a kind; poles up to an order."""
    parts = problem.partition
    boxes = local_boxes(parts)
    found: list[Part] = []
    cut = _cut_between_holes(problem, natures) if any(orders) else None
    for piece, (nature, order) in enumerate(zip(natures, orders, strict=True)):
        if cut is not None and piece == cut.map.piece:
            found += _surrounding(problem, cut, natures, degree, order)
            continue
        bounds = boxes.center[piece] - boxes.halfwidth[piece], boxes.center[piece] + boxes.halfwidth[piece]
        found += own_parts(problem, nature, piece, piece, bounds, degree, kind=kind)
        if order:
            found += _poles(problem, piece, natures, order, _scaled_box(boxes, piece))
    return Plan(_each_once(found), tuple(nature.exact for nature in natures), cut)


def _each_once(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Without repetitions: two cells that meet at a pair of close holes ask for the same functions inside them."""
    known, kept = set(), []
    for part in parts:
        key = (part.cell, part.kind, part.pole, repr(part.chart.spec()))
        if not part.pole or key not in known:
            kept.append(part)
        known.add(key)
    return tuple(kept)


def _cut_between_holes(problem: Problem, natures: Sequence[Nature]) -> Surroundings | None:
    """The cells of a piece with many holes, if there is one and it can be cut."""
    parts = problem.partition
    if parts.dim != 2 or any(is_periodic(problem)):
        return None
    for piece, nature in enumerate(natures):
        if nature.harmonic and len(parts.holes(piece)) > 1:
            corners = sum(piece in corner.pieces for corner in corners_of(parts) if OUTSIDE not in corner.pieces)
            if len(parts.holes(piece)) + corners > MANY_HOLES:
                return Surroundings.of(parts, piece)
    return None


def _surrounding(
    problem: Problem, cut: Surroundings, natures: Sequence[Nature], degree: int, order: int
) -> Iterator[Part]:
    """The functions of each cell between holes: its own, and poles in the holes that it surrounds or touches."""
    parts, piece = problem.partition, cut.map.piece
    holes = parts.holes(piece)
    charts = [list(charts_of_hole(parts, piece, hole, lambda p, x: problem.A[p].value(x))) for hole in holes]
    for cell, (inside, beside) in cut.cells.items():
        bounds, near = cut.boxes[cell], {*holes[inside].pieces, *([OUTSIDE] if cell in cut.at_boundary else [])}
        for part in own_parts(problem, natures[piece], piece, cell, bounds, degree):
            yield replace(part, pieces=tuple(near)) if part.pieces is None else part
        round_holes = []
        for number in (inside, *beside):
            hole = holes[number]
            for chart in charts[number]:
                yield _in_cell(cell, _pole(piece, chart, True, order, scaled(cell, bounds), hole.pieces), near)
                if isinstance(chart, Slit) and chart.focus == 0:
                    round_holes.append((chart, hole))
        if round_holes:
            for part in _images(problem, piece, round_holes, natures, order, scaled(cell, bounds), bounds):
                yield _in_cell(cell, part, near) if part.piece == piece else part


def _in_cell(cell: int, part: Part, near: set[int]) -> Part:
    """The poles of a whole piece as those of a cell of it; what is not in or at the cell matters on its cuts only."""
    chart: Any = part.chart
    pieces = tuple(label for label in part.pieces or () if label in near)
    return replace(part, cell=cell, chart=replace(chart, cells=(cell,)), pieces=pieces)


def own_parts(
    problem: Problem,
    nature: Nature,
    piece: int,
    cell: int,
    bounds: Bounds,
    degree: int,
    *,
    kind: str = "legendre",
) -> Iterator[Part]:
    """The functions of a cell in its own coordinates."""
    # Beside harmonic functions, polynomials need only answer the source; in space many of them save nothing.
    both = nature.harmonic and problem.dim == 2
    if nature.exact or nature.answer or both:
        yield Part(piece, cell, own_chart(problem, piece, cell, bounds), "harmonic", degree)
    if nature.answer:
        yield replace(nature.answer, cell=cell, chart=replace(nature.answer.chart, cells=(cell,)))  # type: ignore[call-arg]
    elif not nature.exact:
        yield Part(piece, cell, scaled(cell, bounds), kind, degree, pieces=() if both else None)


def _poles(problem: Problem, piece: int, natures: Sequence[Nature], order: int, own: Affine) -> Iterator[Part]:
    """The parts about the holes of a piece, and about the images that they make of each other."""
    parts, harmonic = problem.partition, natures[piece].harmonic
    round_holes: list[tuple[Slit, Hole]] = []
    for hole in parts.holes(piece) if parts.dim > 1 else ():
        for chart in charts_of_hole(parts, piece, hole, lambda p, x: problem.A[p].value(x)):
            yield _pole(piece, chart, harmonic, order, own, hole.pieces)
            if isinstance(chart, Pole) and harmonic:
                for place in copies(problem, chart.center):
                    yield _pole(piece, replace(chart, center=place), harmonic, order, own, (OUTSIDE,))
            if isinstance(chart, Slit) and chart.focus == 0:
                round_holes.append((chart, hole))
    for chart, hole in cut_pieces(problem, piece) if parts.dim == 2 else ():
        yield _pole(piece, chart, harmonic, order, own, (*hole.pieces, OUTSIDE))
        if chart.focus == 0:
            round_holes.append((chart, hole))
    if round_holes:
        yield from (part for part in _images(problem, piece, round_holes, natures, order, own) if _beyond(parts, part))


def _beyond(parts: Partition, part: Part) -> bool:
    """Whether an image has its singularities outside its piece: of a hole that is not quite round it may not."""
    chart: Any = part.chart.charts[-1] if isinstance(part.chart, Joint) else part.chart
    focus = np.linalg.solve(chart.transform, [chart.focus.real, chart.focus.imag])
    return not (parts.label(chart.center + np.linspace(-1, 1, 9)[:, None] * focus) == part.piece).any()


def _pole(piece: int, chart: Chart, harmonic: bool, order: int, own: Affine, pieces: tuple[int, ...]) -> Part:
    """Decaying functions about a pole: harmonic ones, or in the plane poles with smooth factors, or polynomials."""
    if harmonic:
        if isinstance(chart, Pole):
            # In space, decaying harmonics are functions of the plain coordinates about the pole.
            chart = Affine(chart.cells, chart.center, chart.transform, chart.radius)
        return Part(piece, piece, chart, "harmonic", order, True, pieces)
    if isinstance(chart, Slit):
        return Part(piece, piece, Joint((own, chart)), "products", order, True, pieces)
    return Part(piece, piece, chart, "legendre", order, True, pieces)


def _images(
    problem: Problem,
    piece: int,
    holes: Sequence[tuple[Slit, Hole]],
    natures: Sequence[Nature],
    order: int,
    own: Affine,
    bounds: Bounds | None = None,
) -> Iterator[Part]:
    """Poles at the mirror images of round holes in straight walls, and at the images of close holes in each other.

    With `bounds` of a cell, those images in walls only that are near it.
    """
    parts, harmonic, transform = problem.partition, natures[piece].harmonic, holes[0][0].transform

    def slit(center: complex, focus: complex, axes_sum: float) -> Slit:
        place = np.linalg.solve(transform, [center.real, center.imag])
        return Slit((piece,), place, transform, focus, axes_sum)

    circles = [
        Circle(complex(*(transform @ chart.center)), chart.axes_sum / 2, number)
        for number, (chart, _) in enumerate(holes)
    ]
    if isinstance(parts.domain, DomainBox) and piece in _at_the_boundary(parts):
        (x0, y0), (x1, y1) = parts.bounds
        corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], float) @ transform.T
        periodic = is_periodic(problem)
        mirror = mirrored(circles, corners, (not periodic[1], not periodic[0]) * 2)
        if bounds is not None:
            middle, reach = (
                complex(*(transform @ np.mean(bounds, axis=0))),
                np.linalg.norm(transform @ np.ptp(bounds, axis=0)),
            )
            mirror = [image for image in mirror if abs(image.center - middle) < reach]
        mirror += repeated(circles + mirror, corners, periodic)
        for image in mirror:
            # Far enough outside that plain poles do, whatever the equation.
            yield Part(piece, piece, slit(image.center, 0j, 2 * image.radius), "harmonic", order, True, (OUTSIDE,))
        circles += mirror
    for segment in segments(circles):
        chart = slit(segment.middle, segment.focus, segment.axes_sum)
        inside, of = ((holes[c.hole][1].pieces if c.hole >= 0 else (OUTSIDE,)) for c in (segment.inside, segment.of))
        yield _pole(piece, chart, harmonic, order, own, (*inside, *of))
        # The piece in the other hole sees the same images from its side, if space is measured there in the same way.
        for other in of:
            if other != OUTSIDE and harmonic and natures[other].harmonic and _same_metric(problem, piece, other):
                yield Part(other, other, replace(chart, cells=(other,)), "harmonic", order, True, (piece,))


def _at_the_boundary(parts: Partition) -> set[int]:
    """The pieces that reach the outer boundary."""
    return set(parts._walls.outer_labels)


def _same_metric(problem: Problem, one: int, other: int) -> bool:
    """Whether A of two pieces with constant A is the same up to a factor."""
    lower, upper = (np.asarray(end, float) for end in problem.partition.bounds)
    A, B = (problem.A[piece].value((lower + upper)[None] / 2)[0] for piece in (one, other))
    return bool(np.allclose(A / np.trace(A), B / np.trace(B), rtol=1e-12))


def _scaled_box(boxes: Box, piece: int) -> Affine:
    """The piece's box, scaled to [-1, 1]^d."""
    return Affine((piece,), boxes.center[piece], np.diag(1 / boxes.halfwidth[piece]), 1.0)
