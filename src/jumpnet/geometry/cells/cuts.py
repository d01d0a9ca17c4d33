"""Straight cuts through a piece, and points on them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from jumpnet.geometry.checks import Floats
from jumpnet.geometry.partition import Partition
from jumpnet.geometry.quadrature.regions import bisected, unit_gauss

SCAN = 64
"""Points of a cut at which its piece is determined."""
END = 1e-6
"""The distance of the first and the last of them from its ends, relative to its length."""


class Cuts(NamedTuple):
    """Points between two cells of a piece: the piece, the cells on both sides of the cut, and its normal."""

    x: Floats
    piece: np.ndarray
    low: np.ndarray
    high: np.ndarray
    normal: Floats


def stretches(partition: Partition, start: Floats, end: Floats) -> Iterator[tuple[int, float, float, int]]:
    """The stretches of straight cuts that lie in one piece: cut, first and last place in (0, 1), piece."""
    scan = np.linspace(END, 1 - END, SCAN)
    on_cut = start[:, None] + scan[:, None] * (end - start)[:, None]
    labels = partition.label(on_cut.reshape(-1, 2)).reshape(-1, SCAN)
    cut, place_of_break = np.nonzero(np.diff(labels, axis=1))
    after = scan[place_of_break]
    begin, span = start[cut], (end - start)[cut]
    breaks = bisected(lambda t: partition.label(begin + t[:, None] * span), after, scan[place_of_break + 1])
    for one in range(len(start)):
        mine = cut == one
        ends = np.r_[0.0, breaks[mine], 1.0]
        for a, b, piece in zip(ends[:-1], ends[1:], labels[one, np.r_[0, place_of_break[mine] + 1]], strict=True):
            if piece >= 0:
                yield one, float(a), float(b), int(piece)


def spread(count: int, rng: np.random.Generator, even: bool) -> Floats:
    """Numbers in (0, 1): those of Gauss's rule, denser towards the ends, or random ones."""
    return _gauss(count) if even else np.sort(rng.random(count))


@cache
def _gauss(count: int) -> Floats:
    return unit_gauss(count)[0]
