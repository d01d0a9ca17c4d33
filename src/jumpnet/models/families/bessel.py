"""Modified Bessel functions of the plane: they solve laplace(u) = rate^2 u, as harmonic functions do for rate = 0."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ive, kve

from jumpnet.models.families.coordinates import Circular
from jumpnet.models.families.registry import Matrix, saved_as
from jumpnet.rows import Sites

# d/dy1 and d/dy2 by d/dy1 + i d/dy2 and d/dy1 - i d/dy2.
LADDER = np.array([[0.5, 0.5], [-0.5j, 0.5j]])


def of_neighbours(sites: Sites, table: np.ndarray, up: float, down: float) -> np.ndarray:
    """The functionals of cylinder functions C_n exp(i n t), n = 0..degree, given those for n = -2..degree + 2.

    Their derivatives are multiples of their neighbours: (d/dy1 + i d/dy2) C_n exp(i n t) = up C_(n+1) exp(i (n+1) t),
    and (d/dy1 - i d/dy2) C_n exp(i n t) = down C_(n-1) exp(i (n-1) t).
    """
    a0, a1, a2 = (np.asarray(part) for part in (sites.a0, sites.a1, sites.a2))
    b1, b2 = (a1 @ LADDER)[:, :, None], (LADDER.T @ a2 @ LADDER)[:, :, :, None]

    def moved(by: int) -> np.ndarray:
        return table[:, 2 + by : table.shape[1] - 2 + by]

    total = a0[:, None] * moved(0) + (up * b1[:, 0] * moved(1) + down * b1[:, 1] * moved(-1))
    if a2.any():
        mixed = up * down * (b2[:, 0, 1] + b2[:, 1, 0]) * moved(0)
        total = total + (up**2 * b2[:, 0, 0] * moved(2) + down**2 * b2[:, 1, 1] * moved(-2) + mixed)
    return total


@saved_as("bessel")
@dataclass(frozen=True)
class Bessel(Circular):
    """Re and Im of B_n(rate r) exp(i n t), n = 0..degree, divided by B_n(rate): of size one at r = 1.

    B is I, which grows, or with `decaying` K, which has a pole at the origin. In `of_neighbours` up and down are the
    rate for I, minus the rate for K.
    """

    degree: int
    rate: float
    decaying: bool = False

    def functionals(self, sites: Sites) -> Matrix:
        """The functional of every site, function by function."""
        sign = -1.0 if self.decaying else 1.0
        total = of_neighbours(sites, self._table(np.asarray(sites.x)), sign * self.rate, sign * self.rate)
        with np.errstate(all="ignore"):
            total = np.nan_to_num(total / self._at_one, posinf=0.0, neginf=0.0)
        return np.concatenate([total.real, total.imag[:, 1:]], axis=1)

    def _table(self, y: np.ndarray) -> np.ndarray:
        """B_n(rate r) exp(i n t) times exp(-rate), or for K exp(rate), for n = -2..degree + 2."""
        z = y[:, 0] + 1j * y[:, 1]
        r = np.maximum(np.abs(z), np.finfo(float).tiny)[:, None]
        n = np.arange(-2, self.degree + 3)
        with np.errstate(all="ignore"):
            size = np.exp((1 - r) * self.rate) if self.decaying else np.exp((r - 1) * self.rate)
            return (kve if self.decaying else ive)(np.abs(n), self.rate * r) * size * (z[:, None] / r) ** n

    @property
    def _at_one(self) -> np.ndarray:
        """The same of B_n alone at r = 1, n = 0..degree."""
        return (kve if self.decaying else ive)(np.arange(self.degree + 1), self.rate)
