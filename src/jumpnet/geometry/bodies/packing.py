"""Random inclusions that keep their distance: placed one after the other, the largest first.

The distance of two convex bodies is the largest of  u . (c2 - c1) - h1(u) - h2(u)  over directions u, h being the
support functions. Taken over some directions only, it is a lower bound: the gap asked for is always kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from jumpnet.errors import GeometryError
from jumpnet.geometry import checks
from jumpnet.geometry.bodies.primitives import Box
from jumpnet.geometry.bodies.quadrics import Ball, Ellipsoid
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.randomness import EvenlySpread, Seed, generator
from jumpnet.geometry.shape import Shape

DIRECTIONS = 128
"""Directions in which the distance of ellipses is measured, besides that of the centres, exact for balls."""
ATTEMPTS = 20_000
"""Places tried for one body before the box is said to be full."""
MOST = 10_000
"""The most bodies that are placed (heuristic: placing is sequential)."""


def random_disks(
    count: int, box: Box, radius: ArrayLike, *, gap: float = 0.0, seed: Seed, periodic: bool = False
) -> list[Shape]:
    """`count` disks at random places in a box, at least `gap` from each other and from its sides.

    The radius is a number, or a pair (smallest, largest) between which radii are drawn. `periodic` disks may cross the
    sides, and keep the gap from each other's copies in the neighbouring boxes too; `wrapped` makes pieces of them.
    """
    return _balls(count, box, radius, gap, seed, 2, periodic)


def random_balls(
    count: int, box: Box, radius: ArrayLike, *, gap: float = 0.0, seed: Seed, periodic: bool = False
) -> list[Shape]:
    """The same in space."""
    return _balls(count, box, radius, gap, seed, 3, periodic)


def random_ellipses(
    count: int, box: Box, axes: ArrayLike, *, gap: float = 0.0, seed: Seed, periodic: bool = False
) -> list[Shape]:
    """`count` ellipses at random places and angles in a box, at least `gap` from each other and from its sides.

    `axes` are the two half-axes, or a pair of such pairs, the smallest and the largest, between which each is drawn;
    `periodic` is that of `random_disks`.
    """
    n, _ = _checked(count, box, gap, 2)
    low, high = _range(axes, 2, "the half-axes of random ellipses")
    rng = generator(seed, 3)
    drawn = low + rng.random((n, 2)) * (high - low)
    angle = np.pi * rng.random(n)
    turns = np.stack([np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)], axis=1).reshape(-1, 2, 2)
    bodies = _Bodies(turns * drawn[:, None, :])
    places = _place(bodies, box, gap, rng, periodic)
    return [
        Ellipsoid(tuple(c), tuple(a), tuple(map(tuple, turn)))  # type: ignore[arg-type]
        for c, a, turn in zip(places.tolist(), drawn.tolist(), turns.tolist(), strict=True)
    ]


def _balls(count: int, box: Box, radius: ArrayLike, gap: float, seed: Seed, dim: int, periodic: bool) -> list[Shape]:
    n, _ = _checked(count, box, gap, dim)
    low, high = _range(radius, 1, "the radius of random disks or balls")
    rng = generator(seed, 3)
    r = low + rng.random(n) * (high - low)
    places = _place(_Bodies(r[:, None, None] * np.eye(dim)), box, gap, rng, periodic)
    return [Ball(tuple(c), float(radius)) for c, radius in zip(places.tolist(), r, strict=True)]


def _checked(count: int, box: object, gap: object, dim: int) -> tuple[int, float]:
    n = checks.count(count, "the number of random inclusions")
    if n > MOST:
        raise GeometryError(f"at most {MOST} random inclusions can be placed, not {n}.")
    if not isinstance(box, Box) or box.dim != dim:
        raise GeometryError(f"random inclusions are placed in a jn.Box of {dim} dimensions, not in {box!r}.")
    least = checks.number(gap, "the gap between random inclusions")
    if least < 0.0:
        raise GeometryError(f"the gap between random inclusions must be zero or more, not {least:g}.")
    return n, least


def _range(given: ArrayLike, width: int, what: str) -> tuple[Floats, Floats]:
    """Smallest and largest values (width,): one of them for both, or a pair."""
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if width == 1 and values.shape in ((), (1,), (2,)):
        values = np.broadcast_to(values, 2).reshape(2, 1)
    if values.shape == (width,):
        values = np.stack([values, values])
    if values.shape != (2, width):
        raise GeometryError(f"{what} must be given once, or as a pair (smallest, largest), not {given!r}.")
    if not np.all(np.isfinite(values)) or np.any(values <= 0.0) or np.any(values[0] > values[1]):
        raise GeometryError(f"{what} must be positive, the smallest first, not {given!r}.")
    return values[0], values[1]


@dataclass(frozen=True, eq=False)
class _Bodies:
    """Ellipsoids {c + M y, |y| < 1}: their matrices M (n, d, d)."""

    matrices: Floats

    def support(self, which: np.ndarray, u: Floats) -> Floats:
        """h(u) = |M^T u| of each body in the same directions (k, d), or each in its own (n, k, d): (n, k)."""
        return np.linalg.norm(np.einsum("...ij,...ki->...kj", self.matrices[which], u), axis=-1)


def _place(bodies: _Bodies, box: Box, gap: float, rng: np.random.Generator, periodic: bool) -> Floats:
    """Centres (n, d); bodies are placed in the order of their size, but returned in their own."""
    n, d = len(bodies.matrices), box.dim
    lower, upper = box.bounds
    reach = bodies.support(np.arange(n), np.eye(d)) + gap  # (n, d)
    if np.any(2.0 * reach > upper - lower):
        raise GeometryError("a random inclusion is larger than the box; give smaller ones or a larger box.")
    size = np.linalg.norm(bodies.matrices, axis=(1, 2), ord=2)
    round_ = np.allclose(bodies.matrices, size[:, None, None] * np.eye(d))
    spread = _directions(d)[: 0 if round_ else None]
    places = np.full((n, d), np.nan)
    done: list[int] = []
    for k in np.argsort(-size, kind="stable"):
        period = upper - lower if periodic else None
        room = _Room(bodies, places, np.array(done, dtype=int), int(k), size, spread, gap, period)
        edge = 0.0 * reach[k] if periodic else reach[k]
        places[k] = _first_free(room.free, lower + edge, upper - edge, rng, len(done), n)
        done.append(int(k))
    return places


def _first_free(
    free: Callable[[Floats], np.ndarray], lower: Floats, upper: Floats, rng: np.random.Generator, placed: int, n: int
) -> Floats:
    tried, batch = 0, 4
    while tried < ATTEMPTS:
        centers = lower + rng.random((batch, len(lower))) * (upper - lower)
        found = np.flatnonzero(free(centers))
        if len(found):
            return centers[found[0]]
        tried, batch = tried + batch, min(2 * batch, 512)
    raise GeometryError(
        f"only {placed} of {n} random inclusions found room in the box; ask for fewer, smaller or closer ones."
    )


@dataclass(frozen=True, eq=False)
class _Room:
    """Whether body k keeps the gap from those that are placed."""

    bodies: _Bodies
    places: Floats
    done: np.ndarray
    k: int
    size: Floats
    spread: Floats
    gap: float
    period: Floats | None

    def free(self, centers: Floats) -> np.ndarray:
        """Whether, at each of the centres (m, d), every body in reach keeps the gap in some direction."""
        offset = self.places[self.done] - centers[:, None]
        if self.period is not None:  # to the nearest copy; bodies are smaller than half the box, or refused
            offset = offset - self.period * np.round(offset / self.period)
        distance = np.linalg.norm(offset, axis=2)
        place, other = np.nonzero(distance < self.size[self.done] + self.size[self.k] + self.gap)
        offset, others = offset[place, other], self.done[other]
        towards = offset / np.maximum(distance[place, other], 1e-300)[:, None]
        u = np.concatenate(
            [towards[:, None, :], np.broadcast_to(self.spread, (len(place), *self.spread.shape))], axis=1
        )
        apart = np.einsum("nki,ni->nk", u, offset) - self.bodies.support(others, u)
        apart -= np.linalg.norm(u @ self.bodies.matrices[self.k], axis=-1)
        close = apart.max(axis=1) < self.gap
        return ~np.isin(np.arange(len(centers)), place[close])


def _directions(dim: int) -> Floats:
    if dim == 2:
        angle = 2.0 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    u = 2.0 * EvenlySpread().random((DIRECTIONS, dim)) - 1.0
    return u / np.linalg.norm(u, axis=1, keepdims=True)
