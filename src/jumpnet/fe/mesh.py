"""Meshes as plain arrays: curved triangles or tetrahedra, each in one piece, and the faces where pieces end.

An element is a polynomial map of the reference simplex, given at the nodes of Lagrange polynomials. The vertices of an
element stand in rising order, so edges and faces are seen in the same order from all elements around them; an element
may therefore be mirrored. Refinements cut elements in their reference simplex: the geometry stays the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, permutations
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from jumpnet.errors import GeometryError
from jumpnet.fe.simplex import Lagrange, face_points, gauss, lagrange, lattice
from jumpnet.fe.small import determinant, inverse, solved

STRAIGHT = 1e-13  # relative to its size: elements with smaller deviations are straight
# Relative to its largest value: how far a determinant may fall below zero at a vertex (it is zero at cusps).
FOLDED = 1e-3
MOST_BENT = 0.8  # of the elements: where more are curved, all are treated as curved


@dataclass(frozen=True, eq=False)
class Faces:
    """Faces where pieces end: elements and their local faces on the first and the second side; -1 outside.

    The first side is that of the lower piece. On periodic sides of a box the second element lies across the box.
    """

    element: Int[np.ndarray, "faces 2"]
    local: Int[np.ndarray, "faces 2"]

    def __getitem__(self, chosen: np.ndarray) -> "Faces":
        return Faces(self.element[chosen], self.local[chosen])

    def __len__(self) -> int:
        return len(self.element)


@dataclass(frozen=True, eq=False)
class Origin:
    """Where the elements of a mesh come from: elements of another mesh, and their corners' barycentric coordinates."""

    mesh: "Mesh"
    element: Int[np.ndarray, " m"]
    corners: Float[np.ndarray, "m corners corners"]

    def values(self, values: Float[np.ndarray, "k nodes"], order: int, xi: Float[np.ndarray, "q d"]) -> np.ndarray:
        """A function on the other mesh at reference points of the elements, (m, q)."""
        basis = lagrange(xi.shape[1], order)
        own = np.concatenate([1.0 - xi.sum(axis=1, keepdims=True), xi], axis=1)
        found = np.empty((len(self.element), len(xi)))
        for one, mine in _alike(self.corners):
            found[mine] = values[self.element[mine]] @ basis.value((own @ one)[:, 1:]).T
        return found


