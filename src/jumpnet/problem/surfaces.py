"""Where data on the boundary and on interfaces change fast, wall by wall."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jumpnet.fields import ConstantField, Values
from jumpnet.geometry.partition.interface_detection import Pair, Trace
from jumpnet.geometry.quadrature.sheets import Sheet, sheet_of
from jumpnet.geometry.randomness import EvenlySpread
from jumpnet.problem.conditions import BoundaryData, GivenOnBoundary, GivenOnInterface, JumpData
from jumpnet.problem.places import MOST_POINTS, ORDINARY, Notes, Places, chosen
from jumpnet.problem.sampling import SamplingPlan, elementary, finite_values, raw_values, sampling_plan

if TYPE_CHECKING:
    from jumpnet.problem.problem import Problem

# Boxes with which a tree begins, along each axis of all curves (1) or faces (2) of a part of the boundary or of an
# interface together; callables are first sampled with FINE boxes.
COARSE, FINE = {1: 16, 2: 4}, {1: 2048, 2: 38}
# Points of a wall without parameters, and how far the value at one may be from the mean of its neighbours.
SAMPLED, NEIGHBOURS, UNUSUAL = 8192, 6, 0.1

OnSurface = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Points, normals and the pieces behind to values."""

# Boundary values below this part of the largest of their kind are rounding.
ROUNDED = 1e-13


@dataclass(frozen=True)
class _Surface:
    """A part of the boundary or an interface: which points of walls belong to it, and its normals' directions."""

    problem: Problem
    walls: Callable[[], list[int]]
    wanted: Callable[[Trace], np.ndarray]
    forward: Callable[[Trace], np.ndarray]


def on_boundary(problem: Problem, number: int, part: str, notes: Notes) -> Iterator[Places]:
    """Places on a part of the boundary where its data change fast."""
    parts, condition = problem.partition, problem.boundary[part]
    if condition.kind == "periodic" and part.endswith("+"):
        return  # the data of both sides are functions of the lower one

    def wanted(trace: Trace) -> np.ndarray:
        on = parts.walls.on_outer_boundary(trace)
        return (
            on
            if len(parts.boundary_parts) == 1
            else on & (parts.part_of(trace.points, trace.wall, trace.behind) == number)
        )

    def own() -> list[int]:
        walls = zip(parts.walls.walls, parts.walls.pilot, strict=True)
        return [k for k, (wall, pilot) in enumerate(walls) if wall.owner == 0 and wanted(pilot).any()]

    surface = _Surface(problem, own, wanted, lambda trace: np.ones(len(trace), bool))
    where = f"on {part!r}" if part != "boundary" else "on the boundary"
    g = "v" if condition.kind == "periodic" else "g"
    yield from _of_surface(surface, condition.g, f"{g} {where}", notes, ROUNDED * _largest(problem, condition.kind))
    yield from _of_surface(surface, condition.alpha, f"alpha {where}", notes)


def on_interface(problem: Problem, pair: Pair, notes: Notes) -> Iterator[Places]:
    """Places on an interface where its jumps or its resistance change fast."""
    walls, jump = problem.partition.walls, problem.jumps[pair]
    surface = _Surface(
        problem,
        lambda: list(walls.of_pair[pair]),
        lambda trace: walls.between(trace, pair),
        lambda trace: trace.ahead == pair[0],
    )
    names = " and ".join(piece_name(problem, piece) for piece in pair)
    for letter, data in (("v", jump.v), ("w", jump.w), ("R", jump.R)):
        yield from _of_surface(surface, data, f"{letter} between {names}", notes)


def _largest(problem: Problem, kind: str) -> float:
    """The largest value of data of a kind of condition, at points all over the boundary."""
    x, normal, piece, number = problem.partition.boundary_survey
    largest = 0.0
    for k, name in enumerate(problem.partition.boundary_parts):
        mine = number == k
        if mine.any() and problem.boundary[name].kind == kind and kind != "periodic":
            values = finite_values(problem.boundary_data(name, x[mine], normal[mine], piece[mine])[2])
            largest = max(largest, float(np.nanmax(np.abs(values), initial=0.0)))
    return largest if np.isfinite(largest) else 0.0


