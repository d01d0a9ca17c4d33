"""AAA poles: simple poles beyond smooth walls that are neither circles nor ellipses (stars, superellipses, curves).

The pieces with constant A on both sides of such a wall get poles on its far side, where the analytic continuation of
the solution is singular. The places follow from the Schwarz function of the wall (charts/schwarz.py), in the
coordinates in which A is the identity.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from jaxtyping import Complex, Float

from jumpnet.charts import Affine, Slit, inverse_root
from jumpnet.charts.schwarz import Approximation, Schwarz
from jumpnet.collocation import Collocation, Points
from jumpnet.engines.trefftz.functions import HarmonicFunctions
from jumpnet.engines.trefftz.operator_type import operator_types
from jumpnet.engines.trefftz.reflections import mirrors
from jumpnet.engines.trefftz.trial_space import BasisBlock, TrialSpace
from jumpnet.geometry.walls.corners import OUTSIDE
from jumpnet.geometry.walls.rings import Ring, rings_of
from jumpnet.linalg.threads import one_blas_thread
from jumpnet.models.families.poles import Poles
from jumpnet.problem import Problem
from jumpnet.rows import BETWEEN_PIECES, ConditionKey

# The first set of poles is that of the first approximation with this error, relative to the size of the wall
# (heuristic).
BEGIN = 1e-4
# Collocation points per pole, near it: a point gives two equations, a pole has two unknowns.
DENSE = 2.0
# A set of poles with this part of the wanted number is large enough (heuristic).
NEARLY = 0.9
# Holes have images in sides of the domain up to this distance, in radii of the hole (heuristic).
NEAR_SIDE = 4.0


@dataclass(frozen=True, eq=False)
class PolesBeyond:
    """The poles on one side of a ring, in coordinates in which it has radius one: sets of increasing size."""

    ring: Ring
    shape: Schwarz
    enclosed: bool
    pole: bool = True
    name: ClassVar[str] = "poles beyond walls"
    solves: ClassVar[bool] = True
    own_points: ClassVar[bool] = True

    @cached_property
    def _known(self) -> dict[int, Complex[np.ndarray, " poles"]]:
        """The sets so far, by the number of poles."""
        return {}

    @cached_property
    def _beginning(self) -> Approximation:
        return self._first(lambda one: one.error < BEGIN)

    def begin(self) -> int:
        """The size of the first set."""
        return self._of(self._beginning)

    def degree(self, wanted: int) -> int:
        """The size of the smallest set with about the wanted number of poles, or of the largest set."""
        share = self.begin() / len(self._beginning.support)  # poles are more expensive to compute than approximations
        return self._of(
            self._first(lambda one: share * len(one.support) >= wanted and self._of(one) >= NEARLY * wanted)
        )

    def family(self, degree: int) -> Poles:
        """The functions of the set of a given size."""
        p = self._known[degree]
        return Poles(tuple(np.real(p).tolist()), tuple(np.imag(p).tolist()))

    def points(self, count: int) -> Float[np.ndarray, " n"]:
        """The number of points needed between successive points of the ring to resolve the poles of a set."""
        curve = self.shape.curve
        gap = curve[:, None] - self._known[count]
        square = np.abs(gap) ** 2
        nearest = np.sqrt(square.min(axis=0))
        # The Poisson kernel of a pole on the wall: it decays as 1/distance^2, over a length like the distance of the
        # pole.
        density = DENSE / np.pi * (nearest / square).sum(axis=1)
        return np.abs(np.roll(curve, -1) - curve) * density

    def _of(self, found: Approximation) -> int:
        """The number of poles on this side of one approximation."""
        with one_blas_thread():
            p, enclosed = found.poles
        mine = p[enclosed == self.enclosed]
        self._known.setdefault(len(mine), mine)
        return len(mine)

    def _first(self, wanted: Callable[[Approximation], bool]) -> Approximation:
        """The first approximation that is `wanted`, else the last."""
        last, rung = None, 0
        with one_blas_thread():
            while (found := self.shape[rung]) is not None:
                last, rung = found, rung + 1
                if wanted(found):
                    break
        assert last is not None
        return last


@dataclass(frozen=True)
class PolesByRationalApproximation:
    """Poles beyond smooth walls, where conditions between pieces have large residuals."""

    once: bool = False

    def begin(self, problem: Problem, space: TrialSpace) -> Sequence[BasisBlock]:
        """None: most walls need no more than multipoles."""
        return ()

    def propose(self, problem: Problem, space: TrialSpace, marked: Sequence[ConditionKey]) -> Sequence[BasisBlock]:
        """The poles of all walls; none if the space has them already."""
        return poles_beyond(space, problem) if any(key.kind in BETWEEN_PIECES for key in marked) else ()


def poles_beyond(space: TrialSpace, problem: Problem) -> list[BasisBlock]:
    """Poles beyond smooth walls; none if there are no such walls, or the space has them."""
    known = any(isinstance(block.functions, PolesBeyond) for block in space.blocks)
    if problem.dim != 2 or space.cells is not None or known:
        return []
    types = operator_types(problem)
    more: list[BasisBlock] = []
    for ring in rings_of(problem.partition):
        shapes: list[tuple[Affine, Schwarz]] = []
        for piece, other in ((ring.inside, ring.outside), (ring.outside, ring.inside)):
            if piece != OUTSIDE and types[piece].harmonic:
                chart, shape = _seen_from(problem, ring, piece, shapes)
                poles = PolesBeyond(ring, shape, piece == ring.outside)
                more.append(BasisBlock(piece, piece, chart, poles, poles.begin(), (other,)))
    mirrored = [image for block in space.blocks if _is_elongated(block) for image in _mirrored(problem, block)]
    return [*more, *mirrored] if more else []


def _is_elongated(block: BasisBlock) -> bool:
    """Whether a block is a confocal multipole of an elongated hole; round holes have images from the start."""
    known = block.pieces is not None and len(block.pieces) == 1  # images belong to two holes
    harmonic = isinstance(block.functions, HarmonicFunctions)
    return known and harmonic and isinstance(block.chart, Slit) and block.chart.focus != 0


def _mirrored(problem: Problem, block: BasisBlock) -> Iterator[BasisBlock]:
    """The images of a confocal multipole in nearby straight sides of the domain."""
    chart = block.chart
    assert isinstance(chart, Slit)
    place = complex(*(chart.transform @ chart.center))
    for side in mirrors(problem, block.piece, chart.transform):
        if side.distance(place) < NEAR_SIDE * chart.axes_sum / 2:
            image = side.image(place)
            center = np.linalg.solve(chart.transform, [image.real, image.imag])
            images = replace(chart, center=center, focus=side.direction(chart.focus))
            yield replace(block, chart=images, pieces=(OUTSIDE,))


def _seen_from(problem: Problem, ring: Ring, piece: int, known: list[tuple[Affine, Schwarz]]) -> tuple[Affine, Schwarz]:
    """Coordinates in which a piece's A is the identity and a ring has radius one, and the ring's Schwarz function."""
    transform = inverse_root(problem.A[piece].value(ring.points[:1])[0])
    z = (ring.points - ring.center) @ transform.T @ np.array([1, 1j])
    chart = Affine((piece,), ring.center, transform, float(np.abs(z).max()))
    for other, shape in known:
        # Both sides of a wall have the same Schwarz function if their tensors are proportional.
        if np.allclose(other.transform, transform, rtol=1e-12, atol=1e-12):
            return chart, shape
    known.append((chart, Schwarz(z / chart.radius)))
    return known[-1]


def near_poles(problem: Problem, space: TrialSpace, points: Points, rng: np.random.Generator) -> Collocation | None:
    """Additional points on walls near poles, where evenly spread points do not resolve them."""
    needed: dict[Ring, np.ndarray] = {}
    for block in space.blocks:
        if isinstance(block.functions, PolesBeyond):
            ring = block.functions.ring
            needed[ring] = block.functions.points(block.degree) + needed.get(ring, 0.0)
    if not needed:
        return None
    measure = {interface.pair: interface.measure for interface in problem.partition.interfaces}
    between, outer = defaultdict(list), [(np.zeros((0, 2)), np.zeros((0, 2)), np.zeros(0, int))]
    for ring, wanted in needed.items():
        length = np.linalg.norm(np.roll(ring.points, -1, axis=0) - ring.points, axis=1)
        share = points.boundary / length.sum() if ring.outside == OUTSIDE else points.interface / measure[ring.pair]
        total = np.concatenate([[0.0], np.cumsum(np.maximum(wanted - share * length, 0.0))])
        x, normal = ring.at(np.interp(np.arange(rng.uniform(), 1 + total[-1]), total, ring.t))  # one at least
        if ring.outside == OUTSIDE:
            outer.append((x, normal, np.full(len(x), ring.inside)))
        else:
            between[ring.pair].append((x, normal))
    x, normal, piece = (np.concatenate(found) for found in zip(*outer, strict=True))
    block = problem.partition.part_numbers(x, normal, piece)
    interfaces = {
        pair: (np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found]))
        for pair, found in between.items()
    }
    return Collocation(np.zeros((0, 2)), np.zeros(0, int), x, normal, piece, block, interfaces)
