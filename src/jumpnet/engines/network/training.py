"""Training within a budget of steps: random starts one after the other until one converges.

If there are several sets of charts, short runs of each decide which gets a long run. A long run that will not converge
in the steps left, at its present rate, is suspended in favour of the next start. When all are suspended, the best one
continues until it stalls, then the next. Each long run ends with a linear solve for the output weights. All steps count
towards the optimiser's limit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import lstsq

from jumpnet.charts import Atlas
from jumpnet.collocation import Stream
from jumpnet.engines.network import labels
from jumpnet.engines.progress import Progress
from jumpnet.models import NonlinearSystem, System
from jumpnet.optim import History, Optimizer, Record, Result, Status, minimise
from jumpnet.optim.loop import WORTH_ANOTHER

# `optim.minimise`, or a version of it that keeps a checkpoint; the state it returns is only ever passed back to it.
Minimise = Callable[..., tuple[Result, Any]]

# Steps of each short run, before the choice between candidates (heuristic).
TRIAL_STEPS = 30
# Charts with more coordinates are chosen only if they lower the held-out loss of a short run by this factor
# (heuristic).
WORTH_MORE_INPUTS = 10.0


@dataclass(frozen=True)
class Candidate:
    """A set of charts, and the systems of training and of held-out points in them."""

    atlas: Atlas
    system: System | NonlinearSystem
    unseen: System | NonlinearSystem

    def held_out_loss(self, theta: np.ndarray) -> float:
        """The loss on points the training never saw."""
        residual = self.unseen.residual(theta)
        return float(np.nan_to_num(residual @ residual, nan=np.inf))


@dataclass(frozen=True)
class Trial:
    """A random start: its state after a short run, if it had one, ranked by held-out loss."""

    candidate: Candidate
    theta: np.ndarray
    result: Result | None = None
    state: Any = None
    rank: float = 0.0


def train(
    candidates: Sequence[Candidate],
    optimizer: Optimizer,
    *,
    seed: int,
    starts: int,
    progress: Progress | None,
    raw: bool = False,
    minimise: Minimise = minimise,
) -> tuple[Candidate, Result]:
    """The best parameters that `starts` random starts of each candidate lead to, and the candidate they belong to.

    Candidates come with fewer coordinates first. `raw` says that coordinates and labels are not scaled to [-1, 1].
    """
    trials = [
        Trial(candidate, initial(candidate.system, seed, start, raw))
        for candidate in candidates
        for start in range(starts)
    ]
    budget, spent = optimizer.stop.steps, 0
    if len(trials) == 1 or budget < 2 * len(trials) * TRIAL_STEPS:
        system = candidates[-1].system
        result, _ = minimise(optimizer, system, initial(system, seed, 0, raw), progress=progress)
        return candidates[-1], result
    if len(candidates) == 1:
        return _trained(trials, optimizer, 0, progress, minimise)
    for at, trial in enumerate(trials):
        system = trial.candidate.system
        result, state = minimise(optimizer, system, trial.theta, steps=TRIAL_STEPS, progress=progress)
        spent += result.steps
        # A rank is raised for every further set of coordinates.
        handicap = WORTH_MORE_INPUTS ** candidates.index(trial.candidate)
        rank = trial.candidate.held_out_loss(result.theta) * handicap
        trials[at] = replace(trial, result=result, state=state, rank=rank)
        if result.status is Status.CONVERGED:
            return trial.candidate, replace(result, steps=spent)
        if result.status is Status.INTERRUPTED:
            best = min(trials[: at + 1], key=lambda one: one.rank)
            return best.candidate, replace(best.result or result, status=result.status, steps=spent)
    return _trained(sorted(trials, key=lambda trial: trial.rank), optimizer, spent, progress, minimise)


def _trained(
    trials: Sequence[Trial], optimizer: Optimizer, spent: int, progress: Progress | None, minimise: Minimise
) -> tuple[Candidate, Result]:
    """Train from the first trial, then from the next if that is suspended; then continue the best, then the next."""
    budget, ended = optimizer.stop.steps, []

    def run(trial: Trial, gives_way: bool) -> None:
        nonlocal spent
        begun = {"theta": trial.theta} if trial.state is None else {"state": trial.state}
        options = {"steps": budget - spent, "gives_way": gives_way, "progress": progress}
        result, state = minimise(optimizer, trial.candidate.system, **begun, **options)
        spent += result.steps
        result = refitted(trial.candidate.system, result, optimizer.stop.tol)
        if trial.result is not None:
            result = replace(result, history=joined(trial.result.history, result.history))
        rank = trial.candidate.held_out_loss(result.theta)
        ended.append(replace(trial, result=result, state=state, rank=rank))

    for trial in trials:
        if ended and budget - spent < WORTH_ANOTHER:
            break
        run(trial, gives_way=True)
        if ended[-1].result.status is not Status.STALLED:
            break
    waiting = sorted(ended, key=lambda trial: trial.rank)
    while waiting and ended[-1].result.status is Status.STALLED and budget - spent >= WORTH_ANOTHER:
        run(waiting.pop(0), gives_way=False)
    best = min(ended, key=lambda trial: trial.rank)
    last = ended[-1].result.status
    return best.candidate, replace(
        best.result, status=last if last is Status.INTERRUPTED else best.result.status, steps=spent
    )


def refitted(system: System | NonlinearSystem, result: Result, tol: float) -> Result:
    """The result with its output weights found anew by linear least squares, if that lowers the loss.

    The damping of the iteration limits its accuracy, although the problem is linear once the neurons are fixed: two
    trainings of pde5 that had stalled at losses of 2e-14 and 5e-15 came to 3e-17 and 2e-16 by one such solve.
    """
    if result.status in (Status.INTERRUPTED, Status.FAILED) or len(system.output) == 0:
        return result
    r, P = system.output_columns(result.theta)
    found: Any = lstsq(P, -r, cond=1e-14, lapack_driver="gelsy", check_finite=False)
    step = found[0]
    theta = result.theta.copy()
    theta[system.output] += step
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


def initial(system: System | NonlinearSystem, seed: int, start: int, raw: bool = False) -> np.ndarray:
    """Initial parameters of a seed's start; start 0 is what a single start would use."""
    rng = np.random.default_rng([seed, int(Stream.WEIGHTS), start])
    return labels.initial_raw(system, rng) if raw else labels.initial(system, rng)


def joined(first: History, second: History) -> History:
    """Two histories, one after the other."""
    if len(first) == 0 or len(second) == 0:
        return second if len(first) == 0 else first
    columns = {
        name: np.concatenate([getattr(first, name), getattr(second, name)])
        for name in ("step", "loss", "loss_of_term", "damping", "step_norm")
    }
    return History(first.terms, **columns, seconds=np.r_[first.seconds, first.seconds[-1] + second.seconds])
