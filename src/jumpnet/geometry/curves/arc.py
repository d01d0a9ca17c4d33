"""Closed plane curves: nodes that follow the curvature, and points uniform in arc length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.patches import collect
from jumpnet.geometry.randomness import Stream
from jumpnet.geometry.shape import Patch

NODES = 2048
"""Nodes before refinement: 5.9-fold variation of speed (a notched star) is resolved to 1e-5 per cell."""
TURN, HALVINGS = 0.2, 40
"""Intervals between nodes are halved until the tangent turns by less than TURN radians, at most HALVINGS times."""
CUSP = 1e-5
"""A point whose speed is below this fraction of the largest counts as a cusp and is never returned."""


class Parametrised(Protocol):
    """A curve t -> (x, y)."""

    def position(self, t: Floats) -> Floats:
        """Points (n, 2)."""
        ...

    def velocity(self, t: Floats) -> Floats:
        """Derivatives with respect to t (n, 2)."""
        ...


class ClosedCurve(Parametrised, Protocol):
    """A closed curve, t from `start` to `start` + 2 pi, and periodic beyond."""

    @property
    def start(self) -> float:
        """The parameter at which the curve begins."""
        ...


def parameter_nodes(curve: ClosedCurve) -> Floats:
    """Parameters of one period between which the tangent turns by less than TURN, except at corners.

    At a corner or a cusp intervals are halved down to rounding, so that the corner itself is a node.
    """
    t = np.linspace(curve.start, curve.start + 2.0 * np.pi, NODES + 1)
    for _ in range(HALVINGS):
        v = curve.velocity(t)
        with np.errstate(invalid="ignore"):
            cosine = np.sum(v[1:] * v[:-1], axis=1) / (np.linalg.norm(v[1:], axis=1) * np.linalg.norm(v[:-1], axis=1))
        wide = np.flatnonzero(~(cosine >= np.cos(TURN)) & (np.diff(t) > 1e-14))
        if len(wide) == 0 or len(t) > 4 * NODES:
            break
        t = np.insert(t, wide + 1, 0.5 * (t[wide] + t[wide + 1]))
    return t


@dataclass(frozen=True, eq=False)
class ArcPatch(Patch):
    """A closed curve with the region on its left (`orientation` 1) or right (-1), sampled uniformly in arc length."""

    curve: Parametrised
    nodes: Floats
    orientation: float = 1.0
    closed: ClassVar[bool] = True

    @cached_property
    def _table(self) -> tuple[Floats, float]:
        """Arc length at the nodes and the speed below which there is a cusp."""
        lengths = np.zeros(len(self.nodes) - 1)
        fastest = 0.0
        for t, weight in _gauss(self.nodes):
            speed = _filled(np.linalg.norm(self.curve.velocity(t), axis=1))
            lengths += weight * speed
            fastest = max(fastest, float(speed.max()))
        return np.concatenate([[0.0], np.cumsum(lengths)]), CUSP * fastest

    @property
    def measure(self) -> float:
        return float(self._table[0][-1])

    def sample(self, n: int, rng: np.random.Generator, quasi: bool = False) -> tuple[Floats, Floats]:
        stream = Stream(1, rng, quasi)
        arc, cusp = self._table

        def draw(batch: int) -> tuple[Floats, Floats]:
            t = np.interp(stream.draw(batch)[:, 0] * arc[-1], arc, self.nodes)
            v = self.curve.velocity(t)
            speed = np.linalg.norm(v, axis=1)
            good = speed > cusp
            t, v, speed = t[good], v[good], speed[good, None]
            return self.curve.position(t), self.orientation * np.stack([v[:, 1], -v[:, 0]], axis=1) / speed

        return collect(n, draw, 2)


def wrap(t: Floats, start: float) -> Floats:
    """Parameters taken back into [start, start + 2 pi]; those already inside, both ends included, are unchanged."""
    beyond = (t < start) | (t > start + 2.0 * np.pi)
    return np.where(beyond, start + np.mod(t - start, 2.0 * np.pi), t) if beyond.any() else t


def curve_bounds(curve: ClosedCurve, nodes: Floats) -> Bounds:
    """The tight box of a curve: extreme nodes, zoomed in on until the gain is below rounding."""
    x = curve.position(nodes)
    corners = []
    for sign in (-1.0, 1.0):
        corner = np.empty(2)
        for axis in range(2):
            k = int(np.argmax(sign * x[:, axis]))
            best, t, width = sign * x[k, axis], nodes[k], float(np.diff(nodes).max())
            for _ in range(5):
                around = np.linspace(t - width, t + width, 33)
                values = sign * curve.position(around)[:, axis]
                j = int(np.argmax(values))
                best, t, width = max(best, values[j]), around[j], width / 16.0
            corner[axis] = sign * best
        corners.append(corner)
    return corners[0], corners[1]


def enclosed_area(curve: ClosedCurve, nodes: Floats) -> float:
    """The signed area, positive if the curve runs counter-clockwise."""
    total = 0.0
    for t, weight in _gauss(nodes):
        x, v = curve.position(t), curve.velocity(t)
        total += float(np.sum(weight * _filled(0.5 * (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]))))
    return total


def _gauss(nodes: Floats) -> Iterator[tuple[Floats, Floats]]:
    """The points of Gauss's rule with three points per interval, and their weights; no node is among them."""
    half = 0.5 * np.diff(nodes)
    for offset, weight in ((-np.sqrt(0.6), 5.0 / 9.0), (0.0, 8.0 / 9.0), (np.sqrt(0.6), 5.0 / 9.0)):
        yield nodes[:-1] + (1.0 + offset) * half, weight * half


def _filled(values: Floats) -> Floats:
    """Isolated values that are not finite (a corner hit exactly) replaced by their neighbours."""
    bad = ~np.isfinite(values)
    if not bad.any():
        return values
    index = np.arange(len(values))
    return np.interp(index, index[~bad], values[~bad])
