"""Closed forms in layers: flat ones and concentric ones, from small linear systems for the coefficients."""

# ruff: noqa: E731 (formulas are written as formulas)

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.adversary.cases import Array, Exact
from scipy import special

Function = Callable[[Array], Array]
End = tuple[float, float, float]
"""alpha, beta, g of alpha u + beta A u' n = g, n outward."""


@dataclass(frozen=True)
class Profile:
    """u(s) = c0 p0(s) + c1 p1(s) + p(s) in each layer, of one coordinate s."""

    values: tuple[tuple[Function, Function, Function], ...]
    slopes: tuple[tuple[Function, Function, Function], ...]
    coefficients: Array

    def __call__(self, s: Array, layer: Array) -> Array:
        result = np.empty(len(s))
        for k, (p0, p1, p) in enumerate(self.values):
            mine = layer == k
            if not mine.any():
                continue
            c0, c1 = self.coefficients[2 * k : 2 * k + 2]
            result[mine] = c0 * p0(s[mine]) + c1 * p1(s[mine]) + p(s[mine])
        return result


def _solved(values, slopes, A: Sequence[float], ends: Sequence[float], first: End, last: End, R, v, w) -> Profile:
    """The coefficients from two end conditions (normals -1 and +1 along s) and two conditions between layers.

    Layers are numbered along s; between layers k and k + 1: u_k - u_(k+1) = v - R A u' (the mean of both sides) and
    A u'_k - A u'_(k+1) = -w (the normal points from k + 1 to k, against s).
    """
    n = len(A)
    matrix, right = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)

    def put(row: int, layer: int, s: float, a0: float, a1: float) -> None:
        at = np.array([s])
        value = [float(p(at)[0]) for p in values[layer]]
        slope = [float(p(at)[0]) for p in slopes[layer]]
        matrix[row, 2 * layer] += a0 * value[0] + a1 * slope[0]
        matrix[row, 2 * layer + 1] += a0 * value[1] + a1 * slope[1]
        right[row] -= a0 * value[2] + a1 * slope[2]

    put(0, 0, ends[0], first[0], -first[1] * A[0])
    right[0] += first[2]
    put(1, n - 1, ends[-1], last[0], last[1] * A[-1])
    right[1] += last[2]
    for k in range(n - 1):
        s = ends[k + 1]
        put(2 + 2 * k, k, s, 1.0, 0.5 * R[k] * A[k])  # the mean of both sides' fluxes crosses the contact
        put(2 + 2 * k, k + 1, s, -1.0, 0.5 * R[k] * A[k + 1])
        right[2 + 2 * k] += v[k]
        put(3 + 2 * k, k, s, 0.0, A[k])
        put(3 + 2 * k, k + 1, s, 0.0, -A[k + 1])
        right[3 + 2 * k] -= w[k]
    rows = np.abs(matrix).max(axis=1)
    matrix, right = matrix / rows[:, None], right / rows
    columns = np.abs(matrix).max(axis=0)
    found = np.linalg.solve(matrix / columns, right)
    found += np.linalg.solve(matrix / columns, right - (matrix / columns) @ found)  # one step of refinement
    return Profile(tuple(values), tuple(slopes), found / columns)


def flat(
    ends: Sequence[float],
    A: Sequence[float],
    lam: Sequence[float] | None = None,
    f: Sequence[float] | None = None,
    first: End = (1.0, 0.0, 0.0),
    last: End = (1.0, 0.0, 1.0),
    R: Sequence[float] | None = None,
    v: Sequence[float] | None = None,
    w: Sequence[float] | None = None,
) -> Profile:
    """u of A u'' - lam u = f in layers between rising ends, with constants in each."""
    n, zero = len(A), [0.0] * len(A)
    lam, f, R, v, w = lam or zero, f or zero, R or zero, v or zero, w or zero
    values, slopes = [], []
    for k in range(n):
        pair = _flat_basis(ends[k], ends[k + 1], A[k], lam[k], f[k])
        values.append(pair[0])
        slopes.append(pair[1])
    return _solved(values, slopes, A, ends, first, last, R, v, w)


