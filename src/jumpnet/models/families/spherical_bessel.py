"""Modified spherical Bessel functions: solutions of laplace(u) = rate^2 u in space (solid harmonics: rate = 0)."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ive, kve

from jumpnet.models.families.coordinates import Spherical
from jumpnet.models.families.registry import Matrix, saved_as
from jumpnet.models.families.solid import Solid
from jumpnet.rows import Sites

# The radial factors are even functions of r; nearer to the origin than this they are taken here, as powers of r would
# underflow.
NEAREST = 1e-8


@saved_as("spherical-bessel")
@dataclass(frozen=True)
class SphericalBessel(Spherical):
    """b_l(rate r)/b_l(rate) times the spherical harmonics of `Solid`, l = 0..degree.

    b is i, which grows, or with `decaying` k, which has a pole at the origin. With H = r^l Y_lm, a function is g H, and
    the derivatives of g follow from (d/dz)(b_l/z^l) = +- b_(l+1)/z^l, minus for k: with g1 = g'/r and g2 = g1'/r

        grad(g H) = g grad H + g1 x H,    hess(g H) = g hess H + g1 (x grad H + grad H x + 1 H) + g2 x x H.
    """

    degree: int
    rate: float
    decaying: bool = False

    def functionals(self, sites: Sites) -> Matrix:
        """The functional of every site, function by function."""
        y, a1, a2 = (np.asarray(part) for part in (sites.x, sites.a1, sites.a2))
        solid = Solid(self.degree)
        g, g1, g2 = self._radial(y)
        moved = np.einsum("nij,nj->ni", a2, y)  # a2 is symmetric
        first = np.sum(a1 * y, axis=1) + np.trace(a2, axis1=1, axis2=2)
        none = np.zeros_like(a2)
        with np.errstate(all="ignore"):
            total = g * solid.functionals(sites)
            total += g1 * solid.functionals(replace(sites, a0=first, a1=2 * moved, a2=none))
            if a2.any():
                still = replace(sites, a0=np.sum(moved * y, axis=1), a1=np.zeros_like(y), a2=none)
                total += g2 * solid.functionals(still)
            return np.nan_to_num(total, posinf=0.0, neginf=0.0)

    def _radial(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """g, g1 and g2 of each function (n, size)."""
        r = np.maximum(np.sqrt(np.sum(y * y, axis=1)), NEAREST)[:, None]
        l, z = np.arange(self.degree + 1), self.rate * r
        sign, scaled = (-1.0, kve) if self.decaying else (1.0, ive)  # kve = K exp(z), ive = I exp(-z)
        with np.errstate(all="ignore"):
            size = np.exp(sign * (z - self.rate)) * np.sqrt(1 / r) / scaled(l + 0.5, self.rate)
            by_degree = [(sign * self.rate**2) ** j * size * scaled(l + j + 0.5, z) / (r**l * z**j) for j in range(3)]
        each = np.repeat(l, 2 * l + 1)  # columns of `Solid`: degree by degree
        return by_degree[0][:, each], by_degree[1][:, each], by_degree[2][:, each]
