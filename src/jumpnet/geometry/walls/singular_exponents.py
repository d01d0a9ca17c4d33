"""Singular exponents: the powers of the distance that solutions have at a point where pieces meet.

There u = r^p g(angle), and in coordinates that make a piece's A a multiple s of the identity, u is the real part of c
z^p and its flux is given by the imaginary part: u and v = s Im(c z^p) are continuous across walls. From one wall of a
piece to the next, the vector (u, v) is rotated by p times the angle between the walls, and scaled. Once around the
point it must be periodic; from one side of the domain to the other it must meet both boundary conditions. Either is one
scalar equation for the exponent p.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from jumpnet.geometry.checks import Floats
from jumpnet.geometry.quadrature.regions import bisected

# Bisections for each exponent; two exponents are a double root if the trace differs from 2 by at most TOUCHES between
# them.
HALVINGS, TOUCHES = 60, 1e-12
# The smallest exponent that is searched for.
LEAST = 1e-6
# Complex exponents: the grid of starting points of Newton's method and the largest imaginary part, the number of steps,
# and the distance below which two results are the same.
STARTS, LARGEST_PART, STEPS, SAME = 0.25, 2.5, 16, 1e-8


class Sector(NamedTuple):
    """The sector of a piece at a point: its angle, the ratio of the scales of its walls, in its metric, and s."""

    angle: float
    stretch: float
    conductivity: float


@lru_cache(maxsize=1024)
def exponents(sectors: tuple[Sector, ...], ends: tuple[bool, bool] | None, most: float) -> np.ndarray:
    """The exponents up to `most` around a point inside the domain, or (with `ends`) between two of its sides.

    `ends` says of the first and last side whether the condition is Dirichlet's. If the two sides of a wall are scaled
    differently, exponents are complex, each with its conjugate.
    """
    if ends is not None:
        return _between_sides(sectors, *ends, most)
    stretch = float(np.log([sector.stretch for sector in sectors]).sum())
    return _around(sectors, most) if abs(stretch) < 1e-12 else _stretched(sectors, stretch, most)


def _between_sides(sectors: Sequence[Sector], first: bool, last: bool, most: float) -> Floats:
    """The exponents between two sides: (u, v) is rotated from the condition on the one to that on the other.

    The angle of rotation is monotone in the exponent, so none is missed, however close two of them are.
    """
    begin, end = (np.pi / 2 if given else 0.0 for given in (first, last))

    def turned(p: Floats) -> Floats:
        angle = np.full(len(p), begin)
        for sector in sectors:
            angle = _scaled(_scaled(angle, 1 / sector.conductivity) + p * sector.angle, sector.conductivity)
        return angle

    wanted = end + np.pi * np.arange(int(end <= begin), int(turned(np.array([most]))[0] / np.pi) + 2)
    wanted = wanted[wanted < turned(np.array([most]))]
    return bisected(lambda p: turned(p) > wanted, np.zeros(len(wanted)), np.full(len(wanted), most), HALVINGS)


def _scaled(angle: Floats, factor: float) -> Floats:
    """The angle of (u, factor v) from that of (u, v), with the same number of turns."""
    half_turns = np.pi * np.round(angle / np.pi)
    return half_turns + np.arctan(factor * np.tan(angle - half_turns))


def _around(sectors: Sequence[Sector], most: float) -> Floats:
    """The exponents around a point: those for which the matrix of (u, v) once around it has the trace 2.

    Between two exponents of the problem with u = 0 on both sides of one wall, the trace runs from 2 or more to -2 or
    less. So each such interval has one exponent; two intervals that meet where the trace touches 2 share a double root.
    """
    zero = _between_sides(sectors, True, True, most + 2.0)
    over = _trace(sectors, zero) - 2  # not negative at every second of them
    touches = TOUCHES * max(1.0, float(np.abs(over).max()))
    doubled = over <= touches
    doubled[::2] = False
    stretches = np.arange(len(zero) - 1)
    apart = ~doubled[stretches + (stretches + 1) % 2]
    low, high = zero[:-1][apart], zero[1:][apart]
    simple = bisected(lambda p: _trace(sectors, p) > 2, low, high, HALVINGS)
    found = np.sort(np.concatenate([simple, zero[doubled]]))
    return found[found <= most]


def _trace(sectors: Sequence[Sector], p: np.ndarray) -> np.ndarray:
    """The trace of the matrix that takes (u, v) once around the point, without its scale."""
    total = np.broadcast_to(np.eye(2, dtype=p.dtype), (len(p), 2, 2))
    for angle, _, s in sectors:
        c, n = np.cos(p * angle), np.sin(p * angle)
        total = np.stack([np.stack([c, -n / s], axis=1), np.stack([s * n, c], axis=1)], axis=1) @ total
    return total[:, 0, 0] + total[:, 1, 1]


def _stretched(sectors: Sequence[Sector], stretch: float, most: float) -> np.ndarray:
    """The exponents around a point where walls are scaled: the matrix, of determinant one, must undo the scale.

    By Newton's method from a grid of starting points.
    """

    def misfit(p: np.ndarray) -> np.ndarray:
        return _trace(sectors, p) - 2 * np.cosh(p * stretch)

    along, up = np.meshgrid(np.arange(STARTS, most, STARTS), np.arange(0.0, LARGEST_PART, STARTS))
    p = (along + 1j * (up + STARTS / 7)).ravel()
    step = np.full(len(p), np.inf)
    with np.errstate(all="ignore"):
        for _ in range(STEPS):
            step = 2e-6 * misfit(p) / (misfit(p + 1e-6) - misfit(p - 1e-6))
            p = p - step / np.maximum(1.0, np.abs(step) / STARTS)  # steps are bounded
    found = p[np.isfinite(p) & (np.abs(step) < SAME) & (p.real > LEAST) & (p.real < most)]
    found = np.where(np.abs(found.imag) < SAME, found.real, found.real + 1j * np.abs(found.imag))
    _, first = np.unique(np.round(found / (10 * SAME)), return_index=True)
    found = found[first]
    return np.sort_complex(np.concatenate([found, np.conj(found[np.imag(found) > 0])]))
