"""A function on a mesh that is evaluated anywhere, from plain arrays: values at the nodes of each element.

A point is looked for in the elements of the piece it is seen from: from the one with the nearest node on, element by
element towards it. Points just beyond the piece, as those of a curved interface may be, take the polynomial of the
nearest element.
"""

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from math import factorial

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import KDTree

from jumpnet.fe.maps import Maps
from jumpnet.fe.mesh import Mesh
from jumpnet.fe.simplex import FEW, Lagrange, dubiner, dubiner_gradient, lagrange
from jumpnet.fe.small import determinant, solved

STARTS = 3  # the order of the nodes from the nearest of which a point is looked for
NEWTON = 16  # Newton steps from a point to its reference coordinates
NEW_SLOPES, KEPT_SLOPES = 2, 8  # steps with a Jacobian of their own; those up to the second keep the last
START = 0.5  # how far beyond an element that is curved the first guess may be
SETTLED = 1e-13  # a step below is the last one
WALK, STRAYING = 40, 6  # elements on the way; of those at first, which may lead away from the point
LOST, AROUND = 0.1, 40  # in elements: points farther outside than LOST are searched around the AROUND nearest nodes
INSIDE = 1e-10  # barycentric coordinates above minus this are inside
FAR = 3.0  # reference coordinates are kept within this distance of the simplex, where maps of curved elements go astray

CHUNK = 20_000  # points per batch: tables of polynomials stay in the cache
REMEMBERED = 4  # calls whose points are not looked for again: values, gradients and errors are asked for at the same

Places = Float[np.ndarray, "n d"]
Labels = Int[np.ndarray, " n"]


@dataclass(frozen=True, eq=False)
class Located:
    """Elements of points, their reference coordinates, and how far outside they are, in elements (0 inside)."""

    element: Labels
    xi: Places
    outside: Float[np.ndarray, " n"]


