"""Poles and a logarithm about a hole, with polynomials as factors."""

from dataclasses import dataclass

import numpy as np

from jumpnet.models.families.polynomials import Legendre
from jumpnet.models.families.registry import Matrix, saved_as
from jumpnet.rows import Sites


@saved_as("products")
@dataclass(frozen=True)
class Products:
    """Re and Im of z^n times Legendre polynomials, and log |z| times them, of total degree at most `degree`.

    Coordinates are (y1, y2) of the piece, for the polynomials, and (z1, z2) about a hole. Solutions of equations with
    varying coefficients have this form near a hole: poles and a logarithm with smooth factors.
    """

    degree: int

    @property
    def inputs(self) -> int:
        """The number of coordinates."""
        return 4

    @property
    def size(self) -> int:
        """The number of functions."""
        return sum(2 * self._smooth(self.degree - n) for n in range(1, self.degree + 1)) + self._smooth(self.degree - 1)

    @staticmethod
    def _smooth(degree: int) -> int:
        return (degree + 1) * (degree + 2) // 2

    def functionals(self, sites: Sites) -> Matrix:
        """The functional of every site, function by function."""
        x, a0, a1, a2 = (np.asarray(part) for part in (sites.x, sites.a0, sites.a1, sites.a2))
        y, z = x[:, :2], (x[:, 2] + 1j * x[:, 3])[:, None]
        n, cell, none = len(x), np.asarray(sites.cell), np.zeros((len(x), 2, 2))
        smooth = Legendre(2, self.degree)
        g = smooth.functionals(Sites(y, cell, np.ones(n), np.zeros((n, 2)), none))
        slopes = [smooth.functionals(Sites(y, cell, np.zeros(n), np.tile(e, (n, 1)), none)) for e in np.eye(2)]
        of_g = smooth.functionals(Sites(y, cell, a0, a1[:, :2], a2[:, :2, :2]))
        # The functional of F(z) g(y) is F of_g + F' once + F'' twice, F being complex-differentiable.
        c = a2[:, 2, :2] + 1j * a2[:, 3, :2]
        once = (a1[:, 2] + 1j * a1[:, 3])[:, None] * g + 2 * (c[:, :1] * slopes[0] + c[:, 1:] * slopes[1])
        twice = (a2[:, 2, 2] - a2[:, 3, 3] + 2j * a2[:, 2, 3])[:, None] * g
        columns, power = [], np.ones_like(z)  # power: z^(k - 2), from k = 2 on
        for k in range(1, self.degree + 1):
            low = slice(self._smooth(self.degree - k))
            if k == 1:
                total = z * of_g[:, low] + once[:, low]
            else:
                part = z * z * of_g[:, low] + k * z * once[:, low] + k * (k - 1) * twice[:, low]
                total = power * part
                power = power * z
            columns += [np.real(total), np.imag(total)]
        low = slice(self._smooth(self.degree - 1))
        log = np.log(np.abs(z)) * of_g[:, low] + np.real(once[:, low] / z - twice[:, low] / z**2)
        return np.concatenate([*columns, log], axis=1)
