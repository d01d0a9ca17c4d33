"""The adaptive loop of finite elements in the plane and in space: solve, compare with the last space, refine.

The equations are the judge's, for the error of the answer zero (plus the fields of point sources, and a constant that
dwarfs the rest of the data): that error is the solution. Meshes are graded geometrically towards singular points and
edges. In the plane either elements are bisected or all orders are raised, as the error indicators say (marking.py); in
space orders rise first, then elements are bisected.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import factorial

import numpy as np
from jaxtyping import Bool, Float

from jumpnet.engines.fem.marking import indicators
from jumpnet.engines.fem.options import FEM
from jumpnet.engines.fem.solutions import finite_element_solution
from jumpnet.errors import ModelError, SolutionError
from jumpnet.fe.assembly import Contact, Outer, surface_load
from jumpnet.fe.features import FieldFunction
from jumpnet.fe.mesh import Mesh
from jumpnet.fe.meshing.bisection import halved
from jumpnet.fe.meshing.edges import graded_edges
from jumpnet.fe.meshing.first import RADIANS, first_mesh, waves_at
from jumpnet.fe.meshing.fitting import fitted
from jumpnet.fe.refinement import graded, refined_at
from jumpnet.fe.small import least_eigenvalue
from jumpnet.fe.space import Space, memory_of
from jumpnet.guard.memory import too_much
from jumpnet.judge.adaptivity import MOST_LAYERS, graded_vertices
from jumpnet.judge.answers import Elements, Sources
from jumpnet.judge.coefficients import coefficients
from jumpnet.judge.defects import on_surfaces
from jumpnet.judge.edges import singular_edges
from jumpnet.judge.level import Level, solved, up_to_a_constant
from jumpnet.optim import Record, Status
from jumpnet.problem import Problem
from jumpnet.solution import Diagnostics, MeshSize, Solution

# Elements along the longest side of the domain in the first mesh (heuristic).
ACROSS = {2: 12, 3: 6}
# The order of curved faces. In space, refined meshes keep the geometry of the first one; in the plane nodes are moved.
CURVED = {2: 8, 3: 4}
# Elements to a square or cube of their size, about.
SIMPLICES = {2: 2.3, 3: 8.5}
# Layers of elements towards singular points in the first mesh; each further space has half as many more.
LAYERS = 4
# The same towards singular edges in space, one more with each space; none in meshes with more elements than
# MOST_GRADED (heuristic).
LAYERS_AT_EDGES, MOST_GRADED = 1, 3000
# With more singular points than this (images) there is one layer only, to bound the number of elements (heuristic).
MANY = 40
# Orders: the first, the one up to which no elements are bisected, the highest, and the step between them.
FIRST, ENOUGH, MOST, STEP = 2, {2: 4, 3: 5}, {2: 8, 3: 6}, {2: 2, 3: 1}
# Waves (lam < 0): at most this many radians per degree of an element in the first space (heuristic), and its highest
# order.
PER_DEGREE, MOST_WAVES = 0.6, {2: 10, 3: 5}
# Of the limit of unknowns: where waves are expected to need more, no mesh is made (an estimate: half as many again).
BEYOND = 1.5
# Tolerances of at least this in the plane: one space of this order and the judge are meant to do (heuristic; orders 3
# and 4 take about as long, and with 3 some images of benchmarks/users are refuted).
LOOSE, AT_ONCE = 1e-4, 4
# The judge is asked about that space if its highest modes are below this part of the tolerance (heuristic: the judge's
# estimates are 2 to 10 times these modes in the files of benchmarks/users).
MODES_AT_ONCE = 0.2
# The part of all elements that may be marked: in space each becomes eight, and its neighbours are cut too (heuristic).
PART_MARKED = {2: 1.0, 3: 0.15}
# The judge is asked where the estimate, times this, meets the tolerance: its own has a safety factor of two, and in
# space a refuted answer costs more than one more space.
AIMED = {2: 1.0, 3: 2.0}
# The time of a space is expected to grow with this power of the number of unknowns.
GROWTH = {2: 1.3, 3: 1.3}
# The part of the engine's time that one space may take: the judge takes about 1.7 times as long
# (benchmarks/patience.py), and has four fifths of that time.
OF_LIMIT = 0.5
# The rate at which differences fall is taken to be at least this, also if the last two fell faster (heuristic).
LEAST_RATE = 0.1
# The rate that is assumed for the first difference, which has none before it (heuristic; the judge decides).
FIRST_RATE = 0.3
# Gauss points in each direction beyond the order: with one, a source of width 0.01 has 40 times the error of three.
# In space there are as many as that number cubed, and one more for a tenth of the time.
GAUSS = {2: 3, 3: 1}
# Corrections of the penalty's consistency error: each reduces it by a factor of 1e4.
CORRECTIONS = 2
# A correction is at most this part of the one before, or of the solution.
SHRINKING, NEGLIGIBLE = 0.5, 1e-9
# Of the load: where the iterations of a solve end, which corrections continue, and where those of corrections end.
ITERATED, CORRECTED = 1e-9, 1e-6
# In space, systems with more unknowns take half a minute and more: they are solved only if they are expected to meet
# the tolerance. The brick of benchmarks/space meets 1e-4 that way; 1e-6 at an edge is out of reach (heuristic).
WORTHWHILE = 100_000
# A difference above the part SLOW of the one before is no progress; PATIENCE such spaces in a row end the loop.
SLOW, PATIENCE = 0.7, 3


# Called after every space with its record, whose loss is the squared estimated error over the variation, and that loss.
Report = Callable[[Record, float], None]
# The largest root mean square error allowed, as a function of the solution's variation and size.
Tolerance = Callable[[float, float], float]


@dataclass(frozen=True, eq=False)
class Stage:
    """A solved space: the answer, its size, its variation, and its difference from the stage before."""

    level: Level
    size: float
    variation: float
    change: float = np.inf


class Refinement:
    """The sequence of spaces of a problem; it can be continued where it ended."""

    def __init__(
        self, problem: Problem, options: FEM, tol: float = 0.0, seconds: float = np.inf, report: Report | None = None
    ):
        self._report, self._loose = report, problem.dim == 2 and tol >= LOOSE
        self.problem, self._options, self._seconds, self._began = problem, options, seconds, time.perf_counter()
        _in_memory(problem, options)
        _within_reach(problem, options)
        first = first_mesh(problem, _size(problem, options, ACROSS[problem.dim]), CURVED[problem.dim], seconds)
        self._meshes = Refined(problem, first)
        first = AT_ONCE if self._loose and options.size is None else FIRST
        self._order = options.order or max(first, _first_order(problem, self._meshes.mesh))
        self._stages: list[Stage] = []
        self._reasons: tuple[str, ...] = ()
        self._idle = 0
        self._last = 0.0  # seconds of the last space
        self._wanted = 0.0  # the tolerance, once there is a solution to say what it is

    def until(self, tolerance: Tolerance) -> Solution:
        """The solution in the first further space whose estimated error meets the tolerance, else in the last."""
        try:
            status = self._search(tolerance)
        except KeyboardInterrupt:
            if not self._stages:
                raise
            status = Status.INTERRUPTED
        found = _solution_of(self.problem, self._stages[-1], status, _estimate(self._stages), self._spent)
        return found.with_diagnostics(reasons=self._reasons) if self._reasons else found

    def _search(self, tolerance: Tolerance) -> Status:
        while (status := self._next()) is None:
            last, estimate = self._stages[-1], _estimate(self._stages)
            if len(self._stages) == 1:  # the next order is expensive, and the judge uses it first
                estimate = self._at_once(last)
            if self._report is not None:
                size = (estimate / last.variation) ** 2 if last.variation > 0 else np.nan
                self._report(Record(len(self._stages), size, (), np.nan, np.nan, self._spent), size)
            self._wanted = tolerance(last.variation, last.size)
            if estimate * AIMED[self.problem.dim] <= self._wanted:
                return Status.CONVERGED
        return status

    def _at_once(self, first: Stage) -> float:
        """What the modes of the first space say of its error, where the judge may be asked about it."""
        if self.problem.dim == 3 or self._order > MOST[2]:
            return FIRST_RATE * first.level.field.highest()
        return first.level.field.highest() / MODES_AT_ONCE if self._loose else np.inf

    def _next(self) -> Status | None:
        """Solve in the next space; the status that ends the loop if there is none."""
        if self._stages and not self._refine():
            return Status.STEP_LIMIT
        space = Space(self._meshes.mesh, self._order)
        if space.size > (most := self._options.most(self.problem.dim)):
            if self._stages:
                self._reasons = (f"the next space would have {space.size} unknowns, more than {most}",)
                return Status.STEP_LIMIT
            if self._options.order is None and self._order > FIRST:
                raise _beyond(str(space.size), most)
        if self._stages and self.problem.dim == 3 and self._options.unknowns is None and not self._promising(space):
            self._reasons = (f"the next space, of {space.size} unknowns, is not expected to meet the tolerance either",)
            return Status.STEP_LIMIT
        if lacking := too_much(space.memory):
            if not self._stages:
                raise _refused(len(space.mesh), space.order, lacking)
            self._reasons = (f"the next space needs about {lacking}.",)
            return Status.STEP_LIMIT
        if self._stages and not self._in_time(space):
            return Status.TIME_LIMIT
        began = time.perf_counter()
        self._stages.append(_stage(self.problem, space, self._stages[-1] if self._stages else None))
        self._last = time.perf_counter() - began
        slow = len(self._stages) > 2 and self._stages[-1].change > SLOW * self._stages[-2].change
        self._idle = self._idle + 1 if slow else 0
        return Status.STALLED if self._idle > PATIENCE else None

    def _refine(self) -> bool:
        """Raise the order or bisect elements, whichever promises more; False if order and size are given."""
        options, dim = self._options, self.problem.dim
        if options.order is not None and options.size is not None:
            return False
        top = MOST[dim]
        early = dim == 3 and self._order < ENOUGH[dim]
        level = self._stages[-1].level
        found = None if early else indicators(level, self._meshes.at_singular_points)
        more = ((self._order + STEP[dim]) / self._order) ** dim * level.space.size  # about, in the next order
        analytic = found is not None and found.analytic and (dim == 3 or more <= options.most(dim))
        rising = self._order < ENOUGH[dim] or (self._order < top and analytic)
        if options.order is None and (rising or options.size is not None):
            self._order += STEP[dim]
            if self._order <= top + STEP[dim] * (options.size is not None):
                self._meshes.deepen()
                return True
            return False
        marked = (found or indicators(level)).marked(self._options.bulk, PART_MARKED[dim])
        before = len(self._meshes.mesh)
        self._meshes.refine(marked)
        return len(self._meshes.mesh) > before

    def _promising(self, space: Space) -> bool:
        """Whether a space is small, or expected to meet the tolerance if differences go on to fall as they did."""
        if space.size <= WORTHWHILE or len(self._stages) < 2:
            return True
        return _estimate(self._stages) * _rate(self._stages) * AIMED[self.problem.dim] <= self._wanted

    @property
    def _spent(self) -> float:
        return time.perf_counter() - self._began

    def _in_time(self, space: Space) -> bool:
        """Whether a space is likely to be solved and judged in time, from the last one's time (without mesh)."""
        expected = self._last * (space.size / self._stages[-1].level.space.size) ** GROWTH[space.mesh.dim]
        return expected <= min(self._seconds - self._spent, OF_LIMIT * self._seconds)


