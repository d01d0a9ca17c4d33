"""Problems whose data depend on u: a sequence of linear ones, each solved and the last one judged.

With s(x, u) = lam(x, u) u + f(x, u) the equation is div(A(x, u) grad u) = s(x, u). About a state u0, Newton's method
asks

    div(A(x, u0) grad u) - s_u(x, u0) u = s(x, u0) - s_u(x, u0) u0,

and on the boundary alpha u + A grad u . n = g, with b(x, u) = alpha(x, u) u - g(x, u), becomes

    b_u(x, u0) u + A grad u . n = b_u(x, u0) u0 - b(x, u0).

A and a contact resistance R are taken at u0, as their derivatives would not leave an elliptic problem of this form;
what they contribute is found from the differences of steps (mixing.py).

A network is trained on the nonlinear equations themselves instead (trained.py).

The last solution is judged with the problem linearised about itself, whose residual is that of the nonlinear problem.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float

from jumpnet.collocation import Stream
from jumpnet.engines.budget import Budget, checked_limit
from jumpnet.engines.goal import Goal, checked_goal
from jumpnet.engines.network import Network
from jumpnet.engines.protocol import Request
from jumpnet.errors import JumpnetError, JumpnetWarning, ModelError, ProblemError
from jumpnet.fields import scalar_field
from jumpnet.optim import Status
from jumpnet.problem import inputs
from jumpnet.problem.resolution import surveyed_as
from jumpnet.solution import Solution
from jumpnet.solving import solve
from jumpnet.solving.methods import Method, resolved
from jumpnet.solving.verify import verified
from jumpnet.studies.continuity import jumps
from jumpnet.studies.linearised import linearised
from jumpnet.studies.mixing import Mixing
from jumpnet.studies.nonlinear_problem import NonlinearProblem
from jumpnet.studies.state import State
from jumpnet.studies.trained import trained

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


def solve_nonlinear(
    problem: NonlinearProblem,
    *,
    start: Any = 0.0,
    tol: float = 1e-6,
    atol: float = 0.0,
    method: Method = "auto",
    continuation: tuple[str, Sequence[float]] | None = None,
    verify: bool = True,
    time_limit: float | None = None,
    seed: int = 0,
    progress: bool | Callable[[Any, float], None] | None = None,
) -> Solution:
    """Solve a problem whose data depend on u, and judge the solution.

    Newton's method solves linear problems one after the other; steps that grow are halved. A network is trained on the
    nonlinear equations themselves.

    Args:
        problem: A `jn.NonlinearProblem`.
        start: Where to begin: a number, a formula or a callable, or one for each piece, or a solution.
        tol: As in `jn.solve`.
        atol: As in `jn.solve`.
        method: As in `jn.solve`; `jn.Network(...)` is trained on the nonlinear equations.
        continuation: Where the start is too far from the solution: `("load", [0.1, 0.3, 1.0])` solves for these values
            of a constant of the problem one after the other, each from the one before.
        verify: Whether the last solution is judged, by the problem linearised about it.
        time_limit: Seconds for all linear problems together, or for a training.
        seed: As in `jn.solve`.
        progress: Called with (step, its size relative to the variation of u), with a network as in `jn.solve`; True
            shows a bar for each linear problem.

    Returns:
        A `Solution` whose `problem` is the linear one about itself: fluxes, balances and the judge's verdict are those
        of the nonlinear problem. Its estimate holds the error that the iteration leaves.
        `solution.diagnostics.nonlinear` has the steps.

    Example:
        >>> import jumpnet as jn
        >>> parts = jn.Partition(jn.Interval(0, 1))
        >>> ends = {"left": jn.Dirichlet(0), "right": jn.Dirichlet(1)}
        >>> problem = jn.NonlinearProblem(parts, A="1 + u", boundary=ends)  # u = sqrt(1 + 3 x) - 1
        >>> round(float(jn.solve_nonlinear(problem)([[1/3]])[0]), 6)
        0.414214
    """
    if not isinstance(problem, NonlinearProblem):
        raise ModelError(f"solve_nonlinear needs a jn.NonlinearProblem, not {type(problem).__name__}; see jn.solve.")
    goal, asked = checked_goal(tol, atol), resolved(method, {})
    state = _first(start, problem)
    if isinstance(asked, Network):
        if continuation is not None:
            raise ModelError("a network is not trained by continuation; leave continuation= or method= out.")
        request = Request(goal, int(seed), Budget(checked_limit(time_limit)), progress or False)
        about, found = trained(problem, state, asked, request)
        if found_jumps := jumps(problem, found):
            return found.because(*found_jumps, status=Status.UNRESOLVED, estimate=np.nan)
        return verified(about, found, goal, verify, needed=True)
    options = {"method": asked, "seed": seed, "progress": progress is True}
    name, values = continuation or ("", [None])
    if not len(values):
        raise ModelError("continuation has no values; give a name and at least one, the last that of the problem.")
    budget = Budget(checked_limit(time_limit))
    run = _Run(problem, goal, options, budget, progress if callable(progress) else None)
    for value in values[:-1]:
        assert value is not None
        run.problem = problem.with_constants({name: float(value)})
        state = State([(1.0, run.iterated(state, rough=True)[0])])
    last = values[-1]
    run.problem = problem if last is None else problem.with_constants({name: float(last)})
    found, steps = run.iterated(state)
    return run.judged(found, steps, verify)


@dataclass
class _Run:
    """One solve of a nonlinear problem."""

    problem: NonlinearProblem
    goal: Goal
    options: dict[str, Any]
    budget: Budget
    progress: Callable[[int, float], None] | None

    @np.errstate(all="ignore")
    def iterated(self, state: State, rough: bool = False) -> tuple[Solution, Iteration]:
        """The solution of the last linear problem, and the steps; with `rough`, to three digits only."""
        parts = inputs.partition(self.problem.partition)
        x, piece = parts.sample_interior(POINTS, seed=[0, int(Stream.TEST), 9], method="even")
        enough = COARSE if rough else ITERATED * self.goal.tol
        steps: list[float] = []
        share, before, found = 1.0, _at(state, x, piece), None
        mixing = Mixing() if self.problem.laws.held else None
        while len(steps) < MOST_STEPS:
            last = steps[-1] if steps else 1.0
            inner = max(SOLVED * self.goal.tol, min(COARSE, WAY * last**2 if last < 1 else COARSE))
            try:
                found = self._solved(state, inner, found if steps and steps[-1] < ALIKE else None)
            except FAILURES as refused:
                if found is None:
                    raise ProblemError(
                        f"about the start, {_told(refused)} Give another start=, or a continuation=."
                    ) from None
                return found, Iteration(tuple(steps), refused=_told(refused))
            if found.status is Status.INTERRUPTED:
                return found, Iteration(tuple(steps))
            after = found(x, piece)
            size = max(float(np.std(after)), 1e-300)
            step = float(np.sqrt(np.mean((after - before) ** 2))) / size
            if not np.isfinite(step):
                return found, Iteration((*steps, step), refused="u is not finite.")
            if steps and step > GROWN * steps[-1] and share > 2.0**-HALVINGS and len(steps) > 1:
                share /= 2
                if mixing is not None:
                    mixing.restart()
            elif steps and step < steps[-1]:
                share = min(1.0, 2 * share)
            steps.append(step)
            if mixing is not None:
                mixing.add(found, before, after)
            if self.progress is not None:
                self.progress(len(steps), step)
            small = step <= enough or step * size <= ITERATED * self.goal.atol
            if small and (inner <= SOLVED * self.goal.tol * 1.0001 or rough):
                return found, _ended(steps, size, mixing)
            if self.budget.left == 0.0:
                break
            state = mixing.state() if mixing is not None and share == 1 else state.blended(found, share)
            before = _at(state, x, piece)
        assert found is not None
        return found, Iteration(tuple(steps))

    def _solved(self, state: State, tol: float, alike: Solution | None) -> Solution:
        """The solution of the linear problem about a state, whose data are like those of another one."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JumpnetWarning)  # what is said of the last one is said of the whole
            warnings.simplefilter("ignore", RuntimeWarning)  # a state that runs away overflows
            limit = max(self.budget.left, SHORTEST) if np.isfinite(self.budget.limit) else None
            about = linearised(self.problem, state)
            if alike is not None and alike.problem is not None:
                surveyed_as(about, alike.problem)  # and the mesh, which depends on it, is kept
            return solve(about, tol=tol, verify=False, time_limit=limit, **self.options)

    def judged(self, found: Solution, steps: Iteration, verify: bool) -> Solution:
        """The solution with the problem linearised about it, judged; the estimate with what the iteration leaves."""
        try:
            about = linearised(self.problem, State([(1.0, found)]))
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
        if found_jumps := jumps(self.problem, found):
            return whole.because(*found_jumps, status=Status.UNRESOLVED, estimate=np.nan)
        if verify:
            whole = verified(about, whole, self.goal, True, needed=True)
        parts = about.partition
        x, piece = parts.sample_interior(POINTS, seed=[0, int(Stream.TEST), 9], method="even")
        values = found(x, piece)
        known = whole.verdict is not None and whole.verdict.decided and not self.problem.laws.R and about.mean is None
        # The judge knows how A changes with u, but not how R does.
        estimate = whole.estimate * (1.0 if known else steps.amplification) + steps.left
        status, enough = whole.status, self.goal.of(values)
        if status in (Status.CONVERGED, Status.REFUTED) and np.isfinite(estimate):
            status = Status.CONVERGED if estimate <= enough else Status.REFUTED
        return whole.with_diagnostics(estimate=estimate, status=status)


def _ended(steps: Sequence[float], size: float, mixing: Mixing | None) -> Iteration:
    """The end of an iteration whose last step was small; `size` is the variation of u."""
    if mixing is not None:
        return Iteration(tuple(steps), mixing.left, mixing.amplification)
    ratios = [b / a for a, b in pairwise(steps) if a > ROUNDING]
    contraction = max(ratios[-2:], default=0.0)
    if contraction > SLOW:
        return Iteration(tuple(steps))
    left = steps[-1] * size * contraction / (1 - contraction)
    return Iteration(tuple(steps), left, 1 / (1 - min(contraction, 0.5)))


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


def _first(start: Any, problem: NonlinearProblem) -> State:
    """Where to begin."""
    if isinstance(start, Solution):
        return State([(1.0, start)])
    parts = inputs.partition(problem.partition)
    names = inputs.constants(problem.constants, parts)
    listed = inputs.per_piece(start, parts, "start")
    fields = [scalar_field(s, parts.dim, what=f"start in piece {p}", constants=names) for p, s in enumerate(listed)]
    return State(fields=fields)


__all__ = ["Iteration", "NonlinearProblem", "solve_nonlinear"]
