"""Bessel functions that oscillate, for pieces with constant A and lam < 0 in the plane: J_n about the piece, Y_n about
holes (Fourier-Bessel expansions).

Solutions of div(A grad u) = lam u are waves of length 2 pi sqrt(A/|lam|). Polynomials need several degrees for each
wave across the piece; these functions solve the equation exactly.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from jumpnet.engines.trefftz.enrichments.bessel import (
    FASTEST,
    MOST_ORDERS,
    SLOWEST,
    constant_lam,
    radial_blocks,
    rate_of,
)
from jumpnet.engines.trefftz.trial_space import BasisBlock, TrialSpace
from jumpnet.models.families.waves import Waves
from jumpnet.problem import Problem
from jumpnet.rows import ConditionKey

# Orders beyond the rate in the first space: below the rate no expansion resolves the waves (heuristic).
BEYOND_RATE = 6


@dataclass(frozen=True)
class WaveFunctions:
    """The functions of one rate, up to any order that can be represented."""

    rate: float
    pole: bool
    name: ClassVar[str] = "Bessel functions"
    solves: ClassVar[bool] = True
    own_points: ClassVar[bool] = False

    def degree(self, wanted: int) -> int:
        """The wanted order, or the highest that can be represented."""
        return min(wanted, MOST_ORDERS + int(self.rate))

    def family(self, degree: int) -> Waves:
        """The functions up to an order."""
        return Waves(degree, self.rate, self.pole)


@dataclass(frozen=True)
class FourierBessel:
    """J_n and Y_n for pieces with constant lam < 0, in the first space."""

    once: bool = True

    def begin(self, problem: Problem, space: TrialSpace) -> Sequence[BasisBlock]:
        """The functions of every piece that waves cross more than once."""
        return list(wave_blocks(problem))

    def propose(self, problem: Problem, space: TrialSpace, marked: Sequence[ConditionKey]) -> Sequence[BasisBlock]:
        """None: the first space has them."""
        return ()


def wave_blocks(problem: Problem) -> Iterator[BasisBlock]:
    """The functions of every piece whose equation they solve and whose waves are short."""
    for piece in range(problem.partition.size) if problem.dim == 2 else ():
        lam = constant_lam(problem, piece)
        if lam is not None and lam < 0 and SLOWEST[2] <= rate_of(problem, piece, lam) <= FASTEST:
            yield from radial_blocks(problem, piece, lam, WaveFunctions, lambda rate: int(rate) + BEYOND_RATE)