def _of_surface(
    surface: _Surface, data: BoundaryData | JumpData | Values, what: str, notes: Notes, rounding: float = 0.0
) -> Iterator[Places]:
    """Where data change fast on a surface, wall by wall; values no larger than `rounding` are zero."""
    fields = list(elementary([data]))
    if all(isinstance(field, ConstantField) for field in fields):
        return
    parts = surface.problem.partition
    anywhere = sampling_plan(fields, *parts.bounds)
    if anywhere is None:
        return
    walls, exact = surface.walls(), _values_on(data)

    def value(x: np.ndarray, normals: np.ndarray, behind: np.ndarray) -> np.ndarray:
        values = exact(x, normals, behind)
        return np.where(np.abs(values) <= rounding, 0.0, values)

    for number in walls:
        sheet = sheet_of(parts, number)
        if sheet is None:
            found = _sampled_wall(surface, number, value)
        else:
            x = sheet.at(_spread_over(sheet))[0]
            plan = sampling_plan(fields, x.min(axis=0), x.max(axis=0))
            found = None if plan is None else _of_sheet(surface, sheet, value, plan, len(walls), what, notes)
        if found is not None:
            yield found


def _values_on(data: BoundaryData | JumpData | Values) -> OnSurface:
    if isinstance(data, GivenOnBoundary | GivenOnInterface):
        data = data.function
    if isinstance(data, Values):
        values = raw_values(data)
        return lambda x, normals, behind: values(x)
    if isinstance(data, JumpData):
        return lambda x, normals, behind: data.value(x, normals)
    return data.value


def _spread_over(sheet: Sheet) -> np.ndarray:
    """A few parameters of a wall, its ends included."""
    axes = [
        np.linspace(a, b, 33 if len(sheet.lower) == 1 else 9) for a, b in zip(sheet.lower, sheet.upper, strict=True)
    ]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def _of_sheet(
    surface: _Surface, sheet: Sheet, value: OnSurface, plan: SamplingPlan, walls: int, what: str, notes: Notes
) -> Places | None:
    """Where data change fast on one wall."""
    parts = surface.problem.partition

    def evaluate(t: np.ndarray) -> np.ndarray:
        trace, _ = sheet.trace(parts, t)
        values, held = np.full(len(t), np.nan), surface.wanted(trace)
        if held.any():
            values[held] = finite_values(value(trace.points[held], _turned(surface, trace)[held], trace.behind[held]))
        return values

    k = len(sheet.lower)
    coarse, fine = (shared(boxes[k], walls, k) for boxes in (COARSE, FINE))
    leaves = plan.leaves(evaluate, sheet.position, (sheet.lower, sheet.upper), coarse, fine)
    notes.add(lambda x: what, leaves, sheet.position)
    t, measure, size = chosen(leaves, (sheet.upper - sheet.lower) * ORDINARY)
    if not len(size):
        return None
    (one, element), (two, _) = (sheet.trace(parts, half) for half in t)
    # Boxes about seeds may leave the wall.
    held = np.all((t >= sheet.lower) & (t <= sheet.upper), axis=(0, 2)) & surface.wanted(one) & surface.wanted(two)
    if not held.any():
        return None
    x, normal = (
        np.stack(pair)[:, held] for pair in ((one.points, two.points), [_turned(surface, t) for t in (one, two)])
    )
    scale = element[held] ** (1.0 / k)
    return Places(x, measure[held] * element[held], size[held] * scale, normal, one.behind[held])


def _turned(surface: _Surface, trace: Trace) -> np.ndarray:
    return np.where(surface.forward(trace), 1.0, -1.0)[:, None] * trace.normals


def _sampled_wall(surface: _Surface, number: int, value: OnSurface) -> Places | None:
    """Points of a wall without parameters that stand out among their neighbours; nothing is resolved there."""
    from scipy.spatial import KDTree

    walls = surface.problem.partition.walls
    trace = walls.trace(number, SAMPLED, EvenlySpread(), True)
    trace = trace[surface.wanted(trace)]
    if len(trace) <= NEIGHBOURS:
        return None
    values = value(trace.points, _turned(surface, trace), trace.behind)
    if not np.isfinite(values).all() or np.ptp(values) == 0.0:
        return None
    distance, near = (np.asarray(one) for one in KDTree(trace.points).query(trace.points, NEIGHBOURS + 1))
    off = np.abs(values - values[near[:, 1:]].mean(axis=1)) > UNUSUAL * np.ptp(values)
    which = np.flatnonzero(off)[:MOST_POINTS]
    if not len(which):
        return None
    pair = np.stack([which, near[which, 1]])
    measure = np.full(len(which), walls.walls[number].patch.measure / SAMPLED)
    return Places(trace.points[pair], measure, distance[which, -1], _turned(surface, trace)[pair], trace.behind[which])


def shared(boxes: int, among: int, dim: int) -> int:
    """Boxes along an axis for each of many pieces or walls; all together have at most four times those of one."""
    return max(2, int(boxes * min(1.0, (4.0 / among) ** (1.0 / dim))))


def piece_name(problem: Problem, piece: int) -> str:
    """A piece in a sentence."""
    name = problem.partition.names[piece]
    return name if name == f"piece {piece}" else f"piece {name!r}"
