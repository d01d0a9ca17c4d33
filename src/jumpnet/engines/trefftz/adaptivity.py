"""The adaptive loop: solve, estimate, mark, refine, until the estimated error meets the tolerance.

Degrees rise where held-out residuals are large (p-refinement); where that stagnates, enrichments propose blocks.

The error estimate is reliability constant times held-out residual times a safety factor. The constant, the error per
unit of residual, is measured on the problem itself: the difference between two levels is the error of the former,
provided that the latter is much more accurate (saturation assumption). This is checked: the residual of the latter must
be at most a tenth of the former's, or at rounding. Two levels that agree because neither makes progress give no
estimate.
"""

import time
from collections import Counter
from dataclasses import dataclass

import numpy as np

from jumpnet.engines.budget import NEXT, Budget, Watch
from jumpnet.engines.goal import Goal, rms
from jumpnet.engines.progress import Progress
from jumpnet.engines.trefftz.assembly import DirectSolver, Level
from jumpnet.engines.trefftz.balance import Imbalance, imbalances
from jumpnet.engines.trefftz.enrichments.corners import CornerPowers
from jumpnet.engines.trefftz.functions import ParticularSolution
from jumpnet.engines.trefftz.options import Trefftz
from jumpnet.engines.trefftz.spaces import first_space
from jumpnet.engines.trefftz.trial_space import TrialSpace
from jumpnet.optim import Record, Status

# Residuals below this part of the norm of the data are rounding (benchmarks/direct.py: 3e-16 to 2e-14).
AT_ROUNDING = 1e-12
# The largest values of the options `slow` and `patience` if another engine follows (heuristic).
SLOW_FIRST, PATIENCE_FIRST = 0.4, 2
# With a user's basis there is no adaptive loop: at most this many richer spaces are solved to estimate the error.
RICHER = 4
# p-refinement raises a degree by a third times a stride, which is extrapolated from the last two residuals and kept
# within STRIDES. The extrapolation aims at the part AIMED of the residual that is needed: in the plane one more level
# costs more than a degree too many, in space it does not (heuristic).
STRIDES, AIMED, AIMED_IN_SPACE = (0.5, 3.0), 0.1, 1.0


@dataclass(frozen=True)
class Attempt:
    """The result of the adaptive loop: its best level, the estimated error of that (nan: unknown), and its status.

    `reasons` are sentences that say why the status is not CONVERGED although the estimate meets the tolerance. `excess`
    is by how much the reliability constant of the estimate exceeds the one that was measured last.
    """

    level: Level
    estimate: float
    status: Status
    records: tuple[Record, ...]
    reasons: tuple[str, ...] = ()
    excess: float = 1.0

    def described(self) -> str:
        """The trial space in one line."""
        level, space = self.level, self.level.space
        kinds = Counter(block.functions.name for block in space.blocks if not block.pole)
        answers = kinds.pop(ParticularSolution.name, 0)
        what = "pieces" if space.cells is None else "cells"
        own = [f"{name} in {kinds[name]} of {space.size} {what}" for name in sorted(kinds)]
        corners = sum(isinstance(block.functions, CornerPowers) for block in space.blocks)
        poles = sum(block.pole for block in space.blocks) - corners
        others = f", {poles} sets of poles outside them" if poles else ""
        others += f", powers at {corners} corners" if corners else ""
        others += f", particular solutions in {answers}" if answers else ""
        worst = "" if self.status is Status.CONVERGED else f"; largest residual: {level.large_terms(1.0)[0]}"
        return f"Trefftz: {' and '.join(own)}{others}, {level.network.size} unknowns{worst}"


