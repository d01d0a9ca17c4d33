"""What the data of a problem look like before they are used: where they change fast, jump, or cannot be resolved.

Sources, coefficients, boundary data and jumps are functions that a solver sees at points only; a peak between the
points is not there for it. So each of them is looked at first. Numbers, and formulas that bounds show to be smooth,
cost nothing. Other formulas are sampled coarsely, and where their own parts say that they change (roughness.py);
callables are sampled finely, since nothing else is known of them. Wherever the samples are not smooth, a tree of boxes
(trees.py) follows them until they are. Its leaves are places for collocation points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float, Int

from jumpnet._precision import float64
from jumpnet.errors import ProblemError
from jumpnet.expressions import Expression
from jumpnet.expressions.roughness import rough_arguments
from jumpnet.fields import CallableField, ConstantField, ExpressionField, Values, point
from jumpnet.fields.tensor import CallableTensor, EntriesTensor, GivenDivergence, ScalarTensor, TensorField
from jumpnet.geometry.randomness import EvenlySpread
from jumpnet.geometry.sheets import Sheet, sheet_of
from jumpnet.geometry.tracing import Pair, Trace
from jumpnet.problem.conditions import BoundaryData, GivenOnBoundary, GivenOnInterface, JumpData
from jumpnet.problem.manufactured import DerivedFluxJump, DerivedOnBoundary, DerivedSource, DerivedValueJump
from jumpnet.problem.trees import Evaluate, Leaves, extrema_and_zeros, resolve, scouted

if TYPE_CHECKING:
    from jumpnet.problem.problem import Problem

# Boxes with which a tree begins, along each axis of a piece, by the number of dimensions; with four and more dimensions
# nothing is looked at. Formulas tell by themselves where else to look. Callables are first sampled with FINE boxes, at a
# spacing of 1/131,000, 1/304 and 1/42 of the piece, which takes 10 to 50 ms.
COARSE = {1: 64, 2: 8, 3: 3}
FINE = {1: 16384, 2: 38, 3: 7}
# The same for all curves or all faces of a part of the boundary or of an interface together.
COARSE_ON_WALLS, FINE_ON_WALLS = {1: 32, 2: 4}, {1: 2048, 2: 38}
# Points along each axis at which arguments of formulas are searched for extrema and zeros, and how many of either, or
# of places found by sampling, are followed.
SEARCHED = {1: 129, 2: 33, 3: 13}
MOST_SEEDS = 24
# Callables are called with so many points at a time: JAX compiles for every new number.
BATCH = 8192
# Leaves above this part of the piece's box are no smaller than what ordinary points resolve.
ORDINARY = 1 / 16
# Points of one function that collocation follows, at most; leaves that together hold less than this part of the
# function's square integral are left out.
MOST_POINTS, NEGLIGIBLE = 192, 1e-6
# Points of a piece at which the variation of A is measured.
PROBES = 64


@dataclass(frozen=True, eq=False)
class Places:
    """Points at which collocation follows data: two in each leaf, `x[0]` for the solve and `x[1]` held out.

    `measure` is the length, area or volume that each stands for, `size` the leaf's. On surfaces, `normal` is outward,
    or from b to a, and `piece` is what lies behind.
    """

    x: Float[np.ndarray, "2 n d"]
    measure: Float[np.ndarray, " n"]
    size: Float[np.ndarray, " n"]
    normal: Float[np.ndarray, "2 n d"]
    piece: Int[np.ndarray, " n"]

    def __len__(self) -> int:
        return len(self.size)

    @staticmethod
    def join(found: Sequence[Places]) -> Places:
        """All of them, one after the other."""
        x, normal = (np.concatenate([getattr(one, name) for one in found], axis=1) for name in ("x", "normal"))
        measure, size, piece = (np.concatenate([getattr(one, name) for one in found]) for name in ("measure", "size", "piece"))
        return Places(x, measure, size, normal, piece)


@dataclass(frozen=True, eq=False)
class DataSurvey:
    """Where the data of a problem have structure below the spacing of ordinary points; only what is found has entries.

    `pieces` has places by piece, `boundary` by the number of a part, `interfaces` by pair. `jumps` and `unresolved` are
    sentences: data that jump (points follow them), and what was found and not resolved, which no result can be trusted
    with. `variation` is for each piece the largest eigenvalue of A over the smallest, at all points looked at.
    """

    pieces: dict[int, Places]
    boundary: dict[int, Places]
    interfaces: dict[Pair, Places]
    jumps: tuple[str, ...]
    unresolved: tuple[str, ...]
    variation: tuple[float, ...]

    @property
    def empty(self) -> bool:
        """Whether nothing was found that ordinary points do not resolve."""
        return not (self.pieces or self.boundary or self.interfaces)

    @property
    def smallest(self) -> float:
        """The smallest size found, infinite if nothing was."""
        every = [*self.pieces.values(), *self.boundary.values(), *self.interfaces.values()]
        return min((float(one.size.min()) for one in every if len(one)), default=np.inf)


_KNOWN: WeakKeyDictionary[Problem, DataSurvey] = WeakKeyDictionary()


def survey(problem: Problem) -> DataSurvey:
    """What the data of a problem look like; looked at once, always the same."""
    if problem not in _KNOWN:
        _KNOWN[problem] = _surveyed(problem)
    return _KNOWN[problem]


def _surveyed(problem: Problem) -> DataSurvey:
    parts, notes = problem.partition, _Notes([], [])
    pieces: dict[int, Places] = {}
    boundary: dict[int, Places] = {}
    interfaces: dict[Pair, Places] = {}
    if parts.dim <= 3:
        for piece in range(parts.size):
            found = list(_in_piece(problem, piece, notes))
            if found:
                pieces[piece] = Places.join(found)
    if parts.dim in (2, 3):
        for number, part in enumerate(parts.boundary_parts):
            found = list(_on_boundary(problem, number, part, notes))
            if found:
                boundary[number] = Places.join(found)
        for pair in problem.jumps:
            found = list(_on_interface(problem, pair, notes))
            if found:
                interfaces[pair] = Places.join(found)
    variation = tuple(_variation(problem, piece, pieces.get(piece)) for piece in range(parts.size))
    return DataSurvey(pieces, boundary, interfaces, tuple(notes.jumps), tuple(notes.unresolved), variation)


@dataclass(frozen=True)
class _Notes:
    """Sentences, as they are found."""

    jumps: list[str]
    unresolved: list[str]

    def add(self, what: str, leaves: Leaves, position: Callable[[np.ndarray], np.ndarray]) -> None:
        """Say what the tree found at its smallest size."""

        def near(places: np.ndarray) -> str:
            return point(position(places[len(places) // 2][None])[0])

        if len(leaves.rough):
            self.unresolved.append(f"{what} changes within {leaves.smallest:.0e} near {near(leaves.rough)}")
        if len(leaves.unbounded):
            self.unresolved.append(f"{what} grows without bound near {near(leaves.unbounded)}")
        if len(leaves.jumps):
            self.jumps.append(f"{what} jumps near {near(leaves.jumps)}")


# --- fields ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Look:
    """How closely to look at a function: the arguments in its formulas to look at; None for callables."""

    formulas: tuple[tuple[Expression, tuple[Any, ...]], ...] | None

    def leaves(
        self,
        evaluate: Evaluate,
        position: Callable[[np.ndarray], np.ndarray],
        ends: tuple[np.ndarray, np.ndarray],
        coarse: int,
        fine: int,
    ) -> Leaves:
        """The leaves of a function of parameters, whose points are at `position`."""
        if self.formulas is None:
            seeds = scouted(evaluate, *ends, fine, MOST_SEEDS)
        else:
            found = [self._searched(position, ends, *formula) for formula in self.formulas]
            seeds = np.concatenate(found)
        return resolve(evaluate, *ends, coarse, seeds)

    @staticmethod
    def _searched(
        position: Callable[[np.ndarray], np.ndarray],
        ends: tuple[np.ndarray, np.ndarray],
        expression: Expression,
        inner: tuple[Any, ...],
    ) -> np.ndarray:
        """Places where arguments in a formula are extreme or change their sign."""
        from jumpnet.expressions.symbolic import compile_vector

        code = compile_vector(inner, (*expression.symbols, *expression.parameters))
        numbers = tuple(expression.parameters.values())
        return extrema_and_zeros(lambda t: code(position(t), numbers), *ends, SEARCHED[len(ends[0])], MOST_SEEDS)


def _look(fields: Iterable[object], lower: np.ndarray, upper: np.ndarray) -> _Look | None:
    """How to look at what depends on some fields, on a box; None if all of them are known to be smooth there."""
    rough: dict[Expression, tuple[Any, ...]] = {}
    box = tuple(np.asarray(lower).tolist()), tuple(np.asarray(upper).tolist())
    for field in _elementary(fields):
        if isinstance(field, ConstantField):
            continue
        if not isinstance(field, ExpressionField):
            return _Look(None)
        inner = rough_arguments(field.expression, *box)
        if inner is None:
            return _Look(None)
        if inner:
            rough[field.expression] = inner
    return _Look(tuple(rough.items())) if rough else None


def _elementary(fields: Iterable[object]) -> Iterator[object]:
    """The numbers, formulas and callables that data are made of."""
    for field in fields:
        if isinstance(field, ScalarTensor):
            yield field.field
        elif isinstance(field, EntriesTensor):
            yield from field.entries
        elif isinstance(field, GivenDivergence):
            yield from _elementary([field.matrix])
        elif isinstance(field, DerivedSource):
            yield from _elementary([field.u, field.A, field.lam])
        elif isinstance(field, DerivedOnBoundary | DerivedValueJump | DerivedFluxJump):
            yield from _elementary([*field.u, *field.A])
        elif isinstance(field, GivenOnBoundary | GivenOnInterface):
            yield field.function
        else:
            yield field


def _raw(field: Values | CallableTensor) -> Callable[[np.ndarray], np.ndarray]:
    """Values of a field, nan or infinite where they are not finite; callables get the same number of points each time."""
    if not isinstance(field, CallableField | CallableTensor):
        return field.value

    def called(x: np.ndarray) -> np.ndarray:
        found = []
        with float64(), np.errstate(all="ignore"):
            for start in range(0, len(x), BATCH):
                part = x[start : start + BATCH]
                padded = part if len(part) == BATCH else np.concatenate([part, np.repeat(part[-1:], BATCH - len(part), axis=0)])
                values = np.asarray(field.function(padded), float)
                found.append(np.broadcast_to(values, (BATCH, *values.shape[1:]))[: len(part)] if values.ndim else np.full(len(part), values))
        return np.concatenate(found)

    return called


# --- pieces ---------------------------------------------------------------------------------------------------


def _in_piece(problem: Problem, piece: int, notes: _Notes) -> Iterator[Places]:
    """Places in a piece where its source or coefficients change fast."""
    parts = problem.partition
    given = (("f", problem.f[piece]), ("lam", problem.lam[piece]), ("A", problem.A[piece]))
    for letter, field in given:
        # What is smooth on the whole domain is so in every piece; of many pieces this asks one question.
        look = _look([field], *parts.bounds) and _look([field], *parts.piece_bounds(piece))
        if look is None:
            continue
        name = _piece_name(problem, piece)
        for function in _functions(field, np.mean(parts.piece_bounds(piece), axis=0)):
            places = _of_volume(problem, piece, function, look, f"{letter} of {name}", notes)
            if places is not None:
                yield places


def _piece_name(problem: Problem, piece: int) -> str:
    name = problem.partition.names[piece]
    return name if name == f"piece {piece}" else f"piece {name!r}"


def _functions(field: Values | TensorField, middle: np.ndarray) -> list[Callable[[np.ndarray], np.ndarray]]:
    """The scalar functions to look at: of a matrix, the logarithm of its trace (it enters by its ratios), and shape."""
    if isinstance(field, Values):
        return [_raw(field)]
    inner = field.matrix if isinstance(field, GivenDivergence) else field
    if isinstance(inner, ScalarTensor):
        values = _raw(inner.field)
        return [lambda x: _log(values(x))]
    matrix = _raw(inner) if isinstance(inner, CallableTensor) else inner.value

    def trace(x: np.ndarray) -> np.ndarray:
        A = matrix(x)
        return _log(A if A.ndim == 1 else np.trace(A, axis1=1, axis2=2))

    def entry(x: np.ndarray, i: int, j: int) -> np.ndarray:
        A = matrix(x)
        return np.ones(len(x)) if A.ndim == 1 else A[:, i, j] / np.trace(A, axis1=1, axis2=2)

    d = len(middle)
    scalar = d == 1 or matrix(middle[None]).ndim == 1
    shape = [] if scalar else [(i, j) for i in range(d) for j in range(i, d)][:-1]
    return [trace, *(partial(entry, i=i, j=j) for i, j in shape)]


def _log(values: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.log(values)


def _of_volume(
    problem: Problem, piece: int, function: Callable[[np.ndarray], np.ndarray], look: _Look, what: str, notes: _Notes
) -> Places | None:
    """Where a function changes fast in a piece."""
    parts = problem.partition
    lower, upper = (np.asarray(end, float) for end in parts.piece_bounds(piece))
    whole = parts.size == 1 and parts.domain.volume is not None and len(parts._sides) > 1

    def evaluate(x: np.ndarray) -> np.ndarray:
        if whole:
            return _finite(function(x))
        values = np.full(len(x), np.nan)
        inside = parts.label(x) == piece
        if inside.any():
            values[inside] = _finite(function(x[inside]))
        return values

    coarse, fine = (_shared(boxes[parts.dim], parts.size, parts.dim) for boxes in (COARSE, FINE))
    leaves = look.leaves(evaluate, lambda x: x, (lower, upper), coarse, fine)
    notes.add(what, leaves, lambda x: x)
    x, measure, size = _chosen(leaves, (upper - lower) * ORDINARY)
    inside = np.all([parts.label(one) == piece for one in x], axis=0) if len(size) else np.zeros(0, bool)
    if not inside.any():
        return None
    x = x[:, inside]
    return Places(x, measure[inside], size[inside], np.full_like(x, np.nan), np.full(x.shape[1], piece))


def _shared(boxes: int, among: int, dim: int) -> int:
    """Boxes along an axis for each of many pieces or walls; all together have at most four times those of one."""
    return max(2, int(boxes * min(1.0, (4.0 / among) ** (1.0 / dim))))


def _finite(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, np.nan)


def _chosen(leaves: Leaves, ordinary: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two points (2, n, k) in each of the leaves that matter, the measures they stand for, and the leaves' sizes."""
    kept = np.all(leaves.edge <= ordinary, axis=1)
    measure = leaves.count * leaves.edge.prod(axis=1)
    held = np.where(kept, measure * leaves.largest**2, 0.0)
    order = np.argsort(held)
    negligible = np.cumsum(held[order]) <= NEGLIGIBLE * held.sum()
    kept[order[negligible & (held.sum() > 0)]] = False
    which, factor = np.flatnonzero(kept), 1.0
    if len(which) > MOST_POINTS:
        factor = len(which) / MOST_POINTS
        which = which[np.linspace(0, len(which) - 1, MOST_POINTS).round().astype(int)]
    n, k = len(which), leaves.center.shape[1]
    within = EvenlySpread().random((2 * n, k)).reshape(2, n, k) - 0.5
    return leaves.center[which] + within * leaves.edge[which], factor * measure[which], leaves.edge[which].max(axis=1, initial=0.0)


