"""The nearest point of closed curves, and with it the signed distance.

A k-d tree gives a start, Newton's method the closest point (the foot of the perpendicular). The sign comes from the
side of its normal where it is a smooth point close by, and from fine polygons elsewhere (far away, corners, cusps).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from jumpnet.geometry import checks
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.curves.arc import CUSP, ClosedCurve
from jumpnet.geometry.curves.outline import Outline
from jumpnet.geometry.shape import Shape

if TYPE_CHECKING:
    from scipy.spatial import KDTree


RIGHT = np.pi / 2
"""The angle by which a curve turns along a branch, at most."""
CROWDED = 8
"""If more nodes than this are near a point, as at corners and cusps, its edges are not tested one by one."""
STEPS = 12
"""Of Newton's method: at a cusp it halves the distance, and converges fast only then."""


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
class Finder(ABC):
    """Signed distances and normals of a region, whose fine polygons are `outline`."""

    outline: Outline

    @abstractmethod
    def feet(self, x: Floats) -> Feet:
        """The nearest points of the boundary."""

    @property
    @abstractmethod
    def tree(self) -> KDTree:
        """Points of the boundary, no two neighbours farther apart than half of `band`."""

    @cached_property
    def band(self) -> float:
        """Within this distance the polygon's edges may stray from the curve: twice the longest edge."""
        return 2.0 * max(float(np.linalg.norm(np.diff(ring, axis=0), axis=1).max()) for ring in self.outline.rings)

    def signed_distance(self, x: Floats) -> Floats:
        """Distance to the curve, negative inside."""
        feet = self.feet(x)
        distance = np.linalg.norm(feet.offset, axis=1)
        inside = self.outline.contains(x)
        near = feet.smooth & (distance < self.band)
        inside[near] = np.sum(feet.offset[near] * feet.normal[near], axis=1) < 0.0
        return np.where(inside, -distance, distance)

    def contains(self, x: Floats, slack: float) -> np.ndarray:
        """Whether signed_distance < slack; only points close to the curve pay for Newton's method."""
        inside = self.outline.contains(x)
        near = self.undecided(x, abs(slack))
        if len(near):
            inside[near] = self.signed_distance(x[near]) < slack
        return inside

    def undecided(self, x: Floats, slack: float) -> np.ndarray:
        """The points too close to the curve for the polygons to tell their side."""
        distance, _ = self.tree.query(x, distance_upper_bound=self.band + slack)
        return np.flatnonzero(np.isfinite(distance))

    def normal(self, x: Floats) -> Floats:
        """Outward unit normals at the feet, nan at cusps and corners."""
        feet = self.feet(x)
        return np.where(feet.smooth[:, None], feet.normal, np.nan)


@dataclass(frozen=True, eq=False)
class Branch:
    """Nodes of a curve that turns by less than a right angle along them: near a point it passes only once."""

    nodes: Floats
    places: Floats

    @cached_property
    def tree(self) -> KDTree:
        """A tree of the points, to find the nearest."""
        from scipy.spatial import KDTree

        return KDTree(self.places)

    @cached_property
    def box(self) -> tuple[Floats, Floats]:
        """The corners of a box around the places."""
        return self.places.min(axis=0), self.places.max(axis=0)

    def may_be_nearer(self, x: Floats, than: Floats) -> np.ndarray:
        """The points that are not farther from the box than given distances."""
        lower, upper = self.box
        gap = np.maximum(np.maximum(lower - x, x - upper), 0.0)
        return np.flatnonzero(np.sum(gap * gap, axis=1) <= than * than)


