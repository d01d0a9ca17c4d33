"""The program's own choice of a method: functions made for the problem where they are known, else finite elements."""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from jumpnet.driver.completing import completed
from jumpnet.driver.direct import directly
from jumpnet.driver.progress import Progress
from jumpnet.driver.search import Goal
from jumpnet.driver.verify import Verify, verified
from jumpnet.engines.fem import FEM, solve_fem
from jumpnet.errors import GeometryError, JumpnetError
from jumpnet.geometry.cells import Cells
from jumpnet.optim import Status
from jumpnet.problem import Problem
from jumpnet.solution import Solution

# Where the judge does not agree with the elements' own estimate, this part of the error is aimed at, so many times.
AIMED, ROUNDS = 0.1, 4
# A direct solve that ends with an estimate this many times above the goal may be better than it knows: it is judged.
NEAR = 100.0


def chosen(
    problem: Problem, goal: Goal, verify: Verify, *, seed: int, trials: int, progress: bool | Progress
) -> Solution:
    """The solution by the first method that reaches the goal, else the better one; `settings["tried"]` says what was.

    Cells are for what no mesh can be made of.
    """
    options: dict[str, Any] = {"goal": goal, "seed": seed, "trials": trials, "progress": progress}
    began = time.perf_counter()
    direct = completed(problem, directly(problem, cut=False, **options))
    if direct.status.ok or _near(problem, direct, goal):
        direct = verified(problem, direct, goal, verify)
    tried = [_line(direct, time.perf_counter() - began)]
    if direct.status.ok or direct.status is Status.INTERRUPTED or problem.data is not None:
        return direct
    began = time.perf_counter()
    try:
        other = by_elements(problem, goal, verify)
    except JumpnetError as refused:
        tried.append(f"finite elements: {refused}")
        other = direct
        if isinstance(refused, GeometryError) and Cells.possible(problem.partition):
            other = verified(problem, completed(problem, directly(problem, cut=True, **options)), goal, verify)
            tried.append(_line(other, time.perf_counter() - began))
    else:
        tried.append(_line(other, time.perf_counter() - began))
    best = min((other, direct), key=lambda s: (not s.status.ok, np.nan_to_num(s.estimate, nan=np.inf)))
    return replace(best, settings=best.settings | {"tried": tried})


def by_elements(problem: Problem, goal: Goal, verify: Verify, options: FEM = FEM()) -> Solution:
    """The solution by finite elements: refined until their own estimate reaches the goal, and the judge agrees."""
    target, found = 1.0, None
    improve = solve_fem(problem, options, tol=goal.tol)
    for _ in range(ROUNDS):
        aimed = target

        def enough(variation: float, size: float, aimed: float = aimed) -> float:
            return aimed * goal.of_size(variation, size)

        found = verified(problem, completed(problem, improve(enough)), goal, verify, needed=problem.dim > 1)
        if found.status is not Status.REFUTED:
            break
        target *= AIMED
    assert found is not None
    return found


def _near(problem: Problem, found: Solution, goal: Goal) -> bool:
    """Whether a direct solve that did not succeed may have come near enough all the same."""
    if found.status is Status.INTERRUPTED or not np.isfinite(found.estimate):
        return False
    x, piece = problem.partition.sample_interior(400, seed=[found.seed, 7])
    return found.estimate <= NEAR * goal.of(found(x, piece))


def _line(found: Solution, seconds: float) -> str:
    """What was tried, in one line."""
    known = f"estimate {found.estimate:.1e}" if np.isfinite(found.estimate) else "error unknown"
    return f"{found.settings['method']}: {found.status.name.lower()}, {known}, {seconds:.1f} s"
