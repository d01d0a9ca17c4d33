"""Many points a batch at a time: memory stays bounded, and all cores take part."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from jaxtyping import Float, Int

from jumpnet.geometry import Partition

# Points are evaluated in padded batches of a few sizes, so that compiled code is reused between calls.
SMALLEST_BATCH, LARGEST_BATCH = 64, 8192
LABELLED = 1 << 18  # points whose pieces are found at once
MANY = 4  # batches worth a pool of threads


def each_batch(act: Callable[[slice, slice | np.ndarray], None], points: int) -> None:
    """Call `act(part, taken)` for each batch: its points, and the same padded by the last to one of a few sizes.

    Where there are many batches all cores take part; the work holds Python's lock for short times only.
    """

    def padded(start: int) -> None:
        count = min(LARGEST_BATCH, points - start)
        part = slice(start, start + count)
        size = max(SMALLEST_BATCH, 1 << (count - 1).bit_length())
        act(part, part if size == count else start + np.minimum(np.arange(size), count - 1))

    _spread(padded, range(0, points, LARGEST_BATCH))


def labels_of(partition: Partition, x: Float[np.ndarray, "n d"]) -> Int[np.ndarray, " n"]:
    """The piece of each point, -1 outside."""
    labels = np.empty(len(x), np.int32)

    def act(start: int) -> None:
        labels[start : start + LABELLED] = partition.label(x[start : start + LABELLED])

    _spread(act, range(0, len(x), LABELLED))
    return labels


def _spread(act: Callable[[int], None], starts: Sequence[int]) -> None:
    workers = min(os.cpu_count() or 1, len(starts) // 2)
    if len(starts) < MANY or workers < 2:
        for start in starts:
            act(start)
        return
    act(starts[0])  # compiles, once
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(act, starts[1:]):
            pass