# --- boundary and interfaces ----------------------------------------------------------------------------------

OnSurface = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Points, normals and the pieces behind to values."""


@dataclass(frozen=True)
class _Surface:
    """A part of the boundary or an interface: which points of walls belong to it, and its normals' directions."""

    problem: Problem
    wanted: Callable[[Trace], np.ndarray]
    forward: Callable[[Trace], np.ndarray]

    @property
    def walls(self) -> list[int]:
        """The walls that have some of it."""
        return [k for k, pilot in enumerate(self.problem.partition._walls.pilot) if self.wanted(pilot).any()]


def _on_boundary(problem: Problem, number: int, part: str, notes: _Notes) -> Iterator[Places]:
    """Places on a part of the boundary where its data change fast."""
    parts, condition = problem.partition, problem.boundary[part]
    if condition.kind == "periodic" and part.endswith("+"):
        return  # the data of both sides are functions of the lower one

    def wanted(trace: Trace) -> np.ndarray:
        on = parts._walls.on_outer_boundary(trace)
        return on if len(parts.boundary_parts) == 1 else on & (parts._part_of(trace.points, trace.wall, trace.behind) == number)

    surface = _Surface(problem, wanted, lambda trace: np.ones(len(trace), bool))
    where = f"on {part!r}" if part != "boundary" else "on the boundary"
    g = "v" if condition.kind == "periodic" else "g"
    yield from _of_surface(surface, condition.g, f"{g} {where}", notes)
    yield from _of_surface(surface, condition.alpha, f"alpha {where}", notes)