class _Track:
    """The levels so far: the last one, the best one, its estimated error, and the number of levels without progress."""

    def __init__(self, goal: Goal, progress: Progress | None = None, options: Trefftz = Trefftz()):
        self.goal, self._progress, self._options, self._began = goal, progress, options, time.perf_counter()
        self.records: list[Record] = []
        self.last: Level | None = None
        self.best: Level | None = None
        self.estimate, self.idle = np.inf, 0
        self.excess = 1.0
        self.lost: tuple[str, ...] = ()
        self._levels: list[Level] = []
        self._worst = 0.0

    def begin(self, first: Level) -> None:
        """Start a new sequence of levels, independent of former ones; the best level so far is kept."""
        self.last, self.idle, self._levels, self._worst = first, 0, [first], 0.0
        if self.best is None:
            self.best = first
        self._note(first)

    def add(self, after: Level, slow: float = Trefftz.slow) -> None:
        """The next level; a residual above `slow` of the last is no progress."""
        last, best = self.last, self.best
        assert last is not None and best is not None
        estimate = self._estimate(after)
        self._worst = max(self._worst, *self._shown(after).values(), 0.0)
        self._levels.append(after)
        self.idle = 0 if after.residual < slow * max(last.residual, best.residual) else self.idle + 1
        if after.residual < best.residual or (estimate < self.estimate and _at_rounding(after)):
            self.best, self.estimate, self.excess = after, estimate, self._excess(after)
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
        """An upper estimate for a loop that ends early, from the largest observed constant; nan if there is none."""
        if self.best is None or not self._worst > 0 or not np.isfinite(self._worst * self.best.residual):
            return np.nan
        return self._options.safety * self._worst * self.best.residual

    def balanced(self, solver: DirectSolver) -> bool:
        """Whether the fluxes of the best level balance; `lost` has a sentence for each that does not."""
        assert self.best is not None
        self.lost = tuple(map(str, _lost(solver, self.best, self.goal.tol)))
        return not self.lost

    def would_converge(self, after: Level) -> bool:
        """Whether the estimate would meet the tolerance with this level as the next."""
        return self._estimate(after) <= self.goal.of(after.values)

    def _shown(self, after: Level) -> dict[int, float]:
        """The reliability constants of former levels, by number: of those that this level is much better than."""
        return {
            number: rms(after.values - former.values) / former.residual
            for number, former in enumerate(self._levels)
            if former.residual > 0 and after.residual <= self._options.saturation * former.residual
        }

    def _reliability(self, after: Level) -> float:
        """The error per unit of residual; infinite if no former level allows to measure it."""
        shown = self._shown(after)
        memory = self._options.memory
        return max((constant * memory ** (max(shown) - at) for at, constant in shown.items()), default=np.inf)

    def _excess(self, after: Level) -> float:
        """The reliability constant relative to the one that was measured last; 1 at rounding, where none is used."""
        constants = self._shown(after)
        last = constants[max(constants)] if constants and not _at_rounding(after) else 0.0
        return self._reliability(after) / last if last > 0 else 1.0

    def _estimate(self, after: Level) -> float:
        """The estimated error of a level, as the next of the sequence; infinite if unknown."""
        if _at_rounding(after) and any(_at_rounding(former) for former in self._levels):
            changes = [rms(after.values - former.values) for former in self._levels if _at_rounding(former)]
            return self._options.safety * (max(changes) + _rounded(after))
        constant = self._reliability(after)
        if not np.isfinite(constant):
            return np.inf
        return self._options.safety * (constant * after.residual + _rounded(after))

    def stride(self, before: Level, after: Level) -> float:
        """The stride of p-refinement, in units of the last one, that is extrapolated to reach the wanted residual."""
        shown = rms(after.values - before.values) / max(before.residual, 1e-300)
        constant = max(shown, self._options.memory * self._worst)
        if constant == 0.0 or not 0 < after.residual < before.residual:
            return 1.0
        aimed = AIMED if after.rows.sites.x.shape[1] < 3 else AIMED_IN_SPACE
        wanted = aimed * self.goal.of(after.values) / (self._options.safety * constant)
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
    """Refine the trial space until the estimate meets the tolerance or progress ends; `budget` may end it early.

    Unless the engine is `alone`, another one is tried next, and slow convergence ends the loop.
    """
    track = _Track(goal, progress, solver.options)
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
    return Attempt(track.best, float(estimate), status, _alike(track), reasons, track.excess)


