"""Bessel functions of the plane that oscillate: they solve laplace(u) = -rate^2 u, Helmholtz's equation."""

from dataclasses import dataclass

import numpy as np
from scipy.special import jv, yv

from jumpnet.models.families.bessel import of_neighbours
from jumpnet.models.families.coordinates import Circular
from jumpnet.models.families.registry import Matrix, saved_as
from jumpnet.rows import Sites

# Smaller values of J_n lose digits to underflow.
UNDERFLOW = 1e-290


@saved_as("waves")
@dataclass(frozen=True)
class Waves(Circular):
    """Re and Im of B_n(rate r) exp(i n t), n = 0..degree; B is J, or with `singular` Y, which has a pole at the origin.

    Those with n > rate are divided by |B_n(rate)|: they are of size one at r = 1 then, as the others are anyway.
    """

    degree: int
    rate: float
    singular: bool = False

    def functionals(self, sites: Sites) -> Matrix:
        """The functional of every site, function by function."""
        y = np.asarray(sites.x)
        z = y[:, 0] + 1j * y[:, 1]
        r = np.maximum(np.abs(z), np.finfo(float).tiny)
        n = np.arange(self.degree + 1)
        bessel, table = (yv, _second_kind) if self.singular else (jv, _first_kind)
        with np.errstate(all="ignore"):
            of_order = table(self.degree + 2, self.rate * r)
            both = np.concatenate([of_order[:, [2]], -of_order[:, [1]], of_order], axis=1)  # B_(-n) = (-1)^n B_n
            turned = np.exp(1j * np.angle(z)[:, None] * np.arange(-2, self.degree + 3))
            total = of_neighbours(sites, both * turned, -self.rate, self.rate)
            size = np.where(n > self.rate, np.abs(bessel(n, self.rate)), 1.0)
            total = np.nan_to_num(total / size, posinf=0.0, neginf=0.0)
        return np.concatenate([total.real, total.imag[:, 1:]], axis=1)


def _first_kind(most: int, x: np.ndarray) -> np.ndarray:
    """J_n(x), n = 0..most: by the recurrence downwards, which is stable, except where it would begin with zeros."""
    found = np.empty((len(x), most + 1))
    found[:, most], found[:, most - 1] = jv(most, x), jv(most - 1, x)
    for n in range(most - 1, 0, -1):
        found[:, n - 1] = 2 * n / x * found[:, n] - found[:, n + 1]
    near_zero = (found[:, most] < UNDERFLOW) & (x < most)
    found[near_zero] = jv(np.arange(most + 1), x[near_zero, None])
    return found


def _second_kind(most: int, x: np.ndarray) -> np.ndarray:
    """Y_n(x), n = 0..most: by the recurrence upwards, which is stable."""
    found = np.empty((len(x), most + 1))
    found[:, 0], found[:, 1] = yv(0, x), yv(1, x)
    for n in range(1, most):
        found[:, n + 1] = 2 * n / x * found[:, n] - found[:, n - 1]
    return found