@dataclass(frozen=True, eq=False)
class Mesh:
    """Curved simplices: vertex numbers, pieces, and the nodes of their maps.

    `same` numbers vertices such that those that periodic sides identify have the same number; vertices of an element
    rise in it.
    """

    elements: Int[np.ndarray, "m corners"]
    piece: Int[np.ndarray, " m"]
    nodes: Float[np.ndarray, "m nodes d"]
    order: int
    same: Int[np.ndarray, " vertices"]
    origin: Origin | None = None

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return self.nodes.shape[2]

    def __len__(self) -> int:
        return len(self.elements)

    @property
    def basis(self) -> Lagrange:
        """The polynomials of the maps."""
        return lagrange(self.dim, self.order)

    @cached_property
    def vertices(self) -> Float[np.ndarray, "vertices d"]:
        """The coordinates of the vertices."""
        x = np.full((len(self.same), self.dim), np.nan)
        for k in range(self.dim + 1):
            corner = tuple(self.order if j == k else 0 for j in range(self.dim + 1))
            x[self.elements[:, k]] = self.nodes[:, self.basis.position[corner]]
        return x

    @cached_property
    def size(self) -> Float[np.ndarray, " m"]:
        """The longest edge of each element."""
        corners = self.vertices[self.elements]
        pairs = combinations(range(self.dim + 1), 2)
        return np.max([np.linalg.norm(corners[:, a] - corners[:, b], axis=1) for a, b in pairs], axis=0)

    @cached_property
    def straight(self) -> Bool[np.ndarray, " m"]:
        """Which elements are affine images of the reference simplex."""
        corners = self.vertices[self.elements]
        off = np.abs(self.nodes - np.einsum("kc,mcd->mkd", self.basis.barycentric, corners)).max(axis=(1, 2))
        return off <= STRAIGHT * (self.size + 0.1 * np.abs(self.nodes).max())

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """A cache for quantities derived from this mesh, by the keys of those who compute them."""
        return {}

    # --- maps ---------------------------------------------------------------------------------------------------

    def points(self, xi: Float[np.ndarray, "q d"], elements: np.ndarray | slice = slice(None)) -> np.ndarray:
        """The images of reference points in elements, (m, q, d)."""
        bent = self._bent(elements)
        if bent is None:
            return np.matmul(self.basis.value(xi), self.nodes[elements])
        corners = self.vertices[self.elements[elements]]
        found = np.matmul(np.concatenate([1.0 - xi.sum(axis=1, keepdims=True), xi], axis=1), corners)
        if len(bent):
            found[bent] = np.matmul(self.basis.value(xi), self.nodes[elements][bent])
        return found

    def jacobians(self, xi: Float[np.ndarray, "q d"], elements: np.ndarray | slice = slice(None)) -> np.ndarray:
        """dx_i/dxi_j of the maps at reference points, (m, q, d, d)."""
        bent = self._bent(elements)
        if bent is None:
            return self._bent_jacobians(xi, self.nodes[elements])
        corners = self.vertices[self.elements[elements]]
        found = np.empty((len(corners), len(xi), self.dim, self.dim))
        found[:] = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)[:, None]
        if len(bent):
            found[bent] = self._bent_jacobians(xi, self.nodes[elements][bent])
        return found

    def _bent(self, elements: np.ndarray | slice) -> Int[np.ndarray, " k"] | None:
        """Indices of the curved ones among some elements; None if most are, and all are treated as curved."""
        bent = np.flatnonzero(~self.straight[elements])
        return bent if len(bent) <= MOST_BENT * len(self.elements[elements]) else None

    def _bent_jacobians(self, xi: Float[np.ndarray, "q d"], nodes: Float[np.ndarray, "m nodes d"]) -> np.ndarray:
        slope = np.ascontiguousarray(self.basis.gradient(xi).transpose(2, 0, 1))
        return np.matmul(slope, nodes[:, None]).transpose(0, 2, 3, 1)

    def gradients(
        self,
        slope: Float[np.ndarray, "m q d"],
        xi: Float[np.ndarray, "q d"],
        elements: np.ndarray | slice = slice(None),
    ) -> Float[np.ndarray, "m q d"]:
        """Gradients of functions from their derivatives at reference points, J^-T times those."""
        bent = self._bent(elements)
        if bent is None:
            return solved(np.swapaxes(self.jacobians(xi, elements), 2, 3), slope)
        found = np.matmul(slope, self.affine_inverse[elements])
        if len(bent):
            J = self._bent_jacobians(xi, self.nodes[elements][bent])
            found[bent] = solved(np.swapaxes(J, 2, 3), slope[bent])
        return found

    @cached_property
    def affine_inverse(self) -> Float[np.ndarray, "m d d"]:
        """The inverse derivatives of the affine maps to the elements' vertices."""
        corners = self.vertices[self.elements]
        return inverse(np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2))

    @cached_property
    def sound(self) -> bool:
        """Whether no element folds: no determinant changes its sign within an element."""
        return not len(self.folded)

    @cached_property
    def folded(self) -> Int[np.ndarray, " k"]:
        """The elements that fold."""
        det = determinant(self.jacobians(gauss(self.dim, self.order + 1)[0]))
        found = np.asarray((det > 0).all(axis=1) == (det < 0).all(axis=1))
        if self.dim == 2:
            bent = np.flatnonzero(~self.straight & ~found)
            at_ends = determinant(self.jacobians(lattice(self.dim, self.order), bent)) * np.sign(det[bent, :1])
            found[bent] = at_ends.min(axis=1) <= -FOLDED * np.abs(det[bent]).max(axis=1)
        return np.flatnonzero(found)

    # --- faces --------------------------------------------------------------------------------------------------

    @cached_property
    def _sides(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The vertex numbers of every face of every element (m (d+1), d), and the elements and local faces."""
        d = self.dim
        corners = np.stack([np.delete(self.elements, k, axis=1) for k in range(d + 1)], axis=1)
        element, local = np.divmod(np.arange(len(self) * (d + 1)), d + 1)
        return corners.reshape(-1, d), element, local

    @cached_property
    def neighbours(self) -> Int[np.ndarray, "m corners"]:
        """The element of the same piece across each face, -1 if there is none."""
        found = self.adjacent
        return np.where((found >= 0) & (self.piece[found] == self.piece[:, None]), found, -1)

    @cached_property
    def adjacent(self) -> Int[np.ndarray, "m corners"]:
        """The element of any piece across each face, -1 outside; periodic sides are ends."""
        found = np.full((len(self), self.dim + 1), -1)
        first, second = self._matched
        _, element, local = self._sides
        found[element[first], local[first]] = element[second]
        found[element[second], local[second]] = element[first]
        return found

    @cached_property
    def _matched(self) -> tuple[np.ndarray, np.ndarray]:
        """Sides (rows of `_sides`) that are the same face, in pairs."""
        return _pairs(self._sides[0])

    @cached_property
    def interfaces(self) -> Faces:
        """Faces between two pieces, and periodic ones."""
        first, second = self._matched
        _, element, local = self._sides
        apart = self.piece[element[first]] != self.piece[element[second]]
        lone = np.setdiff1d(np.arange(len(element)), np.concatenate([first, second]))
        if np.array_equal(self.same, np.arange(len(self.same))):
            across = (lone[:0], lone[:0])
        else:
            a, b = _pairs(self.same[self._sides[0][lone]])
            across = (lone[a], lone[b])
        first, second = np.concatenate([first[apart], across[0]]), np.concatenate([second[apart], across[1]])
        low = self.piece[element[first]] <= self.piece[element[second]]
        first, second = np.where(low, first, second), np.where(low, second, first)
        return Faces(np.stack([element[first], element[second]], 1), np.stack([local[first], local[second]], 1))

    @cached_property
    def boundary(self) -> Faces:
        """Faces of the outer boundary but for periodic ones."""
        _, element, local = self._sides
        taken = np.concatenate(self._matched)
        lone = np.setdiff1d(np.arange(len(element)), taken)
        if not np.array_equal(self.same, np.arange(len(self.same))):
            lone = np.delete(lone, np.concatenate(_pairs(self.same[self._sides[0][lone]])))
        none = np.full(len(lone), -1)
        return Faces(np.stack([element[lone], none], axis=1), np.stack([local[lone], none], axis=1))

    # --- what refinements make ----------------------------------------------------------------------------------

    def as_origin(self) -> "Mesh":
        """The same mesh as the origin of refined ones, whose elements refer to those of this one."""
        corners = np.tile(np.eye(self.dim + 1), (len(self), 1, 1))
        return replace(self, origin=Origin(self, np.arange(len(self)), corners))

    def prolonged(self, values: Float[np.ndarray, "k nodes"], order: int) -> Float[np.ndarray, "m nodes"]:
        """A function on the mesh that this one was made of, as values at the nodes of these elements."""
        assert self.origin is not None
        return self.origin.values(values, order, lagrange(self.dim, order).barycentric[:, 1:])

    def parts(self, parent: np.ndarray, share: np.ndarray, ids: np.ndarray, same: np.ndarray) -> "Mesh":
        """Parts of elements: corners as barycentric coordinates (k, d+1, d+1) in their parents, and vertex numbers."""
        order = np.argsort(same[ids], axis=1, kind="stable")
        ids, share = np.take_along_axis(ids, order, 1), np.take_along_axis(share, order[:, :, None], 1)
        nodes = np.empty((len(parent), *self.nodes.shape[1:]))
        for one, mine in _alike(share):
            nodes[mine] = np.matmul(self.basis.value((self.basis.barycentric @ one)[:, 1:]), self.nodes[parent[mine]])
        origin = self.origin
        if origin is not None:
            corners = np.matmul(share, origin.corners[parent])
            origin = replace(origin, element=origin.element[parent], corners=corners)
        return Mesh(ids, self.piece[parent], nodes, self.order, same, origin)

    def replaced(self, gone: np.ndarray, made: "Mesh") -> "Mesh":
        """With some elements replaced by others, which come last."""
        kept = np.setdiff1d(np.arange(len(self)), gone)
        origin = None
        if self.origin is not None and made.origin is not None:
            origin = replace(
                self.origin,
                element=np.concatenate([self.origin.element[kept], made.origin.element]),
                corners=np.concatenate([self.origin.corners[kept], made.origin.corners]),
            )
        return replace(
            made,
            elements=np.concatenate([self.elements[kept], made.elements]),
            piece=np.concatenate([self.piece[kept], made.piece]),
            nodes=np.concatenate([self.nodes[kept], made.nodes]),
            origin=origin,
        )


def _alike(share: Float[np.ndarray, "k corners corners"]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The matrices that occur, and where; there are few of them."""
    flat = np.ascontiguousarray(share.reshape(len(share), -1)).view(f"V{8 * share[0].size}").ravel()
    _, first, number = np.unique(flat, return_index=True, return_inverse=True)
    order = np.argsort(number, kind="stable")
    for k, mine in zip(first, np.split(order, np.cumsum(np.bincount(number))[:-1]), strict=True):
        yield share[k], mine


def edge_keys(pairs: Int[np.ndarray, "n 2"]) -> Int[np.ndarray, " n"]:
    """One number for each pair of vertices, which are in a fixed order."""
    return pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1]


