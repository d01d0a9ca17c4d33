"""The direct solver: frozen features make one linear least-squares problem of the rows.

What is left to decide is which features and how many, and that is decided by a search (search.py), from residuals at
points the solve has not seen.
"""

import time
from dataclasses import replace

import numpy as np

from jumpnet.charts import choose_atlases
from jumpnet.engines.budget import Budget
from jumpnet.engines.progress import Progress, shown
from jumpnet.engines.residuals import held_out_residuals
from jumpnet.engines.seeds import check_trials, spread
from jumpnet.engines.trefftz.features import plan_of
from jumpnet.engines.trefftz.levels import DirectSolver
from jumpnet.engines.trefftz.search import MOST_LEVELS, Attempt, Goal, attempt, fixed
from jumpnet.errors import ModelError
from jumpnet.models import FrozenModel
from jumpnet.optim import Direct, History, Status
from jumpnet.problem import Problem
from jumpnet.rows import Rows
from jumpnet.solution import Solution


def directly(
    problem: Problem,
    model: object = None,
    optimizer: object = None,
    *,
    goal: Goal,
    seed: int,
    trials: int,
    progress: bool | Progress,
    cut: bool = True,
    budget: Budget = Budget(),
) -> Solution:
    """The direct solution: of several seeds the one with the smallest estimate; with `cut`, by cells if need be."""
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
        found.append(_of_seed(problem, model, optimizer or Direct(), goal, int(number), progress, cut, budget))
        if found[-1].status is Status.INTERRUPTED:
            break
    best = min(found, key=lambda s: (not s.status.ok, np.nan_to_num(s.estimate, nan=np.inf), s.held_out_loss))
    return best if len(found) == 1 else replace(best, settings=best.settings | {"trials": spread(found)})


def _of_seed(
    problem: Problem,
    model: FrozenModel | None,
    optimizer: Direct,
    goal: Goal,
    seed: int,
    progress: bool | Progress,
    cut: bool,
    budget: Budget,
) -> Solution:
    began = time.perf_counter()
    solver = DirectSolver(problem, seed, optimizer)
    if model is not None:
        found = fixed(solver, plan_of(model, problem), goal)
    else:
        with shown(progress, MOST_LEVELS) as report:
            found = attempt(solver, goal, report, cut, budget)
    return _solution(problem, found, seed, time.perf_counter() - began)


def _solution(problem: Problem, found: Attempt, seed: int, seconds: float) -> Solution:
    """The attempt as a solution."""
    level, parts = found.level, problem.partition
    (atlas,) = choose_atlases("paper", parts)
    network, theta = level.without_traces()
    held_loss = level.residual**2
    return Solution(
        network=network,
        theta=theta,
        atlas=atlas,
        scale=1.0,
        dim=parts.dim,
        pieces=parts.size,
        partition=parts,
        tensors=problem.A,
        status=found.status,
        loss=level.loss,
        steps=len(found.records),
        history=History.of(list(found.records), level.held_rows.labels),
        seed=seed,
        held_out=held_out_residuals(level.held_rows, level.held, 1.0),
        held_out_loss=held_loss,
        estimate=found.estimate,
        problem=problem,
        exact=problem.exact,
        settings={
            "method": found.described(),
            **_points_used(level.rows),
            "weights": "balanced",
            "seconds": seconds,
            **({"reasons": list(found.reasons)} if found.reasons else {}),
        },
    )


def _points_used(rows: Rows) -> dict[str, int]:
    """How many points of each kind the equations are taken at."""
    kind = np.array([key.kind.group for key in rows.terms])[rows.term]
    return {
        "interior": int(np.sum(kind == "pde")),
        "boundary": int(np.sum(kind == "boundary")),
        "interface": int(np.sum(kind == "jump")),
    }
