"""Points that were drawn before, kept: problems on one partition, as those of a sweep, ask for the same again."""

from collections.abc import Callable, Hashable
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
        """What was drawn for these arguments, or is drawn now; a generator as seed is drawn from each time."""
        words = (seed,) if isinstance(seed, int) else seed
        if isinstance(words, np.random.SeedSequence | np.random.Generator) or count > LARGEST:
            return draw()
        key = (*what, count, tuple(int(word) for word in words))
        found = self._kept.get(key)
        if found is None:
            found = draw()
            if len(self._kept) >= MOST:
                self._kept.pop(next(iter(self._kept)), None)
            self._kept[key] = found
        return tuple(part.copy() for part in found)  # pyright: ignore[reportReturnType]
