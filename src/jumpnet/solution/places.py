"""Where integrals of a solution are taken: on rules of the geometry, or of the mesh that the solution lives on.

Finite elements know their own integration points: nothing has to be found there, neither the end of a piece nor the
element of a point.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from jumpnet.fe.features import PieceFields
from jumpnet.fe.integration import ElementPoints, in_piece, on_boundary, on_interface
from jumpnet.fe.voxel import VoxelField
from jumpnet.geometry.quadrature.integrals import over_boundary, over_interface, over_piece
from jumpnet.geometry.quadrature.rules import NOTHING, Integral, total
from jumpnet.problem import Supplement
from jumpnet.problem.changes import changes
from jumpnet.problem.resolution import survey
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
        elements = self.solution.representation.elements
        if self.known is None or elements is None:
            return self.solution(self.x, self.piece)
        values = self.solution.representation.scale * elements.factor[self.piece] * self.known.value(elements.field)
        return self._factor * (values + self._added(1.0, np.zeros(self.solution.dim)))

    def without_sources(self) -> Float[np.ndarray, " n"]:
        """The values without the fields of point sources, which no rule integrates well; on the line with them."""
        singular = self.solution.representation.supplement.singular
        if not singular or self.solution.dim == 1:
            return self.u()
        cell = np.full(len(self.x), self.piece)
        return self.u() - self._factor * Supplement(0.0, singular).functional(self.x, cell, 1.0, 0.0)

    def gradient(self) -> Float[np.ndarray, "n d"]:
        """The gradients."""
        elements = self.solution.representation.elements
        if self.known is None or elements is None:
            return self.solution.grad(self.x, self.piece)
        slope = self.solution.representation.scale * elements.factor[self.piece] * self.known.gradient(elements.field)
        if self.solution.representation.supplement.singular:
            slope = slope + np.stack([self._added(0.0, e) for e in np.eye(self.solution.dim)], axis=1)
        return self._factor * slope

    def flux(self) -> Float[np.ndarray, "n d"]:
        """A grad u."""
        A = self.solution.statement.tensor(self.piece).value(self.x)
        return np.einsum("nij,nj->ni", A, self.gradient())

    @property
    def _factor(self) -> float:
        """The partition coefficient that multiplies what was solved for."""
        return self.solution.representation.factors[self.piece] if self.solution.representation.factors else 1.0

    def _added(self, a0: float, a1: np.ndarray) -> Float[np.ndarray, " n"]:
        return self.solution.representation.supplement.functional(self.x, np.full(len(self.x), self.piece), a0, a1)


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
    elements = solution.representation.elements
    if solution.representation.voxels is not None:
        return OfVoxels(solution, solution.representation.voxels)
    return OfGeometry(solution) if elements is None else OfMesh(solution, elements)


@dataclass(frozen=True, eq=False)
class OfGeometry(Integrals):
    """By the rules of the partition."""

    solution: Solution

    def in_piece(self, piece: int, density: Density) -> Integral:
        return over_piece(self.solution.statement.known_partition, piece)(self._of(piece, density))

    def on_interface(self, pair: Pair, density: Density) -> Integral:
        rules = over_interface(self.solution.statement.known_partition, (min(pair), max(pair)))
        return total(rules, self._of(pair[0], density, 1.0 if pair[0] < pair[1] else -1.0))

    def on_boundary(self, part: str | None, piece: int, density: Density) -> Integral:
        kinks, fine = self._known(part)
        rules = over_boundary(self.solution.statement.known_partition, part, piece, kinks, fine)
        return total(rules, self._of(piece, density))

    def _known(self, part: str | None) -> tuple[np.ndarray, np.ndarray] | tuple[None, None]:
        """Where data on the boundary of the plane are not smooth, and where they change fast."""
        problem = self.solution.problem
        if problem is None or problem.dim != 2:
            return None, None
        kinks = [corner.place for corner in changes(problem)]
        numbers = range(len(names := problem.partition.boundary_parts))
        chosen = numbers if part is None else [names.index(problem.partition.part_name(part))]
        found = survey(problem).boundary
        fine = [np.zeros((0, 2)), *(found[k].x.reshape(-1, 2) for k in chosen if k in found)]
        return np.reshape(kinks, (-1, 2)), np.concatenate(fine)

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
        partition, mesh = self.solution.statement.known_partition, self.elements.field.mesh
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


@dataclass(frozen=True, eq=False)
class VoxelPlaces(Places):
    """The centres of voxels or of their faces, with what finite volumes know there."""

    values: Float[np.ndarray, " n"] = field(default_factory=lambda: np.zeros(0))
    slopes: Float[np.ndarray, "n d"] = field(default_factory=lambda: np.zeros((0, 3)))

    def u(self) -> Float[np.ndarray, " n"]:
        return self._factor * (self.solution.representation.scale * self.values + self._added(1.0, np.zeros(3)))

    def gradient(self) -> Float[np.ndarray, "n d"]:
        return self._factor * self.solution.representation.scale * self.slopes


@dataclass(frozen=True, eq=False)
class OfVoxels(Integrals):
    """By one point for each voxel or face: fluxes are those that balance; errors of that are not known (0)."""

    solution: Solution
    voxels: VoxelField

    def in_piece(self, piece: int, density: Density) -> Integral:
        own = self.voxels
        mine = np.flatnonzero(own.pieces.ravel() == piece)
        x = own.centers()[mine]
        slopes = own.gradient(x, np.full(len(x), piece))
        at = VoxelPlaces(self.solution, piece, x, np.full(x.shape, np.nan), None, own.values.ravel()[mine], slopes)
        return self._summed(density(at), float(np.prod(own.size)))

    def on_interface(self, pair: Pair, density: Density) -> Integral:
        found = NOTHING
        for axis in range(3):
            labels = np.moveaxis(self.voxels.pieces, axis, 0)
            for here in (0, 1):  # whether the first piece, to which the normal points, is the lower or the upper voxel
                mine, other = (labels[:-1], labels[1:]) if here == 0 else (labels[1:], labels[:-1])
                index = np.argwhere((mine == pair[0]) & (other == pair[1]))
                index[:, 0] += here
                found = found + self._on_faces(pair[0], axis, index, 1 - here, 2.0 * here - 1.0, density)
        return found

    def on_boundary(self, part: str | None, piece: int, density: Density) -> Integral:
        partition, found = self.solution.statement.known_partition, NOTHING
        chosen = None if part is None else partition.boundary_parts.index(partition.part_name(part))
        for axis in range(3):
            labels = np.moveaxis(self.voxels.pieces, axis, 0)
            for side, at in ((0, 0), (1, len(labels) - 1)):
                index = np.insert(np.argwhere(labels[at] == piece), 0, at, axis=1)
                found = found + self._on_faces(piece, axis, index, side, 2.0 * side - 1.0, density, chosen)
        return found

    def _on_faces(
        self,
        piece: int,
        axis: int,
        index: np.ndarray,
        side: int,
        sign: float,
        density: Density,
        part: int | None = None,
    ) -> Integral:
        """Over the lower or upper faces of voxels of a piece (numbered along the axis first), or those of a part."""
        cell = np.insert(index[:, 1:], axis, index[:, 0], axis=1)
        x, values, slopes = self.voxels.on_face(cell, axis, side)
        normals = np.zeros_like(x)
        normals[:, axis] = sign
        if part is not None:
            mine = self.solution.statement.known_partition.part_numbers(x, normals, np.full(len(x), piece)) == part
            x, values, slopes, normals = x[mine], values[mine], slopes[mine], normals[mine]
        if not len(x):
            return NOTHING
        at = VoxelPlaces(self.solution, piece, x, normals, None, values, slopes)
        return self._summed(density(at), float(np.prod(self.voxels.size) / self.voxels.size[axis]))

    def _summed(self, values: np.ndarray, weight: float) -> Integral:
        return Integral(float(values.sum() * weight), 0.0, float(np.abs(values).sum() * weight))


def _summed(at: ElementPoints, values: Float[np.ndarray, " n"]) -> Integral:
    return Integral(float(at.weights @ values), 0.0, float(at.weights @ np.abs(values)))