def _flat_basis(a: float, b: float, A: float, lam: float, f: float):
    if lam == 0.0:
        return (
            (np.ones_like, lambda s: (s - a) / (b - a), lambda s: 0.5 * f / A * (s - a) ** 2),
            (np.zeros_like, lambda s: np.full_like(s, 1 / (b - a)), lambda s: f / A * (s - a)),
        )
    particular = (lambda s: np.full_like(s, -f / lam), np.zeros_like)
    k = np.sqrt(abs(lam) / A)
    if lam > 0.0:
        return (
            (lambda s: np.exp(-k * (s - a)), lambda s: np.exp(-k * (b - s)), particular[0]),
            (lambda s: -k * np.exp(-k * (s - a)), lambda s: k * np.exp(-k * (b - s)), particular[1]),
        )
    return (
        (lambda s: np.cos(k * (s - a)), lambda s: np.sin(k * (s - a)), particular[0]),
        (lambda s: -k * np.sin(k * (s - a)), lambda s: k * np.cos(k * (s - a)), particular[1]),
    )


def along(profile: Profile, axis: int = 0) -> Exact:
    """A flat profile along a coordinate; pieces are numbered along it."""
    return lambda x, piece: profile(x[:, axis], piece)


def concentric(
    radii: Sequence[float],
    A: Sequence[float],
    *,
    order: int = 1,
    dim: int = 2,
    lam: Sequence[float] | None = None,
    f: Sequence[float] | None = None,
    outer: float | None = None,
    R: Sequence[float] | None = None,
    center: Sequence[float] | None = None,
) -> Exact:
    """u = p(r) Y(angle) in concentric layers, piece 0 outermost; radii of the interfaces from the outermost in.

    `outer`: u = Y on that radius; without it u ~ r^order Y at infinity. Y is cos(order theta), in space 1 or x1/r.
    """
    n = len(A)
    zero, middle = [0.0] * n, np.zeros(dim) if center is None else np.asarray(center, float)
    lam, f, R = lam or zero, f or zero, R or zero
    edges = [outer or 2.0 * radii[0], *radii, 0.0]
    bases: list[Any] = [_round_basis(edges[k + 1], edges[k], A[k], lam[k], f[k], order, dim) for k in range(n)]
    # s runs inwards from layer to layer; its slopes are minus those of r.
    values: list[Any] = [b[0] for b in bases]
    slopes: list[Any] = [tuple((lambda r, p=p: -p(r)) for p in b[1]) for b in bases]
    # At the core only the regular function may be left: its partner's coefficient is zero.
    core = values[-1]
    values[-1], slopes[-1] = (core[0], np.zeros_like, core[2]), (slopes[-1][0], np.zeros_like, slopes[-1][2])
    profile = _round_solution(values, slopes, A, edges, R, order, outer is None)

    def exact(x: Array, piece: Array) -> Array:
        z = x - middle
        r = np.sqrt(np.sum(z**2, axis=1))
        return profile(r, piece) * _angular(z, r, order, dim)

    return exact


def _round_solution(values, slopes, A, edges, R, order: int, unbounded: bool) -> Profile:
    """The coefficients: u given outside, contact between layers, regular inside."""
    n = len(A)
    matrix, right = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)

    def put(row: int, layer: int, r: float, a0: float, a1: float) -> None:
        at = np.array([r])
        value = [float(p(at)[0]) for p in values[layer]]
        slope = [float(p(at)[0]) for p in slopes[layer]]
        matrix[row, 2 * layer] += a0 * value[0] + a1 * slope[0]
        matrix[row, 2 * layer + 1] += a0 * value[1] + a1 * slope[1]
        right[row] -= a0 * value[2] + a1 * slope[2]

    if unbounded:
        matrix[0, 0], right[0] = 1.0, edges[0] ** order
    else:
        put(0, 0, edges[0], 1.0, 0.0)
        right[0] += 1.0
    matrix[1, 2 * n - 1] = 1.0
    for k in range(n - 1):
        r = edges[k + 1]
        put(2 + 2 * k, k, r, 1.0, R[k] * A[k])
        put(2 + 2 * k, k + 1, r, -1.0, 0.0)
        put(3 + 2 * k, k, r, 0.0, A[k])
        put(3 + 2 * k, k + 1, r, 0.0, -A[k + 1])
    rows = np.abs(matrix).max(axis=1)
    matrix, right = matrix / rows[:, None], right / rows
    columns = np.abs(matrix).max(axis=0)
    found = np.linalg.solve(matrix / columns, right)
    found += np.linalg.solve(matrix / columns, right - (matrix / columns) @ found)
    return Profile(tuple(values), tuple(slopes), found / columns)


