"""Points on the zero set of a function, uniform in length or area.

Random points of the thin shell {distance to the zero set < h} are projected onto the zero set by Newton's method along
the gradient; the projection spreads them uniformly up to O(h^2 curvature^2). A grid finds the cells the zero set passes
through, so that few samples are rejected.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jumpnet.fields import Field
from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.chunks import evaluate
from jumpnet.geometry.patches import PointPatch, collect
from jumpnet.geometry.randomness import Stream
from jumpnet.geometry.shape import Patch

CELLS = {2: 256**2, 3: 40**3}
"""Grid cells by dimension; finer than the smallest features one should sample, and a few ms to evaluate."""
SHELL = 0.25
"""Half-thickness h of the shell in units of a cell."""
SURVEY = 1 << 16
"""Points behind the measure: 0.5 % on the chessboard of 97 crossings, 0.1 % on smooth closed curves."""
FLAT = 1e-6
"""A gradient below this fraction of the typical one counts as vanishing: a crossing, where no normal
exists."""


def values(field: Field, x: Floats) -> Floats:
    """Values (n,)."""
    return evaluate(field.value, x, field)


def gradient(field: Field, x: Floats) -> Floats:
    """Gradients (n, d)."""
    return evaluate(field.gradient, x, field)


def roots(field: Field, lower: float, upper: float) -> tuple[PointPatch, ...]:
    """The sign changes of a function of one variable, by bisection from a grid of 4096 cells."""
    t = np.linspace(lower, upper, 4097)
    v = values(field, t[:, None])
    k = np.flatnonzero((v[:-1] < 0.0) != (v[1:] < 0.0))
    a, b, rising = t[k], t[k + 1], v[k] < 0.0
    for _ in range(60):
        middle = 0.5 * (a + b)
        low = (values(field, middle[:, None]) < 0.0) == rising
        a, b = np.where(low, middle, a), np.where(low, b, middle)
    return tuple(PointPatch(float(x), 1.0 if up else -1.0) for x, up in zip(0.5 * (a + b), rising, strict=True))


@dataclass(frozen=True, eq=False)
class ShellPatch(Patch):
    """The zero set of `field` inside the box `within`, in two or more dimensions."""

    field: Field
    within: Bounds

    @cached_property
    def _grid(self) -> tuple[Floats, Floats]:
        """Lower corners (k, d) of the cells near the zero set, and the size (d,) of a cell.

        A cell is near if the values at its corners vary by more than their distance from zero. In more than
        three dimensions the whole box is one cell.
        """
        lower, upper = self.within
        d, extent = len(lower), upper - lower
        if d not in CELLS:
            return lower[None, :], extent
        per_length = (CELLS[d] / np.prod(extent)) ** (1.0 / d)
        counts = np.maximum(4, np.round(extent * per_length)).astype(int)
        axes = [np.linspace(a, b, m + 1) for a, b, m in zip(lower, upper, counts, strict=True)]
        nodes = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)
        v = values(self.field, nodes).reshape(counts + 1)
        low, high, near = v, v, np.abs(v)
        for axis in range(d):  # extremes over the corners, one direction at a time
            first = tuple(slice(None, -1) if k == axis else slice(None) for k in range(d))
            second = tuple(slice(1, None) if k == axis else slice(None) for k in range(d))
            low, high = np.minimum(low[first], low[second]), np.maximum(high[first], high[second])
            near = np.minimum(near[first], near[second])
        active = np.argwhere(near <= high - low)
        return lower + active * (extent / counts), extent / counts

    @property
    def _thickness(self) -> float:
        lower, upper = self.within
        return SHELL * float(self._grid[1].min()) if len(lower) in CELLS else 0.02 * float(np.min(upper - lower))

    def _spread(self) -> Floats:
        """About SURVEY points, jittered in equal parts of every near cell."""
        corners, cell = self._grid
        d = cell.size
        parts = max(2, round((SURVEY / len(corners)) ** (1.0 / d)))
        inner = np.stack([g.ravel() for g in np.meshgrid(*[np.arange(parts)] * d, indexing="ij")], axis=1)
        jitter = np.random.default_rng(0).random((len(corners), len(inner), d))
        return (corners[:, None, :] + (inner + jitter) / parts * cell).reshape(-1, d)

    @cached_property
    def _survey(self) -> tuple[float, float]:
        """Measure (a smooth delta function of the distance, summed over the near cells) and typical gradient."""
        corners, cell = self._grid
        if len(corners) == 0:
            return 0.0, 0.0
        y = self._spread()
        value, slope = values(self.field, y), gradient(self.field, y)
        length = np.linalg.norm(slope, axis=1)
        width = 2.0 * self._thickness
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = value / length
            foot = y - (distance / length)[:, None] * slope
        near = (np.abs(distance) < width) & np.all((foot >= self.within[0]) & (foot <= self.within[1]), axis=1)
        if not near.any():
            return 0.0, 0.0
        delta = (1.0 + np.cos(np.pi * distance[near] / width)) / (2.0 * width)
        volume = len(corners) * float(np.prod(cell))
        return volume * float(np.sum(delta)) / len(y), float(np.median(length[near]))

    @property
    def measure(self) -> float:
        return self._survey[0]

    def _project(self, y: Floats) -> tuple[Floats, Floats]:
        """The points of `y` that lie in the shell, moved onto the zero set, with unit normals."""
        (lower, upper), h, flat = self.within, self._thickness, FLAT * self._survey[1]
        value, slope = values(self.field, y), gradient(self.field, y)
        length = np.linalg.norm(slope, axis=1)
        close = np.abs(value) < 3.0 * h * length
        y, value, slope = y[close], value[close], slope[close]
        x = y
        for _ in range(12):
            with np.errstate(divide="ignore", invalid="ignore"):
                step = slope * (value / np.sum(slope * slope, axis=1))[:, None]
            step[~np.all(np.isfinite(step), axis=1)] = 0.0
            x = np.clip(x - step, lower, upper)
            value, slope = values(self.field, x), gradient(self.field, x)
            if np.all(np.abs(step) <= 1e-15 * (np.abs(lower) + np.abs(upper))):
                break
        length = np.linalg.norm(slope, axis=1)
        extent = float(np.max(upper - lower))
        good = (length > flat) & (np.abs(value) <= 1e-13 * extent * length)
        good &= np.linalg.norm(x - y, axis=1) < h
        return x[good], slope[good] / length[good, None]

    def sample(self, n: int, rng: np.random.Generator, quasi: bool = False) -> tuple[Floats, Floats]:
        d = len(self.within[0])
        corners, cell = self._grid
        stream = Stream(d + 1 if quasi else d, rng, quasi)

        def draw(batch: int) -> tuple[Floats, Floats]:
            u = stream.draw(batch)
            which = (u[:, d] * len(corners)).astype(int) if quasi else rng.integers(len(corners), size=batch)
            return self._project(corners[which] + u[:, :d] * cell)

        return collect(n, draw, d, 0.15)
