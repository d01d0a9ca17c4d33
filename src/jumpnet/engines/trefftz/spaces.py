"""The first trial space of a problem, chosen piece by piece from geometry and coefficients, never from the solution.

Where A is constant and there is no source, the functions solve the equation exactly: harmonic functions after the
linear map that makes A the identity, regular ones and multipoles in the holes. Elsewhere they are polynomials. Each
block has a degree of its own, which the adaptive loop raises where residuals are large. A piece with many holes is
split into one cell per hole, whose functions depend on the neighbouring holes only.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from jumpnet.charts import Slit, local_boxes
from jumpnet.charts.choice import charts_of_hole
from jumpnet.engines.trefftz.enrichments.multipoles import FIRST_ORDER, images_of, multipoles, pole, scaled_box
from jumpnet.engines.trefftz.functions import Functions, HarmonicFunctions, LegendrePolynomials, RandomRidges
from jumpnet.engines.trefftz.operator_type import NEITHER, OperatorType, operator_types, own_chart, scaled
from jumpnet.engines.trefftz.options import Trefftz
from jumpnet.engines.trefftz.reflections import is_periodic
from jumpnet.engines.trefftz.trial_space import BasisBlock, TrialSpace
from jumpnet.geometry.cells.power_diagram import PowerDiagram
from jumpnet.geometry.checks import Bounds
from jumpnet.geometry.walls.corners import OUTSIDE, corners_of
from jumpnet.models import FrozenModel, Harmonics, RandomFeatures
from jumpnet.problem import Problem


def first_space(problem: Problem, options: Trefftz = Trefftz()) -> TrialSpace:
    """The first trial space of the adaptive loop; multipoles are there from the start if they solve the equation."""
    types = operator_types(problem)
    orders = [FIRST_ORDER if one.harmonic and "multipoles" in options.enrichments else 0 for one in types]
    polynomials = [LegendrePolynomials(problem.dim)] * len(types)
    space = _space(problem, types, polynomials, options.first_degree, orders, options)
    for enrichment in options.chosen.values():
        space = space.with_blocks(enrichment.begin(problem, space))
    return space


def space_of(model: FrozenModel, problem: Problem, options: Trefftz = Trefftz()) -> TrialSpace:
    """The trial space of a basis that the user names."""
    size = problem.partition.size
    if isinstance(model, RandomFeatures):
        ridges = [RandomRidges(problem.dim, model.scale, seed=piece) for piece in range(size)]
        return _space(problem, [NEITHER] * size, ridges, model.neurons, [0] * size, options)
    types = operator_types(problem) if isinstance(model, Harmonics) else [NEITHER] * size
    polynomials = [LegendrePolynomials(problem.dim)] * size
    return _space(problem, types, polynomials, model.degree, [model.order] * size, options)


def _space(
    problem: Problem,
    types: Sequence[OperatorType],
    others: Sequence[Functions],
    degree: int,
    orders: Sequence[int],
    options: Trefftz,
) -> TrialSpace:
    """Harmonic functions in pieces whose equation they solve, else `others`; poles of given orders."""
    parts = problem.partition
    boxes = local_boxes(parts)
    found: list[BasisBlock] = []
    cut = _cut_between_holes(problem, types, options.most_holes) if any(orders) else None
    for piece, (operator, order) in enumerate(zip(types, orders, strict=True)):
        if cut is not None and piece == cut.map.piece:
            found += _surrounding(problem, cut, types, degree, order, options.images)
            continue
        bounds = boxes.center[piece] - boxes.halfwidth[piece], boxes.center[piece] + boxes.halfwidth[piece]
        found += own_blocks(problem, operator, piece, piece, bounds, degree, others[piece])
        if order:
            found += multipoles(problem, piece, types, order, scaled_box(boxes, piece), options.images)
    return TrialSpace(_each_once(found), tuple(operator.exact for operator in types), cut)


def _each_once(blocks: Sequence[BasisBlock]) -> tuple[BasisBlock, ...]:
    """Blocks without duplicates: the images of two close holes are proposed for each of the two cells."""
    known, kept = set(), []
    for block in blocks:
        key = (block.cell, block.functions, repr(block.chart.spec()))
        if not block.pole or key not in known:
            kept.append(block)
        known.add(key)
    return tuple(kept)


def _cut_between_holes(problem: Problem, types: Sequence[OperatorType], most: int) -> PowerDiagram | None:
    """The cells of the first piece with many holes; None if there is none, or it cannot be split.

    All its neighbours must lie in holes: one that reaches the outer boundary would meet several cells.
    """
    parts = problem.partition
    if parts.dim != 2 or any(is_periodic(problem)):
        return None
    for piece, operator in enumerate(types):
        inside = {other for hole in parts.holes(piece) for other in hole.pieces}
        beside = {a + b - piece for a, b in problem.jumps if piece in (a, b)}
        if operator.harmonic and len(parts.holes(piece)) > 1 and beside <= inside:
            corners = sum(piece in corner.pieces for corner in corners_of(parts) if OUTSIDE not in corner.pieces)
            if len(parts.holes(piece)) + corners > most:
                return PowerDiagram.of(parts, piece)
    return None


def _surrounding(
    problem: Problem, cut: PowerDiagram, types: Sequence[OperatorType], degree: int, order: int, images: bool
) -> Iterator[BasisBlock]:
    """The functions of each cell of a split piece: its own, and poles in its hole and in the neighbouring ones."""
    parts, piece = problem.partition, cut.map.piece
    holes = parts.holes(piece)
    charts = [list(charts_of_hole(parts, piece, hole, lambda p, x: problem.A[p].value(x))) for hole in holes]
    for cell, (inside, beside) in cut.cells.items():
        bounds, near = cut.boxes[cell], {*holes[inside].pieces, *([OUTSIDE] if cell in cut.at_boundary else [])}
        for block in own_blocks(problem, types[piece], piece, cell, bounds, degree, LegendrePolynomials(2)):
            yield replace(block, pieces=tuple(near)) if block.pieces is None else block
        round_holes = []
        for number in (inside, *beside):
            hole = holes[number]
            for chart in charts[number]:
                yield pole(piece, chart, True, order, scaled(cell, bounds), hole.pieces).in_cell(cell, near)
                if isinstance(chart, Slit) and chart.focus == 0:
                    round_holes.append((chart, hole))
        if round_holes and images:
            for block in images_of(problem, piece, round_holes, types, order, scaled(cell, bounds), bounds):
                yield block.in_cell(cell, near) if block.piece == piece else block


def own_blocks(
    problem: Problem,
    operator: OperatorType,
    piece: int,
    cell: int,
    bounds: Bounds,
    degree: int,
    others: Functions,
) -> Iterator[BasisBlock]:
    """The functions of a cell in its own coordinates: harmonic ones where they solve the equation, else others."""
    # With harmonic functions, polynomials need only be a particular solution; in space that would not save unknowns.
    both = operator.harmonic and problem.dim == 2
    if operator.exact or operator.particular or both:
        yield BasisBlock(piece, cell, own_chart(problem, piece, cell, bounds), HarmonicFunctions(problem.dim), degree)
    if operator.particular:
        yield replace(operator.particular, cell=cell, chart=replace(operator.particular.chart, cells=(cell,)))  # type: ignore[call-arg]
    elif not operator.exact:
        yield BasisBlock(piece, cell, scaled(cell, bounds), others, degree, () if both else None)
