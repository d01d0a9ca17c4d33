"""Walls in the plane that are one smooth closed curve between two pieces, or between a piece and the outside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from jumpnet.geometry.checks import Floats
from jumpnet.geometry.curves.arc import ArcPatch, Parametrised
from jumpnet.geometry.patches import Flipped, Trimmed
from jumpnet.geometry.shape import Patch

if TYPE_CHECKING:
    from jumpnet.geometry.partition import Partition

# Sample points of a curve: evenly spread along it, and by its turning angle, in these parts.
SAMPLES, BY_TURNING = 2000, 0.5
# A curve that turns by more between two nodes (which are set such that it turns by less) has a corner.
CORNER = 0.3


@dataclass(frozen=True, eq=False)
class Ring:
    """A smooth closed curve: the piece in it and the one around it (-1: the outside), and a point deep inside.

    `t` are parameters (n + 1,) once round, denser where the curve turns, `points` (n, 2) what they belong to.
    """

    curve: Parametrised
    inside: int
    outside: int
    center: Floats
    t: Floats
    points: Floats

    @property
    def pair(self) -> tuple[int, int]:
        """The pieces on both sides, the lower first."""
        return min(self.inside, self.outside), max(self.inside, self.outside)

    @cached_property
    def _turn(self) -> float:
        """Which way round the curve goes."""
        x, y = self.points.T
        return float(np.sign(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))))

    def at(self, t: Floats) -> tuple[Floats, Floats]:
        """Points of the curve, and unit normals to the lower of the two pieces, or to the outside."""
        v = self.curve.velocity(t)
        away = self._turn * np.stack([v[:, 1], -v[:, 0]], axis=1) / np.linalg.norm(v, axis=1)[:, None]
        return self.curve.position(t), away if self.outside < self.inside else -away


def rings_of(parts: Partition) -> Iterator[Ring]:
    """The walls of a partition of the plane that are smooth closed curves, without circles."""
    walls = parts.walls
    for wall, trace in zip(walls.walls, walls.pilot, strict=True):
        patch, sides = _whole(wall.patch), (trace.behind, trace.ahead)
        if patch is None or not all((side == side[0]).all() for side in sides):
            continue
        if not (walls.between(trace) | walls.on_outer_boundary(trace)).all():
            continue
        outward = np.sum((trace.points - trace.points.mean(axis=0)) * trace.normals) > 0
        inside, outside = (int(side[0]) for side in (sides if outward else sides[::-1]))
        t = _parameters(patch)
        center = _center(parts, inside, outside)
        if t is not None and center is not None:
            yield Ring(patch.curve, inside, outside, center, t, patch.curve.position(t[:-1]))


def _whole(patch: Patch) -> ArcPatch | None:
    """The closed curve that a patch covers once; None if it covers no closed curve."""
    while isinstance(patch, Trimmed | Flipped):
        if isinstance(patch, Trimmed) and patch.share < 1:
            return None
        patch = patch.patch
    return patch if isinstance(patch, ArcPatch) else None


def _center(parts: Partition, inside: int, outside: int) -> Floats | None:
    """A point deep inside a hole; None where a piece has no such hole."""
    if outside < 0:
        return np.mean(parts.bounds, axis=0)
    return next((hole.center for hole in parts.holes(outside) if hole.pieces == (inside,)), None)


def _parameters(patch: ArcPatch) -> Floats | None:
    """Parameters of a curve once round, denser where it turns; None if it has corners."""
    t = patch.nodes
    v = patch.curve.velocity(t[:-1]) @ np.array([1, 1j])
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = np.abs(np.angle(np.roll(v, -1) / v))
    if not np.isfinite(turn).all() or turn.max() > CORNER:
        return None
    x = patch.curve.position(t[:-1])
    length = np.linalg.norm(np.roll(x, -1, axis=0) - x, axis=1)
    measure = (1 - BY_TURNING) * length / length.sum() + BY_TURNING * turn / turn.sum()
    along = np.concatenate([[0.0], np.cumsum(measure)])
    return np.interp(np.arange(SAMPLES + 1) / SAMPLES * along[-1], along, t)
