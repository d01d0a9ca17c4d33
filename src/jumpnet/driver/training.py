"""Training within a budget of steps: several random starts, the best of which goes on.

A start that will end badly, or coordinates that do not suit the problem, usually show it early: a few short runs and
one long one beat one long run of a random start. All steps count towards the optimiser's limit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jumpnet.charts import Atlas
from jumpnet.collocation import Stream
from jumpnet.models import System
from jumpnet.optim import History, Optimizer, Record, Result, Status, minimise

Progress = Callable[[Record, float], None]

# Steps given to each start before the choice.
TRIAL_STEPS = 60
# More coordinates must pay: they are taken only if they lower the held-out loss of a short run by this factor.
WORTH_MORE_INPUTS = 10.0


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


def train(
    candidates: Sequence[Candidate], optimizer: Optimizer, *, seed: int, starts: int, progress: Progress | None
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
    spent, chosen = 0, None
    for candidate, start in runs:
        theta = initial(candidate.system, seed, start)
        result, state = minimise(optimizer, candidate.system, theta, steps=TRIAL_STEPS, progress=progress)
        spent += result.steps
        loss = candidate.held_out_loss(result.theta)
        factor = 1.0 if chosen is None or chosen[0] is candidate else WORTH_MORE_INPUTS
        if chosen is None or factor * loss < chosen[3]:
            chosen = candidate, result, state, loss
        if result.status is Status.CONVERGED:
            return candidate, replace(result, steps=spent)
        if result.status is Status.INTERRUPTED:
            return chosen[0], replace(chosen[1], status=result.status, steps=spent)
    assert chosen is not None
    candidate, trial, state, _ = chosen
    final, _ = minimise(optimizer, candidate.system, state=state, steps=budget - spent, progress=progress)
    history = joined(trial.history, final.history)
    return candidate, replace(final, steps=spent + final.steps, history=history)


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
