"""Integrals with their errors: points, weights, and what two rules or many samples tell about each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from jumpnet.geometry.checks import Floats

Integrand = Callable[[Floats, Floats], np.ndarray]
"""Points (n, d) and unit normals (n, d), nan inside a piece, to values (n,)."""
Held = Callable[[Floats, Floats], np.ndarray]
"""Points and normals of a patch to whether they belong to what is integrated over."""

SLIVERS = 1e-9
"""What `region_rules` may miss of a region."""
ENDS = 1e-9
"""How well the ends of a curve are known that ends at another one, relative to the domain."""


@dataclass(frozen=True)
class Integral:
    """A number and its quadrature error (the error of the solution itself is not included).

    `size` is the integral of the absolute value: what a small number is small in comparison with.
    """

    value: float
    error: float
    size: float

    def __float__(self) -> float:
        return self.value

    def __add__(self, other: Integral) -> Integral:
        return Integral(self.value + other.value, self.error + other.error, self.size + other.size)

    def scaled(self, factor: float) -> Integral:
        """The same, times a number."""
        return Integral(factor * self.value, abs(factor) * self.error, abs(factor) * self.size)


NOTHING = Integral(0.0, 0.0, 0.0)
"""The integral over an empty set."""


@dataclass(frozen=True, eq=False)
class Rule:
    """Points, weights and normals."""

    points: Floats
    weights: Floats
    normals: Floats

    def __call__(self, function: Integrand) -> tuple[float, float]:
        """The integral of a function and of its absolute value."""
        if not len(self.weights):
            return 0.0, 0.0
        values = function(self.points, self.normals)
        return float(self.weights @ values), float(self.weights @ np.abs(values))


@dataclass(frozen=True, eq=False)
class Quadrature:
    """Several rules for one integral: the better one first, or, if `sampled`, all alike."""

    rules: tuple[Rule, ...]
    sampled: bool = False
    relative: float = 0.0
    """The error common to all weights."""
    doubt: float = 1.0
    """The error of the better rule, at most, over the difference of the two."""

    def __call__(self, function: Integrand) -> Integral:
        values, sizes = np.array([rule(function) for rule in self.rules]).T
        if self.sampled:
            value, error = values.mean(), 2.0 * values.std(ddof=1) / np.sqrt(len(values))
        else:
            value, error = values[0], self.doubt * abs(values[0] - values[1])
        return Integral(float(value), float(error + self.relative * sizes[0]), float(sizes[0]))


def total(quadratures: Iterable[Quadrature], function: Integrand) -> Integral:
    """The sum of the integrals."""
    return sum((quadrature(function) for quadrature in quadratures), NOTHING)


def bodily(points: Floats, weights: Floats) -> Rule:
    """A rule without normals."""
    return Rule(points, weights, np.full(points.shape, np.nan))
