"""Random and low-discrepancy numbers, always from a seed.

Interior, boundary and each interface draw from streams of their own (spawn keys of one SeedSequence), so that
two disks sampled with the same seed do not get the same angles.
"""

from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

import numpy as np

from jumpnet.errors import GeometryError
from jumpnet.geometry.checks import Floats

Seed: TypeAlias = int | Sequence[int] | np.random.SeedSequence | np.random.Generator


def generator(seed: Seed, *key: int) -> np.random.Generator:
    """The generator of the stream `key` of a seed; a Generator is used as it is."""
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, np.random.SeedSequence):
        return np.random.default_rng(
            np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *key), pool_size=seed.pool_size)
        )
    try:
        if seed is None or isinstance(seed, float | str):
            raise TypeError
        return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
    except (TypeError, ValueError):
        raise GeometryError(
            f"seed must be a whole number of at least 0 (or a list of them), not {seed!r}; "
            "the same seed always gives the same points."
        ) from None


def numbers(method: str, seed: Seed, *key: int) -> tuple[np.random.Generator, bool]:
    """The generator of a stream for one of the methods of drawing points, and whether to draw evenly with it."""
    if method not in ("random", "sobol", "even"):
        raise GeometryError(f'method must be "random", "sobol" or "even", not {method!r}.')
    rng = generator(seed, *key)
    return (EvenlySpread(rng) if method == "even" else rng), method != "random"


class EvenlySpread(np.random.Generator):
    """A generator whose `random` runs through a Kronecker sequence: well spread, and always the same.

    For what the library measures for itself (shares, areas, probes) and, shifted by random numbers of a seed, where
    time matters: a Sobol sequence is better spread, but takes a millisecond to set up. In space boxes are missed by
    about as much as with random points; points of the powers of 2^(1/4), which are better there, changed nothing for
    the Trefftz engine (balls, pde5, an ellipsoid), and are used for volumes only (partition/sampling.py).
    """

    def __init__(self, moved: np.random.Generator | None = None) -> None:
        super().__init__(np.random.PCG64(0) if moved is None else moved.bit_generator)
        self._start = 1
        self._shift = np.full(8, 0.5) if moved is None else moved.random(8)

    def random(self, size: tuple[int, int]) -> Floats:  # type: ignore[override]
        """The next `n` points in (0, 1)^dim, for size = (n, dim)."""
        n, dim = size
        k = np.arange(self._start, self._start + n)[:, None]
        self._start += n
        shift = self._shift[:dim] if dim <= len(self._shift) else np.resize(self._shift, dim)
        return np.mod(shift + k * _steps(dim), 1.0)


@cache
def _steps(dim: int) -> Floats:
    """The steps of Roberts's R sequence: powers of the root of g^(dim + 1) = g + 1."""
    ratio = 2.0
    for _ in range(64):
        ratio = (1.0 + ratio) ** (1.0 / (dim + 1))
    return ratio ** -np.arange(1.0, dim + 1)


class Stream:
    """Numbers in (0, 1)^dim, one batch after the other: pseudo-random or a scrambled Sobol sequence."""

    def __init__(self, dim: int, rng: np.random.Generator, quasi: bool) -> None:
        self._dim = dim
        self._rng = rng
        self._sobol = None
        if quasi and not isinstance(rng, EvenlySpread):
            from scipy.stats import qmc

            self._sobol = qmc.Sobol(dim, scramble=True, rng=rng)
        self._spare = np.empty((0, dim))

    def draw(self, n: int) -> Floats:
        """The next `n` numbers (n, dim)."""
        if self._sobol is None:
            return self._rng.random((n, self._dim))
        while len(self._spare) < n:
            # Powers of two keep the sequence balanced; twice what was drawn before keeps it so.
            exponent = max(5, int(np.ceil(np.log2(max(n, 1))))) if self._sobol.num_generated == 0 else None
            batch = 2**exponent if exponent is not None else self._sobol.num_generated
            fresh = np.clip(self._sobol.random(batch), 2.0**-33, 1.0 - 2.0**-33)
            self._spare = np.concatenate([self._spare, fresh])
        drawn, self._spare = self._spare[:n], self._spare[n:]
        return drawn
