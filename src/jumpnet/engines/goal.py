"""The error that is asked for."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from jumpnet.errors import ModelError

# Rounding errors of values, relative to their size; the variation may be smaller.
ROUNDING_OF_VALUES = 1e-13


@dataclass(frozen=True)
class Goal:
    """The root mean square error that is asked for: relative to the variation of u, or absolute."""

    tol: float
    atol: float = 0.0

    def of(self, values: Float[np.ndarray, " points"]) -> float:
        """The largest error that meets the goal, for a solution with these values at evenly spread points."""
        if not np.isfinite(values).all():
            return 0.0
        return self.of_size(rms(values - np.mean(values)), rms(values))

    def of_size(self, variation: float, size: float) -> float:
        """The same, from the variation and the root mean square of the solution."""
        return max(self.atol, self.tol * variation, ROUNDING_OF_VALUES * size)


def checked_goal(tol: object, atol: object = 0.0) -> Goal:
    """The goal made of `tol` and `atol`; ModelError if they are not numbers, or negative."""
    if not (isinstance(tol, int | float) and not isinstance(tol, bool) and 0 < tol < np.inf):
        raise ModelError(f"tol is {tol!r}; give the error you can live with, relative to the variation of u: 1e-6.")
    if not (isinstance(atol, int | float) and not isinstance(atol, bool) and 0 <= atol < np.inf):
        raise ModelError(f"atol is {atol!r}; give the error you can live with, in units of u, or 0.")
    return Goal(float(tol), float(atol))


def rms(values: Float[np.ndarray, " points"]) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(values**2)))
