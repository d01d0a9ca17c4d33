"""Error indicators for hp-refinement: the highest modes of the solution in each element.

The error of an element is about as large as its modes of the highest two degrees. Where these are much smaller than the
modes of the two degrees before, a higher degree helps; elsewhere smaller elements do. Its share in the root mean square
error is that of its error in energy times its size (the duality argument of Aubin and Nitsche).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from jumpnet.judge.level import Level

# Where modes fall by more than this factor over two degrees, the solution counts as analytic (heuristic).
ANALYTIC = 0.25


@dataclass(frozen=True, eq=False)
class Indicators:
    """For each element: the energy norm of its highest modes, times its size; its ratio to the two degrees before."""

    size: Float[np.ndarray, " m"]
    decay: Float[np.ndarray, " m"]

    def marked(self, bulk: float, most: float = 1.0) -> Bool[np.ndarray, " m"]:
        """The fewest elements that hold a part of the squared error (Doerfler marking), at most a part of all."""
        order = np.argsort(self.size)[::-1]
        total = np.cumsum(self.size[order] ** 2)
        found = np.zeros(len(order), bool)
        count = int(np.searchsorted(total, bulk * total[-1])) + 1
        found[order[: min(count, int(np.ceil(most * len(order))))]] = True
        return found

    @property
    def analytic(self) -> bool:
        """Whether most of the error is where the solution is analytic, so that the degree should rise."""
        square = self.size**2
        return bool(square[self.decay < ANALYTIC].sum() >= 0.5 * square.sum())


def indicators(level: Level, apart: Bool[np.ndarray, " m"] | None = None) -> Indicators:
    """The highest modes of a solution; none in elements that are treated apart, as those at singular points."""
    basis, p = level.space.basis, level.space.order
    modes = basis.modes(level.field.values)
    degrees = basis.degrees
    parts = (np.where((degrees > low) & (degrees <= low + 2), modes, 0.0) for low in (p - 2, p - 4))
    high, before = (np.sqrt(level.energy(basis.from_modes(part))) for part in parts)
    decay = high / np.maximum(before, 1e-300)
    if apart is not None and not apart.all():
        high = np.where(apart, 0.0, high)
    return Indicators(high * level.space.mesh.size, decay)