def edge_ends(keys: Int[np.ndarray, " n"]) -> Int[np.ndarray, "n 2"]:
    """The pairs of vertices that have these keys."""
    return np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1)


def _names(corners: Int[np.ndarray, "n k"]) -> Int[np.ndarray, " n"]:
    """One number for the vertices of each edge or face, in any order."""
    found, bits = np.zeros(len(corners), np.int64), 63 // corners.shape[1]
    for column in np.sort(corners, axis=1).T:
        found = found << bits | column
    return found


def _pairs(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows that are equal, two and two."""
    _, number, count = np.unique(_names(keys), return_inverse=True, return_counts=True)
    number = number.ravel()
    order = np.argsort(number, kind="stable")
    double = count[number[order]] == 2
    order = order[double]
    return order[::2], order[1::2]


def from_corners(
    elements: Int[np.ndarray, "m corners"],
    piece: Int[np.ndarray, " m"],
    nodes: Float[np.ndarray, "m nodes d"],
    order: int,
    same: Int[np.ndarray, " vertices"] | None = None,
) -> Mesh:
    """A mesh from elements whose vertices stand in any order."""
    same = np.arange(int(elements.max()) + 1) if same is None else same
    rising = np.take_along_axis(elements, np.argsort(same[elements], axis=1, kind="stable"), axis=1)
    return Mesh(rising, piece, turned(elements, same, nodes, nodes.shape[2], order), order, same)


def turned(
    elements: Int[np.ndarray, "m corners"],
    same: Int[np.ndarray, " vertices"],
    values: Float[np.ndarray, "m nodes k"],
    dim: int,
    order: int,
) -> Float[np.ndarray, "m nodes k"]:
    """Values at the nodes of elements after the vertices of each element have been sorted."""
    basis = lagrange(dim, order)
    turn = np.argsort(same[elements], axis=1, kind="stable")
    found = np.empty_like(values)
    for one in permutations(range(dim + 1)):
        mine = np.all(turn == one, axis=1)
        if mine.any():
            where = [basis.position[tuple(row)] for row in basis.index[:, np.argsort(one)].tolist()]
            found[mine] = values[mine][:, where]
    return found


@dataclass(frozen=True, eq=False)
class FacePoints:
    """Gauss points of faces as seen from one side: places, outward normals and weights; (faces, q, ...)."""

    x: Float[np.ndarray, "faces q d"]
    normal: Float[np.ndarray, "faces q d"]
    weight: Float[np.ndarray, "faces q"]


def on_faces(mesh: Mesh, element: np.ndarray, local: np.ndarray, count: int) -> FacePoints:
    """The Gauss points of faces of elements."""
    d, q = mesh.dim, count ** (mesh.dim - 1)
    x, normal, weight = np.empty((len(element), q, d)), np.empty((len(element), q, d)), np.empty((len(element), q))
    for k in range(d + 1):
        mine = np.flatnonzero(local == k)
        if not len(mine):
            continue
        xi, w = face_points(d, k, count)
        x[mine] = mesh.points(xi, element[mine])
        J = mesh.jacobians(xi, element[mine])
        inward = np.full(d, -1.0) if k == 0 else np.eye(d)[k - 1]  # the gradient of lambda_k
        det = np.abs(determinant(J))
        if not np.all(det > 0):
            raise GeometryError("elements of the mesh have no area.")
        covector = -inward @ inverse(J)  # J^-T grad lambda_k, outward
        length = np.linalg.norm(covector, axis=2)
        normal[mine] = covector / length[..., None]
        # |det J| |J^-T grad lambda_k| is what a face is stretched by.
        weight[mine] = w * det * length
    return FacePoints(x, normal, weight)
