"""The direct solver: frozen features make one linear least-squares problem of the rows.

What is left to decide is which features and how many, and that is decided by a search (search.py), from residuals at
points the solve has not seen.
"""

import time
from dataclasses import replace

import numpy as np

from jumpnet.charts import choose_atlases
from jumpnet.collocation import Points, Stream, collocate
from jumpnet.driver.features import plan_of
from jumpnet.driver.levels import COMPARED, DirectSolver, rms
from jumpnet.driver.progress import Progress, shown
from jumpnet.driver.residuals import held_out_residuals
from jumpnet.driver.search import MOST_LEVELS, Attempt, attempt, fixed
from jumpnet.driver.task import check_trials, spread
from jumpnet.errors import ModelError
from jumpnet.models import FrozenModel, site_values
from jumpnet.optim import Direct, History, Status
from jumpnet.problem import Problem
from jumpnet.rows import Rows, equations, weigh
from jumpnet.solution import Solution

# A direct solution with a relative error above this gives way to a training, if that is better.
WORTH_TRAINING = 1e-2


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


def worth_training(problem: Problem, direct: Solution) -> bool:
    """Whether a training may be better than a direct solution that did not reach its tolerance.

    It takes minutes, and where functions made for the problem have come to a percent, networks have not been better.
    """
    x, piece = problem.partition.sample_interior(COMPARED, seed=[direct.seed, int(Stream.TEST)])
    return not direct.estimate <= WORTH_TRAINING * rms(direct(x, piece))


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
    network, theta = level.without_traces()
    held_loss = level.residual**2
    terms = level.held_rows.terms
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
        history=History.of(list(found.records), terms),
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
        },
    )


def _points_used(rows: Rows) -> dict[str, int]:
    """How many points of each kind the equations are taken at."""
    kind = np.array([term.split()[0] for term in rows.terms])[rows.term]
    return {
        "interior": int(np.sum(kind == "pde")),
        "boundary": int(np.sum(kind == "boundary")),
        "interface": int(np.sum(kind == "jump")),
    }
