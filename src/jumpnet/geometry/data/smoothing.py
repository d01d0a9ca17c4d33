"""Smooth curves through the jagged outlines of regions in images.

The points of an outline are the middles of edges between two pixels; the true curve passes between the pixels' centres,
up to half a pixel away. Penalised least squares,  min sum |z_k - y_k|^2 + lam sum |third differences of z|^2,  damp
what is shorter than some wavelength. The longest wavelength is taken whose curve still keeps as close to the
points as the true curve would: a circle is smoothed over a good part of its length, a ragged outline hardly at all.
"""

from __future__ import annotations

import numpy as np

from jumpnet.geometry.checks import Floats

SHORTEST = 4.0
"""The first wavelength tried, in points."""
FIRST = 12.0
"""The wavelength of the line along which points are spaced evenly."""
RATIO = np.sqrt(2.0)
"""The ratio of successive wavelengths."""
FARTHEST = 0.65
"""How far, in pixels, the curve may pass a point; the true one passes it by half a pixel at most."""
PINNED = 1e8
"""The weight of coordinates that are held."""
PER_WAVE = 6
"""Points kept of each wavelength; the spline through them has then the accuracy of all points."""


def smoothed(
    points: Floats, closed: bool, held: np.ndarray | None = None, longest: float = np.inf
) -> tuple[Floats, float]:
    """Points (n, 2) moved onto a smooth curve, and the wavelength chosen; `held` (n, 2) says which coordinates stay."""
    held = np.zeros(points.shape, dtype=bool) if held is None else held
    place, even = _evenly(points, closed, held)
    best, chosen, wave = even, 0.0, SHORTEST
    # Beyond a quarter of a closed outline, its own roundness would be damped.
    limit = min(longest, len(points) * (0.25 if closed else 4.0))
    while wave <= limit:
        z = _damped(even, wave, closed, held)
        if _keeps_close(points, place, z, closed):
            best, chosen = z, wave
        wave *= RATIO
    return best, chosen


def _evenly(points: Floats, closed: bool, held: np.ndarray) -> tuple[Floats, Floats]:
    """As many points, evenly spaced along the line, and the places of the given points among them (0 ... n - 1).

    The points of an outline are denser where it runs aslant, with kinks where it runs along a row: smoothing in their
    number would bend the line there.
    """
    n = len(points)
    line = _damped(points, min(FIRST, n / 4.0), closed, held)
    steps = np.diff(np.concatenate([line, line[:1]]) if closed else line, axis=0)
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(steps, axis=1))])
    count = n if closed else n - 1
    place = length * count / length[-1]
    x = np.concatenate([points, points[:1]]) if closed else points
    even = np.stack([np.interp(np.arange(n), place, x[:, axis]) for axis in range(2)], axis=1)
    return place[:n], even


def _keeps_close(points: Floats, place: Floats, z: Floats, closed: bool) -> bool:
    """Whether a curve through z, which has the points at `place`, is plausible."""
    along = np.roll(z, -1, axis=0) - np.roll(z, 1, axis=0) if closed else np.gradient(z, axis=0)
    normal = np.stack([along[:, 1], -along[:, 0]], axis=1) / np.maximum(np.linalg.norm(along, axis=1), 1e-9)[:, None]
    around = np.concatenate([z, z[:1]]) if closed else z
    here = np.stack([np.interp(place, np.arange(len(around)), around[:, axis]) for axis in range(2)], axis=1)
    normal = normal[np.minimum(np.round(place).astype(int), len(z) - 1)]
    return plausible(np.sum((points - here) * normal, axis=1), normal)


def plausible(off: Floats, normal: Floats) -> bool:
    """Whether a curve or surface may be the true one, from its distances to the cracks' middles and its normals there.

    Along its axis, the middle of a crack is off by up to half a cell, uniformly, which is 1/12 squared; across the
    surface that is less by the normal's component. Chance adds about one part in the root of the number of points.
    """
    size = np.abs(normal)
    expected = np.mean(np.sum(size**3, axis=1) / np.sum(size, axis=1)) / 12.0
    return bool(np.mean(off**2) <= expected * (1.0 + 2.0 / np.sqrt(len(off))) and np.abs(off).max() <= FARTHEST)


def thinned(n: int, wave: float, closed: bool) -> np.ndarray:
    """Which of n points to keep for a spline after smoothing over `wave` points; the ends of an open line always."""
    count = max(8, int(np.ceil(n / max(1.0, wave / PER_WAVE))))
    last, count = (n, count) if closed else (n - 1, count + 1)
    return np.unique(np.round(np.linspace(0, last, count, endpoint=not closed)).astype(int))


def _damped(y: Floats, wave: float, closed: bool, held: np.ndarray) -> Floats:
    """The penalised least squares fit whose response falls to one half at the wavelength `wave` (in points)."""
    lam = (wave / (2.0 * np.pi)) ** 6
    if closed:  # a convolution
        w = 2.0 * np.sin(np.pi * np.fft.rfftfreq(len(y)))  # of the first difference, hence ^6 below
        return np.fft.irfft(np.fft.rfft(y, axis=0) / (1.0 + lam * w[:, None] ** 6), n=len(y), axis=0)
    from scipy.linalg import solveh_banded

    n = len(y)
    bands, stencil = np.zeros((4, n)), (-1.0, 3.0, -3.0, 1.0)
    for i in range(4):  # lam D^T D of third differences D, its lower bands
        for j in range(i + 1):
            bands[i - j, j : j + n - 3] += lam * stencil[i] * stencil[j]
    z = np.empty_like(y)
    for axis in range(2):
        weight = np.where(held[:, axis], PINNED, 1.0)
        own = bands.copy()
        own[0] += weight
        z[:, axis] = solveh_banded(own, weight * y[:, axis], lower=True)
    z[held] = y[held]
    return z