@dataclass(frozen=True, eq=False)
class Locator:
    """Finds points in a mesh."""

    mesh: Mesh

    @cached_property
    def _trees(self) -> dict[int, tuple[KDTree, np.ndarray]]:
        """For each piece some points of its elements, moved a little towards the middle, and whose they are."""
        some = lagrange(self.mesh.dim, min(self.mesh.order, STARTS))
        inner = 0.1 / (self.mesh.dim + 1) + 0.9 * some.barycentric
        x = self.mesh.points(inner[:, 1:])
        found = {}
        for piece in np.unique(self.mesh.piece).tolist():
            mine = np.flatnonzero(self.mesh.piece == piece)
            found[piece] = KDTree(x[mine].reshape(-1, self.mesh.dim)), np.repeat(mine, x.shape[1])
        return found

    @cached_property
    def _affine(self) -> tuple[np.ndarray, np.ndarray]:
        """The first vertex of each element, and the inverse of the affine map through its vertices."""
        corners = self.mesh.vertices[self.mesh.elements]
        return corners[:, 0], self.mesh.affine_inverse

    @cached_property
    def maps(self) -> Maps:
        """The maps of curved elements."""
        return Maps(self.mesh)

    @cached_property
    def _known(self) -> OrderedDict[tuple[int, bytes, bytes], Located]:
        return OrderedDict()

    def __call__(self, x: Places, piece: Labels) -> Located:
        """Where points are, seen from pieces."""
        key = (len(x), _digest(x), _digest(piece))
        if key not in self._known:
            self._known[key] = self._found(x, piece)
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return self._known[key]

    def _found(self, x: Places, piece: Labels) -> Located:
        element = np.empty(len(x), int)
        for label in np.unique(piece).tolist():
            mine = np.flatnonzero(piece == label)
            tree, owner = self._trees[label]
            element[mine] = owner[tree.query(x[mine])[1]]
        found = self._walked(x, element, self.mesh.neighbours)
        self._across(x, piece, found)
        lost = np.flatnonzero(found.outside > LOST)
        if len(lost):
            self._looked_around(x, piece, found, lost)
        return found

    def _across(self, x: Places, piece: Labels, found: Located) -> None:
        """Points that are in no element on their way, looked for through other pieces.

        The nearest node may be on the wrong side of a layer that is thinner than its elements. The way from there leads
        to the element at the point, which is in the point's piece, or a neighbour is if a wall is missed by rounding.
        """
        out = np.flatnonzero(found.outside > INSIDE)
        if not len(out):
            return
        mesh = self.mesh
        there = self._walked(x[out], found.element[out].copy(), mesh.adjacent).element
        length = found.outside[out] * mesh.size[found.element[out]]
        for element in (there, *mesh.adjacent[there].T):
            ours = np.flatnonzero((element >= 0) & (mesh.piece[element] == piece[out]))
            xi = self._inverse(x[out[ours]], element[ours])
            away = _outside(xi) * mesh.size[element[ours]]
            nearer = away < length[ours]
            ours, xi = ours[nearer], xi[nearer]
            at, length[ours] = out[ours], away[nearer]
            found.element[at], found.xi[at], found.outside[at] = element[ours], xi, _outside(xi)

    def _looked_around(self, x: Places, piece: Labels, found: Located, lost: Labels) -> None:
        """The best of several elements around points that were not found: in thin curved ones a walk may go astray."""
        for label in np.unique(piece[lost]).tolist():
            mine = lost[piece[lost] == label]
            tree, owner = self._trees[label]
            near = owner[tree.query(x[mine], k=min(AROUND, len(owner)))[1]].reshape(len(mine), -1)
            for element in near.T:
                if not np.any(found.outside[mine] > LOST):
                    break
                xi = self._inverse(x[mine], element)
                outside = _outside(xi)
                better = outside < found.outside[mine]
                at = mine[better]
                found.element[at], found.xi[at], found.outside[at] = element[better], xi[better], outside[better]

    def _walked(self, x: Places, element: Labels, neighbours: Int[np.ndarray, "m corners"]) -> Located:
        """From element to neighbour, always across the face that the point lies beyond the most."""
        xi = self._inverse(x, element)
        outside = _outside(xi)
        best = Located(element.copy(), xi.copy(), outside.copy())
        going = np.flatnonzero(outside > INSIDE)
        for walked in range(WALK):
            if not len(going):
                break
            bary = np.concatenate([1.0 - xi[going].sum(axis=1, keepdims=True), xi[going]], axis=1)
            bary = np.where(neighbours[element[going]] < 0, np.inf, bary)
            face = np.argmin(bary, axis=1)
            onward = bary[np.arange(len(going)), face] < -INSIDE
            going, face = going[onward], face[onward]
            element[going] = neighbours[element[going], face]
            xi[going] = self._inverse(x[going], element[going])
            outside[going] = _outside(xi[going])
            nearer = outside[going] < best.outside[going]
            better = going[nearer]
            best.element[better], best.xi[better], best.outside[better] = (
                element[better], xi[better], outside[better],
            )  # fmt: skip
            # Points beyond a curved wall go to and fro between elements: no farther once they come no nearer.
            going = going[(outside[going] > INSIDE) & (nearer | (walked < STRAYING))]
        return best

    def _inverse(self, x: Places, element: Labels) -> Places:
        """Reference coordinates of points in elements: straight ones at once, others by Newton's method."""
        d = self.mesh.dim
        first, inverse = self._affine
        xi = np.einsum("nij,nj->ni", inverse[element], x - first[element])
        xi = np.clip(xi, -FAR, 1.0 + FAR)
        todo = np.flatnonzero(~self.mesh.straight[element])
        if not len(todo):
            return xi
        xi[todo] = np.clip(xi[todo], -START, 1.0 + START)
        J = np.empty((len(todo), d, d))
        for step in range(NEWTON):
            if step < NEW_SLOPES or step >= KEPT_SLOPES:  # gradients take five times as long as values
                J = self.maps.jacobian(xi[todo], element[todo])
            move = solved(J, x[todo] - self.maps.value(xi[todo], element[todo]))
            xi[todo] = np.clip(xi[todo] + move, -FAR, 1.0 + FAR)
            going = np.abs(move).max(axis=1) > SETTLED
            todo, J = todo[going], J[going]
            if not len(todo):
                break
        return xi


