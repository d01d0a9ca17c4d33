"""The program's own choice of a method: functions made for the problem where they are known, else finite elements."""

import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from jumpnet.engines.budget import Budget
from jumpnet.engines.fem import FEM, solve_fem, voxel_solution
from jumpnet.engines.progress import Progress, shown
from jumpnet.engines.trefftz.direct import directly
from jumpnet.engines.trefftz.search import Goal
from jumpnet.errors import GeometryError, JumpnetError, ModelError
from jumpnet.fe.voxel import voxels_refused
from jumpnet.geometry.walls.corners import corners_of
from jumpnet.optim import Status
from jumpnet.problem import Problem
from jumpnet.solution import Solution
from jumpnet.solving.completing import completed
from jumpnet.solving.verify import Verify, verified

# Where the judge does not agree with the elements' own estimate, this part of the error is aimed at, so many times.
AIMED, ROUNDS = 0.1, 4
# Seconds of a direct solve after which finite elements are tried, unless its residual falls by decades.
SPEND = 4.0
# Pieces with more corners than that (drawings), of which each has functions of its own, or drawn with more segments
# (images): finite elements are sooner there.
MOST_CORNERS, MOST_SEGMENTS = 40, 100
# The part of a time limit for the answer; the rest is for the judge.
FOR_ANSWER = 0.55
# Spaces that a bar of progress is made for.
MOST_SPACES = 12
# A direct solve that ends with an estimate this many times above the goal may be better than it knows: it is judged.
NEAR = 100.0


def chosen(
    problem: Problem, goal: Goal, verify: Verify, *, seed: int, trials: int, progress: bool | Progress, limit: float
) -> Solution:
    """The solution by the first method that reaches the goal, else the better one; `settings["tried"]` says which."""
    whole = Budget(limit)
    options: dict[str, Any] = {"goal": goal, "seed": seed, "trials": trials, "progress": progress}
    if not voxels_refused(problem):
        with suppress(ModelError):  # tensors that are not along the axes: smooth surfaces and elements
            return by_voxels(problem, goal, verify, limit)
    direct, tried = _directly(problem, goal, verify, whole, options)
    if direct is not None and (direct.status.ok or direct.status is Status.INTERRUPTED or problem.data is not None):
        return direct
    began = time.perf_counter()
    try:
        other = by_elements(problem, goal, verify, progress=progress, limit=whole.left)
    except JumpnetError as refused:
        tried.append(f"finite elements: {refused}")
        if isinstance(refused, GeometryError) and (direct is None or (_cut_short(direct) and whole.left > 0)):
            again = completed(problem, directly(problem, budget=Budget(whole.left), **options))
            other = verified(problem, again, goal, verify, seconds=whole.left)
            tried.append(_line(other, time.perf_counter() - began))
        elif direct is None:
            raise
        else:
            other = direct
    else:
        tried.append(_line(other, time.perf_counter() - began))
    found = [one for one in (other, direct) if one is not None]
    best = min(found, key=lambda s: (not s.status.ok, np.nan_to_num(s.estimate, nan=np.inf)))
    return replace(best, settings=best.settings | {"tried": tried})


def _directly(
    problem: Problem, goal: Goal, verify: Verify, whole: Budget, options: dict[str, Any]
) -> tuple[Solution | None, list[str]]:
    """The direct solution, and what to say about it; None where it would take long and not succeed."""
    began = time.perf_counter()
    if problem.data is None and (why := _unsuitable(problem)):
        return None, [f"direct: not tried, {why}"]
    spend = np.inf if problem.data is not None else SPEND
    try:
        found = completed(problem, directly(problem, alone=False, budget=Budget(whole.left / 2, spend), **options))
    except (ArithmeticError, LookupError, ValueError, RuntimeError, np.linalg.LinAlgError) as error:
        if problem.data is not None or isinstance(error, JumpnetError):
            raise
        return None, [f"direct: failed ({type(error).__name__}: {error})"]
    if found.status.ok or _near(problem, found, goal):
        found = verified(problem, found, goal, verify, seconds=whole.left)
    return found, [_line(found, time.perf_counter() - began)]


def _unsuitable(problem: Problem) -> str:
    """Why functions for the problem are not known, at a glance; empty where they may be."""
    parts = problem.partition
    if parts.dim != 2:
        return ""
    segments = sum(len(loop) // 3 for shape in (parts.domain, *parts.pieces) for loop in getattr(shape, "loops", ()))
    if segments > MOST_SEGMENTS:
        return f"the pieces are drawn with {segments} segments"
    corners = len(corners_of(parts))
    return f"the pieces have {corners} corners" if corners > MOST_CORNERS else ""


def by_elements(
    problem: Problem,
    goal: Goal,
    verify: Verify,
    options: FEM = FEM(),
    *,
    progress: bool | Progress = False,
    limit: float = np.inf,
) -> Solution:
    """The solution by finite elements: refined until their own estimate reaches the goal, and the judge agrees."""
    if options == FEM() and not voxels_refused(problem):
        with suppress(ModelError):  # tensors that are not along the axes
            return by_voxels(problem, goal, verify, limit)
    target, found, whole = 1.0, None, Budget(limit)
    with shown(progress, MOST_SPACES, "finite elements", "space") as report:
        improve = solve_fem(problem, options, tol=goal.tol, seconds=FOR_ANSWER * limit, report=report)
        for _ in range(ROUNDS):
            aimed = target

            def enough(variation: float, size: float, aimed: float = aimed) -> float:
                return aimed * goal.of_size(variation, size)

            found = completed(problem, improve(enough))
            if found.status is Status.INTERRUPTED:
                return found
            found = verified(problem, found, goal, verify, needed=problem.dim > 1, seconds=whole.left)
            if found.status is not Status.REFUTED:
                break
            target *= AIMED
    assert found is not None
    if found.status is Status.REFUTED and whole.left < (1 - FOR_ANSWER) * limit:
        return replace(found, status=Status.TIME_LIMIT)
    return found


def by_voxels(problem: Problem, goal: Goal, verify: Verify, limit: float = np.inf) -> Solution:
    """The solution of a label volume by finite volumes on its voxels, judged by those of twice the size."""
    whole = Budget(limit)
    found = completed(problem, voxel_solution(problem))
    return verified(problem, found, goal, verify, needed=True, seconds=whole.left)


def _cut_short(direct: Solution) -> bool:
    """Whether a direct solve ended because finite elements were to be tried."""
    return direct.status in (Status.STALLED, Status.TIME_LIMIT) and direct.settings["seconds"] > SPEND


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
