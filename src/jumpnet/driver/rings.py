"""Poles beyond smooth walls that are neither circles nor ellipses: stars, superellipses, curves.

A piece with constant A that such a wall surrounds, or that surrounds it, gets poles on the other side of the wall, where
the wall's shape says that its solution is singular (charts/schwarz.py), in the coordinates that make A the identity.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from jumpnet.charts import Affine, inverse_root
from jumpnet.charts.schwarz import Schwarz, encloses
from jumpnet.driver.natures import natures_of
from jumpnet.driver.plan import Part, Plan
from jumpnet.geometry import Partition
from jumpnet.geometry.arc import ArcPatch
from jumpnet.geometry.checks import Floats
from jumpnet.models.poles import Poles
from jumpnet.optim.threads import one_blas_thread
from jumpnet.problem import Problem

# Points of a wall at which its shape is looked at: evenly along it and by how it turns, in these parts.
SAMPLES, BY_TURNING = 1500, 0.5
# A wall that turns by more between two nodes (which are set such that it turns by less) has a corner.
CORNER = 0.3
# Poles to begin with: of the first approximation as good as this, relative to the size of the wall.
BEGIN = 1e-4


@dataclass(frozen=True, eq=False)
class Ring:
    """A wall that is one smooth closed curve: points of it, one deep inside, the piece in it and the one around it."""

    points: Floats
    center: Floats
    inside: int
    outside: int


@dataclass(frozen=True, eq=False)
class PolesBeyond:
    """The poles on one side of a ring, in coordinates in which it has radius one; sets for ever better approximations."""

    shape: Schwarz
    enclosed: bool

    @cached_property
    def _known(self) -> list[tuple[np.ndarray, float]]:
        return []

    def _of(self, rung: int) -> tuple[np.ndarray, float] | None:
        """The poles of one approximation on this side, and the distance of the nearest from the wall."""
        while rung >= len(self._known):
            with one_blas_thread():
                found = self.shape[len(self._known)]
                if found is None:
                    return None
                p, distance = found.poles(self.shape.curve)
            mine = encloses(self.shape.curve, p) == self.enclosed
            self._known.append((p[mine], float(distance[mine].min(initial=1.0))))
        return self._known[rung]

    def _with(self, count: int) -> tuple[np.ndarray, float]:
        return next(known for known in self._known if len(known[0]) == count)

    def begin(self) -> int:
        """The number of poles to begin with."""
        rung = 0
        while self._of(rung + 1) is not None and self.shape.errors[rung] > BEGIN:
            rung += 1
        return len(self._known[rung][0])

    def count(self, wanted: int) -> int:
        """How many poles the smallest set has that has so many; the largest has fewer if there is none."""
        rung = 0
        while (known := self._of(rung)) is not None:
            if len(known[0]) >= wanted:
                return len(known[0])
            rung += 1
        return len(self._known[-1][0])

    def carried(self, count: int) -> int:
        """How many points of the wall tell the functions of a set from each other: the nearest pole must be seen."""
        curve, (_, distance) = self.shape.curve, self._with(count)
        return max(2 * count + 2, int(np.abs(np.diff(curve, append=curve[0])).sum() / distance))

    def family(self, count: int) -> Poles:
        """The functions of the set with so many poles."""
        p, _ = self._with(count)
        return Poles(tuple(p.real.tolist()), tuple(p.imag.tolist()))


def rings_of(parts: Partition) -> Iterator[Ring]:
    """The walls of a partition of the plane that are smooth closed curves between two pieces."""
    walls = parts._walls
    for wall, trace in zip(walls.walls, walls.pilot, strict=True):
        patch = wall.patch
        if not isinstance(patch, ArcPatch):
            continue
        if not ((trace.ahead == trace.ahead[0]).all() and (trace.behind == trace.behind[0]).all()):
            continue
        if not (walls.between(trace) | walls.on_outer_boundary(trace)).all():
            continue
        outward = np.sum((trace.points - trace.points.mean(axis=0)) * trace.normals) > 0
        inside, outside = (int(side[0]) for side in (trace.behind, trace.ahead)[:: 1 if outward else -1])
        points = _sampled(patch)
        if points is None:
            continue
        center = (points.min(axis=0) + points.max(axis=0)) / 2
        if outside >= 0:
            center = next((hole.center for hole in parts.holes(outside) if hole.pieces == (inside,)), None)
        if center is not None:
            yield Ring(points, center, inside, outside)


def _sampled(patch: ArcPatch) -> Floats | None:
    """Points of a curve in its order, denser where it turns; None if it has corners."""
    t = patch.nodes
    v = patch.curve.velocity(t[:-1]) @ np.array([1, 1j])
    turn = np.abs(np.angle(np.roll(v, -1) / v))
    if not np.isfinite(v).all() or turn.max() > CORNER:
        return None
    z = patch.curve.position(t[:-1]) @ np.array([1, 1j])
    length = np.abs(np.roll(z, -1) - z)
    measure = (1 - BY_TURNING) * length / length.sum() + BY_TURNING * turn / turn.sum()
    along = np.concatenate([[0.0], np.cumsum(measure)])
    return patch.curve.position(np.interp(np.arange(SAMPLES) / SAMPLES, along, t))


def with_rings(plan: Plan, problem: Problem) -> Plan | None:
    """A plan with poles beyond smooth walls; None if there are no such walls, or it has them."""
    if problem.dim != 2 or plan.cells is not None or any(part.kind == "poles" for part in plan.parts):
        return None
    natures = natures_of(problem)
    more: list[Part] = []
    for ring in rings_of(problem.partition):
        shapes: list[tuple[Affine, Schwarz]] = []
        for piece, other in ((ring.inside, ring.outside), (ring.outside, ring.inside)):
            if piece >= 0 and natures[piece].harmonic:
                chart, shape = _seen_from(problem, ring, piece, shapes)
                strings = PolesBeyond(shape, piece == ring.outside)
                more.append(Part(piece, piece, chart, "poles", strings.begin(), True, (other,), strings=strings))
    return replace(plan, parts=(*plan.parts, *more)) if more else None


def _seen_from(
    problem: Problem, ring: Ring, piece: int, known: list[tuple[Affine, Schwarz]]
) -> tuple[Affine, Schwarz]:
    """The coordinates of a piece in which its A is the identity and a ring has radius one, and the ring's shape."""
    transform = inverse_root(problem.A[piece].value(ring.points[:1])[0])
    z = (ring.points - ring.center) @ transform.T @ np.array([1, 1j])
    chart = Affine((piece,), ring.center, transform, float(np.abs(z).max()))
    for other, shape in known:
        # Both sides of a wall see the same shape, if their A is the same up to a factor.
        if np.allclose(other.transform, transform, rtol=1e-12, atol=1e-12):
            return chart, shape
    known.append((chart, Schwarz(z / chart.radius)))
    return known[-1]
