"""Which frozen features a problem gets: chosen piece by piece from geometry and coefficients, never from the solution.

Where A is constant and there is no source, the features solve the equation exactly: harmonic functions after the
linear map that makes A the identity, growing ones and poles in the holes. Elsewhere they are polynomials. Each part
has a degree of its own, which the direct solver raises where residuals are large. A piece with many holes is cut
between them into cells that know the holes near them only.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from jumpnet.charts import Slit, local_boxes
from jumpnet.charts.choice import charts_of_hole
from jumpnet.engines.trefftz.across import is_periodic
from jumpnet.engines.trefftz.enrichments import ENRICHMENTS
from jumpnet.engines.trefftz.enrichments.multipoles import FIRST_ORDER, images_of, multipoles, pole, scaled_box
from jumpnet.engines.trefftz.natures import NEITHER, Nature, natures_of, own_chart, scaled
from jumpnet.engines.trefftz.options import Trefftz
from jumpnet.engines.trefftz.plan import OUTSIDE, Part, Plan
from jumpnet.geometry.cells.surroundings import Surroundings
from jumpnet.geometry.checks import Bounds
from jumpnet.geometry.walls.corners import corners_of
from jumpnet.models import FrozenModel, Harmonics, RandomFeatures
from jumpnet.problem import Problem

# Where the first attempt starts; smooth pieces need about twice as much for 1e-8.
FIRST_DEGREE = 6


def first_plan(problem: Problem, options: Trefftz = Trefftz()) -> Plan:
    """The features to start with: poles in the holes of pieces whose equation they solve, where they cost little."""
    natures = natures_of(problem)
    orders = [FIRST_ORDER if one.harmonic and "multipoles" in options.enrichments else 0 for one in natures]
    plan = _plan(problem, natures, "legendre", FIRST_DEGREE, orders, options)
    for name in options.enrichments:
        plan = plan.with_blocks(ENRICHMENTS[name].begin(problem, plan))
    return plan


def plan_of(model: FrozenModel, problem: Problem, options: Trefftz = Trefftz()) -> Plan:
    """The features that a user asks for."""
    size = problem.partition.size
    if isinstance(model, RandomFeatures):
        plan = _plan(problem, [NEITHER] * size, "ridges", model.neurons, [0] * size, options)
        return replace(plan, parts=tuple(replace(part, scale=model.scale) for part in plan.parts))
    natures = natures_of(problem) if isinstance(model, Harmonics) else [NEITHER] * size
    return _plan(problem, natures, "legendre", model.degree, [model.order] * size, options)


def _plan(
    problem: Problem, natures: Sequence[Nature], kind: str, degree: int, orders: Sequence[int], options: Trefftz
) -> Plan:
    """Harmonic functions in pieces whose equation they solve, elsewhere functions of a kind; poles up to an order."""
    parts = problem.partition
    boxes = local_boxes(parts)
    found: list[Part] = []
    cut = _cut_between_holes(problem, natures, options.most_holes) if any(orders) else None
    for piece, (nature, order) in enumerate(zip(natures, orders, strict=True)):
        if cut is not None and piece == cut.map.piece:
            found += _surrounding(problem, cut, natures, degree, order, options.images)
            continue
        bounds = boxes.center[piece] - boxes.halfwidth[piece], boxes.center[piece] + boxes.halfwidth[piece]
        found += own_parts(problem, nature, piece, piece, bounds, degree, kind=kind)
        if order:
            found += multipoles(problem, piece, natures, order, scaled_box(boxes, piece), options.images)
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


def _cut_between_holes(problem: Problem, natures: Sequence[Nature], most: int) -> Surroundings | None:
    """The cells of a piece with many holes, if there is one and it can be cut."""
    parts = problem.partition
    if parts.dim != 2 or any(is_periodic(problem)):
        return None
    for piece, nature in enumerate(natures):
        if nature.harmonic and len(parts.holes(piece)) > 1:
            corners = sum(piece in corner.pieces for corner in corners_of(parts) if OUTSIDE not in corner.pieces)
            if len(parts.holes(piece)) + corners > most:
                return Surroundings.of(parts, piece)
    return None


def _surrounding(
    problem: Problem, cut: Surroundings, natures: Sequence[Nature], degree: int, order: int, images: bool
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
                yield pole(piece, chart, True, order, scaled(cell, bounds), hole.pieces).in_cell(cell, near)
                if isinstance(chart, Slit) and chart.focus == 0:
                    round_holes.append((chart, hole))
        if round_holes and images:
            for part in images_of(problem, piece, round_holes, natures, order, scaled(cell, bounds), bounds):
                yield part.in_cell(cell, near) if part.piece == piece else part


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
