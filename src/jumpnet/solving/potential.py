"""Solving with partition coefficients: for w = u/K, by any method, to a tolerance that holds for u = K w."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from jumpnet.collocation import Stream
from jumpnet.engines.goal import Goal
from jumpnet.judge.potential import times_K
from jumpnet.optim import Status
from jumpnet.problem import Problem, Supplement
from jumpnet.solution import Solution, Statement, quantities

# Sample points for the variation of u; after a miss, w is solved to this part of the tolerance that remains
# (heuristic).
POINTS, AIMED = 4000, 0.5


def by_potential(problem: Problem, goal: Goal, solved: Callable[[Problem, Goal], Solution]) -> Solution:
    """The solution u = K w from that of the problem for w; solved once more where K makes errors of w too large."""
    largest, inner = max(problem.K), problem.potential()
    own = Goal(goal.tol, goal.atol / largest)
    found = multiplied(problem, solved(inner, own), goal)
    enough = _enough(problem, found, goal)
    if found.status is not Status.REFUTED or not enough < found.estimate < np.inf:
        return found
    tighter = AIMED * enough / found.estimate
    return multiplied(problem, solved(inner, Goal(tighter * own.tol, tighter * own.atol)), goal)


def multiplied(problem: Problem, w: Solution, goal: Goal) -> Solution:
    """u = K w, with its error and status."""
    u = replace(w.representation, factors=problem.K)
    found = Solution(u, Statement.of(problem), replace(w.diagnostics, verdict=None, judged=None))
    if problem.mean is not None:
        ones = replace(found, representation=replace(u, scale=0.0, supplement=Supplement(1.0, ())))
        constant = (problem.mean - quantities.mean(found).value) / quantities.mean(ones).value
        added = replace(u.supplement, constant=u.supplement.constant + constant)
        found = replace(found, representation=replace(u, supplement=added))
    estimate = max(problem.K) * w.estimate
    if w.verdict is not None:
        verdict = replace(w.verdict, solution=found, finding=times_K(w.verdict.finding, found))
        found = found.with_diagnostics(verdict=verdict)
        estimate = verdict.estimate if verdict.decided else estimate
    status, enough = w.status, _enough(problem, found, goal)
    if status in (Status.CONVERGED, Status.REFUTED) and np.isfinite(estimate):
        status = Status.CONVERGED if estimate <= enough else Status.REFUTED
    return found.with_diagnostics(status=status, estimate=estimate)


def _enough(problem: Problem, found: Solution, goal: Goal) -> float:
    """The root mean square error that is asked for."""
    x, piece = problem.partition.sample_interior(POINTS, seed=[found.seed, int(Stream.TEST), 3], method="even")
    return goal.of(found(x, piece))
