"""Newton's method for problems whose data depend on u: a sequence of linear ones, each solved and the last one judged.

With s(x, u) = lam(x, u) u + f(x, u) the equation is div(A(x, u) grad u) = s(x, u). About a state u0, Newton's method
asks

    div(A(x, u0) grad u) - s_u(x, u0) u = s(x, u0) - s_u(x, u0) u0,

and on the boundary alpha u + A grad u . n = g, with b(x, u) = alpha(x, u) u - g(x, u), becomes

    b_u(x, u0) u + A grad u . n = b_u(x, u0) u0 - b(x, u0).

A and a contact resistance R are taken at u0, as their derivatives would not leave an elliptic problem of this form;
what they contribute is found from the differences of steps (mixing.py).

The last solution is judged with the problem linearised about itself, whose residual is that of the nonlinear problem.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float

from jumpnet.collocation import Stream
from jumpnet.engines.budget import Budget
from jumpnet.engines.goal import Goal
from jumpnet.errors import JumpnetError, JumpnetWarning, ProblemError
from jumpnet.optim import Status
from jumpnet.problem import inputs
from jumpnet.problem.resolution import surveyed_as
from jumpnet.solution import Solution
from jumpnet.solving import solve
from jumpnet.solving.verify import verified
from jumpnet.studies.nonlinear.continuity import jumps
from jumpnet.studies.nonlinear.linearised import linearised
from jumpnet.studies.nonlinear.mixing import Mixing
from jumpnet.studies.nonlinear.problem import NonlinearProblem
from jumpnet.studies.nonlinear.state import State

Array = Float[np.ndarray, "..."]
# The most steps per continuation value; the parts of the tolerance for the iteration and for the last linear solve.
MOST_STEPS, ITERATED, SOLVED = 40, 0.1, 0.3
# Linear problems on the way are solved to this part of the last step, at least to `COARSE`.
WAY, COARSE = 0.03, 1e-3
# A step that grows by this factor is halved, at most this many times; damping ends when steps shrink again.
GROWN, HALVINGS = 1.5, 6
# A contraction factor above the first is no convergence; steps below the second are rounding.
SLOW, ROUNDING = 0.95, 1e-13
# Seconds that a linear problem is given at least.
SHORTEST = 1.0
# After a step below this part of the variation of u, linear problems are not surveyed again; the last one is.
ALIKE = 0.1
# Points at which steps are measured.
POINTS = 2000
# Exceptions that a linear problem about a meaningless state may raise, besides a refusal.
FAILURES = (ArithmeticError, ValueError, RuntimeError)


@dataclass(frozen=True)
class Iteration:
    """How an iteration went.

    Args:
        steps: The root mean square of each step, relative to the variation of u.
        left: That of the distance from the last solution to the limit; nan where the iteration did not converge.
        amplification: How much more an error of the last linear problem counts in the limit.
        refused: Why there was no next linear problem, if so.
    """

    steps: tuple[float, ...]
    left: float = np.nan
    amplification: float = 1.0
    refused: str = ""


@dataclass
class _Path:
    """The steps so far, and the part of each that is taken: halved when steps grow, doubled when they shrink again.

    With `mixing`, whole steps are mixed with those before them.
    """

    mixing: Mixing | None
    steps: list[float] = field(default_factory=list)
    share: float = 1.0

    def add(self, step: float, found: Solution, before: Array, after: Array) -> None:
        """The next step, from values `before` to those `after`."""
        steps = self.steps
        if len(steps) > 1 and step > GROWN * steps[-1] and self.share > 2.0**-HALVINGS:
            self.share /= 2
            if self.mixing is not None:
                self.mixing.restart()
        elif steps and step < steps[-1]:
            self.share = min(1.0, 2 * self.share)
        steps.append(step)
        if self.mixing is not None:
            self.mixing.add(found, before, after)

    def next(self, state: State, found: Solution) -> State:
        """The state after the last step."""
        if self.mixing is not None and self.share == 1:
            return self.mixing.state()
        return state.blended(found, self.share)

    def tolerance(self, tol: float) -> float:
        """The tolerance of the next linear problem."""
        last = self.steps[-1] if self.steps else 1.0
        return max(SOLVED * tol, min(COARSE, WAY * last**2 if last < 1 else COARSE))

    def stopped(self, refused: str = "") -> Iteration:
        """The end of an iteration that did not converge."""
        return Iteration(tuple(self.steps), refused=refused)

    def ended(self, size: float) -> Iteration:
        """The end of an iteration whose last step was small; `size` is the variation of u."""
        steps, mixing = self.steps, self.mixing
        if mixing is not None:
            return Iteration(tuple(steps), mixing.left, mixing.amplification)
        ratios = [b / a for a, b in pairwise(steps) if a > ROUNDING]
        contraction = max(ratios[-2:], default=0.0)
        if contraction > SLOW:
            return self.stopped()
        left = steps[-1] * size * contraction / (1 - contraction)
        return Iteration(tuple(steps), left, 1 / (1 - min(contraction, 0.5)))


@dataclass(frozen=True)
class Newton:
    """The method, with what holds for all of its linear problems: goal, options of `solve`, time, progress."""

    goal: Goal
    options: dict[str, Any]
    budget: Budget
    progress: Callable[[int, float], None] | None

    @np.errstate(all="ignore")
    def iterated(self, problem: NonlinearProblem, state: State, rough: bool = False) -> tuple[Solution, Iteration]:
        """The solution of the last linear problem, and the steps; with `rough`, to three digits only."""
        x, piece = _points(problem)
        enough = COARSE if rough else ITERATED * self.goal.tol
        path = _Path(Mixing() if problem.laws.held else None)
        before, found = _at(state, x, piece), None
        while len(path.steps) < MOST_STEPS:
            tol = path.tolerance(self.goal.tol)
            try:
                found = self._solved(problem, state, tol, found if path.steps and path.steps[-1] < ALIKE else None)
            except FAILURES as refused:
                if found is None:
                    raise ProblemError(
                        f"about the start, {_told(refused)} Give another start=, or a continuation=."
                    ) from None
                return found, path.stopped(_told(refused))
            if found.status is Status.INTERRUPTED:
                return found, path.stopped()
            after = found(x, piece)
            size = max(float(np.std(after)), 1e-300)
            step = float(np.sqrt(np.mean((after - before) ** 2))) / size
            if not np.isfinite(step):
                return found, Iteration((*path.steps, step), refused="u is not finite.")
            path.add(step, found, before, after)
            if self.progress is not None:
                self.progress(len(path.steps), step)
            small = step <= enough or step * size <= ITERATED * self.goal.atol
            if small and (tol <= SOLVED * self.goal.tol * 1.0001 or rough):
                return found, path.ended(size)
            if self.budget.left == 0.0:
                break
            state = path.next(state, found)
            before = _at(state, x, piece)
        assert found is not None
        return found, path.stopped()

    def _solved(self, problem: NonlinearProblem, state: State, tol: float, alike: Solution | None) -> Solution:
        """The solution of the linear problem about a state, whose data are like those of another one."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JumpnetWarning)  # what is said of the last one is said of the whole
            warnings.simplefilter("ignore", RuntimeWarning)  # a state that runs away overflows
            limit = max(self.budget.left, SHORTEST) if np.isfinite(self.budget.limit) else None
            about = linearised(problem, state)
            if alike is not None and alike.problem is not None:
                surveyed_as(about, alike.problem)  # and the mesh, which depends on it, is kept
            return solve(about, tol=tol, verify=False, time_limit=limit, **self.options)

    def judged(self, problem: NonlinearProblem, found: Solution, steps: Iteration, verify: bool) -> Solution:
        """The solution with the problem linearised about it, judged; the estimate with what the iteration leaves."""
        try:
            about = linearised(problem, State([(1.0, found)]))
        except JumpnetError:
            about = found.problem  # about the state before; that the iteration did not converge is said below
        assert about is not None
        whole = found.with_problem(about).with_diagnostics(nonlinear=tuple(float(step) for step in steps.steps))
        if found.status is Status.INTERRUPTED:
            return whole.with_diagnostics(estimate=np.nan)
        if np.isnan(steps.left):
            size = f"its last step was {steps.steps[-1]:.1e} of the variation of u"
            refused = f"; about the next state, {steps.refused}" if steps.refused else ""
            reason = f"the iteration did not converge: {size}{refused}"
            ended = Status.TIME_LIMIT if self.budget.left == 0.0 else Status.STALLED
            return whole.because(reason, status=ended, estimate=np.nan)
        if found_jumps := jumps(problem, found):
            return whole.because(*found_jumps, status=Status.UNRESOLVED, estimate=np.nan)
        if verify:
            whole = verified(about, whole, self.goal, True, needed=True)
        values = found(*_points(problem))
        known = whole.verdict is not None and whole.verdict.decided and not problem.laws.R and about.mean is None
        # The judge knows how A changes with u, but not how R does.
        estimate = whole.estimate * (1.0 if known else steps.amplification) + steps.left
        status, enough = whole.status, self.goal.of(values)
        if status in (Status.CONVERGED, Status.REFUTED) and np.isfinite(estimate):
            status = Status.CONVERGED if estimate <= enough else Status.REFUTED
        return whole.with_diagnostics(estimate=estimate, status=status)


def _points(problem: NonlinearProblem) -> tuple[Array, Array]:
    """Points at which steps are measured, and their pieces."""
    parts = inputs.partition(problem.partition)
    return parts.sample_interior(POINTS, seed=[0, int(Stream.TEST), 9], method="even")


def _told(failure: Exception) -> str:
    """Why there is no next linear problem, as a sentence."""
    if isinstance(failure, JumpnetError):
        return str(failure)
    return f"the linear problem cannot be solved ({type(failure).__name__}: {failure})."


def _at(state: State, x: Array, piece: Array) -> Array:
    found = np.empty(len(x))
    for p in np.unique(piece).tolist():
        found[piece == p] = state.value(x[piece == p], int(p))
    return found
