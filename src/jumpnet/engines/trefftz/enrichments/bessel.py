"""Modified Bessel functions for pieces with constant A and lam > 0: I_n about the piece, K_n about holes.

Solutions of div(A grad u) = lam u change over the length sqrt(A/lam). Where that is short beside the piece,
polynomials of a moderate degree cannot follow, and these functions solve the equation exactly. In space they are the
spherical ones, i_l and k_l times spherical harmonics.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jumpnet.charts import Affine, Pole, Slit
from jumpnet.charts.choice import charts_of_hole
from jumpnet.engines.trefftz.functions import Functions
from jumpnet.engines.trefftz.operator_type import own_chart
from jumpnet.engines.trefftz.trial_space import BasisBlock, TrialSpace
from jumpnet.fields.scalar import ConstantField
from jumpnet.geometry.checks import Bounds
from jumpnet.models.families import Family
from jumpnet.models.families.bessel import Bessel
from jumpnet.models.families.spherical_bessel import SphericalBessel
from jumpnet.problem import Problem
from jumpnet.rows import ConditionKey

# The functions are used if half the diagonal of a piece has at least this many decay lengths, in the plane and in
# space: with fewer, polynomials resolve the solution. In space polynomials are many more (heuristic).
SLOWEST = {2: 8.0, 3: 0.5}
# The largest rate: exp(-rate) must not underflow across a piece.
FASTEST = 500.0
# The highest order is the rate plus this: I_n and K_n of higher order overflow.
MOST_ORDERS = 60
# The highest degree in space: r^l must not underflow at the origin.
MOST_DEGREE = 30
# The degree that the loop starts with (heuristic); it grows with the residual.
FIRST_ORDERS = 6


@dataclass(frozen=True)
class BesselFunctions:
    """The functions of one rate, up to any order that can be represented."""

    rate: float
    pole: bool
    dim: int = 2
    name: ClassVar[str] = "modified Bessel functions"
    solves: ClassVar[bool] = True
    own_points: ClassVar[bool] = False

    def degree(self, wanted: int) -> int:
        """The wanted order, or the highest that can be represented."""
        return min(wanted, MOST_ORDERS + int(self.rate) if self.dim == 2 else MOST_DEGREE)

    def family(self, degree: int) -> Family:
        """The functions up to an order."""
        return (Bessel if self.dim == 2 else SphericalBessel)(degree, self.rate, self.pole)


@dataclass(frozen=True)
class ModifiedBessel:
    """I_n and K_n for pieces with constant lam > 0, in the first space."""

    once: bool = True

    def begin(self, problem: Problem, space: TrialSpace) -> Sequence[BasisBlock]:
        """The functions of every piece whose decay length is short."""
        return list(bessel_blocks(problem))

    def propose(self, problem: Problem, space: TrialSpace, marked: Sequence[ConditionKey]) -> Sequence[BasisBlock]:
        """None: the first space has them."""
        return ()


def bessel_blocks(problem: Problem) -> Iterator[BasisBlock]:
    """The functions of every piece whose equation they solve and whose decay length is short."""
    dim = problem.dim

    def functions(rate: float, pole: bool) -> BesselFunctions:
        return BesselFunctions(rate, pole, dim)

    for piece in range(problem.partition.size) if dim in SLOWEST else ():
        lam = constant_lam(problem, piece)
        if lam is not None and lam > 0 and SLOWEST[dim] <= rate_of(problem, piece, lam) <= FASTEST:
            yield from radial_blocks(problem, piece, lam, functions, lambda rate: FIRST_ORDERS)


def constant_lam(problem: Problem, piece: int) -> float | None:
    """lam of a piece with constant coefficients; None where A or lam varies."""
    lam = problem.lam[piece]
    if not (problem.A[piece].is_constant and isinstance(lam, ConstantField)):
        return None
    return float(lam.value(np.zeros((1, problem.dim)))[0])


def rate_of(problem: Problem, piece: int, lam: float) -> float:
    """Half the diagonal of a piece in units of sqrt(A/|lam|), the length over which solutions change."""
    own = own_chart(problem, piece, piece, _bounds(problem, piece))
    return _rate(problem, own, lam)


def radial_blocks(
    problem: Problem,
    piece: int,
    lam: float,
    functions: Callable[[float, bool], Functions],
    first: Callable[[float], int],
) -> Iterator[BasisBlock]:
    """Regular functions about the middle of a piece, and singular ones about its holes, of a first order each.

    `functions` makes both from their rate in the chart's coordinates and whether they are singular at its centre.
    """
    parts = problem.partition
    own = own_chart(problem, piece, piece, _bounds(problem, piece))
    rate = _rate(problem, own, lam)
    yield BasisBlock(piece, piece, own, functions(rate, False), first(rate))
    for hole in parts.holes(piece):
        for chart in charts_of_hole(parts, piece, hole, lambda p, x: problem.A[p].value(x)):
            assert isinstance(chart, Slit | Pole)
            radius = chart.axes_sum / 2 if isinstance(chart, Slit) else chart.radius
            about = Affine((piece,), chart.center, chart.transform, radius)
            rate = _rate(problem, about, lam)
            yield BasisBlock(piece, piece, about, functions(rate, True), first(rate), hole.pieces)


def _bounds(problem: Problem, piece: int) -> Bounds:
    lower, upper = (np.asarray(end, float) for end in problem.partition.piece_bounds(piece))
    return lower, upper


def _rate(problem: Problem, chart: Affine, lam: float) -> float:
    """sqrt(|lam|) in a chart's coordinates, in which A is a multiple of the identity."""
    A = problem.A[chart.cells[0]].value(np.asarray(chart.center)[None])[0]
    multiple = np.trace(chart.transform @ A @ chart.transform.T) / len(A)
    return float(chart.radius * np.sqrt(abs(lam) / multiple))
