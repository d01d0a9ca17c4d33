"""Polynomials in several coordinates: all up to a total degree, and one with given weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from math import comb

import numpy as np
from jaxtyping import Float, Int

from jumpnet.errors import SolutionError
from jumpnet.models.families.registry import Matrix, saved_as
from jumpnet.rows import Sites

# Numbers in a table of functionals that are worked on at a time: all of them stay in a processor's cache.
AT_A_TIME = 1 << 16


@saved_as("legendre")
@dataclass(frozen=True)
class Legendre:
    """Products of Legendre polynomials of total degree at most `degree` in `inputs` coordinates.

    Without the constant if `constant` is False: several charts of one cell need only one.
    """

    inputs: int
    degree: int
    constant: bool = True

    @property
    def size(self) -> int:
        """The number of functions."""
        return comb(self.inputs + self.degree, self.degree) - (not self.constant)

    def functionals(self, sites: Sites) -> Matrix:
        """The functional of every site, function by function."""
        y, a0, a1, a2 = (np.ascontiguousarray(part.T) for part in (sites.x, sites.a0, sites.a1, sites.a2))
        order = 2 if a2.any() else 1 if a1.any() else 0
        jet = _legendre_jet(y, self.degree, order)
        table = np.empty((comb(self.inputs + self.degree, self.degree), len(a0)))
        step = max(AT_A_TIME // len(table), 1)
        for some in (slice(start, start + step) for start in range(0, len(a0), step)):
            # Rows of one kind follow each other: in most of these slices, one or both of the derivatives do not occur.
            first, second = (part[..., some] if part[..., some].any() else None for part in (a1, a2))
            jets = [[p[:, k, some] for p in jet] for k in range(self.inputs)]
            _contracted(jets, a0[some], first, second, table[:, some])
        return table[(0 if self.constant else 1) :].T


@saved_as("combination")
@dataclass(frozen=True)
class Combination:
    """One function: the polynomials of `Legendre` with given weights."""

    inputs: int
    degree: int
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        # Not the number that is wanted: of a forged degree it may be too long to be written.
        if len(self.weights) != Legendre(self.inputs, self.degree).size:
            raise SolutionError(
                f"{len(self.weights)} weights do not go with polynomials of degree {self.degree} in {self.inputs} "
                "coordinates; the file is damaged or forged."
            )

    @property
    def size(self) -> int:
        """The number of functions."""
        return 1

    def functionals(self, sites: Sites) -> Matrix:
        """The functional of every site."""
        return Legendre(self.inputs, self.degree).functionals(sites) @ np.array(self.weights)[:, None]


@cache
def exponents_of(inputs: int, degree: int) -> Int[np.ndarray, "functions inputs"]:
    """Degrees per coordinate of all products up to a total degree, the constant first."""
    found = [
        np.bincount(chosen, minlength=inputs)
        for total in range(degree + 1)
        for chosen in (list(c) for c in combinations_with_replacement(range(inputs), total))
    ]
    return np.array(found, int).reshape(-1, inputs)


@cache
def _without_last(inputs: int, degree: int) -> tuple[Int[np.ndarray, " functions"], Int[np.ndarray, " functions"]]:
    """For each product the place of its first factors among those of one coordinate less, and its last degree."""
    exponents = exponents_of(inputs, degree)
    place = {tuple(one): at for at, one in enumerate(exponents_of(inputs - 1, degree).tolist())}
    return np.array([place[tuple(one)] for one in exponents[:, :-1].tolist()]), exponents[:, -1]


@cache
def _differentiation(degree: int) -> Float[np.ndarray, "degrees degrees"]:
    """The derivatives of P_0..P_degree as sums of these: P'_n = (2 n - 1) P_{n - 1} + (2 n - 5) P_{n - 3} + ..."""
    n, m = np.ogrid[: degree + 1, : degree + 1]
    return np.where((m < n) & ((n - m) % 2 == 1), 2.0 * m + 1.0, 0.0)


def _legendre_jet(t: Float[np.ndarray, "*n"], degree: int, order: int) -> list[Float[np.ndarray, "degrees *n"]]:
    """P_0..P_degree and their derivatives up to an order."""
    p = np.ones((degree + 1, *t.shape))
    leading = np.ones(degree + 1)  # coefficients, by which the polynomials are divided at first
    for n in range(degree):
        np.multiply(t, p[n], out=p[n + 1])
        if n:
            p[n + 1] -= n * n / (4.0 * n * n - 1.0) * p[n - 1]
        leading[n + 1] = leading[n] * (2 * n + 1) / (n + 1)
    p = p.reshape(degree + 1, -1)
    p *= leading[:, None]
    jet = [p]
    for _ in range(order):
        jet.append(_differentiation(degree) @ jet[-1])
    return [one.reshape(degree + 1, *t.shape) for one in jet]


def _contracted(
    jets: Sequence[list[np.ndarray]],
    a0: Float[np.ndarray, " n"],
    a1: Float[np.ndarray, "d n"] | None,
    a2: Float[np.ndarray, "d d n"] | None,
    out: Float[np.ndarray, "functions n"] | None = None,
) -> Float[np.ndarray, "functions n"]:
    """The functional of all products of polynomials, one coordinate after the other; None where it has no such part.

    Sorted by how often the last coordinate k is differentiated it is F0 P + F1 P' + F2 P'', where F0, F1 and F2 are
    functionals of the products of the other coordinates: three products instead of one for each derivative.
    """
    *before, last = jets
    if not before:
        parts = (a0, None if a1 is None else a1[0], None if a2 is None else a2[0, 0])
        factors = [(part, p) for part, p in zip(parts, last, strict=False) if part is not None]
    else:
        k = len(before)
        lower, degree = _without_last(k + 1, len(last[0]) - 1)
        parts = [_contracted(before, a0, None if a1 is None else a1[:k], None if a2 is None else a2[:k, :k])]
        if a1 is not None:
            parts.append(_contracted(before, a1[k], None if a2 is None else 2 * a2[:k, k], None))
        elif a2 is not None:
            parts.append(_contracted(before, np.zeros_like(a0), 2 * a2[:k, k], None))
        if a2 is not None:
            parts.append(_contracted(before, a2[k, k], None, None))
        factors = [(part[lower], p[degree]) for part, p in zip(parts, last, strict=False)]
    total = np.multiply(*factors[0], out=out)
    for part, p in factors[1:]:
        total += part * p
    return total
