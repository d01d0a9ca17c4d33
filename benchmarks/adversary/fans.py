"""Sectors of several materials that meet at a point, at a boundary whose condition changes there or inside a square."""

# ruff: noqa: E731 (formulas are written as formulas)

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from benchmarks.adversary.cases import Array, Case
from scipy import optimize

import jumpnet as jn

NEAR = (([-0.1, -0.1], [0.1, 0.1]), ([-0.01, -0.01], [0.01, 0.01]))
DIRICHLET, NEUMANN = (1.0, 0.0), (0.0, 1.0)
"""alpha, beta of alpha u + beta u' = 0 on the first or last ray."""


def _conditions(q: float, rays: Array, A: Sequence[float], ends: Any) -> Array:
    """The homogeneous equations for c_k cos(q t) + s_k sin(q t) in the sectors; singular where q is an exponent."""
    n = len(A)
    value = lambda k, t: np.eye(2 * n)[2 * k] * np.cos(q * t) + np.eye(2 * n)[2 * k + 1] * np.sin(q * t)
    slope = lambda k, t: -np.eye(2 * n)[2 * k] * np.sin(q * t) + np.eye(2 * n)[2 * k + 1] * np.cos(q * t)
    rows = []
    for k in range(n - 1):
        rows.append(value(k, rays[k + 1]) - value(k + 1, rays[k + 1]))
        rows.append((A[k] * slope(k, rays[k + 1]) - A[k + 1] * slope(k + 1, rays[k + 1])) / max(A[k], A[k + 1]))
    if ends is None:
        rows.append(value(n - 1, rays[n]) - value(0, rays[0]))
        rows.append((A[-1] * slope(n - 1, rays[n]) - A[0] * slope(0, rays[0])) / max(A[0], A[-1]))
    else:
        for k, t, (alpha, beta) in ((0, rays[0], ends[0]), (n - 1, rays[n], ends[1])):
            rows.append(alpha * value(k, t) + beta * slope(k, t))
    return np.array(rows)


def _wedge(a: float, b: float) -> list[tuple[float, float]]:
    """The polygon between two rays in the square [-1, 1]^2."""
    rim = lambda t: tuple(np.array([np.cos(t), np.sin(t)]) / max(abs(np.cos(t)), abs(np.sin(t))))
    turns = [t for t in np.pi / 4 * np.arange(1, 16, 2) if a + 1e-9 < t < b - 1e-9]
    return [(0.0, 0.0), rim(a), *(rim(t) for t in turns), rim(b)]


def fan(
    name: str, tol: float, rays: Sequence[float], A: Sequence[float], ends: Any = None, *, group: str = "fans", at=0
) -> Case:
    """u = r^q phi(t) in sectors between rays (degrees), with the lowest exponent (or the next ones, `at`).

    With `ends` the first ray is at 0 and the last at 180 degrees, the lower side of the box (-1, 0), (1, 1); without,
    the sectors go round the middle of a square. The first sector is piece 0.
    """
    t = np.deg2rad(np.asarray(rays, float))
    determinant = lambda q: float(np.linalg.det(_conditions(q, t, A, ends)))
    grid = np.linspace(0.02, 3.0, 1500)
    found = [(a, b) for a, b in itertools.pairwise(grid) if np.sign(determinant(a)) != np.sign(determinant(b))]
    q: Any = optimize.brentq(determinant, *found[at], xtol=1e-15, rtol=1e-15)
    phi = np.linalg.svd(_conditions(q, t, A, ends))[2][-1].reshape(-1, 2)
    middle = 0.5 * (t[1:] + t[:-1])

    def exact(x: Array, piece: Array) -> Array:
        r, c, s = np.hypot(x[:, 0], x[:, 1]), phi[piece, 0], phi[piece, 1]
        angle = np.arctan2(x[:, 1], x[:, 0])
        angle = angle + 2 * np.pi * np.round((middle[piece] - angle) / (2 * np.pi))  # on the branch of the sector
        return r**q * (c * np.cos(q * angle) + s * np.sin(q * angle))

    def boundary(x: Array) -> Array:
        x = np.asarray(x, float)
        angle = np.arctan2(x[:, 1], x[:, 0])
        angle = t[0] + np.mod(angle - t[0], 2 * np.pi)
        return exact(x, np.clip(np.searchsorted(t, angle) - 1, 0, len(A) - 1))

    def build() -> jn.Problem:
        low = (-1.0, -1.0) if ends is None else (-1.0, 0.0)
        pieces = [jn.Polygon(_wedge(a, b)) for a, b in itertools.pairwise(t[1:])]
        named = None if ends is None else {"cold": "x2 < 1e-12 and x1 < 0", "warm": "x2 < 1e-12 and x1 > 0"}
        parts = jn.Partition(jn.Box(low, (1.0, 1.0)), pieces, boundary=named)
        if ends is None:
            return jn.Problem(parts, A=list(A), boundary=jn.Dirichlet(boundary))
        kinds = [jn.Dirichlet(0.0) if end == DIRICHLET else jn.Neumann(0.0) for end in ends]
        sides = {side: jn.Dirichlet(boundary) for side in ("left", "right", "top")}
        return jn.Problem(parts, A=list(A), boundary={"warm": kinds[0], "cold": kinds[1], **sides})

    return Case(f"{name}, exponent {q:.3f}", group, build, tol, exact, focus=NEAR, slack=10.0)


def cases() -> list[Case]:
    """All of this file."""
    changing = (NEUMANN, DIRICHLET)
    return [
        fan(
            "three sectors under a change of condition, 1, 100, 0.01", 1e-6, [0, 60, 120, 180], [1, 100, 0.01], changing
        ),
        fan("three thin sectors under a change of condition", 1e-6, [0, 85, 95, 180], [1.0, 1e3, 1.0], changing),
        fan("five sectors at an insulated side", 1e-3, [0, 30, 75, 100, 150, 180], [1, 10, 0.1, 5, 2], (NEUMANN,) * 2),
        fan("four sectors at a cold side, 1e4", 1e-6, [0, 40, 95, 150, 180], [1, 1e4, 1, 1e-2], (DIRICHLET,) * 2),
        fan("three materials inside, 1, 10, 100", 1e-6, [10, 130, 250, 370], [1.0, 10.0, 100.0]),
        fan("five materials inside", 1e-6, [5, 60, 140, 200, 290, 365], [1.0, 50.0, 0.5, 200.0, 3.0]),
        fan("three materials inside, one a needle of 4 degrees", 1e-3, [20, 24, 190, 380], [1e3, 1.0, 5.0]),
        fan("three materials inside, second exponent", 1e-8, [10, 130, 250, 370], [1.0, 4.0, 20.0], at=1),
    ]