def _on_interface(problem: Problem, pair: Pair, notes: _Notes) -> Iterator[Places]:
    """Places on an interface where its jumps or its resistance change fast."""
    walls, jump = problem.partition._walls, problem.jumps[pair]
    surface = _Surface(problem, lambda trace: walls.between(trace, pair), lambda trace: trace.ahead == pair[0])
    names = " and ".join(_piece_name(problem, piece) for piece in pair)
    for letter, data in (("v", jump.v), ("w", jump.w), ("R", jump.R)):
        yield from _of_surface(surface, data, f"{letter} between {names}", notes)


def _of_surface(
    surface: _Surface, data: BoundaryData | JumpData | Values, what: str, notes: _Notes
) -> Iterator[Places]:
    """Where data change fast on a surface, wall by wall."""
    fields = list(_elementary([data]))
    if all(isinstance(field, ConstantField) for field in fields):
        return
    parts = surface.problem.partition
    anywhere = _look(fields, *parts.bounds)
    if anywhere is None:
        return
    walls, value = surface.walls, _values_on(data)
    for number in walls:
        sheet = sheet_of(parts, number)
        if sheet is None:
            found = _sampled_wall(surface, number, value)
        else:
            x = sheet.at(_spread_over(sheet))[0]
            look = _look(fields, x.min(axis=0), x.max(axis=0))
            found = None if look is None else _of_sheet(surface, sheet, value, look, len(walls), what, notes)
        if found is not None:
            yield found


