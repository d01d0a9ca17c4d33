"""The nearest point of a closed curve, and with it the signed distance.

A k-d tree over the nodes gives a start, Newton's method the foot. The sign comes from the side of the foot's
normal where the foot is a smooth point close by, and from the fine polygon everywhere else (far away,
corners, cusps).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from jumpnet.geometry.arc import CUSP, ClosedCurve
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.polygon import Polygon

if TYPE_CHECKING:
    from scipy.spatial import KDTree


class SmoothCurve(ClosedCurve, Protocol):
    """A closed curve with second derivatives."""

    def acceleration(self, t: Floats) -> Floats:
        """Second derivatives (n, 2)."""
        ...


@dataclass(frozen=True, eq=False)
class Feet:
    """Nearest points: parameter, offset x - foot, outward unit normal, and whether the foot is a smooth point."""

    offset: Floats
    normal: Floats
    smooth: np.ndarray


@dataclass(frozen=True, eq=False)
class FootFinder:
    """Distances to a curve given by its nodes (first and last are the same point)."""

    curve: SmoothCurve
    nodes: Floats
    polygon: Polygon
    orientation: float

    @cached_property
    def _tree(self) -> KDTree:
        from scipy.spatial import KDTree

        return KDTree(self.polygon.vertices[:-1])

    @cached_property
    def _band(self) -> float:
        """Within this distance the polygon's edges may stray from the curve: twice the longest edge."""
        return 2.0 * float(np.linalg.norm(np.diff(self.polygon.vertices, axis=0), axis=1).max())

    @cached_property
    def _slowest(self) -> float:
        return CUSP * float(np.nanmax(np.linalg.norm(self.curve.velocity(self.nodes), axis=1)))

    def feet(self, x: Floats, start: np.ndarray) -> Feet:
        """Newton's method for (curve(t) - x) . curve'(t) = 0 from the nodes `start`, kept between their neighbours."""
        t = self.nodes[start]
        before = np.where(start == 0, self.nodes[-2] - 2.0 * np.pi, self.nodes[start - 1])
        after = self.nodes[start + 1]
        for _ in range(8):
            gap, v = self.curve.position(t) - x, self.curve.velocity(t)
            slope = np.sum(gap * v, axis=1)
            speed2 = np.sum(v * v, axis=1)
            bend = speed2 + np.sum(gap * self.curve.acceleration(t), axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = slope / np.where(bend > 0.1 * speed2, bend, speed2)
            moved = np.clip(t - np.where(np.isfinite(step), step, 0.0), before, after)
            settled = np.all(np.abs(moved - t) <= 1e-15 * np.pi)
            t = moved
            if settled:
                break
        offset, v = x - self.curve.position(t), self.curve.velocity(t)
        speed = np.linalg.norm(v, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            normal = self.orientation * np.stack([v[:, 1], -v[:, 0]], axis=1) / speed[:, None]
        tangential = np.abs(np.sum(offset * v, axis=1))
        reach = np.linalg.norm(offset, axis=1)
        rounding = 1e-13 * float(np.abs(self.polygon.vertices).max())
        smooth = (speed > self._slowest) & (tangential <= speed * (1e-6 * reach + rounding))
        return Feet(offset, normal, smooth)

    def signed_distance(self, x: Floats) -> Floats:
        """Distance to the curve, negative inside."""
        start = np.asarray(self._tree.query(x)[1])
        feet = self.feet(x, start)
        distance = np.linalg.norm(feet.offset, axis=1)
        inside = self.polygon.contains(x)
        near = feet.smooth & (distance < self._band)
        inside[near] = np.sum(feet.offset[near] * feet.normal[near], axis=1) < 0.0
        return np.where(inside, -distance, distance)

    def contains(self, x: Floats, slack: float) -> np.ndarray:
        """Whether signed_distance < slack; only points close to the curve pay for Newton's method."""
        inside = self.polygon.contains(x)
        distance, _ = self._tree.query(x, distance_upper_bound=self._band + abs(slack))
        near = np.flatnonzero(np.isfinite(distance))
        if len(near):
            inside[near] = self.signed_distance(x[near]) < slack
        return inside

    def normal(self, x: Floats) -> Floats:
        """Outward unit normals at the feet, nan at cusps and corners."""
        start = np.asarray(self._tree.query(x)[1])
        feet = self.feet(x, start)
        return np.where(feet.smooth[:, None], feet.normal, np.nan)
