"""Integration points of a mesh as they lie in its elements, where fields are evaluated without looking for them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from jumpnet.fe.field import Field
from jumpnet.fe.mesh import Mesh, on_faces
from jumpnet.fe.simplex import face_points, gauss
from jumpnet.fe.small import determinant, solved


@dataclass(frozen=True, eq=False)
class ElementPoints:
    """The same q reference points in m elements, with weights, and unit normals where they lie on faces.

    Points, weights and normals are those of a region, flattened: (m q, ...).
    """

    mesh: Mesh
    element: Int[np.ndarray, " m"]
    xi: Float[np.ndarray, "q d"]
    x: Float[np.ndarray, "n d"]
    weights: Float[np.ndarray, " n"]
    normals: Float[np.ndarray, "n d"]

    @property
    def piece(self) -> Int[np.ndarray, " n"]:
        """The piece of each point."""
        return np.repeat(self.mesh.piece[self.element], len(self.xi))

    def value(self, field: Field) -> Float[np.ndarray, " n"]:
        """A field of the same mesh at the points."""
        return (field.values[self.element] @ field.basis.value(self.xi).T).ravel()

    def gradient(self, field: Field) -> Float[np.ndarray, "n d"]:
        """Its gradient."""
        slope = np.matmul(field.basis.gradient(self.xi).transpose(0, 2, 1), field.values[self.element].T[None])
        J = self.mesh.jacobians(self.xi, self.element)  # m, q, d, d
        d = self.mesh.dim
        return solved(np.swapaxes(J, 2, 3).reshape(-1, d, d), slope.transpose(2, 0, 1).reshape(-1, d))


def in_piece(mesh: Mesh, piece: int, count: int) -> ElementPoints:
    """Gauss points of the elements of a piece, `count` in each direction; without normals (nan)."""
    element = np.flatnonzero(mesh.piece == piece)
    xi, w = gauss(mesh.dim, count)
    x = mesh.points(xi, element).reshape(-1, mesh.dim)
    weights = (w * np.abs(determinant(mesh.jacobians(xi, element)))).ravel()
    return ElementPoints(mesh, element, xi, x, weights, np.full(x.shape, np.nan))


def on_interface(mesh: Mesh, pair: tuple[int, int], count: int) -> Iterator[ElementPoints]:
    """Gauss points on the side of the first piece of an interface; normals point from the second to the first."""
    faces = mesh.interfaces
    inner = ~_across(mesh)
    for side in (0, 1):
        own, other = faces.element[:, side], faces.element[:, 1 - side]
        mine = inner & (mesh.piece[own] == pair[0]) & (mesh.piece[other] == pair[1])
        if mine.any():
            yield from _faces(mesh, own[mine], faces.local[mine, side], count, -1.0)


def on_boundary(mesh: Mesh, count: int, piece: int) -> Iterator[ElementPoints]:
    """Gauss points of the outer boundary of a piece, periodic sides included; normals point outward."""
    faces, across = mesh.boundary, _across(mesh)
    element = np.concatenate([faces.element[:, 0], *(mesh.interfaces.element[across, side] for side in (0, 1))])
    local = np.concatenate([faces.local[:, 0], *(mesh.interfaces.local[across, side] for side in (0, 1))])
    mine = mesh.piece[element] == piece
    yield from _faces(mesh, element[mine], local[mine], count, 1.0)


def _across(mesh: Mesh) -> Bool[np.ndarray, " faces"]:
    """Which faces of `mesh.interfaces` are two sides of a periodic box: their vertices are not the same ones."""
    faces, d = mesh.interfaces, mesh.dim
    sides = []
    for side in (0, 1):
        kept = np.array([[j for j in range(d + 1) if j != k] for k in range(d + 1)])[faces.local[:, side]]
        sides.append(np.sort(np.take_along_axis(mesh.elements[faces.element[:, side]], kept, axis=1), axis=1))
    return np.any(sides[0] != sides[1], axis=1)


def _faces(mesh: Mesh, element: np.ndarray, local: np.ndarray, count: int, sign: float) -> Iterator[ElementPoints]:
    """Points of faces, those with the same local number together."""
    for k in np.unique(local).tolist():
        mine = element[local == k]
        found = on_faces(mesh, mine, np.full(len(mine), k), count)
        d = mesh.dim
        yield ElementPoints(
            mesh,
            mine,
            face_points(d, k, count)[0],
            found.x.reshape(-1, d),
            found.weight.ravel(),
            sign * found.normal.reshape(-1, d),
        )


def subdivided(parts: int) -> tuple[Float[np.ndarray, "n d"], Int[np.ndarray, "k corners"]]:
    """A triangle cut into parts^2: reference points on an even grid, and the small triangles."""
    points = [(i, j) for i in range(parts + 1) for j in range(parts + 1 - i)]
    number = {place: k for k, place in enumerate(points)}
    cells = [(number[i, j], number[i + 1, j], number[i, j + 1]) for i, j in points if i + j < parts]
    cells += [(number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]) for i, j in points if i + j < parts - 1]
    return np.array(points) / parts, np.array(cells)
