"""Quantities of a solution: fluxes through surfaces, means, energies, and flux balances.

Every number is an integral with the error of its quadrature. How well the fluxes of each piece balance its sources is a
check of the solution that needs no exact one: it is a consequence of the equations that no row of the solve asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from jumpnet.errors import SolutionError
from jumpnet.fe.features import PieceFields
from jumpnet.fe.simplex import gauss
from jumpnet.fe.small import determinant
from jumpnet.fields import is_zero
from jumpnet.geometry import Partition
from jumpnet.geometry.quadrature.integrals import outer_pieces
from jumpnet.geometry.quadrature.rules import NOTHING, Integral
from jumpnet.problem import Problem
from jumpnet.problem.steps import FINITE, why_infinite
from jumpnet.solution.places import Density, Places, places_of
from jumpnet.solution.representation import Representation
from jumpnet.solution.solution import Solution

Pair = tuple[int, int]

# A balance fails if more than this part of the flux is lost (heuristic).
MOST_LOST = 1e-2
# Fluxes below this part of that driven by the size of u across a piece count as rounding.
ROUNDING = 1e-8
# No number is known better than this part of itself: an integral adds hundreds of products (heuristic).
ROUNDING_OF_NUMBERS = 16 * float(np.finfo(float).eps)
SAMPLE = 200  # points at which the size of u is taken


def with_rounding(value: float, error: float) -> float:
    """The error of a number, at least what rounding does to it; nan where it is not known."""
    return float(np.maximum(error, ROUNDING_OF_NUMBERS * abs(value)))


@dataclass(frozen=True)
class Balance:
    """The flux out of a piece (or of the domain) against what its sources ask for; the two are equal for the solution.

    `outflow` is the integral of A grad u . n over the boundary, n outward; `source` that of f + lam u inside, point
    sources included, and, for the domain, of the flux jumps w. `rounding` is a flux that counts as zero.
    """

    name: str
    outflow: Integral
    source: Integral
    rounding: float = 0.0

    @property
    def defect(self) -> float:
        """|outflow - source| relative to the integrals of the absolute values; 0 where there is neither."""
        difference, size = abs(self.outflow.value - self.source.value), self.outflow.size + self.source.size
        return difference / size if size > 0.0 else difference

    @property
    def fails(self) -> bool:
        """Whether more is lost than a hundredth of the flux, than the quadrature may be off, and than rounding."""
        difference, size = abs(self.outflow.value - self.source.value), self.outflow.size + self.source.size
        return not difference <= max(MOST_LOST * size, self.outflow.error + self.source.error, self.rounding)

    def __str__(self) -> str:
        return (
            f"{self.name}: outflow {self.outflow.value:.6g}, sources {self.source.value:.6g}, off by {self.defect:.1e}"
        )


def net_flux(solution: Solution, over: tuple[int | str, int | str] | str) -> Integral:
    """The integral of A grad u . n over an interface (a, b) or a part of the boundary.

    On an interface n points to a and the flux is taken on the side of a; on the boundary n points outward. Of finite
    elements, whose gradients are less accurate than their values, the flux is g - alpha u where a condition gives it.
    """
    parts = _partition(solution)
    if isinstance(over, str):
        name = parts.part_name(over)
        _finite(solution, f"flux through {over!r}", name)
        given = _given_flux(solution, name) if solution.representation.elements is not None else None
        return _through_boundary(solution, over, given)
    a, b = (parts.piece_number(one) for one in over)
    _finite(solution, f"flux from {parts.names[b]!r} to {parts.names[a]!r}", parts.interface_pair((a, b)))
    return places_of(solution).on_interface((a, b), _normal_flux)


def integral(solution: Solution, piece: int | str | None = None) -> Integral:
    """The integral of u over a piece or the domain."""
    return _inside(solution, piece, lambda at: at.without_sources()) + _of_sources(solution, piece)


def _of_sources(solution: Solution, piece: int | str | None) -> Integral:
    """The integral of the fields of point sources over a piece or the domain."""
    parts, u = _partition(solution), solution.representation
    wanted = range(parts.size) if piece is None else [parts.piece_number(piece)]
    found = NOTHING
    for source in u.supplement.singular if parts.dim > 1 else ():
        if source.piece in wanted:
            factor = u.factors[source.piece] if u.factors else 1.0
            found = found + source.integral(parts).scaled(factor)
    return found


def mean(solution: Solution, piece: int | str | None = None) -> Integral:
    """The mean of u over a piece or the domain."""
    volume = _inside(solution, piece, lambda at: np.ones(len(at.x))).value
    about = integral(solution, piece).value / volume
    # What is sampled has an uncertain volume too; the deviation from a first guess suffers less from it.
    deviation = _inside(solution, piece, lambda at: at.without_sources() - about) + _of_sources(solution, piece)
    return Integral(about, 0.0, abs(about)) + deviation.scaled(1.0 / volume)


def mean_over(solution: Solution, pieces: Sequence[int]) -> Integral:
    """The mean of u over several pieces together, weighted by their volumes as the same rules have them."""
    means = [mean(solution, piece) for piece in pieces]
    volumes = [_inside(solution, piece, lambda at: np.ones(len(at.x))) for piece in pieces]
    whole = sum(volume.value for volume in volumes)
    found = sum((one.scaled(volume.value / whole) for one, volume in zip(means, volumes, strict=True)), NOTHING)
    unsure = sum(abs(one.value - found.value) * v.error / whole for one, v in zip(means, volumes, strict=True))
    return found + Integral(0.0, unsure, 0.0)


def energy(solution: Solution, piece: int | str | None = None) -> Integral:
    """The integral of (grad u . A grad u + lam u^2)/2 over a piece or the domain."""
    problem, parts = _problem(solution), _partition(solution)
    _finite(solution, "energy", piece=None if piece is None else parts.piece_number(piece))

    def density(at: Places) -> np.ndarray:
        gradient, lam = at.gradient(), problem.lam[at.piece].value(at.x)
        doubled = np.einsum("ni,nij,nj->n", gradient, problem.A[at.piece].value(at.x), gradient)
        return 0.5 * (doubled + lam * at.u() ** 2 if lam.any() else doubled)

    return _inside(solution, piece, density)


def _finite(solution: Solution, what: str, wall: Pair | str | None = None, piece: int | None = None) -> None:
    """SolutionError where a flux or an energy is infinite."""
    if solution.problem is not None and (why := why_infinite(solution.problem, wall, piece)):
        raise SolutionError(f"the {what} is infinite: {why}; {FINITE}.")


def means(solution: Solution) -> tuple[np.ndarray, np.ndarray]:
    """The means of the gradient and of the flux over the domain, (d,) each.

    Where u jumps, its gradient has a part on the interface, which counts.
    """
    parts, places = _partition(solution), places_of(solution)
    volume = _inside(solution, None, lambda at: np.ones(len(at.x))).value
    gradient, flux = np.zeros(solution.dim), np.zeros(solution.dim)
    for k in range(solution.dim):
        flux[k] = _inside(solution, None, lambda at, k=k: at.flux()[:, k]).value / volume
        pieces = outer_pieces(parts)
        outer = (places.on_boundary(None, piece, lambda at, k=k: at.u() * at.normals[:, k]) for piece in pieces)
        gradient[k] = sum(outer, NOTHING).value / volume  # by Gauss's theorem, jumps included
    return gradient, flux


def variation(solution: Solution) -> tuple[float, float]:
    """The root mean square of u over the domain: of its deviation from its mean, and of u itself."""
    elements = solution.representation.elements
    if elements is not None and not solution.representation.supplement.singular:
        values, weights = _of_elements(solution.representation, elements)
        middle = float(np.sum(weights * values) / np.sum(weights))
        square = float(np.sum(weights * (values - middle) ** 2) / np.sum(weights))
        return float(np.sqrt(square)), float(np.sqrt(square + middle**2))
    middle, volume = mean(solution).value, _inside(solution, None, lambda at: np.ones(len(at.x))).value
    square = _inside(solution, None, lambda at: (at.u() - middle) ** 2).value / volume
    return float(np.sqrt(square)), float(np.sqrt(square + middle**2))


def _of_elements(u: Representation, elements: PieceFields) -> tuple[np.ndarray, np.ndarray]:
    """Values and weights at Gauss points of all elements, (m, q) each."""
    field, piece = elements.field, elements.field.mesh.piece
    xi, w = gauss(field.mesh.dim, field.order + 1)
    factor = np.array(u.factors)[piece][:, None] if u.factors else 1.0
    values = (u.scale * elements.factor[piece])[:, None] * (field.values @ field.basis.value(xi).T)
    return factor * (values + u.supplement.constant), w * np.abs(determinant(field.mesh.jacobians(xi)))


def added_energy(
    solution: Solution,
    value: Callable[[np.ndarray, int], np.ndarray],
    gradient: Callable[[np.ndarray, int], np.ndarray],
    piece: int | None = None,
) -> float:
    """How much larger the energy is of u plus a function, given by its value and gradient at points of a piece."""
    problem = _problem(solution)

    def density(at: Places) -> np.ndarray:
        more, lam = gradient(at.x, at.piece), problem.lam[at.piece].value(at.x)
        added = np.einsum("ni,nij,nj->n", more, problem.A[at.piece].value(at.x), at.gradient() + 0.5 * more)
        if not lam.any():
            return added
        e = value(at.x, at.piece)
        return added + lam * e * (at.u() + 0.5 * e)

    return _inside(solution, piece, density).value


def balances(solution: Solution) -> tuple[Balance, ...]:
    """The balance of each piece, and of the domain as a whole."""
    problem, parts = _problem(solution), _partition(solution)
    rounding = _rounding(solution, problem)
    pieces = [
        Balance(parts.names[p], _outflow(solution, p), _source(solution, problem, p), rounding[p])
        for p in range(parts.size)
    ]
    if parts.size == 1:
        return tuple(pieces)
    outflow = _through_boundary(solution, None)
    source = sum((balance.source for balance in pieces), NOTHING)
    for interface in parts.interfaces:
        pair = interface.pair
        films = places_of(solution).on_interface(
            pair, lambda at, pair=pair: problem.jump_data(pair, at.x, at.normals)[1]
        )
        source = source + films
    return (*pieces, Balance("domain", outflow, source, max(rounding)))


def _rounding(solution: Solution, problem: Problem) -> list[float]:
    """For each piece a small part of the flux that a change of u by its own size, across the piece, would drive."""
    parts = problem.partition
    x, piece = parts.sample_interior(SAMPLE, seed=0)
    size = float(np.abs(solution(x, piece)).max(initial=0.0))
    found = []
    for p in range(parts.size):
        mine = x[piece == p]
        conducts = float(np.abs(problem.A[p].value(mine)).max()) if len(mine) else 0.0
        found.append(ROUNDING * conducts * size * parts.measure(p) ** (1 - 2 / parts.dim))
    return found


def _outflow(solution: Solution, piece: int) -> Integral:
    """The flux out of a piece, seen from inside."""
    parts, places = _partition(solution), places_of(solution)
    outflow = places.on_boundary(None, piece, _normal_flux)
    for interface in parts.interfaces:
        if piece in interface.pair:  # the normal points to the piece named first
            other = interface.pair[1] if piece == interface.pair[0] else interface.pair[0]
            outflow = outflow + places.on_interface((piece, other), _normal_flux).scaled(-1.0)
    return outflow


def _source(solution: Solution, problem: Problem, piece: int) -> Integral:
    """The integral of f + lam u over a piece; nothing is evaluated where they are zero."""
    f, lam = problem.f[piece], problem.lam[piece]
    strength = [-source.q for source in problem.sources if source.piece == piece]
    points = Integral(float(sum(strength)), 0.0, float(sum(map(abs, strength))))
    without_f, without_lam = is_zero(f), is_zero(lam)
    if without_f and without_lam:
        return points

    def density(at: Places) -> np.ndarray:
        return f.value(at.x) if without_lam else f.value(at.x) + lam.value(at.x) * at.u()

    return places_of(solution).in_piece(piece, density) + points


def _through_boundary(solution: Solution, part: str | None, flux: Density | None = None) -> Integral:
    """The flux through the outer boundary or a part of it, piece by piece: it may jump where they meet."""
    pieces = outer_pieces(_partition(solution))
    places = places_of(solution)
    return sum((places.on_boundary(part, piece, flux or _normal_flux) for piece in pieces), NOTHING)


def _given_flux(solution: Solution, part: str) -> Density | None:
    """g - alpha u on a part with a Neumann or Robin condition; None elsewhere."""
    problem = solution.problem
    if problem is None or problem.boundary[part].kind not in ("neumann", "robin"):
        return None

    def density(at: Places) -> np.ndarray:
        kind, alpha, g = problem.boundary_data(part, at.x, at.normals, np.full(len(at.x), at.piece))
        return g - alpha * at.u() if kind == "robin" else g

    return density


def _normal_flux(at: Places) -> np.ndarray:
    """A grad u . n."""
    return np.sum(at.flux() * at.normals, axis=1)


def _inside(solution: Solution, piece: int | str | None, density: Density) -> Integral:
    """The integral of a density over a piece or all of them."""
    parts, places = _partition(solution), places_of(solution)
    pieces = range(parts.size) if piece is None else (parts.piece_number(piece),)
    return sum((places.in_piece(p, density) for p in pieces), NOTHING)


def _partition(solution: Solution) -> Partition:
    return solution.statement.known_partition


def _problem(solution: Solution) -> Problem:
    if solution.problem is None:
        raise SolutionError(
            "the equations of this solution are not known here; give the problem back: solution.with_problem(problem)."
        )
    return solution.problem