def _grow(track: _Track, solver: DirectSolver, alone: bool, budget: Budget) -> Status:
    """Solve, estimate, mark, refine; with less patience if another engine follows.

    The degrees of marked blocks rise; where that stagnates, the enrichments propose blocks.
    """
    watch, before, options = Watch(), solver.operations, solver.options
    slow, patience = options.slow, options.patience
    if not alone:
        slow, patience = min(slow, SLOW_FIRST), min(patience, PATIENCE_FIRST)
    track.begin(solver.level(first_space(solver.problem, options)))
    stride, good, asked = 1.0, True, set[str]()
    while len(track.records) < options.levels:
        last = track.last
        assert last is not None
        if budget.too_late(NEXT * watch.seconds):
            return Status.TIME_LIMIT
        if budget.too_much(solver.operations, solver.operations - before, good):
            return Status.STALLED
        watch, before = Watch(), solver.operations
        space = last.space.grown(last.large_terms(options.marked), stride)
        if space == last.space and _at_rounding(last):  # of a source that nothing more can answer: compare all the same
            space = last.space.grown(last.held_rows.terms, stride)
        most = options.unknowns if space.cells is None else options.unknowns_of_cells
        if space == last.space or space.network.size > most:
            return Status.STALLED
        after = solver.level(space)
        if after.residual > options.stagnation ** min(stride, 1.0) * last.residual and not track.would_converge(after):
            after = _enriched(after, solver, asked, budget, watch)
        track.add(after, slow)
        if track.met and track.balanced(solver):
            return Status.CONVERGED
        if track.idle >= patience:
            return Status.STALLED
        stride, good = track.stride(last, after), after.residual <= options.saturation * last.residual
    return Status.STEP_LIMIT


def _enriched(level: Level, solver: DirectSolver, asked: set[str], budget: Budget, watch: Watch) -> Level:
    """The level with the blocks that enrichments propose, each accepted by its gain per cost."""
    for name, enrichment in solver.options.chosen.items():
        if (enrichment.once and name in asked) or budget.too_late(watch.seconds):
            continue
        asked.add(name)
        marked = level.large_terms(solver.options.marked)
        space = level.space.with_blocks(enrichment.propose(solver.problem, level.space, marked))
        if space is level.space or space.network.size > solver.options.unknowns:
            continue
        found = solver.level(space)
        level = found if found.residual <= solver.options.stagnation ** cost(level, found) * level.residual else level
    return level


def cost(level: Level, enriched: Level) -> float:
    """The cost of an enrichment, in levels: two, without and with it, and the logarithm of the growth of the unknowns.

    Per unit of cost, an enrichment has to reduce the residual as much as p-refinement that does not stagnate. Unknowns
    count by their logarithm, as p-refinement multiplies them from level to level (heuristic; in `benchmarks/direct.py`
    the logarithm of the reduction per level is 1.3 to 4.3 for accepted enrichments, at most 0.6 for others; the bound
    is 1.2).
    """
    return 2.0 + float(np.log(enriched.network.size / level.network.size))


def _alike(track: _Track) -> tuple[Record, ...]:
    """The records of the levels that have the same families of equations as the best level."""
    assert track.best is not None
    terms = len(track.best.held_rows.terms)
    return tuple(record for record in track.records if len(record.terms) == terms)


def fixed(solver: DirectSolver, space: TrialSpace, goal: Goal) -> Attempt:
    """Solve with the functions of a given space; a richer space with a much smaller residual gives its error."""
    track, options = _Track(goal, None, solver.options), solver.options
    level = solver.level(space)
    track.begin(level)
    estimate, richer = np.nan, space
    for _ in range(RICHER):
        grown = richer.grown(level.held_rows.terms)
        if grown == richer or grown.network.size > options.unknowns:
            break
        richer = grown
        more = solver.level(richer)
        if more.residual <= options.saturation * level.residual or (_at_rounding(level) and _at_rounding(more)):
            estimate = options.safety * rms(more.values - level.values)
            break
    met = estimate <= goal.of(level.values)
    lost = tuple(map(str, _lost(solver, level, goal.tol))) if met else ()
    status = (Status.UNBALANCED if lost else Status.CONVERGED) if met else Status.STALLED
    return Attempt(level, estimate, status, tuple(track.records), lost)


def _at_rounding(level: Level) -> bool:
    """Whether the residual of a level is as small as rounding allows."""
    norm = float(np.linalg.norm(level.held_rows.rhs * level.held_rows.weight))
    return level.residual <= AT_ROUNDING * norm + level.noise


def _rounded(level: Level) -> float:
    """What rounding errors of a constant that was taken out of the data do to all levels alike."""
    return float(np.finfo(float).eps) * abs(level.constant)


def _lost(solver: DirectSolver, level: Level, tol: float) -> list[Imbalance]:
    """The places where more flux is lost than a part `tol`, the worst first."""
    found = [one for one in imbalances(solver, level) if one.exceeds(tol)]
    return sorted(found, key=lambda one: -abs(one.value) / max(one.size, 1e-300))