@dataclass(frozen=True, eq=False)
class FootFinder(Finder):
    """The boundary is one smooth curve (corners and cusps at most here and there), given by its nodes.

    First and last node are the same point.
    """

    curve: SmoothCurve
    nodes: Floats
    orientation: float

    @property
    def tree(self) -> KDTree:
        return self._tree

    @cached_property
    def _tree(self) -> KDTree:
        from scipy.spatial import KDTree

        return KDTree(self.outline.rings[0][:-1])

    @cached_property
    def _slowest(self) -> float:
        return CUSP * float(np.nanmax(np.linalg.norm(self.curve.velocity(self.nodes), axis=1)))

    @cached_property
    def _branches(self) -> tuple[Branch, ...]:
        """The curve in branches: beside a needle, the nearest node may be on one side and the foot on the other."""
        ring = self.outline.rings[0]
        fresh = np.r_[True, np.any(ring[1:] != ring[:-1], axis=1)]  # nodes crowd at corners, to the same place
        nodes, places = self.nodes[fresh], ring[fresh]
        chord = np.diff(places, axis=0)
        turn = np.diff(np.arctan2(chord[:, 1], chord[:, 0]))
        turned = np.cumsum(np.abs((turn + np.pi) % (2.0 * np.pi) - np.pi))
        cuts = np.flatnonzero(np.diff(np.r_[0.0, turned] // RIGHT)) + 1
        ends = [0, *cuts.tolist(), len(nodes) - 1]
        return tuple(Branch(nodes[a : b + 1], places[a : b + 1]) for a, b in pairwise(ends) if b > a)

    @cached_property
    def _strays(self) -> float:
        """How far the curve strays from its polygon: eight times the most that is seen half-way between nodes."""
        ring = self.outline.rings[0]
        seen = self.curve.position((self.nodes[1:] + self.nodes[:-1]) / 2) - (ring[1:] + ring[:-1]) / 2
        return 8.0 * float(np.nanmax(np.linalg.norm(seen, axis=1)))

    def undecided(self, x: Floats, slack: float) -> np.ndarray:
        """Points near edges, among those near nodes: an edge within reach has an end within half its length more."""
        reach = min(self._strays, self.band / 4.0) + slack
        near = super().undecided(x, slack)
        if not len(near):
            return near
        ring = self.outline.rings[0]
        count = min(CROWDED, len(ring) - 1)
        found = self._tree.query(x[near], k=count, distance_upper_bound=self.band / 4.0 + reach)
        distance, node = (np.asarray(part) for part in found)
        crowded = np.isfinite(distance[:, -1])
        node = np.where(np.isfinite(distance), node, node[:, :1])
        node = np.where(np.isfinite(distance[:, :1]), node, 0)
        last = len(ring) - 1
        gaps = [_to_edges(x[near, None], ring[(node - back) % last], ring[(node - back) % last + 1]) for back in (0, 1)]
        close = np.min(gaps, axis=(0, 2)) <= reach
        return near[crowded | (np.isfinite(distance[:, 0]) & close)]

    def feet(self, x: Floats) -> Feet:
        """The nearest of the feet on all branches that come close enough."""
        nearest = np.asarray(self._tree.query(x)[0]) + self.band / 2.0
        point, t = [np.empty(0, int)], [np.empty(0)]
        for branch in self._branches:
            near = branch.may_be_nearer(x, nearest)
            if not len(near):
                continue
            distance, start = branch.tree.query(x[near])
            close = distance <= nearest[near]
            point.append(near[close])
            t.append(self._foot(x[near[close]], branch.nodes, np.asarray(start)[close]))
        points, parameters = np.concatenate(point), np.concatenate(t)
        offset = x[points] - self.curve.position(parameters)
        order = np.lexsort((np.sum(offset * offset, axis=1), points))
        first = order[np.unique(points[order], return_index=True)[1]]
        rounding = 1e-13 * float(np.abs(self.outline.rings[0]).max())
        v = self.curve.velocity(parameters[first])
        return feet_at(offset[first], self.orientation * v, self._slowest, rounding)

    def _foot(self, x: Floats, nodes: Floats, start: np.ndarray) -> Floats:
        """Newton's method for (curve(t) - x) . curve'(t) = 0 from the nearest node, kept between its neighbours."""
        last = len(nodes) - 1
        before, after = nodes[np.maximum(start - 1, 0)], nodes[np.minimum(start + 1, last)]
        # The end of a branch may be a cusp, where the velocity vanishes and Newton's method would stop.
        t = np.where((start == 0) | (start == last), (before + after) / 2, nodes[start])
        for _ in range(STEPS):
            step = newton_step(self.curve.position(t) - x, self.curve.velocity(t), self.curve.acceleration(t))
            moved = np.clip(t - step, before, after)
            settled = np.all(np.abs(moved - t) <= 1e-15 * np.pi)
            t = moved
            if settled:
                break
        return t


def _to_edges(x: Floats, a: Floats, b: Floats) -> Floats:
    """The distances of points from edges from a to b."""
    along = b - a
    length2 = np.sum(along * along, axis=-1)
    share = np.sum((x - a) * along, axis=-1) / np.where(length2 > 0.0, length2, 1.0)
    return np.linalg.norm(x - a - np.clip(share, 0.0, 1.0)[..., None] * along, axis=-1)


def feet_at(offset: Floats, v: Floats, slowest: float, rounding: float) -> Feet:
    """Feet from x - foot and the velocity there, the region to the left of it."""
    speed = np.linalg.norm(v, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        normal = np.stack([v[:, 1], -v[:, 0]], axis=1) / speed[:, None]
    tangential = np.abs(np.sum(offset * v, axis=1))
    reach = np.linalg.norm(offset, axis=1)
    return Feet(offset, normal, (speed > slowest) & (tangential <= speed * (1e-6 * reach + rounding)))


def newton_step(gap: Floats, v: Floats, acceleration: Floats) -> Floats:
    """The step in t of Newton's method for gap . v = 0, gap being curve(t) - x; shorter where it would go astray."""
    slope = np.sum(gap * v, axis=1)
    speed2 = np.sum(v * v, axis=1)
    bend = speed2 + np.sum(gap * acceleration, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        step = slope / np.where(bend > 0.1 * speed2, bend, speed2)
    return np.where(np.isfinite(step), step, 0.0)


class Outlined(Shape):
    """A plane region that is known by the nearest points of its boundary."""

    @cached_property
    @abstractmethod
    def _finder(self) -> Finder:
        """What finds them."""

    def level(self, x: ArrayLike) -> Floats:
        return self._finder.signed_distance(checks.points(x, 2))

    def contains(self, x: ArrayLike, slack: float = 0.0) -> np.ndarray:
        return self._finder.contains(checks.points(x, 2), slack)

    def normal(self, x: ArrayLike) -> Floats:
        return self._finder.normal(checks.points(x, 2))