def _digest(array: np.ndarray) -> bytes:
    return blake2b(np.ascontiguousarray(array).data, digest_size=16).digest()


def _outside(xi: Places) -> Float[np.ndarray, " n"]:
    return np.maximum(0.0, -np.minimum(xi.min(axis=1), 1.0 - xi.sum(axis=1)))


@dataclass(frozen=True, eq=False)
class Field:
    """Values at the nodes of elements, as a function of a point and the piece it is seen from."""

    mesh: Mesh
    order: int
    values: Float[np.ndarray, "m nodes"]

    @property
    def basis(self) -> Lagrange:
        """The polynomials of an element."""
        return lagrange(self.mesh.dim, self.order)

    @cached_property
    def locate(self) -> Locator:
        """Finds points in the mesh."""
        return Locator(self.mesh)

    def highest(self) -> float:
        """The root mean square of the modes of the highest degree, about what an order less would lack."""
        modes = self.basis.modes(self.values)[:, self.basis.degrees == self.order]
        size = np.abs(determinant(self.mesh.jacobians(np.full((1, self.mesh.dim), 1 / (self.mesh.dim + 1)))))[:, 0]
        # Modes are orthonormal on the reference simplex, of volume 1/d!.
        return float(np.sqrt(factorial(self.mesh.dim) * np.sum(size[:, None] * modes**2) / np.sum(size)))

    def value(self, x: Places, piece: Labels) -> Float[np.ndarray, " n"]:
        """The values."""
        return self.value_at(self.locate(x, piece))

    def gradient(self, x: Places, piece: Labels) -> Places:
        """The gradients."""
        return self.gradient_at(self.locate(x, piece))

    def value_at(self, at: Located) -> Float[np.ndarray, " n"]:
        """The values at points that have been found."""
        if len(at.xi) <= FEW:
            return np.einsum("nk,nk->n", self.basis.value(at.xi), self.values[at.element])
        found = np.empty(len(at.xi))
        for start in range(0, len(found), CHUNK):
            part = slice(start, start + CHUNK)
            polynomials = dubiner(self.mesh.dim, self.order, at.xi[part])
            found[part] = np.einsum("nk,nk->n", polynomials, self._modes[at.element[part]])
        return found

    @cached_property
    def _modes(self) -> Float[np.ndarray, "m polynomials"]:
        return self.basis.modes(self.values)

    def gradient_at(self, at: Located) -> Places:
        """The gradients at points that have been found."""
        if len(at.xi) > CHUNK:
            parts = [slice(start, start + CHUNK) for start in range(0, len(at.xi), CHUNK)]
            return np.concatenate([self.gradient_at(Located(at.element[p], at.xi[p], at.outside[p])) for p in parts])
        mesh = self.mesh
        if len(at.xi) <= FEW:
            slope = np.einsum("nkj,nk->nj", self.basis.gradient(at.xi), self.values[at.element])
            J = np.einsum("nkj,nki->nij", mesh.basis.gradient(at.xi), mesh.nodes[at.element])
            return solved(np.swapaxes(J, 1, 2), slope)
        modes = self._modes[at.element]
        polynomials = (dubiner_gradient(mesh.dim, self.order, at.xi, axis) for axis in range(mesh.dim))
        slope = np.stack([np.einsum("nk,nk->n", table, modes) for table in polynomials], axis=1)
        found = np.matmul(slope[:, None], mesh.affine_inverse[at.element])[:, 0]
        bent = np.flatnonzero(~mesh.straight[at.element])
        if len(bent):
            J = self.locate.maps.jacobian(at.xi[bent], at.element[bent])
            found[bent] = solved(np.swapaxes(J, 1, 2), slope[bent])
        return found
