"""How long a solve may take: a limit that the user sets, and what a method may spend before another one is tried."""

import time
from dataclasses import dataclass, field

import numpy as np

from jumpnet.errors import ModelError

# Time of a level over that of the level before: the number of unknowns grows by about a third (heuristic).
NEXT = 2.0


@dataclass(frozen=True)
class Budget:
    """Seconds until a deadline (by the clock), and seconds that a method may compute for (of this thread).

    A method that makes good progress may compute `patience` times as long.
    """

    limit: float = np.inf
    spend: float = np.inf
    patience: float = 8.0
    _began: float = field(default_factory=time.perf_counter)
    _computed: float = field(default_factory=time.thread_time)

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return max(0.0, self.limit - (time.perf_counter() - self._began))

    def too_late(self, last: "Watch") -> bool:
        """Whether another step as long as the last one would end after the deadline."""
        return last.seconds > self.left

    def forbids(self, last: "Watch", progress: bool) -> bool:
        """Whether there is no time for another level, expected to take NEXT times as long as the last one."""
        if NEXT * last.seconds > self.left:
            return True
        spend = self.spend * (self.patience if progress else 1.0)
        return time.thread_time() - self._computed + NEXT * last.computed > spend


class Watch:
    """Seconds since it was made: by the clock, and of this thread, which other programs do not lengthen."""

    def __init__(self) -> None:
        self._began, self._computed = time.perf_counter(), time.thread_time()

    @property
    def seconds(self) -> float:
        """By the clock."""
        return time.perf_counter() - self._began

    @property
    def computed(self) -> float:
        """Of this thread."""
        return time.thread_time() - self._computed


def checked_limit(limit: object) -> float:
    """The limit in seconds, infinite for None; ModelError if it is not a positive number."""
    if limit is None:
        return np.inf
    if not (isinstance(limit, int | float) and not isinstance(limit, bool) and limit > 0):
        raise ModelError(f"time_limit is {limit!r}; give a positive number of seconds, or leave it out.")
    return float(limit)
