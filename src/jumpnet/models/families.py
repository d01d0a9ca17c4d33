"""Families of functions of a chart's coordinates, for models whose features are fixed and only weights are sought.

Each family evaluates, for all its functions at once, the functional a0 f + a1 . grad f + a2 : hess f at sites: a
matrix (sites, functions). Plain NumPy: a direct solve takes milliseconds, compiling for it would take seconds.
"""

from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from jumpnet.errors import SolutionError
from jumpnet.models.bessel import Bessel
from jumpnet.models.checked import LARGEST, from_fields
from jumpnet.models.complexes import complex_functional
from jumpnet.models.poles import Poles
from jumpnet.models.polynomials import Combination, Legendre, Matrix
from jumpnet.models.solid import Solid
from jumpnet.models.spherical_bessel import SphericalBessel
from jumpnet.models.wedges import BranchCutPotential, Wedge
from jumpnet.rows import Sites


class Family(Protocol):
    """A finite family of functions of given coordinates."""

    @property
    def inputs(self) -> int: ...

    @property
    def size(self) -> int: ...

    def functionals(self, sites: Sites) -> Matrix: ...


@dataclass(frozen=True)
class Powers:
    """Re and Im of z^n, n = 1..degree, z the complex number of two coordinates: harmonic functions of the plane.

    `constant` adds 1, `logarithm` adds log |z|: a pole with a net flux.
    """

    degree: int
    constant: bool = False
    logarithm: bool = False

    @property
    def inputs(self) -> int:
        """The number of coordinates."""
        return 2

    @property
    def size(self) -> int:
        """The number of functions."""
        return 2 * self.degree + self.constant + self.logarithm

    def functionals(self, sites: Sites) -> Matrix:
        """The functional of every site, function by function."""
        z, a0, b1, b2 = complex_functional(sites)
        n = np.arange(1, self.degree + 1)
        powers = np.cumprod(np.broadcast_to(z, (len(z), self.degree)), axis=1)
        ones = np.ones_like(z)
        first = n * np.concatenate([ones, powers[:, :-1]], axis=1)[:, : self.degree]
        total = a0 * powers + b1 * first
        if sites.order == 2 and b2.any():
            second = np.concatenate([0 * ones, ones, powers[:, :-2]], axis=1)[:, : self.degree]
            total += b2 * (n * (n - 1)) * second
        columns: list[np.ndarray] = [total.real, total.imag]
        if self.constant:
            columns.append(a0)
        if self.logarithm:
            columns.append(a0 * np.log(np.abs(z)) + (b1 / z - b2 / z**2).real)
        return np.concatenate(columns, axis=1)


