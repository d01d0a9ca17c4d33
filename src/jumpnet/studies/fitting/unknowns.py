"""Unknown parameters with their bounds; the search uses their positions in the range, from 0 to 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jumpnet.errors import ModelError
from jumpnet.guard.text import shorten
from jumpnet.studies.sweeping.spans import Span


@dataclass(frozen=True)
class Unknown:
    """An unknown parameter: its start and its bounds."""

    name: str
    start: float
    span: Span

    @staticmethod
    def of(name: str, given: Any) -> Unknown:
        """The unknown given as (start, low, high); ModelError for anything else."""
        try:
            start, low, high = (float(one) for one in given)
        except (TypeError, ValueError):
            start, low, high = np.nan, 0.0, 1.0
        if not (np.isfinite([low, high]).all() and low <= start <= high and low < high):
            raise ModelError(
                f"unknown[{name!r}] is {shorten(given)}; (start, low, high) is wanted, e.g. (1.0, 1e-3, 1e3)."
            )
        return Unknown(name, start, Span(low, high))

    def share(self, value: float) -> float:
        """Where a value lies in the range, from 0 to 1."""
        s = self.span
        if s.is_log:
            return float(np.log(value / s.low) / np.log(s.high / s.low))
        return (value - s.low) / (s.high - s.low)

    def value(self, share: float) -> float:
        """The value at a share of the range."""
        return float(self.span.at(np.asarray(share)))

    def slope(self, share: float) -> float:
        """The derivative of the value by the share."""
        s = self.span
        return self.value(share) * float(np.log(s.high / s.low)) if s.is_log else s.high - s.low
