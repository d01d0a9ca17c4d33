"""Where the data of a problem change fast, jump or cannot be resolved, found before they are used.

Sources, coefficients, boundary data and jumps are functions that a solver sees at points only; a peak between the
points is invisible to it. Therefore they are surveyed first. Numbers, and formulas that bounds show to be smooth, cost
nothing. Other formulas are sampled coarsely, and where their own parts say that they change (roughness.py); callables
are sampled finely, since nothing else is known of them. Wherever the samples are not smooth, a tree of boxes (trees.py)
follows them until they are. Its leaves are places for collocation points.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from jumpnet.fields import Values, point
from jumpnet.fields.tensor import GivenDivergence, ScalarTensor, TensorField
from jumpnet.geometry.partition.interface_detection import Pair
from jumpnet.geometry.randomness import EvenlySpread
from jumpnet.problem.places import ORDINARY, Notes, Places, chosen
from jumpnet.problem.sampling import SamplingPlan, finite_values, key_of, quietly, raw_values, sampling_plan
from jumpnet.problem.surfaces import on_boundary, on_interface, piece_name, shared

if TYPE_CHECKING:
    from jumpnet.geometry import Partition
    from jumpnet.problem.problem import Problem
    from jumpnet.problem.trees import Leaves

# Boxes with which a tree begins, along each axis, by the number of dimensions; in four and more dimensions there is
# no survey. Formulas give further places by themselves. Callables are first sampled with FINE boxes, at a spacing of
# 1/131,000, 1/304 and 1/42 of the box, which takes 10 to 50 ms.
COARSE = {1: 16, 2: 8, 3: 3}
FINE = {1: 16384, 2: 38, 3: 7}
# What to do where A jumps inside a piece.
WALL = "make what lies beyond a piece of its own, or let finite elements solve the problem"
# Points of a piece at which the variation of A is measured; below MILD its value is not refined. Above STEEP, u has
# layers where A is small.
PROBES, MILD, STEEP = 64, 10.0, 1e3


@dataclass(frozen=True, eq=False)
class DataSurvey:
    """Where the data of a problem have structure below the spacing of ordinary points; only what is found has entries.

    `pieces` has places by piece, `boundary` by the number of a part, `interfaces` by pair. `jumps` and `unresolved` are
    sentences: about data that jump, which points follow, and about structure that was found but not resolved; no result
    with such data can be trusted. `hidden` says where A jumps inside a piece: the flux is continuous there, which
    finite elements know and the equation at points does not. `variation` is the factor by which A varies over the
    samples of each piece: where it is large, small residuals do not mean small errors.
    """

    pieces: dict[int, Places]
    boundary: dict[int, Places]
    interfaces: dict[Pair, Places]
    jumps: tuple[str, ...]
    unresolved: tuple[str, ...]
    hidden: tuple[str, ...]
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


# Findings for problems in use, each surveyed once.
_KNOWN: WeakKeyDictionary[Problem, DataSurvey] = WeakKeyDictionary()


def survey(problem: Problem) -> DataSurvey:
    """The survey of the data of a problem; made once, independent of the seed."""
    if problem not in _KNOWN:
        _KNOWN[problem] = _surveyed(problem)
    return _KNOWN[problem]


def surveyed_as(problem: Problem, other: Problem) -> None:
    """Take over what is known of the data of another problem, which differ little."""
    _KNOWN[problem] = survey(other)


def _surveyed(problem: Problem) -> DataSurvey:
    parts, notes = problem.partition, Notes([], [], [])
    pieces: dict[int, Places] = {}
    boundary: dict[int, Places] = {}
    interfaces: dict[Pair, Places] = {}
    if parts.dim <= 3:
        found = list(_in_pieces(problem, notes))
        if found:
            every = Places.join(found)
            pieces = {piece: every.taken(every.piece == piece) for piece in np.unique(every.piece).tolist()}
    if parts.dim in (2, 3):
        for number, part in enumerate(parts.boundary_parts):
            found = list(on_boundary(problem, number, part, notes))
            if found:
                boundary[number] = Places.join(found)
        for pair in problem.jumps:
            found = list(on_interface(problem, pair, notes))
            if found:
                interfaces[pair] = Places.join(found)
    variation = tuple(_variation(problem, piece, pieces.get(piece)) for piece in range(parts.size))
    jumps, unresolved, hidden = map(tuple, (notes.jumps, notes.unresolved, notes.hidden))
    return DataSurvey(pieces, boundary, interfaces, jumps, unresolved, hidden, variation)


# --- pieces ---------------------------------------------------------------------------------------------------


def _in_pieces(problem: Problem, notes: Notes) -> Iterator[Places]:
    """Places in the pieces where sources or coefficients change fast; pieces with the same ones are one."""
    parts = problem.partition
    for letter, fields in (("f", problem.f), ("lam", problem.lam), ("A", problem.A)):
        alike: dict[Hashable, list[int]] = defaultdict(list)
        for piece, field in enumerate(fields):
            alike[key_of(field)].append(piece)
        for pieces in alike.values():
            # What is smooth on the whole domain is so in every piece; many pieces ask the same question then.
            field = fields[pieces[0]]
            if sampling_plan([field], *parts.bounds) is None:
                continue
            lower, upper = (
                np.array(ends) for ends in zip(*(parts.piece_bounds(piece) for piece in pieces), strict=True)
            )
            box = lower.min(axis=0), upper.max(axis=0)
            plan = sampling_plan([field], *box)
            if plan is None:
                continue
            steep = letter == "A" and max(_variation(problem, piece, None) for piece in pieces) > STEEP
            for function in _functions(field, np.mean(parts.piece_bounds(pieces[0]), axis=0), steep):
                places = _of_volume(problem, pieces, box, function, plan, (letter, len(alike)), notes)
                if places is not None:
                    yield places


def _functions(
    field: Values | TensorField, middle: np.ndarray, steep: bool
) -> list[Callable[[np.ndarray], np.ndarray]]:
    """The scalar functions to sample: of a matrix, the logarithm of its trace (it enters by its ratios) and its shape.

    With `steep`, the inverse of the trace as well: gradients are as large as that where A is small.
    """
    if isinstance(field, Values):
        return [raw_values(field)]
    inner = field.matrix if isinstance(field, GivenDivergence) else field
    d = len(middle)
    matrix = raw_values(inner.field if isinstance(inner, ScalarTensor) else inner)
    scalar = d == 1 or matrix(middle[None]).ndim == 1

    def trace(x: np.ndarray) -> np.ndarray:
        A = matrix(x)
        return A if A.ndim == 1 else np.trace(A, axis1=1, axis2=2)

    def entry(x: np.ndarray, i: int, j: int) -> np.ndarray:
        A = matrix(x)
        return A[:, i, j] / np.trace(A, axis1=1, axis2=2)

    found: list[Callable[[np.ndarray], np.ndarray]] = [lambda x: quietly(np.log, trace(x))]
    if steep:
        found.append(lambda x: quietly(np.reciprocal, trace(x)))
    shape = [] if scalar else [(i, j) for i in range(d) for j in range(i, d)][:-1]
    return [*found, *(partial(entry, i=i, j=j) for i, j in shape)]


def _of_volume(
    problem: Problem,
    pieces: list[int],
    box: tuple[np.ndarray, np.ndarray],
    function: Callable[[np.ndarray], np.ndarray],
    plan: SamplingPlan,
    what: tuple[str, int],
    notes: Notes,
) -> Places | None:
    """Where a function of some pieces changes fast; `what` is its name and how many others there are like it."""
    parts, (letter, among) = problem.partition, what
    lower, upper = box
    whole = parts.size == 1 and len(parts._sides) > 1  # a box, or an interval

    def evaluate(x: np.ndarray) -> np.ndarray:
        if whole:
            return finite_values(function(x))
        values = np.full(len(x), np.nan)
        inside = np.isin(parts.label(x), pieces)
        if inside.any():
            values[inside] = finite_values(function(x[inside]))
        return values

    coarse, fine = (shared(boxes[parts.dim], among, parts.dim) for boxes in (COARSE, FINE))
    leaves = plan.leaves(evaluate, lambda x: x, box, coarse, fine)
    notes.add(lambda x: f"{letter} of {piece_name(problem, _piece_at(problem, x, pieces))}", leaves, lambda x: x)
    if letter == "A":
        for x in _inside_one(parts, leaves)[:1]:
            name = piece_name(problem, _piece_at(problem, x, pieces))
            notes.hidden.append(f"A of {name} jumps near {point(x)}: {WALL}")
    x, measure, size = chosen(leaves, (upper - lower) * ORDINARY)
    if not len(size):
        return None
    piece, other = (parts.label(one) for one in x)
    inside = np.isin(piece, pieces) & (piece == other)
    if not inside.any():
        return None
    x = x[:, inside]
    return Places(x, measure[inside], size[inside], np.full_like(x, np.nan), piece[inside])


def _inside_one(parts: Partition, leaves: Leaves) -> np.ndarray:
    """Where a function jumps that no wall is near: what is on both sides belongs to the same piece."""
    x = leaves.jumps
    around = 2 * leaves.smallest * np.concatenate([np.eye(parts.dim), -np.eye(parts.dim)])
    label = parts.label((x[:, None] + around).reshape(-1, parts.dim)).reshape(-1, len(around))
    return x[np.all(label == label[:, :1], axis=1)]


def _piece_at(problem: Problem, x: np.ndarray, pieces: list[int]) -> int:
    piece = int(problem.partition.label(x[None])[0])
    return piece if piece in pieces else pieces[0]


def _variation(problem: Problem, piece: int, places: Places | None) -> float:
    """The factor by which A varies in a piece, from sample points in it and the corners of its box."""
    field, parts = problem.A[piece], problem.partition
    if field.is_constant:
        return 1.0
    lower, upper = (np.asarray(end, float) for end in parts.piece_bounds(piece))
    inward = 1e-9 * (upper - lower)
    corners = np.stack(np.meshgrid(*zip(lower + inward, upper - inward, strict=True), indexing="ij"), axis=-1)
    inside = lower + EvenlySpread().random((PROBES, parts.dim)) * (upper - lower)
    x = np.concatenate([inside, corners.reshape(-1, parts.dim)])
    more = [] if places is None else [*places.x]
    # The box needs no labels; a smooth A varies at least as much there as in the piece.
    if not more and sampling_plan([field], lower, upper) is None and (ratio := _ratio(field.value(x))) < MILD:
        return ratio
    x = np.concatenate([x[parts.label(x) == piece], *more])
    return _ratio(field.value(x)) if len(x) else 1.0


def _ratio(A: np.ndarray) -> float:
    """The largest ratio of an eigenvalue or a diagonal entry at one point to the same at another."""
    eigenvalues, entries = np.linalg.eigvalsh(A), np.diagonal(A, axis1=1, axis2=2)
    low, high = (np.r_[end(eigenvalues, axis=0), end(entries, axis=0)] for end in (np.min, np.max))
    return float((high / low).max()) if low.min() > 0 else np.inf
