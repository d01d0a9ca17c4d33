"""Elements in the plane and in space: solve, compare with the space before, refine, until the difference will do.

The error is sought as that of an answer that is zero but for the fields of point sources: the same equations as the
judge solves. Meshes are graded geometrically towards singular points; orders and refinements grow in turn.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from jumpnet.engines.fem.answers import as_solution
from jumpnet.engines.fem.options import FEM
from jumpnet.fe.features import FieldFunction
from jumpnet.fe.field import Field
from jumpnet.fe.first import first_mesh
from jumpnet.fe.mesh import Mesh
from jumpnet.fe.space import Space
from jumpnet.judge.adaptivity import Meshes
from jumpnet.judge.defects import Elements, Smooth
from jumpnet.judge.level import Level, solved
from jumpnet.judge.options import JudgeOptions
from jumpnet.optim import Status
from jumpnet.problem import Problem, Supplement
from jumpnet.rows import Sites
from jumpnet.solution import Solution

# Elements along the longest side of the domain at first.
ACROSS = {2: 12, 3: 6}
# The order of curved faces. Refinements keep the geometry of the first mesh, which has to be as good as the last one.
CURVED = {2: 8, 3: 4}
# Layers of elements towards singular points at first; half as many more with each space.
LAYERS = 4
# The power of the number of unknowns by which the next space is expected to take longer.
GROWTH = {2: 1.3, 3: 2.0}
# Differences that fall by more than this from space to space are not taken at their word (heuristic).
LEAST_RATE = 0.1
# Spaces whose difference is not below this part of the one before make no progress; so many of them end the search.
SLOW, PATIENCE = 0.7, 3


# The largest root mean square error that will do, for a solution of a given variation and size.
Enough = Callable[[float, float], float]


@dataclass(frozen=True)
class Nothing:
    """The function that is zero."""

    inputs: int
    size: int = 1

    def functionals(self, sites: Sites) -> Float[np.ndarray, "sites functions"]:
        """Zero at every site."""
        return np.zeros((len(sites), 1))


@dataclass(frozen=True, eq=False)
class Stage:
    """A solved space: the answer, its size, its variation, and how much it differs from the stage before."""

    field: Field
    level: Level
    size: float
    variation: float
    change: float = np.inf


def ladder(dim: int, options: FEM) -> Iterator[tuple[int, int]]:
    """Refinements and orders, each space about two or three times as large as the one before."""
    if options.order is not None:
        yield (0, options.order)
        if options.size is None:
            yield from ((k, options.order) for k in range(1, 10))
        return
    if options.size is not None:
        yield from ((0, order) for order in range(2, 11))
        return
    yield from [(0, 2), (0, 4), (0, 6), (0, 8)] if dim == 2 else [(0, 2), (0, 3), (0, 4), (0, 5)]
    for k in range(1, 10):
        yield from ((k, 6), (k, 8)) if dim == 2 else ((k, 3), (k, 4), (k, 5))


class Refinement:
    """The spaces of a problem, solved one after the other; it can go on where it was left."""

    def __init__(self, problem: Problem, options: FEM, seconds: float = np.inf):
        self.problem, self._options, self._seconds, self._began = problem, options, seconds, time.perf_counter()
        first = first_mesh(problem, _size(problem, options, ACROSS[problem.dim]), CURVED[problem.dim])
        self._meshes = Meshes(problem, first, JudgeOptions(graded=LAYERS))
        self._ladder = enumerate(ladder(problem.dim, options))
        self._stages: list[Stage] = []
        self._idle = 0

    def until(self, enough: Enough) -> Solution:
        """The solution in the next space whose difference from the one before shows that its error will do."""
        status = Status.STEP_LIMIT
        for rung, (k, order) in self._ladder:
            space = Space(self._meshes(k, rung), order)
            if not self._affordable(space):
                status = Status.TIME_LIMIT if self._spent > 0.3 * self._seconds else Status.STEP_LIMIT
                break
            self._stages.append(_stage(self.problem, space, self._stages[-1] if self._stages else None))
            last = self._stages[-1]
            if _estimate(self._stages) <= enough(last.variation, last.size):
                status = Status.CONVERGED
                break
            slow = len(self._stages) > 2 and last.change > SLOW * self._stages[-2].change
            self._idle = self._idle + 1 if slow else 0
            if self._idle >= PATIENCE:
                status = Status.STALLED
                break
        return _as_solution(self.problem, self._stages[-1], status, _estimate(self._stages), self._spent)

    @property
    def _spent(self) -> float:
        return time.perf_counter() - self._began

    def _affordable(self, space: Space) -> bool:
        if not self._stages:
            return True
        more = (space.size / self._stages[-1].level.space.size) ** GROWTH[space.mesh.dim]
        return space.size <= self._options.most(space.mesh.dim) and self._spent * (1 + more) <= self._seconds


def _size(problem: Problem, options: FEM, across: int) -> float:
    lower, upper = problem.partition.bounds
    return options.size or float(np.max(upper - lower)) / across


def _stage(problem: Problem, space: Space, before: Stage | None) -> Stage:
    """The solution in a space.

    Values on the boundary and at interfaces are met by a penalty, up to 1e-5; solving for the error of that in the same
    space takes it to rounding.
    """
    zero = as_solution(problem, [Nothing(problem.dim)] * problem.partition.size, Status.STALLED, np.nan, {})
    answer = Smooth(replace(zero, supplement=Supplement(0.0, problem.sources)))
    mean = None if problem.mean is None else 0.0
    first = solved(problem, space, answer, mean)
    field = first.field
    if not problem.sources:
        rest = solved(problem, space, Elements(field), mean)
        field = replace(field, values=field.values + rest.field.values)
    level = replace(first, unknowns=_unknowns(space, field))
    e, one = level.sampled(), level.integrals(np.ones_like(level.sampled()))
    whole = sum(one)
    square, total = sum(level.integrals(e**2)) / whole, sum(level.integrals(e)) / whole
    size = float(np.sqrt(square))
    change = np.inf if before is None else level.difference(before.level) * size
    return Stage(field, level, size, float(np.sqrt(max(square - total**2, 0.0))), change)


def _unknowns(space: Space, field: Field) -> Float[np.ndarray, " n"]:
    """The unknowns of a field of the space."""
    found = np.empty(space.size)
    found[space.dofs] = field.values
    return found


def _estimate(stages: list[Stage]) -> float:
    """The error of the last stage: its difference from the one before, times the rate at which differences fall."""
    if len(stages) < 2:
        return np.inf
    last, before = stages[-1].change, stages[-2].change
    if not np.isfinite(before) or before == 0.0:
        return last
    return last * float(np.clip(last / before, LEAST_RATE, 1.0))


def _as_solution(problem: Problem, stage: Stage, status: Status, estimate: float, seconds: float) -> Solution:
    space = stage.level.space
    mesh: Mesh = space.mesh
    functions = [FieldFunction(stage.field, piece, problem.dim) for piece in range(problem.partition.size)]
    method = f"finite elements of order {space.order}, {len(mesh)} elements, {space.size} unknowns"
    settings = {
        "method": method,
        "unknowns": space.size,
        "elements": len(mesh),
        "order": space.order,
        "seconds": seconds,
    }
    if not np.isfinite(estimate):
        estimate = np.nan
    return as_solution(problem, functions, status, float(estimate), settings)
