"""The search of the direct solver: features that grow where held-out residuals are large, until the error is small.

The error estimate is reliability constant times held-out residual times a safety factor. The constant, the error per
unit of residual, is measured on the problem itself: the difference between two levels is the error of the former,
provided that the latter is much better (saturation assumption). Whether it is can be seen: its residual has to be a
tenth of the former's, or at rounding. Two levels that agree because neither makes progress say nothing.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from jumpnet.engines.budget import Budget, Watch
from jumpnet.engines.progress import Progress
from jumpnet.engines.trefftz.balance import Imbalance, imbalances
from jumpnet.engines.trefftz.enrichments.rings import with_rings
from jumpnet.engines.trefftz.features import first_plan, with_all_poles, with_corners
from jumpnet.engines.trefftz.levels import DirectSolver, Level, rms
from jumpnet.engines.trefftz.plan import Plan
from jumpnet.optim import Record, Status
from jumpnet.problem import Problem
from jumpnet.rows import BETWEEN_PIECES, ON_BOUNDARY

# Safety factor of the estimate (benchmarks/estimates.py).
SAFETY = 5.0
# The saturation assumption holds where the residual of the better level is at most this part of the other's.
SATURATION = 0.1
# Memory of the reliability constant: what levels before showed counts so much less with every level (heuristic).
MEMORY = 0.5
# Residuals below this part of the norm of the data are rounding (benchmarks/direct.py: 3e-16 to 2e-14).
AT_ROUNDING = 1e-12
# Rounding of u itself, relative to its size.
ROUNDING_OF_VALUES = 1e-13
# Levels and unknowns after which the search ends; the latter with whole pieces, and with cells between holes.
MOST_LEVELS = 20
MOST_UNKNOWNS, MOST_BETWEEN_HOLES = 6000, 300_000
# Less than this reduction of the residual from one level to the next is no progress; so many of them end the search.
SLOW, PATIENCE = 0.8, 3
# Where another method is tried next, it must be less, and sooner: algebraic convergence is not worth its unknowns.
SLOW_FIRST, PATIENCE_FIRST = 0.4, 2
# A whole growth that leaves more of the residual than this: the functions do not suit the solution.
UNSUITED = 0.3
# Other functions are kept if they leave no more than this of it; powers at corners, of which there are many at once,
# must do more than others would in their place.
WITH_POLES, WITH_CORNERS, WITH_RINGS = 0.5, 0.05, 0.3
# With features that were given, so many times more of them are tried until they show the error.
RICHER = 4
# Growth is lengthened or shortened by prediction, within these bounds. It aims at a part of the residual that would do:
# one more level costs more than a degree too many, in space it does not.
STRIDES, AIMED, AIMED_IN_SPACE = (0.5, 3.0), 0.1, 1.0


@dataclass(frozen=True)
class Attempt:
    """What the direct solver came to: its best level, the estimated error of that (nan: unknown), and how it ended.

    `reasons` are sentences about what stands against success although the estimate meets the tolerance.
    """

    level: Level
    estimate: float
    status: Status
    records: tuple[Record, ...]
    reasons: tuple[str, ...] = ()

    def described(self) -> str:
        """What was done, in one line."""
        level, plan = self.level, self.level.plan
        names = {"harmonic": "harmonic functions", "legendre": "polynomials", "ridges": "random features"}
        own = [names[part.kind] for part in plan.parts if not part.pole and part.kind in names]
        what = "pieces" if plan.cells is None else "cells"
        kinds = [
            f"{name} in {own.count(name)} of {len(plan.exact) if plan.cells is None else plan.cells.size} {what}"
            for name in sorted(set(own))
        ]
        corners, answers = (sum(part.kind == kind for part in plan.parts) for kind in ("corner", "answer"))
        poles = sum(part.pole for part in plan.parts) - corners
        others = f", {poles} sets of poles outside them" if poles else ""
        others += f", powers at {corners} corners" if corners else ""
        others += f", sources answered in {answers}" if answers else ""
        worst = "" if self.status is Status.CONVERGED else f"; met worst: {level.large_terms()[0]}"
        return f"direct: {' and '.join(kinds)}{others}, {level.network.size} unknowns{worst}"


@dataclass(frozen=True)
class Goal:
    """The root mean square error that is asked for: relative to the variation of u, or absolute."""

    tol: float
    atol: float = 0.0

    def of(self, values: Float[np.ndarray, " points"]) -> float:
        """The largest error that will do, for a solution with these values at evenly spread points."""
        if not np.isfinite(values).all():
            return 0.0
        return self.of_size(rms(values - np.mean(values)), rms(values))

    def of_size(self, variation: float, size: float) -> float:
        """The same, from the variation and the root mean square of the solution."""
        return max(self.atol, self.tol * variation, ROUNDING_OF_VALUES * size)


class _Track:
    """The levels so far: the last one, the best one, its estimated error, and for how long there was no progress."""

    def __init__(self, goal: Goal, progress: Progress | None, most: int):
        self.goal, self._progress, self._most, self._began = goal, progress, most, time.perf_counter()
        self.records: list[Record] = []
        self.last: Level | None = None
        self.best: Level | None = None
        self.estimate, self.idle = np.inf, 0
        self.lost: tuple[str, ...] = ()
        self._levels: list[Level] = []
        self._worst = 0.0

    def begin(self, first: Level) -> None:
        """A new sequence of levels, which those before say nothing about; the best so far stays."""
        self.last, self.idle, self._levels, self._worst = first, 0, [first], 0.0
        if self.best is None:
            self.best = first
        self._note(first)

    def add(self, after: Level, slow: float = SLOW) -> None:
        """The next level; a residual above `slow` of the last is no progress."""
        last, best = self.last, self.best
        assert last is not None and best is not None
        estimate = self._estimate(after)
        self._worst = max(self._worst, *self._shown(after).values(), 0.0)
        self._levels.append(after)
        self.idle = 0 if after.residual < slow * max(last.residual, best.residual) else self.idle + 1
        if after.residual < best.residual or (estimate < self.estimate and _at_rounding(after)):
            self.best, self.estimate = after, estimate
        self.last = after
        self._note(after)

    @property
    def met(self) -> bool:
        """Whether the estimate meets the tolerance."""
        if self.best is None or not np.isfinite(self.estimate):
            return False
        return self.estimate <= self.goal.of(self.best.values)

    @property
    def cautious(self) -> float:
        """An upper estimate for a search that ends early: with the worst constant seen; nan where none was."""
        if self.best is None or not self._worst > 0 or not np.isfinite(self._worst * self.best.residual):
            return np.nan
        return SAFETY * self._worst * self.best.residual

    def balanced(self, solver: DirectSolver) -> bool:
        """Whether the fluxes of the best level balance; where they do not, `lost` says so in sentences."""
        assert self.best is not None
        self.lost = tuple(map(str, _lost(solver, self.best, self.goal.tol)))
        return not self.lost

    def would_do(self, after: Level) -> bool:
        """Whether the estimate would meet the tolerance with this level as the next."""
        return self._estimate(after) <= self.goal.of(after.values)

    def _shown(self, after: Level) -> dict[int, float]:
        """By number, the reliability constants that former levels show if this one is much better than they are."""
        return {
            number: rms(after.values - former.values) / former.residual
            for number, former in enumerate(self._levels)
            if former.residual > 0 and after.residual <= SATURATION * former.residual
        }

    def _reliability(self, after: Level) -> float:
        """The error per unit of residual; infinite where no former level shows it."""
        shown = self._shown(after)
        return max((constant * MEMORY ** (max(shown) - at) for at, constant in shown.items()), default=np.inf)

    def _estimate(self, after: Level) -> float:
        """The estimated error of a level, as the next of the sequence; infinite where nothing is known."""
        if _at_rounding(after) and any(_at_rounding(former) for former in self._levels):
            changes = [rms(after.values - former.values) for former in self._levels if _at_rounding(former)]
            return SAFETY * max(changes)
        constant = self._reliability(after)
        return SAFETY * constant * after.residual if np.isfinite(constant) else np.inf

    def stride(self, before: Level, after: Level) -> float:
        """How far to grow, in units of the last growth, for the residual to become as small as it must."""
        constant = max(rms(after.values - before.values) / max(before.residual, 1e-300), MEMORY * self._worst)
        if constant == 0.0 or not 0 < after.residual < before.residual:
            return 1.0
        aimed = AIMED if after.rows.sites.x.shape[1] < 3 else AIMED_IN_SPACE
        wanted = aimed * self.goal.of(after.values) / (SAFETY * constant)
        if wanted >= after.residual:
            return STRIDES[0]
        return float(np.clip(np.log(after.residual / wanted) / np.log(before.residual / after.residual), *STRIDES))

    def _note(self, level: Level) -> None:
        number, seconds = len(self.records) + 1, time.perf_counter() - self._began
        terms = np.bincount(level.held_rows.term, level.held**2, len(level.held_rows.terms))
        self.records.append(Record(number, level.residual**2, tuple(terms.tolist()), np.nan, np.nan, seconds))
        if self._progress is not None:
            assert self.best is not None
            self._progress(self.records[-1], self.best.residual**2)


def attempt(
    solver: DirectSolver, goal: Goal, progress: Progress | None = None, alone: bool = True, budget: Budget = Budget()
) -> Attempt:
    """Grow the features until the estimate meets the tolerance or that no longer helps; `budget` may end it early.

    Unless the method is `alone` another one is tried next, and slow convergence ends the search.
    """
    track = _Track(goal, progress, MOST_LEVELS)
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what is not finite is no success
            status = _grow(track, solver, alone, budget)
    except KeyboardInterrupt:
        if track.best is None:
            raise
        status = Status.INTERRUPTED
    assert track.best is not None
    reasons: tuple[str, ...] = ()
    if track.met and status in (Status.STALLED, Status.STEP_LIMIT):
        status, reasons = Status.UNBALANCED, track.lost
    estimate = track.estimate if status in (Status.CONVERGED, Status.UNBALANCED) else track.cautious
    return Attempt(track.best, float(estimate), status, _alike(track), reasons)


def _grow(track: _Track, solver: DirectSolver, alone: bool, budget: Budget) -> Status:
    """More functions, level by level; with less patience where there is another method."""
    watch = Watch()
    track.begin(solver.level(first_plan(solver.problem)))
    stride, poles, good = 1.0, False, True
    while len(track.records) < MOST_LEVELS:
        last = track.last
        assert last is not None
        if budget.forbids(watch, good):
            return Status.TIME_LIMIT if np.isfinite(budget.limit) else Status.STALLED
        watch = Watch()
        plan = last.plan.grown(last.large_terms(), stride)
        if plan == last.plan or plan.network.size > (MOST_UNKNOWNS if plan.cells is None else MOST_BETWEEN_HOLES):
            return Status.STALLED
        after = solver.level(plan)
        if after.residual > UNSUITED ** min(stride, 1.0) * last.residual and not track.would_do(after):
            if not poles and not budget.too_late(watch):
                poles, after = True, _better_with(with_all_poles, after, solver, WITH_POLES)
            if any(key.kind in BETWEEN_PIECES for key in after.large_terms()) and not budget.too_late(watch):
                after = _better_with(with_rings, after, solver, WITH_RINGS)
            walls = any(key.kind in (*ON_BOUNDARY, *BETWEEN_PIECES) for key in after.large_terms())
            if walls and not budget.too_late(watch):
                after = _better_with(with_corners, after, solver, WITH_CORNERS)
        slow, patience = (SLOW, PATIENCE) if alone else (SLOW_FIRST, PATIENCE_FIRST)
        track.add(after, slow)
        if track.met and track.balanced(solver):
            return Status.CONVERGED
        if track.idle >= patience:
            return Status.STALLED
        stride, good = track.stride(last, after), after.residual <= SATURATION * last.residual
    return Status.STEP_LIMIT


def _better_with(
    more: Callable[[Plan, Problem], Plan | None], level: Level, solver: DirectSolver, left: float
) -> Level:
    """The level with more functions if no more than a part of its residual is left then, else as it is."""
    plan = more(level.plan, solver.problem)
    if plan is None or plan.network.size > MOST_UNKNOWNS:
        return level
    found = solver.level(plan)
    return found if found.residual < left * level.residual else level


def _alike(track: _Track) -> tuple[Record, ...]:
    """The records of levels with the same families of equations as the best."""
    assert track.best is not None
    terms = len(track.best.held_rows.terms)
    return tuple(record for record in track.records if len(record.terms) == terms)


def fixed(solver: DirectSolver, plan: Plan, goal: Goal) -> Attempt:
    """Solve with the features of a plan; as many more of them as make the residual much smaller tell its error."""
    track = _Track(goal, None, 1)
    level = solver.level(plan)
    track.begin(level)
    estimate, richer = np.nan, plan
    for _ in range(RICHER):
        grown = richer.grown(level.held_rows.terms)
        if grown == richer or grown.network.size > MOST_UNKNOWNS:
            break
        richer = grown
        more = solver.level(richer)
        if more.residual <= SATURATION * level.residual or (_at_rounding(level) and _at_rounding(more)):
            estimate = SAFETY * rms(more.values - level.values)
            break
    met = estimate <= goal.of(level.values)
    lost = tuple(map(str, _lost(solver, level, goal.tol))) if met else ()
    status = (Status.UNBALANCED if lost else Status.CONVERGED) if met else Status.STALLED
    return Attempt(level, estimate, status, tuple(track.records), lost)


def _at_rounding(level: Level) -> bool:
    """Whether the residual of a level is as small as rounding allows."""
    return level.residual <= AT_ROUNDING * float(np.linalg.norm(level.held_rows.rhs * level.held_rows.weight))


def _lost(solver: DirectSolver, level: Level, tol: float) -> list[Imbalance]:
    """The places where more flux is lost than a part `tol`, the worst first."""
    found = [one for one in imbalances(solver, level) if one.exceeds(tol)]
    return sorted(found, key=lambda one: -abs(one.value) / max(one.size, 1e-300))


Search = Callable[[DirectSolver, Goal, Progress | None], Attempt]
