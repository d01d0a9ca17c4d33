"""Points that were drawn before, kept: problems on one partition, as those of a sweep, ask for the same again."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import numpy as np

from jumpnet.geometry.randomness import Seed

Drawn = TypeVar("Drawn", bound=tuple[np.ndarray, ...])
# Draws that are kept, and the largest of them in points: some megabytes.
MOST, LARGEST = 64, 5000


class Draws:
    """The last draws by what they depend on; copies are handed out. Pickles hold none of them."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[np.ndarray, ...]] = {}

    def __reduce__(self) -> tuple[type["Draws"], tuple[()]]:
        return Draws, ()

    def get(self, what: tuple[Hashable, ...], count: int, seed: Seed, draw: Callable[[], Drawn]) -> Drawn:
        """What was drawn for these arguments, or is drawn now; only whole numbers as seeds are remembered."""
        words = _words(seed)
        if words is None or count > LARGEST:
            return draw()
        key = (*what, count, words)
        found = self._kept.get(key)
        if found is None:
            found = draw()
            if len(self._kept) >= MOST:
                self._kept.pop(next(iter(self._kept)), None)
            self._kept[key] = found
        return tuple(part.copy() for part in found)  # pyright: ignore[reportReturnType]


def _words(seed: Seed) -> int | tuple[int, ...] | None:
    """A seed of whole numbers as a key; None for any other: a generator draws on each time."""
    if isinstance(seed, int | np.integer):
        return int(seed)
    if isinstance(seed, Sequence) and all(isinstance(word, int | np.integer) for word in seed):
        return tuple(int(word) for word in seed)
    return None
