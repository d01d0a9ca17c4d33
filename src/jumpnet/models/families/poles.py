"""Simple poles in the plane, at places of their own: what a field has beyond a wall that is no circle or ellipse."""

from dataclasses import dataclass

import numpy as np

from jumpnet.errors import SolutionError
from jumpnet.models.families.complexes import complex_functional
from jumpnet.models.families.coordinates import OfPlane
from jumpnet.models.families.registry import Matrix, saved_as
from jumpnet.rows import Sites


@saved_as("poles")
@dataclass(frozen=True)
class Poles(OfPlane):
    """Re and Im of 1/(z - p) for places p = across + i up, z the complex number of two coordinates."""

    across: tuple[float, ...]
    up: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.across) != len(self.up):
            raise SolutionError(
                f"poles have {len(self.across)} first and {len(self.up)} second coordinates; "
                "the file is damaged or forged."
            )

    @property
    def size(self) -> int:
        """The number of functions."""
        return 2 * len(self.across)

    def functionals(self, sites: Sites) -> Matrix:
        """The functional of every site, function by function."""
        z, a0, b1, b2 = complex_functional(sites)
        r = 1 / (z - (np.array(self.across) + 1j * np.array(self.up)))
        total = a0 - b1 * r
        if b2.any():
            total += 2 * b2 * r * r
        total *= r
        return np.concatenate([total.real, total.imag], axis=1)
