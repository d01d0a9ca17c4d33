"""Random features: tanh of random planes."""

from dataclasses import dataclass

import numpy as np

from jumpnet.models.families.registry import Matrix, saved_as
from jumpnet.rows import Sites


@saved_as("ridges")
@dataclass(frozen=True)
class Ridges:
    """tanh(w . y + b) for random w of size `scale` and planes through the box: a frozen random layer, and 1."""

    inputs: int
    neurons: int
    scale: float = 0.5
    seed: int = 0

    @property
    def size(self) -> int:
        """The number of functions."""
        return self.neurons + 1

    def functionals(self, sites: Sites) -> Matrix:
        """The functional of every site, function by function."""
        y, a0, a1, a2 = (np.asarray(part) for part in (sites.x, sites.a0, sites.a1, sites.a2))
        rng = np.random.default_rng([self.seed, self.inputs, self.neurons])
        w = rng.uniform(-self.scale, self.scale, (self.inputs, self.neurons))
        b = -np.sum(w * rng.uniform(-1, 1, w.shape), axis=0)
        t = np.tanh(y @ w + b)
        slope = 1 - t * t
        total = a0[:, None] * t + (a1 @ w) * slope
        if a2.any():
            total -= 2 * t * slope * np.einsum("nij,ik,jk->nk", a2, w, w, optimize=True)
        return np.concatenate([total, a0[:, None]], axis=1)
