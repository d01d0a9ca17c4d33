"""The functions of basis blocks: sets of increasing size, one class for each kind.

Kinds that an enrichment proposes stand in its file.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

from jumpnet.models.families import Family
from jumpnet.models.families.harmonic import Powers
from jumpnet.models.families.polynomials import Combination, Legendre
from jumpnet.models.families.products import Products
from jumpnet.models.families.ridges import Ridges
from jumpnet.models.families.solid import Solid


class Functions(Protocol):
    """Functions of a chart's coordinates up to a degree, which for some kinds is their number."""

    name: ClassVar[str]
    """The kind, as reports name it."""
    solves: ClassVar[bool]
    """Whether they solve the piece's equation without its source."""
    own_points: ClassVar[bool]
    """Whether the walls near their singular points have collocation points for them."""

    @property
    def pole(self) -> bool:
        """Whether they are singular at points outside their cell."""
        ...

    def degree(self, wanted: int) -> int:
        """The smallest degree there is from the wanted one on, or the largest."""
        ...

    def family(self, degree: int) -> Family:
        """The functions up to a degree that there is."""
        ...


class OfAnyDegree:
    """Functions that there are of every degree."""

    own_points: ClassVar[bool] = False

    def degree(self, wanted: int) -> int:
        """The wanted one."""
        return wanted


@dataclass(frozen=True)
class HarmonicFunctions(OfAnyDegree):
    """Harmonic functions of the plane or of space: growing ones, or decaying ones about a pole."""

    dim: int
    pole: bool = False
    name: ClassVar[str] = "harmonic functions"
    solves: ClassVar[bool] = True

    def family(self, degree: int) -> Family:
        """Powers in the plane, solid harmonics in space."""
        if self.dim == 2:
            return Powers(degree, constant=not self.pole, logarithm=self.pole)
        return Solid(degree, exterior=self.pole)


@dataclass(frozen=True)
class LegendrePolynomials(OfAnyDegree):
    """Polynomials, of the piece's own coordinates or of those about a pole."""

    dim: int
    pole: bool = False
    name: ClassVar[str] = "polynomials"
    solves: ClassVar[bool] = False

    def family(self, degree: int) -> Family:
        """The polynomials; about a pole without the constant."""
        return Legendre(self.dim, degree, constant=not self.pole)


@dataclass(frozen=True)
class PolesTimesPolynomials(OfAnyDegree):
    """Poles and a logarithm about a hole of the plane, with polynomials as factors."""

    pole: bool = True
    name: ClassVar[str] = "poles times polynomials"
    solves: ClassVar[bool] = False

    def family(self, degree: int) -> Products:
        """The products up to a total degree."""
        return Products(degree)


@dataclass(frozen=True)
class RandomRidges(OfAnyDegree):
    """Random ridge functions whose weights have size `scale`; the degree is their number."""

    dim: int
    scale: float
    seed: int
    pole: bool = False
    name: ClassVar[str] = "random features"
    solves: ClassVar[bool] = False

    def family(self, degree: int) -> Ridges:
        """As many ridge functions as the degree."""
        return Ridges(self.dim, degree, self.scale, seed=self.seed)


@dataclass(frozen=True)
class ParticularSolution:
    """One polynomial, which solves the equation of a piece with its source."""

    polynomial: Combination
    pole: bool = False
    name: ClassVar[str] = "particular solutions"
    solves: ClassVar[bool] = False
    own_points: ClassVar[bool] = False

    def degree(self, wanted: int) -> int:
        """That of the polynomial."""
        return self.polynomial.degree

    def family(self, degree: int) -> Combination:
        """The polynomial."""
        return self.polynomial
