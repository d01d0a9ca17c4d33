"""The search of the direct solver: features that grow where held-out residuals are large, until the error is small.

The error estimate uses the problem itself as its yardstick. The change from one level of features to the next (or, with
cells, to one of the next few) is the error of the former; divided by the former's held-out residual it says how much
error a unit of residual means here. That factor times the last held-out residual, with some room, estimates the last
error.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jumpnet.driver.cutting import Cutter
from jumpnet.driver.features import first_plan, with_all_poles, with_corners
from jumpnet.driver.levels import DirectSolver, Level, rms
from jumpnet.driver.plan import Plan
from jumpnet.driver.progress import Progress
from jumpnet.driver.rings import with_rings
from jumpnet.geometry.cells import Cells
from jumpnet.optim import Record, Status
from jumpnet.problem import Problem

# The estimate is this many times what the last changes suggest.
ROOM = 5.0
# Of the error that a unit of residual meant before, so much is still believed at the next level; changes of cells touch
# a part of the domain only and may show less than there is.
KEPT, KEPT_CUT = 0.5, 0.7
# Levels and unknowns after which the search ends, with whole pieces and with pieces cut into cells.
MOST_LEVELS, MOST_LEVELS_CUT = 20, 40
# With cells, changes over so many levels count: where the worst cell is cut in vain, one level hardly changes anything.
BACK = 4
MOST_UNKNOWNS, MOST_IN_CELLS, MOST_BETWEEN_HOLES = 6000, 30000, 300_000
# Less than this reduction of the residual from one level to the next is no progress; so many of them end the search.
SLOW, PATIENCE, PATIENCE_CUT = 0.8, 3, 6
# Where pieces can be cut, whole ones must do better, and sooner: algebraic convergence is not worth its unknowns.
SLOW_WHOLE, PATIENCE_WHOLE = 0.4, 2
# A whole growth that leaves more of the residual than this: the functions do not suit the solution.
UNSUITED = 0.3
# Other functions are kept if they leave no more than this of it; powers at corners, of which there are many at once,
# must do more than others would in their place.
WITH_POLES, WITH_CORNERS, WITH_RINGS = 0.5, 0.05, 0.3
# Growth is lengthened or shortened by prediction, within these bounds. It aims at a part of the residual that would do:
# one more level costs more than a degree too many, in space it does not.
STRIDES, AIMED, AIMED_IN_SPACE = (0.5, 3.0), 0.1, 1.0


@dataclass(frozen=True)
class Attempt:
    """What the direct solver came to: its best level, the estimated error of that, and how it ended."""

    level: Level
    estimate: float
    status: Status
    records: tuple[Record, ...]

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


class _Track:
    """The levels so far: the last one, the best one, its estimated error, and for how long there was no progress."""

    def __init__(self, tol: float, progress: Progress | None, most: int):
        self.tol, self._progress, self._most, self._began = tol, progress, most, time.perf_counter()
        self.records: list[Record] = []
        self.last: Level | None = None
        self.best: Level | None = None
        self.estimate, self.idle = np.inf, 0
        self._factor = 0.0
        self._recent: list[Level] = []

    def begin(self, first: Level) -> None:
        """A new sequence of levels, which those before say nothing about; the best so far stays."""
        self.last, self._factor, self.idle, self._recent = first, 0.0, 0, [first]
        if self.best is None:
            self.best = first
        self._note(first)

    def add(self, after: Level, slow: float = SLOW) -> None:
        """The next level; a residual above `slow` of the last is no progress."""
        last, best = self.last, self.best
        assert last is not None and best is not None
        change = rms(after.values - last.values)
        kept, back = (KEPT_CUT, BACK) if isinstance(after.plan.cells, Cells) else (KEPT, 1)
        self._recent = self._recent[-back:]
        shown = [rms(after.values - former.values) / max(former.residual, 1e-300) for former in self._recent]
        self._factor = max(*shown, kept * self._factor)
        self._recent.append(after)
        self.idle = 0 if after.residual < slow * max(last.residual, best.residual) else self.idle + 1
        estimate = ROOM * self._factor * after.residual
        if isinstance(best.plan.cells, Cells) != isinstance(after.plan.cells, Cells):
            better = estimate < self.estimate  # residuals of whole pieces and of cells are weighted differently
        else:
            better = after.residual < best.residual
        if better:
            self.best, self.estimate = after, estimate
        elif last is best:
            self.estimate = min(self.estimate, ROOM * change)
        self.last = after
        self._note(after)

    @property
    def met(self) -> bool:
        """Whether the estimate meets the tolerance."""
        if self.best is None or not np.isfinite(self.estimate):
            return False
        return self.estimate <= self.tol * rms(self.best.values)

    def would_do(self, after: Level) -> bool:
        """Whether the estimate would meet the tolerance with this level as the next."""
        assert self.last is not None
        factor = rms(after.values - self.last.values) / max(self.last.residual, 1e-300)
        return ROOM * max(factor, KEPT * self._factor) * after.residual <= self.tol * rms(after.values)

    def stride(self, before: Level, after: Level) -> float:
        """How far to grow, in units of the last growth, for the residual to become as small as it must."""
        if self._factor == 0.0 or not 0 < after.residual < before.residual:
            return 1.0
        aimed = AIMED if after.rows.sites.x.shape[1] < 3 else AIMED_IN_SPACE
        wanted = aimed * self.tol * rms(after.values) / (ROOM * self._factor)
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


def attempt(solver: DirectSolver, tol: float, progress: Progress | None = None) -> Attempt:
    """Grow the features until the estimate meets the tolerance; where that no longer helps, cut pieces into cells."""
    track = _Track(tol, progress, MOST_LEVELS)
    try:
        status = _grow(track, solver)
        if status is not Status.CONVERGED and Cells.possible(solver.problem.partition):
            status = _cut(track, solver)
    except KeyboardInterrupt:
        if track.best is None:
            raise
        status = Status.INTERRUPTED
    assert track.best is not None
    return Attempt(track.best, float(track.estimate), status, _alike(track))


def _grow(track: _Track, solver: DirectSolver) -> Status:
    """More functions of the whole pieces."""
    track.begin(solver.level(first_plan(solver.problem)))
    stride, poles = 1.0, False
    while len(track.records) < MOST_LEVELS:
        last = track.last
        assert last is not None
        plan = last.plan.grown(last.large_terms(), stride)
        if plan == last.plan or plan.network.size > (MOST_UNKNOWNS if plan.cells is None else MOST_BETWEEN_HOLES):
            return Status.STALLED
        after = solver.level(plan)
        if after.residual > UNSUITED ** min(stride, 1.0) * last.residual and not track.would_do(after):
            if not poles:
                poles, after = True, _better_with(with_all_poles, after, solver, WITH_POLES)
            if any(term.startswith(("jump", "flux")) for term in after.large_terms()):
                after = _better_with(with_rings, after, solver, WITH_RINGS)
            if any(term.startswith(("boundary", "jump", "flux")) for term in after.large_terms()):
                after = _better_with(with_corners, after, solver, WITH_CORNERS)
        cuttable = after.residual > SLOW_WHOLE * last.residual and Cells.possible(solver.problem.partition)
        slow, patience = (SLOW_WHOLE, PATIENCE_WHOLE) if cuttable else (SLOW, PATIENCE)
        track.add(after, slow)
        if track.met:
            return Status.CONVERGED
        if track.idle >= patience:
            return Status.STALLED
        stride = track.stride(last, after)
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


def _cut(track: _Track, solver: DirectSolver) -> Status:
    """Cells, smaller ones or more functions in them, wherever the residual is large."""
    cutter = Cutter(solver.problem)
    track.begin(solver.level(cutter.plan()))
    for _ in range(MOST_LEVELS_CUT):
        assert track.last is not None
        if not cutter.refine(track.last):
            return Status.STALLED
        plan = cutter.plan()
        if plan.network.size > MOST_IN_CELLS:
            return Status.STALLED
        track.add(solver.level(plan))
        if track.met:
            return Status.CONVERGED
        if track.idle >= PATIENCE_CUT:
            return Status.STALLED
    return Status.STEP_LIMIT


def _alike(track: _Track) -> tuple[Record, ...]:
    """The records of levels with the same families of equations as the best."""
    assert track.best is not None
    terms = len(track.best.held_rows.terms)
    return tuple(record for record in track.records if len(record.terms) == terms)


def fixed(solver: DirectSolver, plan: Plan, tol: float) -> Attempt:
    """Solve with the features of a plan; somewhat more of them tell the error of these."""
    track = _Track(tol, None, 1)
    level = solver.level(plan)
    track.begin(level)
    more = solver.level(plan.grown(level.held_rows.terms))
    estimate = ROOM * rms(more.values - level.values)
    status = Status.CONVERGED if estimate <= tol * rms(level.values) else Status.STALLED
    return Attempt(level, estimate, status, tuple(track.records))


Search = Callable[[DirectSolver, float, Progress | None], Attempt]
