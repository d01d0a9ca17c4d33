"""Checks of seeds and trials, and the spread of the answers of several seeds."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from jumpnet.collocation import Stream
from jumpnet.errors import ModelError
from jumpnet.solution import Solution, Trial

# Points at which the solutions of several seeds are compared.
SPREAD_POINTS = 1000


# What `rng=` accepts, as in NumPy.
RNG: TypeAlias = int | np.random.SeedSequence | np.random.BitGenerator | np.random.Generator


def seed_of(seed: int, rng: RNG | None) -> int:
    """The seed as given, or drawn from `rng` (each call draws one number from a generator, so calls differ)."""
    if rng is None:
        return seed
    if seed != 0:
        raise ModelError(f"seed is {seed!r}, and rng is given too; leave one of them out.")
    if isinstance(rng, np.random.SeedSequence):
        return int(rng.generate_state(1)[0])
    if isinstance(rng, np.random.BitGenerator):
        rng = np.random.Generator(rng)
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**32))
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
        raise ModelError(f"rng is {rng!r}; give a numpy Generator, a SeedSequence or a whole number, zero or more.")
    return int(rng)


def check_trials(seed: int, trials: int, workers: int | None = None) -> None:
    """ModelError unless the seed is a whole number, and trials and workers are positive whole numbers."""
    if not isinstance(trials, int | np.integer) or trials < 1:
        raise ModelError(f"trials is {trials!r}; give a whole number, at least 1.")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ModelError(f"seed is {seed!r}; give a whole number, zero or more.")
    if workers is not None and (not isinstance(workers, int | np.integer) or workers < 1):
        raise ModelError(f"workers is {workers!r}; give a whole number, at least 1, or None for one on each core.")


def spread(found: Sequence[Solution]) -> tuple[Trial, ...]:
    """The outcome of each seed, and its distance from the mean of all (root mean square over the same points)."""
    parts = found[0].partition
    assert parts is not None
    x, piece = parts.sample_interior(max(SPREAD_POINTS, parts.size), seed=[0, int(Stream.TEST), 1])
    values = np.array([solution(x, piece) for solution in found])
    off = np.sqrt(np.mean((values - values.mean(axis=0)) ** 2, axis=1))

    return tuple(
        Trial(s.seed, s.status, s.steps, s.held_out_loss, s.estimate, float(difference))
        for s, difference in zip(found, off, strict=True)
    )
