"""How long a solve may take: seconds that the user sets, and operations of a method before another one is tried.

Only the user's limit depends on the clock. What a method may spend is counted in floating-point operations: the choice
of the next method is then the same on every machine, idle or busy.
"""

import time
from dataclasses import dataclass, field

import numpy as np

from jumpnet.errors import ModelError

# Time and operations of a level over those of the level before: the unknowns grow by about a third (heuristic).
NEXT = 2.0


@dataclass(frozen=True)
class Budget:
    """Seconds until a deadline, and floating-point operations that a method may spend.

    A method that makes good progress may spend `patience` times as many.
    """

    limit: float = np.inf
    spend: float = np.inf
    patience: float = 8.0
    _began: float = field(default_factory=time.perf_counter)

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return max(0.0, self.limit - (time.perf_counter() - self._began))

    def too_late(self, last: float) -> bool:
        """Whether another step that takes as many seconds as the last one would end after the deadline."""
        return last > self.left

    def too_much(self, spent: float, last: float, progress: bool) -> bool:
        """Whether another level, of NEXT times the operations of the last one, exceeds what may be spent."""
        return spent + NEXT * last > self.spend * (self.patience if progress else 1.0)


class Watch:
    """Seconds since it was made, by the clock."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """By the clock."""
        return time.perf_counter() - self._began


def checked_limit(limit: object) -> float:
    """The limit in seconds, infinite for None; ModelError if it is not a positive number."""
    if limit is None:
        return np.inf
    if not (isinstance(limit, int | float) and not isinstance(limit, bool) and limit > 0):
        raise ModelError(f"time_limit is {limit!r}; give a positive number of seconds, or leave it out.")
    return float(limit)
