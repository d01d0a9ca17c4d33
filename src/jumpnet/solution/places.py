"""Where integrals of a solution are taken: on rules of the geometry, or of the mesh that the solution lives on.

Finite elements know their own integration points: nothing has to be found there, neither the end of a piece nor the
element of a point.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from jumpnet.fe.features import PieceFields
from jumpnet.fe.integration import ElementPoints, in_piece, on_boundary, on_interface
from jumpnet.geometry.quadrature import over_boundary, over_interface, over_piece
from jumpnet.geometry.rules import NOTHING, Integral, total
from jumpnet.solution.solution import Solution

Pair = tuple[int, int]
# Gauss points in each direction beyond the order of the elements, and beyond that for the rule to compare with.
MORE, COMPARED = 1, 1


@dataclass(frozen=True, eq=False)
class Places:
    """Points of a rule, seen from a piece; normals are nan inside of it. Answers what the solution is there."""

    solution: Solution
    piece: int
    x: Float[np.ndarray, "n d"]
    normals: Float[np.ndarray, "n d"]
    known: ElementPoints | None = None

    def u(self) -> Float[np.ndarray, " n"]:
        """The values."""
        elements = self.solution._elements
        if self.known is None or elements is None:
            return self.solution(self.x, self.piece)
        values = self.solution.scale * elements.factor[self.piece] * self.known.value(elements.field)
        return values + self._added(1.0, np.zeros(self.solution.dim))

    def gradient(self) -> Float[np.ndarray, "n d"]:
        """The gradients."""
        elements = self.solution._elements
        if self.known is None or elements is None:
            return self.solution.grad(self.x, self.piece)
        slope = self.solution.scale * elements.factor[self.piece] * self.known.gradient(elements.field)
        if not self.solution.supplement.singular:
            return slope
        return slope + np.stack([self._added(0.0, e) for e in np.eye(self.solution.dim)], axis=1)

    def flux(self) -> Float[np.ndarray, "n d"]:
        """A grad u."""
        A = self.solution._tensor(self.piece).value(self.x)
        return np.einsum("nij,nj->ni", A, self.gradient())

    def _added(self, a0: float, a1: np.ndarray) -> Float[np.ndarray, " n"]:
        return self.solution.supplement.functional(self.x, np.full(len(self.x), self.piece), a0, a1)


Density = Callable[[Places], np.ndarray]


class Integrals(ABC):
    """Integrals of densities over pieces, interfaces and parts of the boundary, each with its error."""

    @abstractmethod
    def in_piece(self, piece: int, density: Density) -> Integral:
        """Over a piece."""

    @abstractmethod
    def on_interface(self, pair: Pair, density: Density) -> Integral:
        """Over an interface, on the side of the first piece, to which the normals point."""

    @abstractmethod
    def on_boundary(self, part: str | None, piece: int, density: Density) -> Integral:
        """Over the outer boundary of a piece, or over a part of it; normals point outward."""


def places_of(solution: Solution) -> Integrals:
    """The integrals of a solution."""
    elements = solution._elements
    return OfGeometry(solution) if elements is None else OfMesh(solution, elements)


@dataclass(frozen=True, eq=False)
class OfGeometry(Integrals):
    """By the rules of the partition."""

    solution: Solution

    def in_piece(self, piece: int, density: Density) -> Integral:
        return over_piece(self.solution._located_partition(), piece)(self._of(piece, density))

    def on_interface(self, pair: Pair, density: Density) -> Integral:
        rules = over_interface(self.solution._located_partition(), (min(pair), max(pair)))
        return total(rules, self._of(pair[0], density, 1.0 if pair[0] < pair[1] else -1.0))

    def on_boundary(self, part: str | None, piece: int, density: Density) -> Integral:
        return total(over_boundary(self.solution._located_partition(), part, piece), self._of(piece, density))

    def _of(self, piece: int, density: Density, sign: float = 1.0) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        return lambda x, normals: density(Places(self.solution, piece, x, sign * normals))


@dataclass(frozen=True, eq=False)
class OfMesh(Integrals):
    """By Gauss's rule in the elements; a rule with more points tells the error."""

    solution: Solution
    elements: PieceFields

    def in_piece(self, piece: int, density: Density) -> Integral:
        mesh = self.elements.field.mesh
        return self._compared(lambda count: [in_piece(mesh, piece, count)], piece, density)

    def on_interface(self, pair: Pair, density: Density) -> Integral:
        mesh = self.elements.field.mesh
        return self._compared(lambda count: on_interface(mesh, pair, count), pair[0], density)

    def on_boundary(self, part: str | None, piece: int, density: Density) -> Integral:
        partition, mesh = self.solution._located_partition(), self.elements.field.mesh
        chosen = None if part is None else partition.boundary_parts.index(partition.part_name(part))

        def wanted(at: Places) -> np.ndarray:
            mine = np.flatnonzero(partition.part_numbers(at.x, at.normals, np.full(len(at.x), piece)) == chosen)
            values = np.zeros(len(at.x))
            if len(mine):
                values[mine] = density(at)[mine]
            return values

        every = lambda count: (p for p in on_boundary(mesh, count, piece))  # noqa: E731
        return self._compared(every, piece, density if chosen is None else wanted)

    def _compared(self, points: Callable[[int], Iterable[ElementPoints]], piece: int, density: Density) -> Integral:
        """The integral by two rules."""
        order = self.elements.field.order
        found = []
        for count in (order + MORE + COMPARED, order + MORE):
            sums = [_summed(at, density(Places(self.solution, piece, at.x, at.normals, at))) for at in points(count)]
            found.append(sum(sums, NOTHING))
        better, other = found
        return Integral(better.value, abs(better.value - other.value), better.size)


def _summed(at: ElementPoints, values: Float[np.ndarray, " n"]) -> Integral:
    return Integral(float(at.weights @ values), 0.0, float(at.weights @ np.abs(values)))