def _angular(z: Array, r: Array, order: int, dim: int) -> Array:
    if order == 0:
        return np.ones(len(z))
    if dim == 2:
        return np.cos(order * np.arctan2(z[:, 1], z[:, 0]))
    return z[:, 0] / np.where(r > 0, r, 1.0)


def _round_basis(inner: float, outer: float, A: float, lam: float, f: float, m: int, dim: int):
    """Regular and singular functions of r with their slopes, and a particular solution of a constant source."""
    if lam == 0.0:
        part = (lambda r: f * r**2 / (2 * dim * A), lambda r: f * r / (dim * A))
        o, i = outer, inner or outer
        if m:
            q = m if dim == 2 else m + 1
            return (
                (lambda r: (r / o) ** m, lambda r: (i / r) ** q, part[0]),
                (lambda r: m / o * (r / o) ** (m - 1), lambda r: -q / r * (i / r) ** q, part[1]),
            )
        if dim == 2:
            return (np.ones_like, lambda r: np.log(r / i), part[0]), (np.zeros_like, lambda r: 1 / r, part[1])
        return (np.ones_like, lambda r: i / r, part[0]), (np.zeros_like, lambda r: -i / r**2, part[1])
    part = (lambda r: np.full_like(r, -f / lam), np.zeros_like)
    k = np.sqrt(abs(lam) / A)
    regular, singular = _bessel(k, inner, outer, m, dim, lam > 0)
    return (regular[0], singular[0], part[0]), (regular[1], singular[1], part[1])


def _bessel(k: float, inner: float, outer: float, m: int, dim: int, decaying: bool):
    """Scaled (modified) Bessel functions with slopes; in space order 0 only: sinh(k r)/r and exp(-k r)/r and so on."""
    if dim == 3:
        if decaying:
            up = lambda r: (np.exp(k * (r - outer)) - np.exp(-k * (r + outer))) / r
            dup = lambda r: k * (np.exp(k * (r - outer)) + np.exp(-k * (r + outer))) / r - up(r) / r
            down = lambda r: np.exp(-k * (r - inner)) / r
            return (up, dup), (down, lambda r: -(k + 1 / r) * down(r))
        return (
            (lambda r: np.sin(k * r) / r, lambda r: k * np.cos(k * r) / r - np.sin(k * r) / r**2),
            (lambda r: np.cos(k * r) / r, lambda r: -k * np.sin(k * r) / r - np.cos(k * r) / r**2),
        )
    if not decaying:
        return (
            (lambda r: special.jv(m, k * r), lambda r: k * special.jvp(m, k * r)),
            (lambda r: special.yv(m, k * r), lambda r: k * special.yvp(m, k * r)),
        )

    def growing(r: Array, order: float) -> Array:
        return special.ive(order, k * r) * np.exp(k * (r - outer))

    def falling(r: Array, order: float) -> Array:
        return special.kve(order, k * r) * np.exp(-k * (r - inner))

    return (
        (lambda r: growing(r, m), lambda r: 0.5 * k * (growing(r, abs(m - 1)) + growing(r, m + 1))),
        (lambda r: falling(r, m), lambda r: -0.5 * k * (falling(r, abs(m - 1)) + falling(r, m + 1))),
    )
