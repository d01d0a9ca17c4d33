"""Training within a budget of steps: several random starts, the best of which goes on.

A start that will end badly, or coordinates that do not suit the problem, usually show it early: a few short runs and
one long one beat one long run of a random start. A long run that stalls gives way to the next best start, and one that
barely meets the tolerance is compared with it. Each long run ends with a linear solve for the output weights. All steps
count towards the optimiser's limit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import lstsq

from jumpnet.charts import Atlas
from jumpnet.collocation import Stream
from jumpnet.driver.progress import Progress
from jumpnet.models import System
from jumpnet.optim import History, Optimizer, Record, Result, Status, minimise

# `optim.minimise`, or one that keeps a checkpoint; the state it returns is handed back to it and nothing else.
Minimise = Callable[..., tuple[Result, Any]]

# Steps given to each start before the choice.
TRIAL_STEPS = 60
# More coordinates must pay: they are taken only if they lower the held-out loss of a short run by this factor.
WORTH_MORE_INPUTS = 10.0
# A second training after a stalled one needs at least so many steps of what is left of the budget.
WORTH_ANOTHER = 200
# A training that ends with no less than this part of the tolerance is compared with one other.
BARELY = 0.1


@dataclass(frozen=True)
class Candidate:
    """One way to see the problem: charts, and the systems of training and of held-out points in them."""

    atlas: Atlas
    system: System
    unseen: System

    def held_out_loss(self, theta: np.ndarray) -> float:
        """The loss on points the training never saw."""
        residual = self.unseen.residual(theta)
        return float(np.nan_to_num(residual @ residual, nan=np.inf))


@dataclass(frozen=True)
class Trial:
    """A short run: where it stands, and its rank (held-out loss, raised for every further set of coordinates)."""

    candidate: Candidate
    result: Result
    state: Any
    rank: float


def train(
    candidates: Sequence[Candidate],
    optimizer: Optimizer,
    *,
    seed: int,
    starts: int,
    progress: Progress | None,
    minimise: Minimise = minimise,
) -> tuple[Candidate, Result]:
    """The best parameters that `starts` random starts of each candidate lead to, and the candidate they belong to.

    Candidates come with fewer coordinates first.
    """
    runs = [(candidate, start) for candidate in candidates for start in range(starts)]
    budget = optimizer.stop.steps
    if len(runs) == 1 or budget < 2 * len(runs) * TRIAL_STEPS:
        candidate = candidates[-1]
        result, _ = minimise(optimizer, candidate.system, initial(candidate.system, seed, 0), progress=progress)
        return candidate, result
    spent, trials = 0, []
    for candidate, start in runs:
        theta = initial(candidate.system, seed, start)
        result, state = minimise(optimizer, candidate.system, theta, steps=TRIAL_STEPS, progress=progress)
        spent += result.steps
        loss = candidate.held_out_loss(result.theta)
        trials.append(Trial(candidate, result, state, loss * WORTH_MORE_INPUTS ** candidates.index(candidate)))
        if result.status is Status.CONVERGED:
            return candidate, replace(result, steps=spent)
        if result.status is Status.INTERRUPTED:
            best = min(trials, key=lambda trial: trial.rank)
            return best.candidate, replace(best.result, status=result.status, steps=spent)
    return _continued(sorted(trials, key=lambda trial: trial.rank), optimizer, spent, progress, minimise)


def _continued(
    trials: Sequence[Trial], optimizer: Optimizer, spent: int, progress: Progress | None, minimise: Minimise
) -> tuple[Candidate, Result]:
    """Train on from the best trial; from the next one where a training stalls or barely ends, if the budget allows."""
    budget, ended = optimizer.stop.steps, []
    for trial in trials:
        if ended and budget - spent < WORTH_ANOTHER:
            break
        system = trial.candidate.system
        final, _ = minimise(optimizer, system, state=trial.state, steps=budget - spent, progress=progress)
        spent += final.steps
        final = refitted(system, final, optimizer.stop.tol)
        ended.append((trial.candidate, replace(final, history=joined(trial.result.history, final.history))))
        barely = final.status is Status.CONVERGED and final.loss > BARELY * optimizer.stop.tol and len(ended) == 1
        if final.status is not Status.STALLED and not barely:
            break
    candidate, result = min(ended, key=lambda end: end[0].held_out_loss(end[1].theta))
    last = ended[-1][1].status
    return candidate, replace(result, status=last if last is Status.INTERRUPTED else result.status, steps=spent)


def refitted(system: System, result: Result, tol: float) -> Result:
    """The result with its output weights found anew by linear least squares, if that lowers the loss.

    The iteration's damping keeps it from the last digits of what is a linear problem once the neurons are in place:
    two trainings of pde5 that had stalled at 2e-14 and 5e-15 came to 3e-17 and 2e-16 by one such solve.
    """
    columns = None if result.status in (Status.INTERRUPTED, Status.FAILED) else system.output_columns(result.theta)
    if columns is None:
        return result
    r, J, places = columns
    found: Any = lstsq(J, -r, cond=1e-14, lapack_driver="gelsy", check_finite=False)
    step = found[0]
    theta = result.theta.copy()
    theta[places] += step
    residual = system.residual(theta)
    loss = float(residual @ residual)
    if not loss < result.loss:
        return result
    last = result.history
    terms = tuple(system.loss_of_terms(residual).tolist())
    number = int(last.step[-1]) + 1 if len(last) else 1
    record = Record(number, loss, terms, np.nan, float(np.linalg.norm(step)), 0.0)
    history = joined(last, History.of([record], system.terms))
    status = Status.CONVERGED if loss <= tol else result.status
    return replace(result, theta=theta, loss=loss, status=status, history=history)


def initial(system: System, seed: int, start: int) -> np.ndarray:
    """Initial parameters of a seed's start; start 0 is what a single start would use."""
    return system.network.initial(np.random.default_rng([seed, int(Stream.WEIGHTS), start]))


def joined(first: History, second: History) -> History:
    """Two histories, one after the other."""
    if len(first) == 0 or len(second) == 0:
        return second if len(first) == 0 else first
    columns = {
        name: np.concatenate([getattr(first, name), getattr(second, name)])
        for name in ("step", "loss", "loss_of_term", "damping", "step_norm")
    }
    return History(first.terms, **columns, seconds=np.r_[first.seconds, first.seconds[-1] + second.seconds])
