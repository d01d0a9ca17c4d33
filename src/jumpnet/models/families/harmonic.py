"""Harmonic functions of the plane: powers of z = y1 + i y2, and log |z|."""

from dataclasses import dataclass

import numpy as np

from jumpnet.models.families.complexes import complex_functional
from jumpnet.models.families.coordinates import OfPlane
from jumpnet.models.families.registry import Matrix, saved_as
from jumpnet.rows import Sites


@saved_as("powers")
@dataclass(frozen=True)
class Powers(OfPlane):
    """Re and Im of z^n, n = 1..degree, z the complex number of two coordinates: harmonic functions of the plane.

    `constant` adds 1, `logarithm` adds log |z|: a pole with a net flux.
    """

    degree: int
    constant: bool = False
    logarithm: bool = False

    @property
    def size(self) -> int:
        """The number of functions."""
        return 2 * self.degree + self.constant + self.logarithm

    def functionals(self, sites: Sites) -> Matrix:
        """The functional of every site, function by function."""
        z, a0, b1, b2 = complex_functional(sites)
        n = np.arange(1, self.degree + 1)
        powers = np.cumprod(np.broadcast_to(z, (len(z), self.degree)), axis=1)
        ones = np.ones_like(z)
        first = n * np.concatenate([ones, powers[:, :-1]], axis=1)[:, : self.degree]
        total = a0 * powers + b1 * first
        if sites.order == 2 and b2.any():
            second = np.concatenate([0 * ones, ones, powers[:, :-2]], axis=1)[:, : self.degree]
            total += b2 * (n * (n - 1)) * second
        columns: list[np.ndarray] = [total.real, total.imag]
        if self.constant:
            columns.append(a0)
        if self.logarithm:
            columns.append(a0 * np.log(np.abs(z)) + (b1 / z - b2 / z**2).real)
        return np.concatenate(columns, axis=1)
