"""The direct solver: features that grow where held-out residuals are large, until an error estimate is small enough.

For a linear PDE, frozen features make one linear least-squares problem of the rows. What is left to decide is which
features and how many, and that is decided here, from residuals at points the solve has not seen.

The error estimate uses the problem itself as its yardstick. The change from one level of features to the next is the
error of the former; divided by the former's held-out residual it says how much error a unit of residual means here.
That factor times the last held-out residual, with some room, estimates the last error.
"""

import time
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from jumpnet.charts import choose_atlases
from jumpnet.collocation import Points, Stream, collocate
from jumpnet.driver.features import Part, Plan, first_plan, plan_of
from jumpnet.driver.progress import Progress, shown
from jumpnet.driver.residuals import held_out_residuals
from jumpnet.driver.task import check_trials, spread
from jumpnet.errors import ModelError
from jumpnet.models import Frozen, FrozenModel, LinearSystem, site_values
from jumpnet.optim import Direct, History, Record, Status
from jumpnet.problem import Problem
from jumpnet.rows import Rows, Sites, equations, select, weigh
from jumpnet.solution import Solution

# How many times as many equations as unknowns: fewer, and the features are met at the points and wrong between them.
OVERSAMPLING = 2.0
# Families with a held-out residual above this part of the largest get more features.
LARGE = 0.05
# The estimate is this many times what the last changes suggest.
ROOM = 5.0
# Levels, unknowns and levels without progress after which the attempt ends.
MOST_LEVELS, MOST_UNKNOWNS, PATIENCE = 20, 6000, 3
# Less than this reduction of the residual from one level to the next is no progress.
SLOW = 0.8
# Points at which successive levels are compared.
COMPARED = 400


@dataclass(frozen=True)
class Level:
    """One solve: its features and weights, its held-out residual by family, and the values at the compared points."""

    plan: Plan
    network: Frozen
    theta: Float[np.ndarray, " weights"]
    rows: Rows
    loss: float
    held_rows: Rows
    held: Float[np.ndarray, " rows"]
    values: Float[np.ndarray, " points"]
    points: Points

    @property
    def residual(self) -> float:
        """The norm of the held-out residual."""
        return float(np.linalg.norm(self.held))

    def large_terms(self) -> list[str]:
        """The families of equations that are met worst."""
        square = np.bincount(self.held_rows.term, self.held**2, len(self.held_rows.terms))
        return [term for term, s in zip(self.held_rows.terms, square, strict=True) if s > LARGE**2 * square.max()]


class DirectSolver:
    """The levels of one problem and one seed."""

    def __init__(self, problem: Problem, seed: int, optimizer: Direct):
        self.problem, self.seed, self.optimizer = problem, seed, optimizer
        lower, upper = (np.asarray(end, float) for end in problem.partition.bounds)
        self.halfwidth = (upper - lower) / 2
        parts = problem.partition
        self.x, self.piece = parts.sample_interior(
            max(COMPARED, 4 * parts.size), seed=[seed, int(Stream.HELD_OUT), 9], minimum=2
        )

    def level(self, plan: Plan) -> Level:
        """Solve with the features of a plan."""
        network, points = plan.network, points_for(plan, self.problem)
        rows = self._rows(plan, points, Stream.TRAIN)
        system = LinearSystem(network, rows)
        theta = self.optimizer.solve(system)
        r = system.residual(theta * system.column_size)
        held_rows = self._rows(plan, points, Stream.HELD_OUT)
        of_site = network.values(theta, held_rows.sites)
        held = np.bincount(held_rows.row_of_site, of_site, len(held_rows)) - held_rows.rhs
        n, d = self.x.shape
        at = Sites(self.x, self.piece, np.ones(n), np.zeros((n, d)), np.zeros((n, d, d)))
        values = network.values(theta, at)
        return Level(plan, network, theta, rows, float(r @ r), held_rows, held * held_rows.weight, values, points)

    def _rows(self, plan: Plan, points: Points, stream: Stream) -> Rows:
        """The equations that the features do not solve by themselves, weighted."""
        drawn = collocate(self.problem.partition, points, seed=self.seed, stream=stream)
        rows = equations(self.problem, drawn)
        solved = {f"pde {piece}" for piece, exact in enumerate(plan.exact) if exact}
        keep = np.array([term not in solved for term in rows.terms])[rows.term]
        return weigh(select(rows, keep), "balanced", self.halfwidth)


