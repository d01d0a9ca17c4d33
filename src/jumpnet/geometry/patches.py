"""Points, box faces, planes in a box, and what operators make of patches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from jumpnet.errors import GeometryError
from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.randomness import EvenlySpread, Stream
from jumpnet.geometry.shape import Patch

PILOT = 2048
"""Sample points of an estimated measure; contacts smaller than about 1/2048 of a patch may be missed."""


HOPELESS = 1 << 18
"""Draws without one accepted point after which drawing ends."""


def collect(n: int, draw: Callable[[int], tuple[Floats, Floats]], dim: int, rate: float = 1.0) -> tuple[Floats, Floats]:
    """Call `draw(batch)`, which may return fewer points than asked, until `n` points are there.

    `rate` is a guess of the share that survives. After 200 batches without enough points, or HOPELESS draws without
    one, the patch is taken to be empty.
    """
    points, normals, have = [np.empty((0, dim))], [np.empty((0, dim))], 0
    drawn = 0
    for _ in range(200):
        if have >= n or (have == 0 and drawn > HOPELESS):
            break
        batch = min(int((n - have) / max(rate, 1e-3) * 1.1) + 8, 1 << 16)
        x, normal = draw(batch)
        points.append(x)
        normals.append(normal)
        have, drawn = have + len(x), drawn + batch
        rate = max(have, 0.5) / drawn
    if have < n:
        raise GeometryError(
            f"only {have} of {n} boundary points were found in {drawn} draws; "
            "the boundary there is too small or too thin to be sampled."
        )
    return np.concatenate(points)[:n], np.concatenate(normals)[:n]


@dataclass(frozen=True, eq=False)
class PointPatch(Patch):
    """One boundary point of a 1-D region; `sign` is its outward normal, +1 or -1."""

    x: float
    sign: float

    @property
    def measure(self) -> float:
        return 1.0

    def sample(self, n: int, rng: np.random.Generator, quasi: bool = False) -> tuple[Floats, Floats]:
        return np.full((n, 1), self.x), np.full((n, 1), self.sign)


@dataclass(frozen=True, eq=False)
class FacePatch(Patch):
    """The face of a box at its lower (side -1) or upper (side +1) end of one axis, in two or more dimensions."""

    lower: Floats
    upper: Floats
    axis: int
    side: int

    @property
    def measure(self) -> float:
        return prod(size for k, size in enumerate((self.upper - self.lower).tolist()) if k != self.axis)

    def sample(self, n: int, rng: np.random.Generator, quasi: bool = False) -> tuple[Floats, Floats]:
        dim = len(self.lower)
        along = [k for k in range(dim) if k != self.axis]
        lower, upper = self.lower[along], self.upper[along]
        x, normals = np.zeros((2, n, dim))
        x[:, along] = lower + Stream(dim - 1, rng, quasi).draw(n) * (upper - lower)
        x[:, self.axis] = self.upper[self.axis] if self.side > 0 else self.lower[self.axis]
        normals[:, self.axis] = self.side
        return x, normals


@dataclass(frozen=True, eq=False)
class PlanePatch(Patch):
    """The plane {normal . x = offset} inside a box: the coordinate the normal favours is solved for.

    The other coordinates are uniform in the box, which is uniform on the plane; points leaving the box are
    redrawn.
    """

    unit: Floats
    offset: float
    within: Bounds

    @cached_property
    def _axis(self) -> int:
        return int(np.argmax(np.abs(self.unit)))

    def _draw(self, u: Floats) -> tuple[Floats, Floats]:
        (lower, upper), k = self.within, self._axis
        x = lower + np.insert(u, k, 0.0, axis=1) * (upper - lower)
        x[:, k] = 0.0
        x[:, k] = (self.offset - x @ self.unit) / self.unit[k]
        x = x[(x[:, k] >= lower[k]) & (x[:, k] <= upper[k])]
        return x, np.broadcast_to(self.unit, x.shape).copy()

    @property
    def measure(self) -> float:
        return self._area

    @cached_property
    def _area(self) -> float:
        lower, upper = self.within
        shadow = float(np.prod(np.delete(upper - lower, self._axis))) / abs(self.unit[self._axis])
        u = EvenlySpread().random((4 * PILOT, len(lower) - 1))
        return shadow * len(self._draw(u)[0]) / len(u)

    def sample(self, n: int, rng: np.random.Generator, quasi: bool = False) -> tuple[Floats, Floats]:
        stream = Stream(len(self.unit) - 1, rng, quasi)
        return collect(n, lambda batch: self._draw(stream.draw(batch)), len(self.unit))


@dataclass(frozen=True, eq=False)
class Flipped(Patch):
    """A patch seen from its other side."""

    patch: Patch

    @property
    def measure(self) -> float:
        return self.patch.measure

    def sample(self, n: int, rng: np.random.Generator, quasi: bool = False) -> tuple[Floats, Floats]:
        x, normals = self.patch.sample(n, rng, quasi)
        return x, -normals


@dataclass(frozen=True, eq=False)
class Trimmed(Patch):
    """The part of a patch where `keep(points, normals)` holds; its measure is estimated."""

    patch: Patch
    dim: int
    keep: Callable[[Floats, Floats], np.ndarray]

    @cached_property
    def share(self) -> float:
        """The kept fraction of the patch, from a fixed, evenly spread sample."""
        x, normals = self.patch.sample(PILOT if self.dim > 1 else 1, EvenlySpread())
        return float(np.mean(self.keep(x, normals)))

    @property
    def measure(self) -> float:
        return self.patch.measure * self.share

    def sample(self, n: int, rng: np.random.Generator, quasi: bool = False) -> tuple[Floats, Floats]:
        def draw(batch: int) -> tuple[Floats, Floats]:
            x, normals = self.patch.sample(batch, rng, quasi)
            kept = self.keep(x, normals)
            return x[kept], normals[kept]

        return collect(n, draw, self.dim, self.share)
