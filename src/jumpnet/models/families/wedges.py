"""Harmonic functions beside a corner at the origin: powers of z = y1 + i y2, cut along a ray or along a segment.

Where walls meet, solutions are sums of such powers. They are multivalued around the corner, so each needs a branch cut
outside the piece. The cut is a ray if that does not meet the piece again; otherwise, as at a hole's corner, a segment.
"""

from dataclasses import dataclass

import numpy as np

from jumpnet.errors import SolutionError
from jumpnet.models.families.complexes import complex_functional
from jumpnet.models.families.coordinates import OfPlane
from jumpnet.models.families.registry import Matrix, saved_as
from jumpnet.rows import Sites

# The tolerance for integer exponents; the smallest radius at which functions are evaluated, whose square is a number.
WHOLE, TINY = 1e-9, 1e-150
# The integral along a cut is a sum of poles by the trapezoidal rule in log t, from log t = -NEAREST on; its error is
# exp(-DIGITS). The sum is as harmonic as the integral, so only its behaviour at the corner must be right.
NEAREST, DIGITS = 33.0, 31.0
# Farther away than this, relative to the cut, poles at a twentieth of the distance are merged into one.
FAR = 0.2


@dataclass(frozen=True)
class AtCorner(OfPlane):
    """Two functions for each of some powers; `imaginary` are the imaginary parts of these, where there are any.

    A power that is repeated has one factor log z more each time; a whole number has one from the start, since without
    it is a polynomial. The power 0 is log z itself, whose imaginary part has two values on the sides of the corner.
    """

    powers: tuple[float, ...]
    imaginary: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.imaginary and len(self.imaginary) != len(self.powers):
            raise SolutionError(
                f"{len(self.imaginary)} imaginary parts do not go with {len(self.powers)} powers; "
                "the file is damaged or forged."
            )

    @property
    def exponents(self) -> np.ndarray:
        """The powers, complex only where they must be."""
        powers = np.array(self.powers)
        return powers + 1j * np.array(self.imaginary) if self.imaginary else powers

    @property
    def logarithms(self) -> np.ndarray:
        """How many factors log z go with each power."""
        power = self.exponents
        before = np.tril(np.abs(power[:, None] - power) < WHOLE, -1).sum(axis=1)
        return before + (np.abs(power - np.round(power)) < WHOLE)

    @property
    def size(self) -> int:
        """The number of functions."""
        return 2 * len(self.powers)


@saved_as("wedge")
@dataclass(frozen=True)
class Wedge(AtCorner):
    """Re and Im of z^p (log z)^m: smooth but on the negative real axis."""

    def functionals(self, sites: Sites) -> Matrix:
        """The functional of every site, function by function."""
        z, a0, b1, b2 = complex_functional(sites)
        infinite = (z == 0) & ((b1 != 0) | (b2 != 0))
        z = np.where(z == 0, TINY, z)
        power, m, log = self.exponents, self.logarithms, np.log(z)
        # Of z^p l with l = (log z)^m: z l' and z (z l')' are lower powers of the logarithm.
        l, slope = _to_the(log, m), m * _to_the(log, m - 1)
        first, second = power * l + slope, power * (power - 1) * l + (2 * power - 1) * slope
        if m.max(initial=0) > 1:
            second = second + m * (m - 1) * _to_the(log, m - 2)
        total = np.exp(power * log) * (a0 * l + b1 / z * first + b2 / z**2 * second)
        total[infinite[:, 0]] = complex(np.nan, np.nan)  # derivatives at the corner itself
        return np.concatenate([total.real, total.imag], axis=1)


@saved_as("crack")
@dataclass(frozen=True)
class BranchCutPotential(AtCorner):
    """Re and Im of the integrals of t^p (log t)^m/(z + t), t from 0 to 1: smooth but on the segment [-1, 0].

    Across the segment they jump by a multiple of t^p, so that near the origin each is a multiple of z^p (of z^p log z
    for whole p) and a smooth function, for m > 0 with lower powers of the logarithm beside. `opening` is the angle
    between the segment and where the functions are wanted.
    """

    opening: float = np.pi / 2

    def functionals(self, sites: Sites) -> Matrix:
        """The functional of every site, function by function."""
        z, a0, b1, b2 = complex_functional(sites)
        step = 2 * np.pi * np.clip(self.opening, 0.05, np.pi / 2) / DIGITS
        t = np.exp(-step * np.arange(np.ceil(NEAREST / step)))
        power = self.exponents
        m = self.logarithms - (np.abs(power - np.round(power)) < WHOLE)
        weights = step * t[:, None] ** (1 + power) * _to_the(np.log(t[:, None]), m)
        weights[0] /= 2
        small, order = t < FAR / 20, np.arange(12)
        moments = ((-t[small, None]) ** order).T @ weights[small]
        total = np.empty((len(z), len(self.powers)), complex)
        far = np.abs(z[:, 0]) > FAR
        for mine, poles, many in ((~far, t, weights), (far, t[~small], weights[~small])):
            pole = 1 / (z[mine] + poles)
            second = 2 * b2[mine] * pole if b2.any() else 0.0
            total[mine] = _product(pole * (a0[mine] - pole * (b1[mine] - second)), many)
        # From afar, the poles nearest to the corner are one of higher orders at it.
        z, a0, b1, b2 = z[far], a0[far], b1[far], b2[far]
        at_corner = z ** -(1.0 + order) * (a0 - (1 + order) / z * (b1 - (2 + order) / z * b2))
        total[far] += at_corner @ moments
        return np.concatenate([np.real(total), np.imag(total)], axis=1)


def _to_the(log: np.ndarray, m: np.ndarray) -> np.ndarray:
    """A column to small whole powers; one for those below."""
    found = np.where(m > 0, log, 1.0)
    for power in range(2, int(m.max(initial=0)) + 1):
        found = np.where(m >= power, found * log, found)
    return found


def _product(matrix: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """A complex matrix times weights, which are real as a rule: half of the work is saved then."""
    if np.iscomplexobj(weights):
        return matrix @ weights
    return np.real(matrix) @ weights + 1j * (np.imag(matrix) @ weights)
