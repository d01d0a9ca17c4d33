"""Where fields on both sides of a smooth closed curve in the plane have their singularities, seen from the other side.

On an analytic curve, conj(z) = S(z) with a function S that is analytic near the curve: its Schwarz function. A field
that meets another one across the curve is continued beyond it through S, so it is singular where S is: at branch points
in the lobes of a star, and outside its bays. A rational approximation of S has its poles on cuts from there, ever
denser towards the branch points, and what they do for S they do for the field as well. So a set of poles is found from
the shape alone. Approximations come from the AAA algorithm (Nakatsukasa, Sete and Trefethen, 2018), with several
support points a step; Costa and Trefethen (2023) solve Laplace problems with poles from it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Complex
from scipy.linalg import solve_triangular

# Accuracy of the last approximation, relative to the curve's size, and the number of poles that must do.
ACCURACY, MOST = 1e-12, 640
# Support points to begin with; each step adds this part of them.
FIRST, STEP = 12, 0.25
# Steps without a better approximation after which AAA ends, once the error is below ROUGH.
PATIENCE, ROUGH = 3, 0.1
# Poles farther away than this, in radii of the curve, are no use: polynomials do the same. Nor are those that add less
# than a few of the approximation's errors, or nearer to the curve than its points are to each other (Froissart
# doublets).
FAR, FAINT = 30.0, 10.0
# Steps of inverse iteration: the smallest singular value is far below the others, and near to it is good enough.
INVERSE = 3


@dataclass(frozen=True, eq=False)
class Approximation:
    """A rational function on a curve by its barycentric form: support points, where it is conj(z), and weights."""

    curve: Complex[np.ndarray, " n"]
    support: Complex[np.ndarray, " m"]
    weights: Complex[np.ndarray, " m"]
    error: float

    @cached_property
    def poles(self) -> tuple[Complex[np.ndarray, " m"], Bool[np.ndarray, " m"]]:
        """The poles that matter on the curve, and which of them it encloses."""
        p = _zeros(self.support, self.weights)
        p = p[np.isfinite(p) & (np.abs(p) < FAR)]
        with np.errstate(divide="ignore", invalid="ignore"):  # a pole at a support point is none
            apart = 1 / (p[:, None] - self.support)
            residue = np.abs((apart @ (self.weights * self.support.conj())) / (apart**2 @ self.weights))
        gaps = np.abs(self.curve - p[:, None])
        nearest, distance = np.argmin(gaps, axis=1), gaps.min(axis=1)
        spacing = np.abs(np.roll(self.curve, -1) - np.roll(self.curve, 1))[nearest]
        kept = (distance > spacing) & (residue > FAINT * max(self.error, ACCURACY) * distance)
        return p[kept], _enclosed(self.curve, p[kept])


def _zeros(s: Complex[np.ndarray, " m"], w: Complex[np.ndarray, " m"]) -> Complex[np.ndarray, " zeros"]:
    """The zeros of the sum of w/(z - s).

    With y = 1/(z - s_k) for the largest weight, the sum is w_k y (1 - sum of c/(y - y_j)), where y_j = 1/(s_j - s_k)
    and c = w_j y_j/w_k: eigenvalues of a diagonal matrix and one of rank one, ten times faster than the usual pencil.
    """
    k = int(np.argmax(np.abs(w)))
    y = 1 / (np.delete(s, k) - s[k])
    matrix = np.diag(y) + (np.delete(w, k) * y / w[k])[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        z = s[k] + 1 / np.linalg.eigvals(matrix)
        apart = 1 / (z[:, None] - s)
        step = (apart @ w) / (apart**2 @ w)  # Newton's
    return z + np.where(np.abs(step) < 1e-3, step, 0)


class Schwarz:
    """Ever better approximations of conj(z) on a closed curve about the origin with radius one, made when asked for."""

    def __init__(self, curve: Complex[np.ndarray, " n"]):
        self.curve = curve
        self._found: list[Approximation] = []
        self._more = _approximations(curve)

    def __getitem__(self, rung: int) -> Approximation | None:
        """The approximation of a number; None if there is none so good."""
        while rung >= len(self._found):
            following = next(self._more, None)
            if following is None:
                return None
            self._found.append(following)
        return self._found[rung]


def _approximations(z: Complex[np.ndarray, " n"]) -> Iterator[Approximation]:
    n = len(z)
    values, chosen = z.conj(), np.zeros(n, bool)
    chosen[np.arange(FIRST) * n // FIRST] = True
    best, idle = np.inf, 0
    while chosen.sum() <= MOST and idle < PATIENCE and best > ACCURACY:
        s = z[chosen]
        cauchy = 1 / (z[~chosen, None] - s)
        w = _least((values[~chosen, None] - s.conj()) * cauchy)
        error = np.zeros(n)
        error[~chosen] = np.abs(values[~chosen] - (cauchy @ (w * s.conj())) / (cauchy @ w))
        largest = float(error.max())
        idle = 0 if largest < 0.8 * best or best > ROUGH else idle + 1
        if largest < best:
            best = largest
            yield Approximation(z, s, w, largest)
        chosen[_worst_in_gaps(error, chosen, max(1, int(STEP * len(s))))] = True


def _least(matrix: Complex[np.ndarray, "n m"]) -> Complex[np.ndarray, " m"]:
    """The vector of length one that a matrix makes smallest, nearly: by inverse iteration."""
    triangle = np.linalg.qr(matrix, mode="r")
    m = len(triangle)
    size = np.abs(triangle).max()
    triangle = triangle + np.diag(np.where(np.abs(np.diag(triangle)) < 1e-16 * size, 1e-16 * size, 0))
    w = np.exp(1j * np.arange(m))
    for _ in range(INVERSE):
        w = solve_triangular(triangle, solve_triangular(triangle, w, trans=2), check_finite=False)
        w /= np.linalg.norm(w)
    return w


def _worst_in_gaps(error: np.ndarray, chosen: Bool[np.ndarray, " n"], count: int) -> np.ndarray:
    """Between support points, the point with the largest error; of all gaps, those where it is largest."""
    start = int(np.flatnonzero(chosen)[0])
    order = (start + np.arange(len(error))) % len(error)
    gap = np.cumsum(chosen[order]) - 1
    by_gap = np.lexsort((error[order], gap))
    last = np.append(np.flatnonzero(np.diff(gap[by_gap])), len(order) - 1)
    worst = order[by_gap[last]]
    worst = worst[~chosen[worst]]
    return worst[np.argsort(-error[worst])[:count]]


def _enclosed(z: Complex[np.ndarray, " n"], points: Complex[np.ndarray, " m"]) -> Bool[np.ndarray, " m"]:
    """Which points are inside a closed polygon."""
    to = z[None] - points[:, None]
    turns = np.angle(np.roll(to, -1, axis=1) / to).sum(axis=1)
    return np.abs(turns) > np.pi