def points_for(plan: Plan, problem: Problem) -> Points:
    """Enough points for the unknowns: in pieces whose equation is not solved exactly, and on all surfaces."""
    parts = problem.partition
    dim = parts.dim
    # Harmonic functions are not seen by the equations inside a piece.
    inside = [sum(p.family.size for p in plan.of(piece) if p.kind != "harmonic") for piece in range(parts.size)]
    minimum = max(int(OVERSAMPLING * 1.25 * max(inside)), 1)

    def unknowns(term: str) -> int:
        return sum(_carried(part, dim) for part in plan.parts if part.concerns(term))

    # An interface has two equations for the unknowns of both sides.
    pairs = [interface.pair for interface in parts.interfaces]
    interface = int(OVERSAMPLING * max((unknowns(f"jump {a}-{b}") for a, b in pairs), default=0) / 2) + 10
    boundary = int(OVERSAMPLING * unknowns("boundary")) + 20
    return Points(minimum * parts.size, boundary, interface, minimum, "sobol")


def _carried(part: Part, dim: int) -> int:
    """How many numbers on a surface determine a part: of its functions, those of about the highest degree."""
    if dim == 1:
        return 1
    if part.kind == "harmonic" and dim == 2:
        return 2 * part.degree + 2
    return 2 * int(part.family.size ** ((dim - 1) / dim)) + 2


@dataclass(frozen=True)
class Attempt:
    """What the direct solver came to: its best level, the estimated error of that, and how it ended."""

    level: Level
    estimate: float
    status: Status
    records: tuple[Record, ...]

    @property
    def size(self) -> float:
        """The size of the solution: what the tolerance is relative to."""
        return _rms(self.level.values)

    def described(self) -> str:
        """What was done, in one line."""
        level = self.level
        names = {"harmonic": "harmonic functions", "legendre": "polynomials", "ridges": "random features"}
        own = [names[part.kind] for part in level.plan.parts if not part.pole]
        kinds = [f"{name} in {own.count(name)} of {len(level.plan.exact)} pieces" for name in sorted(set(own))]
        poles = sum(part.pole for part in level.plan.parts)
        with_poles = f", {poles} sets of poles outside them" if poles else ""
        worst = "" if self.status is Status.CONVERGED else f"; met worst: {level.large_terms()[0]}"
        return f"direct: {' and '.join(kinds)}{with_poles}, {level.network.size} unknowns{worst}"


def attempt(solver: DirectSolver, tol: float, progress: Progress | None = None) -> Attempt:
    """Grow the features until the estimate meets the tolerance, or growing no longer helps."""
    began = time.perf_counter()
    records: list[Record] = []

    def note(level: Level) -> None:
        records.append(_noted(level, len(records) + 1, time.perf_counter() - began))
        if progress is not None:
            progress(records[-1], best.residual**2)

    last = best = _first(solver)
    factor, idle, estimate, status = 0.0, 0, np.inf, Status.STEP_LIMIT
    try:
        note(last)
        while status is Status.STEP_LIMIT and len(records) < MOST_LEVELS:
            plan = last.plan.grown(last.large_terms())
            if plan == last.plan or plan.network.size > MOST_UNKNOWNS:
                status = Status.STALLED
                break
            after = solver.level(plan)
            change = _rms(after.values - last.values)
            factor = max(change / max(last.residual, 1e-300), factor / 2)
            idle = 0 if after.residual < SLOW * best.residual else idle + 1
            if after.residual < best.residual:
                best, estimate = after, ROOM * factor * after.residual
            elif last is best:
                estimate = min(estimate, ROOM * change)
            last = after
            note(last)
            if estimate <= tol * _rms(best.values):
                status = Status.CONVERGED
            elif idle >= PATIENCE:
                status = Status.STALLED
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return Attempt(best, float(estimate), status, tuple(records))


def fixed(solver: DirectSolver, plan: Plan, tol: float) -> Attempt:
    """Solve with the features of a plan; somewhat more of them tell the error of these."""
    level = solver.level(plan)
    more = solver.level(plan.grown(level.held_rows.terms))
    estimate = ROOM * _rms(more.values - level.values)
    status = Status.CONVERGED if estimate <= tol * _rms(level.values) else Status.STALLED
    return Attempt(level, estimate, status, (_noted(level, 1, 0.0),))


