"""A cache of sample points: problems on one partition, such as those of a sweep, need the same points."""

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
        """The points for these arguments, from the cache if possible; only draws with whole numbers as seeds are
        kept."""
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
    """A seed of whole numbers as a key; None for others, such as a generator, whose state changes."""
    if isinstance(seed, int | np.integer):
        return int(seed)
    if isinstance(seed, Sequence) and all(isinstance(word, int | np.integer) for word in seed):
        return tuple(int(word) for word in seed)
    return None
