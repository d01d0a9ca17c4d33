"""Training within a budget of steps: several random starts, the best of which goes on.

A start that will end badly usually shows it early, so a few short runs and one long one beat one long run of a random
start; all steps count towards the optimiser's limit.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from jumpnet.collocation import Stream
from jumpnet.models import System
from jumpnet.optim import History, Optimizer, Record, Result, Status, minimise

Progress = Callable[[Record, float], None]

# Steps given to each start before the choice.
TRIAL_STEPS = 60


def train(system: System, optimizer: Optimizer, *, seed: int, starts: int, progress: Progress | None) -> Result:
    """The best parameters that `starts` random starts lead to."""
    budget = optimizer.stop.steps
    if starts <= 1 or budget < 2 * starts * TRIAL_STEPS:
        theta = initial(system, seed, 0)
        return minimise(optimizer, system, theta, progress=progress)[0]
    best, state, spent = None, None, 0
    for start in range(starts):
        result, last = minimise(optimizer, system, initial(system, seed, start), steps=TRIAL_STEPS, progress=progress)
        spent += result.steps
        if best is None or result.loss < best.loss:
            best, state = result, last
        if result.status in (Status.CONVERGED, Status.INTERRUPTED):
            return replace(best, status=result.status, steps=spent)
    assert best is not None
    final, _ = minimise(optimizer, system, state=state, steps=budget - spent, progress=progress)
    return replace(final, steps=spent + final.steps, history=joined(best.history, final.history))


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