def _values_on(data: BoundaryData | JumpData | Values) -> OnSurface:
    if isinstance(data, GivenOnBoundary | GivenOnInterface):
        data = data.function
    if isinstance(data, Values):
        values = _raw(data)
        return lambda x, normals, behind: values(x)
    if isinstance(data, JumpData):
        return lambda x, normals, behind: data.value(x, normals)
    return data.value


def _spread_over(sheet: Sheet) -> np.ndarray:
    """A few parameters all over a wall, its ends among them."""
    axes = [np.linspace(a, b, 33 if len(sheet.lower) == 1 else 9) for a, b in zip(sheet.lower, sheet.upper, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def _of_sheet(
    surface: _Surface, sheet: Sheet, value: OnSurface, look: _Look, walls: int, what: str, notes: _Notes
) -> Places | None:
    """Where data change fast on one wall."""
    parts = surface.problem.partition

    def evaluate(t: np.ndarray) -> np.ndarray:
        trace, _ = sheet.trace(parts, t)
        values, held = np.full(len(t), np.nan), surface.wanted(trace)
        if held.any():
            values[held] = _finite(value(trace.points[held], _turned(surface, trace)[held], trace.behind[held]))
        return values

    k = len(sheet.lower)
    coarse, fine = (_shared(boxes[k], walls, k) for boxes in (COARSE_ON_WALLS, FINE_ON_WALLS))
    leaves = look.leaves(evaluate, sheet.position, (sheet.lower, sheet.upper), coarse, fine)
    notes.add(what, leaves, sheet.position)
    t, measure, size = _chosen(leaves, (sheet.upper - sheet.lower) * ORDINARY)
    if not len(size):
        return None
    (one, element), (two, _) = (sheet.trace(parts, half) for half in t)
    held = surface.wanted(one) & surface.wanted(two)
    if not held.any():
        return None
    x, normal = (np.stack(pair)[:, held] for pair in ((one.points, two.points), [_turned(surface, t) for t in (one, two)]))
    scale = element[held] ** (1.0 / k)
    return Places(x, measure[held] * element[held], size[held] * scale, normal, one.behind[held])


def _turned(surface: _Surface, trace: Trace) -> np.ndarray:
    return np.where(surface.forward(trace), 1.0, -1.0)[:, None] * trace.normals


# Points of a wall without parameters, and how far the value at one may be from the mean of its neighbours.
SAMPLED, NEIGHBOURS, UNUSUAL = 8192, 6, 0.1


def _sampled_wall(surface: _Surface, number: int, value: OnSurface) -> Places | None:
    """Points of a wall without parameters that stand out among their neighbours; nothing is resolved there."""
    from scipy.spatial import cKDTree

    walls = surface.problem.partition._walls
    trace = walls.trace(number, SAMPLED, EvenlySpread(), True)
    trace = trace[surface.wanted(trace)]
    values = _finite(value(trace.points, _turned(surface, trace), trace.behind)) if len(trace) > NEIGHBOURS else np.empty(0)
    if not len(values) or not np.isfinite(values).all() or np.ptp(values) == 0.0:
        return None
    distance, near = cKDTree(trace.points).query(trace.points, NEIGHBOURS + 1)
    off = np.abs(values - values[near[:, 1:]].mean(axis=1)) > UNUSUAL * np.ptp(values)
    which = np.flatnonzero(off)[:MOST_POINTS]
    if not len(which):
        return None
    pair = np.stack([which, near[which, 1]])
    measure = np.full(len(which), walls.walls[number].patch.measure / SAMPLED)
    return Places(trace.points[pair], measure, distance[which, -1], _turned(surface, trace)[pair], trace.behind[which])


# --- coefficients ---------------------------------------------------------------------------------------------


def _variation(problem: Problem, piece: int, places: Places | None) -> float:
    """The largest eigenvalue of A in a piece over the smallest, at points all over it, its box's corners among them."""
    field, parts = problem.A[piece], problem.partition
    if field.is_constant:
        eigenvalues = np.linalg.eigvalsh(field.value(np.mean(parts.piece_bounds(piece), axis=0)[None])[0])
        return float(eigenvalues[-1] / eigenvalues[0])
    lower, upper = (np.asarray(end, float) for end in parts.piece_bounds(piece))
    inward = 1e-9 * (upper - lower)
    corners = np.stack(np.meshgrid(*zip(lower + inward, upper - inward, strict=True), indexing="ij"), axis=-1)
    inside = lower + EvenlySpread().random((PROBES, parts.dim)) * (upper - lower)
    x = np.concatenate([inside, corners.reshape(-1, parts.dim)])
    if _look([field], lower, upper) is not None:  # what is smooth on the box may as well be looked at all over it
        x = x[parts.label(x) == piece]
    if places is not None:
        x = np.concatenate([x, *places.x])
    if not len(x):
        return 1.0
    eigenvalues = np.linalg.eigvalsh(field.value(x))
    low, high = float(eigenvalues.min()), float(eigenvalues.max())
    return high / low if low > 0 else np.inf