class Refined:
    """The mesh of a problem: graded towards singular points, bisected where elements are marked."""

    def __init__(self, problem: Problem, first: Mesh):
        self._problem, self.mesh, self._vertices, self._layers = problem, first, [], 0
        if problem.dim == 2:
            self.mesh, self._vertices, _ = graded_vertices(problem, first)
            self.grade(LAYERS)
        else:
            self._grade_edges(LAYERS_AT_EDGES)

    @property
    def at_singular_points(self) -> Bool[np.ndarray, " m"] | None:
        """The elements at singular points of the plane, which get layers: in energy they may outweigh all others."""
        if not self._vertices:
            return None
        return np.asarray(np.isin(self.mesh.elements, self._vertices).any(axis=1))

    def grade(self, layers: int = LAYERS // 2) -> None:
        """More layers of elements towards singular points."""
        layers = min(layers if len(self._vertices) <= MANY else max(layers // LAYERS, 1), MOST_LAYERS - self._layers)
        if self._vertices:
            self.mesh = graded(self.mesh, self._vertices, layers)
        self._layers += layers

    def _grade_edges(self, layers: int) -> None:
        """More layers of elements towards singular edges in space, as long as there are not too many."""
        edges = singular_edges(self._problem, self.mesh)
        for _ in range(min(layers, MOST_LAYERS - self._layers) if len(edges) else 0):
            if len(self.mesh) > MOST_GRADED:
                break
            self.mesh, self._layers = graded_edges(self.mesh, edges, 1), self._layers + 1

    def deepen(self) -> None:
        """Add layers of elements towards singular points and edges, without bisections."""
        if self.mesh.dim == 3 and self._layers:
            self.mesh = self.mesh.as_origin()
            self._grade_edges(1)
        if self._vertices and self._layers < MOST_LAYERS:
            self.mesh = self.mesh.as_origin()
            self.grade()

    def refine(self, marked: Bool[np.ndarray, " m"]) -> None:
        """Bisect marked elements, except those at singular points, which get more layers instead."""
        self.mesh = self.mesh.as_origin()
        if self.mesh.dim == 3:
            if self._layers:
                marked = marked & ~np.isin(self.mesh.elements, singular_edges(self._problem, self.mesh)).any(axis=1)
            self.mesh = fitted(self._problem.partition, halved(self.mesh, marked))
            if self._layers:
                self._grade_edges(1)
            return
        marked = marked & ~np.isin(self.mesh.elements, self._vertices).any(axis=1)
        if marked.any():
            self.mesh = fitted(self._problem.partition, refined_at(self.mesh, marked))
        self.grade()


def _size(problem: Problem, options: FEM, across: int) -> float:
    lower, upper = problem.partition.bounds
    return options.size or float(np.max(upper - lower)) / across


def _in_memory(problem: Problem, options: FEM) -> None:
    """SolutionError where elements of the size that was given would need more memory than there is."""
    if options.size is None:
        return
    lower, upper = problem.partition.bounds
    elements = SIMPLICES[problem.dim] * float(np.prod((upper - lower) / options.size))
    order = options.order or FIRST
    if lacking := too_much(memory_of(elements, problem.dim, order)):
        raise _refused(round(elements), order, lacking)


def _within_reach(problem: Problem, options: FEM) -> None:
    """ModelError where waves (lam < 0) need many more unknowns than are allowed: a mesh for them takes seconds."""
    if options.order is not None or options.size is not None:
        return
    allowed = waves_at(problem)[1]
    if not np.isfinite(allowed).any():
        return
    dim, volume = problem.dim, sum(map(problem.partition.measure, range(problem.partition.size)))
    elements = SIMPLICES[dim] * volume * float(np.mean(allowed**-dim))
    steps = int(np.ceil(max(RADIANS / PER_DEGREE - FIRST, 0.0) / STEP[dim]))
    order = min(FIRST + steps * STEP[dim], MOST_WAVES[dim])
    unknowns = elements * order**dim / factorial(dim)
    if unknowns > BEYOND * options.most(dim):
        raise _beyond(f"about {float(f'{unknowns:.1e}'):.0f}", options.most(dim))


def _beyond(unknowns: str, most: int) -> ModelError:
    return ModelError(
        f"the first space of finite elements that resolves waves (lam < 0) has {unknowns} unknowns, more than the "
        f"{most} allowed; raise the limit by jn.FEM(unknowns=...)."
    )


def _refused(elements: int, order: int, lacking: str) -> SolutionError:
    return SolutionError(
        f"{elements} elements of order {order} need about {lacking}; choose larger elements or a lower order (jn.FEM)."
    )


def _first_order(problem: Problem, mesh: Mesh) -> int:
    """The order of the first space: higher where waves (lam < 0) are short for its elements.

    Below one degree for each half wave nothing is resolved, and differences of spaces say nothing.
    """
    at = coefficients(problem, mesh, np.full((1, mesh.dim), 1.0 / (mesh.dim + 1)))
    wave = np.sqrt(np.maximum(-at.lam, 0.0) / least_eigenvalue(at.A))[:, 0]
    wanted = float((wave * mesh.size).max()) / PER_DEGREE
    steps = int(np.ceil(max(wanted - FIRST, 0.0) / STEP[mesh.dim]))
    return min(FIRST + steps * STEP[mesh.dim], MOST_WAVES[mesh.dim])


def _stage(problem: Problem, space: Space, before: Stage | None) -> Stage:
    """The solution in a space.

    Values on the boundary and at interfaces are met by a penalty, up to 1e-4; corrections take that to rounding.
    """
    answer = Sources.of(problem)
    mean, count = None if problem.mean is None else 0.0, space.order + GAUSS[problem.dim]
    level = solved(problem, space, answer, mean, count, ITERATED)
    level = _corrected(problem, level, answer)
    e = level.sampled()
    volume = sum(level.integrals(np.ones_like(e)))
    square, total = sum(level.integrals(e**2)) / volume, sum(level.integrals(e)) / volume
    size = float(np.sqrt(square))
    change = np.inf if before is None else level.difference(before.level) * size
    constant = answer.fields.constant
    whole = float(np.sqrt(max(square + constant * (2 * total + constant), 0.0)))
    return Stage(level, whole, float(np.sqrt(max(square - total**2, 0.0))), change)


def _corrected(problem: Problem, level: Level, beside: Sources) -> Level:
    """The level without the penalty's consistency error of 1e-4, which is solved for with the same factors.

    Corrections that do not shrink are not made: where elements are far off the surface they stand for, high orders are
    continued to it with slopes that grow.
    """
    total, found, last = np.zeros(level.space.size), level, np.inf
    system = level.system
    for _ in range(CORRECTIONS):
        load = _left_on_faces(problem, found, beside) - total
        rest = load + system.left(system.load + total, found.unknowns)
        more = system.solve(rest, CORRECTED) if problem.mean is None else up_to_a_constant(system, rest, 0.0, CORRECTED)
        size = float(np.linalg.norm(more))
        if size > max(SHRINKING * last, NEGLIGIBLE * float(np.linalg.norm(level.unknowns))):
            return level
        found, total, last = replace(found, unknowns=found.unknowns + more), total + load, size
    return found


def _left_on_faces(problem: Problem, level: Level, beside: Sources) -> Float[np.ndarray, " unknowns"]:
    """The weak residual of a solution of the penalised equations on the faces where values are given."""
    mesh = level.space.mesh
    contact, outer = level.defects.contact, level.defects.outer
    answer = Elements(level.field, beside if beside.fields.given else None)
    (inner, _), (outside, _) = on_surfaces(problem, mesh, level.count, answer)
    pull = contact.stiffness * (level.trace(mesh.interfaces, 0) - level.trace(mesh.interfaces, 1))
    rest = outer.load - outer.alpha * level.trace(mesh.boundary, 0)
    first, second = inner.first - contact.first + pull, inner.second - contact.second - pull
    between = Contact(inner.stiffness, first, second, inner.along)
    return surface_load(level.space, level.count, between, Outer(outside.alpha, outside.load - rest, outside.along))


def _estimate(stages: list[Stage]) -> float:
    """The error of the last stage: its difference from the one before, times the rate at which differences fall."""
    if len(stages) < 2:
        return np.inf
    return stages[-1].change * _rate(stages)


def _rate(stages: list[Stage]) -> float:
    """The rate at which differences of successive stages fall."""
    last, before = stages[-1].change, stages[-2].change if len(stages) > 1 else np.inf
    if not np.isfinite(before):
        return FIRST_RATE
    return float(np.clip(last / before, LEAST_RATE, 1.0)) if before > 0.0 else 1.0


def _solution_of(problem: Problem, stage: Stage, status: Status, estimate: float, seconds: float) -> Solution:
    space = stage.level.space
    mesh = replace(space.mesh, origin=None)  # the data it was made from are released
    field = replace(stage.level.field, mesh=mesh)
    functions = [FieldFunction(field, piece, problem.dim) for piece in range(problem.partition.size)]
    method = f"finite elements of order {space.order}, {len(mesh)} elements, {space.size} unknowns"
    known = float(estimate) if np.isfinite(estimate) else np.nan
    size = MeshSize(space.size, len(mesh), space.order)
    diagnostics = Diagnostics(status, method, seconds, known, mesh=size)
    return finite_element_solution(problem, functions, diagnostics, Sources.of(problem).fields.constant)