@dataclass(frozen=True)
class Products:
    """Re and Im of z^n times Legendre polynomials, and log |z| times them, of total degree at most `degree`.

    Coordinates are (y1, y2) of the piece, for the polynomials, and (z1, z2) about a hole. Solutions of equations with
    varying coefficients have this form near a hole: poles and a logarithm with smooth factors.
    """

    degree: int

    @property
    def inputs(self) -> int:
        """The number of coordinates."""
        return 4

    @property
    def size(self) -> int:
        """The number of functions."""
        return sum(2 * self._smooth(self.degree - n) for n in range(1, self.degree + 1)) + self._smooth(self.degree - 1)

    @staticmethod
    def _smooth(degree: int) -> int:
        return (degree + 1) * (degree + 2) // 2

    def functionals(self, sites: Sites) -> Matrix:
        """The functional of every site, function by function."""
        x, a0, a1, a2 = (np.asarray(part) for part in (sites.x, sites.a0, sites.a1, sites.a2))
        y, z = x[:, :2], (x[:, 2] + 1j * x[:, 3])[:, None]
        n, cell, none = len(x), np.asarray(sites.cell), np.zeros((len(x), 2, 2))
        smooth = Legendre(2, self.degree)
        g = smooth.functionals(Sites(y, cell, np.ones(n), np.zeros((n, 2)), none))
        slopes = [smooth.functionals(Sites(y, cell, np.zeros(n), np.tile(e, (n, 1)), none)) for e in np.eye(2)]
        of_g = smooth.functionals(Sites(y, cell, a0, a1[:, :2], a2[:, :2, :2]))
        # The functional of F(z) g(y) is F of_g + F' once + F'' twice, F being complex-differentiable.
        c = a2[:, 2, :2] + 1j * a2[:, 3, :2]
        once = (a1[:, 2] + 1j * a1[:, 3])[:, None] * g + 2 * (c[:, :1] * slopes[0] + c[:, 1:] * slopes[1])
        twice = (a2[:, 2, 2] - a2[:, 3, 3] + 2j * a2[:, 2, 3])[:, None] * g
        columns, power = [], np.ones_like(z)  # power: z^(k - 2), from k = 2 on
        for k in range(1, self.degree + 1):
            low = slice(self._smooth(self.degree - k))
            if k == 1:
                total = z * of_g[:, low] + once[:, low]
            else:
                part = z * z * of_g[:, low] + k * z * once[:, low] + k * (k - 1) * twice[:, low]
                total = power * part
                power = power * z
            columns += [np.real(total), np.imag(total)]
        low = slice(self._smooth(self.degree - 1))
        log = np.log(np.abs(z)) * of_g[:, low] + np.real(once[:, low] / z - twice[:, low] / z**2)
        return np.concatenate([*columns, log], axis=1)


@dataclass(frozen=True)
class Ridges:
    """tanh(w . y + b) for random w of size `scale` and planes through the box: a frozen random layer, and 1."""

    inputs: int
    neurons: int
    scale: float = 0.5
    seed: int = 0

    @property
    def size(self) -> int:
        """The number of functions."""
        return self.neurons + 1

    def functionals(self, sites: Sites) -> Matrix:
        """The functional of every site, function by function."""
        y, a0, a1, a2 = (np.asarray(part) for part in (sites.x, sites.a0, sites.a1, sites.a2))
        rng = np.random.default_rng([self.seed, self.inputs, self.neurons])
        w = rng.uniform(-self.scale, self.scale, (self.inputs, self.neurons))
        b = -np.sum(w * rng.uniform(-1, 1, w.shape), axis=0)
        t = np.tanh(y @ w + b)
        slope = 1 - t * t
        total = a0[:, None] * t + (a1 @ w) * slope
        if a2.any():
            total -= 2 * t * slope * np.einsum("nij,ik,jk->nk", a2, w, w, optimize=True)
        return np.concatenate([total, a0[:, None]], axis=1)


FAMILIES = {
    "legendre": Legendre,
    "combination": Combination,
    "powers": Powers,
    "bessel": Bessel,
    "spherical-bessel": SphericalBessel,
    "poles": Poles,
    "wedge": Wedge,
    "crack": BranchCutPotential,
    "products": Products,
    "solid": Solid,
    "ridges": Ridges,
}


def family_spec(family: Any) -> dict[str, Any]:
    """The family as JSON."""
    name = next((name for name, kind in FAMILIES.items() if isinstance(family, kind)), None)
    if name is None:
        raise SolutionError(
            "a solution by unfitted finite elements cannot be stored; solve again, or keep its values at points."
        )
    return {"family": name, **asdict(family)}


def family_from_spec(spec: dict[str, Any]) -> Family:
    """The family read back from JSON."""
    kind = FAMILIES.get(spec.get("family", ""))
    if kind is None:
        raise SolutionError(
            f"the file names functions {spec.get('family')!r}, which this version of jumpnet does not know; "
            "upgrade jumpnet."
        )
    family = from_fields(kind, spec)
    if family.size > LARGEST:
        raise SolutionError(
            f"the file asks for more than {LARGEST} functions in one family ({family}); it is damaged or forged."
        )
    return family
