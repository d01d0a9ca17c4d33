"""Cubic splines through points, open or closed, as Bézier segments."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from jumpnet.errors import GeometryError
from jumpnet.geometry import checks
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.curves.path import Path, ring

MOST_POINTS = 100_000
"""The most points of a curve (heuristic: memory and time)."""


def from_points(points: ArrayLike, smoothing: float = 0.0) -> Path:
    """The region inside a smooth closed curve through points (n, 2), given in order round the region.

    The curve is a periodic cubic spline in the length along the points. `smoothing` says how far off the points are
    (root mean square, in their unit): the curve may then pass them by as much and is as smooth as that allows.
    """
    from scipy.interpolate import CubicSpline, PPoly, splprep

    x = ring(points, "the points of a curve")
    if len(x) > MOST_POINTS:
        raise GeometryError(f"a curve may have at most {MOST_POINTS} points, not {len(x)}; leave some out.")
    off = checks.number(smoothing, "smoothing")
    if off < 0.0:
        raise GeometryError(f"smoothing must be a length, zero or more, not {off:g}.")
    if len(x) < 4:
        raise GeometryError("a smooth curve needs at least four points; use jn.Polygon for a triangle.")
    closed = np.concatenate([x, x[:1]])
    t = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))])
    if off == 0.0:
        spline = CubicSpline(t, closed, bc_type="periodic")
        return Path([segments(spline.x, spline.c)[:, :3].reshape(-1, 2)])
    if off >= 0.25 * float(np.ptp(x, axis=0).min()):
        raise GeometryError(f"smoothing by {off:g} would wipe out a region of that size; give a smaller length.")
    (knots, coefficients, degree), _ = splprep(closed.T, u=t, s=len(x) * off**2, per=True)
    parts = [PPoly.from_spline((knots, c, degree)) for c in coefficients]
    inner = slice(degree, len(knots) - 1 - degree)
    c = np.stack([part.c[:, inner] for part in parts], axis=2)
    return Path([segments(knots[degree : len(knots) - degree], c)[:, :3].reshape(-1, 2)])


def segments(breaks: Floats, c: Floats) -> Floats:
    """Bézier segments (m, 4, 2) of a piecewise cubic: c (4, m, 2), highest power first, as in scipy."""
    h = np.diff(breaks)[:, None]
    a0, a1, a2, a3 = c[3], c[2] * h, c[1] * h**2, c[0] * h**3
    found = np.stack([a0, a0 + a1 / 3.0, a0 + 2.0 * a1 / 3.0 + a2 / 3.0, a0 + a1 + a2 + a3], axis=1)
    found[:-1, 3] = found[1:, 0]  # joints are the same point to the last bit
    return found


def open_spline(points: Floats) -> Floats:
    """Segments of the natural cubic spline through points, from the first to the last."""
    from scipy.interpolate import CubicSpline

    if len(points) == 2:
        from jumpnet.geometry.curves.bezier import line

        return line(points[:1], points[1:])
    t = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    spline = CubicSpline(t, points, bc_type="natural" if len(points) < 4 else "not-a-knot")
    found = segments(spline.x, spline.c)
    found[-1, 3] = points[-1]
    return found


def closed_spline(points: Floats) -> Floats:
    """Segments of the periodic cubic spline through points (the first is not repeated)."""
    from scipy.interpolate import CubicSpline

    closed = np.concatenate([points, points[:1]])
    t = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))])
    spline = CubicSpline(t, closed, bc_type="periodic")
    found = segments(spline.x, spline.c)
    found[-1, 3] = found[0, 0]
    return found