def directly(
    problem: Problem,
    model: object = None,
    optimizer: object = None,
    *,
    tol: float,
    seed: int,
    trials: int,
    progress: bool | Progress,
) -> Solution:
    """The direct solution: of several seeds the one with the smallest estimate."""
    if not (isinstance(tol, int | float) and tol > 0):
        raise ModelError(f"tol is {tol!r}; give the relative error you can live with, such as 1e-8.")
    if model is not None and not isinstance(model, FrozenModel):
        raise ModelError(
            f"jn.optim.Direct() needs frozen features, not {model!r}; leave model out, or give one of "
            "jn.models.Polynomials(), Harmonics(), RandomFeatures()."
        )
    if optimizer is not None and not isinstance(optimizer, Direct):
        raise ModelError(f"{model!r} has frozen features, which jn.optim.Direct() solves for; leave optimizer out.")
    check_trials(seed, trials)
    found = []
    for number in range(seed, seed + trials):
        found.append(_of_seed(problem, model, optimizer or Direct(), tol, int(number), progress))
        if found[-1].status is Status.INTERRUPTED:
            break
    best = min(found, key=lambda solution: solution.estimate)
    return best if len(found) == 1 else replace(best, settings=best.settings | {"trials": spread(found)})


def _of_seed(
    problem: Problem, model: FrozenModel | None, optimizer: Direct, tol: float, seed: int, progress: bool | Progress
) -> Solution:
    began = time.perf_counter()
    solver = DirectSolver(problem, seed, optimizer)
    if model is not None:
        found = fixed(solver, plan_of(model, problem), tol)
    else:
        with shown(progress, MOST_LEVELS) as report:
            found = attempt(solver, tol, report)
    return _solution(problem, found, seed, time.perf_counter() - began)


def better(problem: Problem, direct: Solution, trained: Solution) -> Solution:
    """Of two solutions the one with the smaller residual in the same equations, at points neither has seen."""
    points = Points(2000, 400, 200, 20)
    rows = equations(problem, collocate(problem.partition, points, seed=direct.seed, stream=Stream.TEST))
    lower, upper = (np.asarray(end, float) for end in problem.partition.bounds)
    rows = weigh(rows, "balanced", (upper - lower) / 2)

    def residual(solution: Solution) -> float:
        of_site = solution.scale * site_values(solution.network, solution.theta, solution.atlas.push(rows.sites))
        return float(np.linalg.norm((np.bincount(rows.row_of_site, of_site, len(rows)) - rows.rhs) * rows.weight))

    of_direct, of_trained = residual(direct), residual(trained)
    taken, how = (trained, "trained") if of_trained < of_direct else (direct, "direct")
    method = (
        f"{how}, the better of two: {direct.settings['method']}, which did not reach the tolerance, and a training; "
        f"residuals of the same equations: direct {of_direct:.1e}, trained {of_trained:.1e}"
    )
    return replace(taken, settings=taken.settings | {"method": method})


def _solution(problem: Problem, found: Attempt, seed: int, seconds: float) -> Solution:
    """The attempt as a solution."""
    level, parts = found.level, problem.partition
    (atlas,) = choose_atlases("paper", parts)
    held_loss = level.residual**2
    terms = level.held_rows.terms
    return Solution(
        network=level.network,
        theta=level.theta,
        atlas=atlas,
        scale=1.0,
        dim=parts.dim,
        pieces=parts.size,
        partition=parts,
        tensors=problem.A,
        status=found.status,
        loss=level.loss,
        steps=len(found.records),
        history=History.of(list(found.records), terms),
        seed=seed,
        held_out=held_out_residuals(level.held_rows, level.held, 1.0),
        held_out_loss=held_loss,
        estimate=found.estimate,
        problem=problem,
        exact=problem.exact,
        settings={
            "method": found.described(),
            "interior": level.points.interior,
            "boundary": level.points.boundary,
            "interface": level.points.interface,
            "weights": "balanced",
            "seconds": seconds,
        },
    )


def _first(solver: DirectSolver) -> Level:
    """The first level: poles in the holes only where they help (a manufactured solution has no singularity there)."""
    plain, poles = (first_plan(solver.problem, poles=poles) for poles in (False, True))
    first = solver.level(plain)
    if len(poles.parts) == len(plain.parts):
        return first
    second = solver.level(poles)
    return second if second.residual < first.residual / 2 else first


def _noted(level: Level, number: int, seconds: float) -> Record:
    terms = np.bincount(level.held_rows.term, level.held**2, len(level.held_rows.terms))
    return Record(number, level.residual**2, tuple(terms.tolist()), np.nan, np.nan, seconds)


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))
