"""Values of the parameters of a sweep: grids, lists, and points of a low-discrepancy sequence."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from jumpnet.errors import ModelError
from jumpnet.guard.text import shorten
from jumpnet.studies.family import checked_values

# A span whose ends differ by this factor or more is logarithmic by default.
WIDE = 100.0
# More solves than this are refused as a mistake, such as a grid in many parameters.
MOST = 1_000_000


@dataclass(frozen=True)
class Span:
    """Values from `low` to `high`: `count` of them in a grid, or a range to sample from.

    Args:
        low: The lower end.
        high: The upper end.
        count: The number of values in a grid, at least 2.
        scale: "linear" or "log"; by default logarithmic where both ends are positive and differ by a factor of 100.

    Example:
        >>> import jumpnet as jn
        >>> jn.Span(1e-3, 1e3, 3).values().round(3).tolist(), jn.Span(0, 1, 3).values().tolist()
        ([0.001, 1.0, 1000.0], [0.0, 0.5, 1.0])
    """

    low: float
    high: float
    count: int = 11
    scale: Literal["linear", "log"] | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite([self.low, self.high, self.high - self.low]).all() and self.low < self.high):
            raise ModelError(
                f"the span from {self.low!r} to {self.high!r} is empty or endless; give a low and a higher number."
            )
        if self.scale not in (None, "linear", "log") or (self.scale == "log" and self.low <= 0):
            raise ModelError(f'scale is {self.scale!r}; give "linear", or for positive numbers "log".')
        if isinstance(self.count, bool) or not isinstance(self.count, int) or not 2 <= self.count <= MOST:
            raise ModelError(f"count is {shorten(self.count)}; a span has 2 to {MOST} values.")

    @property
    def is_log(self) -> bool:
        """Whether values have equal ratios."""
        return self.low > 0 and self.high / self.low >= WIDE if self.scale is None else self.scale == "log"

    def values(self) -> np.ndarray:
        """The values of the grid."""
        return self.at(np.linspace(0.0, 1.0, self.count))

    def at(self, share: np.ndarray) -> np.ndarray:
        """Values at shares from 0 to 1 of the span; its ends exactly."""
        if self.is_log:
            found = self.low * (self.high / self.low) ** share
        else:
            found = self.low + (self.high - self.low) * share
        return np.where(share == 1.0, self.high, found)


def points_of(vary: Any, samples: int | None, seed: int) -> Iterator[dict[str, float]]:
    """Values of all parameters, for each solve."""
    if not isinstance(vary, Mapping) or not vary:
        raise ModelError(
            f"vary is {vary!r}; a mapping from names to values is wanted, e.g. {{'k': jn.Span(1, 100, 9)}}."
        )
    if samples is not None:
        yield from _samples(vary, whole(samples, "samples"), seed)
        return
    lists = {
        name: v.values() if isinstance(v, Span) else checked_values(v, f"vary[{name!r}]") for name, v in vary.items()
    }
    total = int(np.prod([float(len(values)) for values in lists.values()]))
    if total > MOST:
        raise ModelError(f"the grid has {total} points, more than {MOST}; take fewer values, or samples=.")
    for row in itertools.product(*(values.tolist() for values in lists.values())):
        yield dict(zip(lists, row, strict=True))


def _samples(vary: Mapping[str, Any], count: int, seed: int) -> Iterator[dict[str, float]]:
    """Points of a Sobol sequence in the spans; lists are drawn from."""
    from scipy.stats import qmc

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # balance wants powers of two; any count will do here
        shares = qmc.Sobol(len(vary), scramble=False).random(count)
    shares = (shares + np.random.default_rng(seed).random(len(vary))) % 1.0  # shifted: no point on all lower ends
    columns = {}
    for (name, given), share in zip(vary.items(), shares.T, strict=True):
        if isinstance(given, Span):
            columns[name] = given.at(share)
        else:
            values = checked_values(given, f"vary[{name!r}]")
            columns[name] = values[np.minimum((share * len(values)).astype(int), len(values) - 1)]
    for row in zip(*(column.tolist() for column in columns.values()), strict=True):
        yield dict(zip(columns, row, strict=True))


def whole(given: Any, what: str) -> int:
    """A whole number from 1 to MOST, as an argument called `what`."""
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not 1 <= given <= MOST:
        raise ModelError(f"{what} is {shorten(given)}; a whole number from 1 to {MOST} is wanted.")
    return int(given)
