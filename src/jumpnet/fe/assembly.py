"""The equations of continuous elements with data at Gauss points, and their solution.

For all test functions t, which are continuous within each piece,

    sum over pieces of  int A grad e . grad t + lam e t                                   (Volume)
      + int over interfaces of  s [e] [t]  + int over the boundary of  alpha e t          (Contact, Outer)
    = sum over pieces of  int r t + F . grad t
      + int over interfaces of  l_a t_a + l_b t_b  + int over the boundary of  l t.

s is the inverse of a contact resistance; where there is none it is a large number, as alpha is on Dirichlet parts. That
keeps a solution from its limit by the ratio of such a number to A/h (see `PENALTY`), relative to its size.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from jaxtyping import Bool, Float, Int
from scipy.sparse.linalg import splu

from jumpnet.errors import SolutionError
from jumpnet.fe.field import Located
from jumpnet.fe.iterative import Hierarchy, hierarchy, iterated
from jumpnet.fe.mesh import Faces, on_faces
from jumpnet.fe.ngsolve import ngsolve
from jumpnet.fe.simplex import face_points, gauss
from jumpnet.fe.small import determinant, inverse, solved
from jumpnet.fe.space import Space

# The penalty in units of A over the size of an element. Its inverse is the relative error of the penalty, which answers
# are corrected for; its product with 1e-16 and the condition number of the rest of the matrix is the relative rounding
# error. Three fins of k = 200 in air (h = 0.01): 4e-5 with 1e5, 1.5e-6 (the error of the elements) with 1e4.
PENALTY = 1e4
CONSTANT = 1e-14  # coefficients with a smaller relative variation are constant
CHUNK = 4_000_000  # numbers in the matrices of as many elements as are made at once
# Unknowns from which NGSolve's factors take less time than SuperLU's, its import (0.2 s) aside: with 20,000 they take
# 0.05 s instead of 0.07, with 80,000 0.3 instead of 0.5.
LARGE = 20_000
DIRECT = 6_000  # unknowns in space beyond which iterations take less time than sparse factors
# The relative residual at which iterations without later corrections end. The relative error of values is about 300
# times as large, as penalties dominate the norm of the preconditioner.
EXACT = 1e-11
TABLE = 4_000_000  # numbers in a table of products of basis functions


@dataclass(frozen=True, eq=False)
class Volume:
    """A, lam, r and F at the Gauss points of elements; F may be missing."""

    A: Float[np.ndarray, "m q d d"]
    lam: Float[np.ndarray, "m q"]
    load: Float[np.ndarray, "m q"]
    flux: Float[np.ndarray, "m q d"] | None = None


@dataclass(frozen=True, eq=False)
class Contact:
    """s and the loads of both sides at the Gauss points of interfaces; and vectors F of loads F . grad t, if any."""

    stiffness: Float[np.ndarray, "faces q"]
    first: Float[np.ndarray, "faces q"]
    second: Float[np.ndarray, "faces q"]
    along: tuple[Float[np.ndarray, "faces q d"], Float[np.ndarray, "faces q d"]] | None = None


@dataclass(frozen=True, eq=False)
class Outer:
    """alpha and the load at the Gauss points of the boundary; and vectors F of a load F . grad t, if any."""

    alpha: Float[np.ndarray, "faces q"]
    load: Float[np.ndarray, "faces q"]
    along: Float[np.ndarray, "faces q d"] | None = None


@dataclass(frozen=True, eq=False)
class Inner:
    """What is eliminated element by element: unknowns inside elements, by those on their boundaries (condensation).

    With the blocks K_ii and K_ib of an element: `inverse` is that of K_ii, `coupling` K_ii^-1 K_ib.
    """

    dofs: Int[np.ndarray, "m inner"]
    others: Int[np.ndarray, "m outer"]
    inverse: Float[np.ndarray, "m inner inner"]
    coupling: Float[np.ndarray, "m inner outer"]


@dataclass(frozen=True, eq=False)
class System:
    """Symmetric equations: the matrix of the unknowns that elements share, a load, the integral of each basis function.

    Unknowns inside elements come last, and are not in the matrix.
    """

    matrix: Any
    load: Float[np.ndarray, " n"]
    mass: Float[np.ndarray, " n"]
    inner: tuple[Inner, ...]
    dim: int
    levels: Hierarchy | None = None
    """For iterations, where the matrix is positive definite and large."""
    tie: float = 0.0
    """What was added to the first entry of the matrix: the equations are those without it."""
    held: Float[np.ndarray, " n"] | None = None
    """The matrix times a constant, which only transfer at the boundary holds; None where more does, or nothing."""

    def solve(self, load: Float[np.ndarray, " n"], accuracy: float = EXACT) -> Float[np.ndarray, " n"]:
        """The unknowns for a load; where they are iterated, up to a part of the load (`accuracy`)."""
        count = self.matrix.shape[0]
        found = np.empty_like(load)
        found[:count] = self._factor(self._shared(load), accuracy)
        for one in self.inner:
            own = np.einsum("mij,mj->mi", one.inverse, load[one.dofs])
            found[one.dofs] = own - np.einsum("mik,mk->mi", one.coupling, found[one.others])
        if self.held is not None:
            # What is lost of the whole load by rounding, of penalties above all, drives a constant: under a weak
            # transfer (a fin in air) it was 5e-6 of the variation of u.
            found += (load.sum() - self.held @ found) / self.held.sum()
        if not np.isfinite(found).all():
            raise SolutionError("the equations of the finite elements are singular.")
        return found

    def _shared(self, load: Float[np.ndarray, " n"]) -> Float[np.ndarray, " shared"]:
        """The load of the unknowns that elements share, without those inside elements."""
        right = load[: self.matrix.shape[0]].copy()
        for one in self.inner:
            np.subtract.at(right, one.others, np.einsum("mik,mi->mk", one.coupling, load[one.dofs]))
        return right

    def left(self, load: Float[np.ndarray, " n"], found: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """The residual: the load minus the matrix times the unknowns; zero where factors leave nothing but rounding.

        Under a weak transfer rounding matters: penalties of 1e4 A times values of u, and not their differences, drive
        heat that has to leave through it. What the matrix makes of a constant is known, and the rest is smaller.
        """
        rest, count = np.zeros_like(load), self.matrix.shape[0]
        if self.levels is not None:
            rest[:count] = self._shared(load) - self.matrix @ found[:count]
            rest[0] += self.tie * found[0]
        elif self.held is not None:
            constant = float(np.mean(found[:count]))
            rest[:count] = self._shared(load - constant * self.held) - self.matrix @ (found[:count] - constant)
        return rest

    @cached_property
    def _factor(self) -> Callable[[np.ndarray, float], np.ndarray]:
        """The inverse of the matrix, which may be indefinite, by sparse factors without pivoting.

        SuperLU's take less time to set up, NGSolve's less for large systems and in space; the largest are iterated.
        """
        if self.levels is not None:
            return iterated(self.matrix, self.levels, _cholesky)
        small = self.dim == 2 and self.matrix.shape[0] < LARGE
        solve = _superlu(self.matrix) if small else _cholesky(self.matrix)
        return lambda right, accuracy: solve(right)

    def tied(self) -> "System":
        """With one value tied to zero by as much as it is stiff: for equations that leave a constant free."""
        tie = float(self.matrix[0, 0])
        stiff = sp.coo_matrix(([tie], ([0], [0])), shape=self.matrix.shape)
        return replace(self, matrix=(self.matrix + stiff).tocsr(), tie=tie)


def assembled(space: Space, count: int, volume: Volume, contact: Contact, outer: Outer) -> System:
    """The equations; `count` Gauss points in each direction are where the data are given."""
    load, mass = surface_load(space, count, contact, outer), np.zeros(space.size)
    entries, inner = [], []
    for dofs, matrix in _volume(space, count, volume, load, mass):
        dofs, matrix, eliminated = _condensed(space, dofs, matrix, floating=not volume.lam.any())
        entries.append(_entries(dofs, matrix))
        inner += eliminated
    entries += [*_contact(space, count, contact), *_outer(space, count, outer)]
    rows, columns, values = (np.concatenate([part[k] for part in entries]) for k in range(3))
    shared = space.size - sum(one.dofs.size for one in inner)
    matrix = sp.coo_matrix((values, (rows, columns)), shape=(shared, shared)).tocsr()
    levels = None
    if space.mesh.dim == 3 and shared > DIRECT and volume.lam.min() >= 0:
        levels = hierarchy(space, shared, _coincident(space))
    return System(matrix, load, mass, tuple(inner), space.mesh.dim, levels, held=_held(space, count, volume, outer))


def _held(space: Space, count: int, volume: Volume, outer: Outer) -> Float[np.ndarray, " n"] | None:
    """The integrals of alpha times each basis function, unless lam acts too or there is no alpha."""
    faces = space.mesh.boundary
    if not len(faces) or volume.lam.any() or not outer.alpha.any() or outer.alpha.min() < 0:
        return None
    weight = on_faces(space.mesh, faces.element[:, 0], faces.local[:, 0], count).weight
    dofs, values = _traces(space, faces, 0, count)
    each = np.einsum("fq,fqk->fk", weight * outer.alpha, values)
    return np.bincount(dofs.ravel(), each.ravel(), space.size)


def _coincident(space: Space) -> Int[np.ndarray, "k 2"]:
    """Pairs of unknowns at the same place, on both sides of interfaces and of periodic boxes."""
    faces, basis = space.mesh.interfaces, space.basis
    on = []
    for k in range(space.mesh.dim + 1):  # in the same order as seen from all sides
        mine = basis.on_face(k)
        on.append(mine[np.lexsort(np.delete(basis.index[mine], k, axis=1).T)])
    on = np.array(on)
    first, second = (
        np.take_along_axis(space.dofs[faces.element[:, side]], on[faces.local[:, side]], axis=1) for side in (0, 1)
    )
    return np.stack([first.ravel(), second.ravel()], axis=1)


def _entries(dofs: np.ndarray, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, columns and values of element matrices."""
    n, short = dofs.shape[1], dofs.astype(np.int32)
    return np.repeat(short, n, axis=1).ravel(), np.tile(short, (1, n)).ravel(), matrix.ravel()


def _condensed(
    space: Space, dofs: np.ndarray, matrix: np.ndarray, floating: bool
) -> tuple[np.ndarray, np.ndarray, list[Inner]]:
    """Element matrices without the unknowns inside elements; `floating` ones are zero for constants, also rounded."""
    inside = (space.basis.index > 0).all(axis=1)
    if not inside.any():
        return dofs, matrix, []
    i, b = np.flatnonzero(inside), np.flatnonzero(~inside)
    try:
        inverse = np.linalg.inv(matrix[:, i[:, None], i])
    except np.linalg.LinAlgError:
        raise SolutionError("the equations of the finite elements are singular.") from None
    across = matrix[:, i[:, None], b]
    coupling = np.matmul(inverse, across)
    rest = matrix[:, b[:, None], b] - np.matmul(across.transpose(0, 2, 1), coupling)
    if floating:
        diagonal = np.arange(len(b))
        rest[:, diagonal, diagonal] -= rest.sum(axis=2)
    return dofs[:, b], rest, [Inner(dofs[:, i], dofs[:, b], inverse, coupling)]


def surface_load(space: Space, count: int, contact: Contact, outer: Outer) -> Float[np.ndarray, " unknowns"]:
    """The loads on interfaces and on the boundary."""
    mesh, load = space.mesh, np.zeros(space.size)
    for faces, sides, along in (
        (mesh.interfaces, (contact.first, contact.second), contact.along or (None, None)),
        (mesh.boundary, (outer.load,), (outer.along,)),
    ):
        if not len(faces):
            continue
        weight = on_faces(mesh, faces.element[:, 0], faces.local[:, 0], count).weight
        for side, (data, vector) in enumerate(zip(sides, along, strict=True)):
            dofs, values = _traces(space, faces, side, count)
            np.add.at(load, dofs, np.einsum("fq,fqk->fk", weight * data, values))
            if vector is not None:
                _add_along(load, space, faces, side, weight[..., None] * vector)
    return load


def _add_along(load: np.ndarray, space: Space, faces: Faces, side: int, vector: Float[np.ndarray, "faces q d"]) -> None:
    """The load of the sum of F . grad t over the points of faces, for weighted F."""
    mesh = space.mesh
    count = round(vector.shape[1] ** (1 / (mesh.dim - 1)))
    for k in range(mesh.dim + 1):
        mine = faces.local[:, side] == k
        element, xi = faces.element[mine, side], face_points(mesh.dim, k, count)[0]
        along = solved(mesh.jacobians(xi, element), vector[mine])  # F . grad t = (J^-1 F) . dt/dxi
        np.add.at(load, space.dofs[element], np.einsum("fqj,qkj->fk", along, space.basis.gradient(xi), optimize=True))


def point_load(
    space: Space, at: Located, value: Float[np.ndarray, " n"], vector: Float[np.ndarray, "n d"]
) -> Float[np.ndarray, " unknowns"]:
    """The load of value t + vector . grad t at points that have been found in the mesh."""
    mesh, basis = space.mesh, space.basis
    J = np.einsum("nkj,nki->nij", mesh.basis.gradient(at.xi), mesh.nodes[at.element])
    along = solved(J, vector)[..., None]  # vector . grad t = (J^-1 vector) . dt/dxi
    each = value[:, None] * basis.value(at.xi) + np.matmul(basis.gradient(at.xi), along)[..., 0]
    return np.bincount(space.dofs[at.element].ravel(), each.ravel(), space.size)


def _volume(
    space: Space, count: int, volume: Volume, load: np.ndarray, mass: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The unknowns and matrices of elements; what they add to the load and to the integrals is added."""
    simple = _simple(space, volume)
    if simple.any():
        yield _straight_elements(space, count, volume, np.flatnonzero(simple), load, mass)
    mesh, basis, others = space.mesh, space.basis, np.flatnonzero(~simple)
    xi, w = gauss(mesh.dim, count)
    value, slope = basis.value(xi), basis.gradient(xi)
    n = basis.size
    step = max(1, CHUNK // (n * n))
    for start in range(0, len(others), step):
        part = others[start : start + step]
        J = mesh.jacobians(xi, part)
        weight = w * np.abs(determinant(J))
        back = inverse(J)
        G = weight[..., None, None] * np.matmul(np.matmul(back, volume.A[part]), np.swapaxes(back, 2, 3))
        dofs = space.dofs[part]
        right = (weight * volume.load[part]) @ value
        if volume.flux is not None:
            along = np.matmul(back, volume.flux[part][..., None])[..., 0] * weight[..., None]
            right += along.reshape(len(part), -1) @ slope.transpose(0, 2, 1).reshape(-1, n)
        np.add.at(load, dofs, right)
        np.add.at(mass, dofs, weight @ value)
        matrix = _weighted_products(slope.transpose(0, 2, 1), G)
        if volume.lam[part].any():
            matrix += _weighted_products(value[:, None], (weight * volume.lam[part])[..., None, None])
        yield dofs, matrix


def _weighted_products(
    table: Float[np.ndarray, "q k n"], weight: Float[np.ndarray, "m q k k"]
) -> Float[np.ndarray, "m n n"]:
    """sum over q, i, j of weight_qij table_qi table_qj^T for symmetric weights, as one product of large matrices."""
    q, k, n = table.shape
    low, high = np.tril_indices(k)
    found = np.zeros((len(weight), n * n))
    step = max(1, TABLE // (len(low) * n * n))
    for start in range(0, q, step):
        part = slice(start, start + step)
        products = table[part][:, low, :, None] * table[part][:, high, None, :]
        products = products + np.where(low == high, 0.0, 1.0)[:, None, None] * products.transpose(0, 1, 3, 2)
        weights = weight[:, part][:, :, low, high]
        found += weights.reshape(len(weight), -1) @ products.reshape(-1, n * n)
    return found.reshape(-1, n, n)


def _simple(space: Space, volume: Volume) -> Bool[np.ndarray, " m"]:
    """Which elements are straight and of one material: their matrices are combinations of a few."""
    if volume.A.strides[1] == 0 and volume.lam.strides[1] == 0:  # one number for all points of an element
        return space.mesh.straight
    one_A = np.ptp(volume.A, axis=1).max(axis=(1, 2)) <= CONSTANT * np.abs(volume.A[:, 0]).max(axis=(1, 2))
    one_lam = np.ptp(volume.lam, axis=1) <= CONSTANT * np.abs(volume.lam[:, 0])
    return space.mesh.straight & one_A & one_lam


def _straight_elements(
    space: Space, count: int, volume: Volume, part: Int[np.ndarray, " k"], load: np.ndarray, mass: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same of straight elements with constant coefficients, from the matrices of the reference element."""
    basis, d = space.basis, space.mesh.dim
    xi, w = gauss(d, count)
    value, slope = basis.value(xi), basis.gradient(xi)
    n = basis.size
    stiff = np.einsum("q,qki,qlj->ijkl", w, slope, slope, optimize=True).reshape(d * d, n * n)
    J = space.mesh.jacobians(xi[:1], part)[:, 0]
    back, det = inverse(J), np.abs(determinant(J))
    G = det[:, None, None] * np.einsum("mia,mab,mjb->mij", back, volume.A[part, 0], back)
    matrix = G.reshape(-1, d * d) @ stiff
    lam = volume.lam[part, 0]
    if lam.any():
        matrix += (det * lam)[:, None] * ((value.T * w) @ value).reshape(1, n * n)
    right = (det[:, None] * w * volume.load[part]) @ value
    if volume.flux is not None:
        along = np.einsum("mia,mqa->mqi", back, volume.flux[part]) * (det[:, None] * w)[..., None]
        right += along.reshape(len(part), -1) @ slope.transpose(0, 2, 1).reshape(-1, n)
    dofs = space.dofs[part]
    np.add.at(load, dofs, right)
    np.add.at(mass, dofs, det[:, None] * (w @ value))
    return dofs, matrix.reshape(-1, n, n)


def _traces(space: Space, faces: Faces, side: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The unknowns of one side of faces (faces, nodes), and their basis functions at the points (faces, q, nodes)."""
    basis = space.basis
    on = [basis.on_face(k) for k in range(space.mesh.dim + 1)]
    values = [basis.value(face_points(space.mesh.dim, k, count)[0])[:, on[k]] for k in range(space.mesh.dim + 1)]
    local, element = faces.local[:, side], faces.element[:, side]
    dofs = np.take_along_axis(space.dofs[element], np.array(on)[local], axis=1)
    return dofs, np.array(values)[local]


def _contact(space: Space, count: int, contact: Contact) -> Iterator[tuple[np.ndarray, ...]]:
    faces = space.mesh.interfaces
    if len(faces):
        weight = on_faces(space.mesh, faces.element[:, 0], faces.local[:, 0], count).weight
        (first, a), (second, b) = (_traces(space, faces, side, count) for side in (0, 1))
        dofs, jump = np.concatenate([first, second], axis=1), np.concatenate([a, -b], axis=2)
        yield _square(dofs, jump, weight * contact.stiffness)


def _outer(space: Space, count: int, outer: Outer) -> Iterator[tuple[np.ndarray, ...]]:
    faces = space.mesh.boundary
    if len(faces):
        weight = on_faces(space.mesh, faces.element[:, 0], faces.local[:, 0], count).weight
        yield _square(*_traces(space, faces, 0, count), weight * outer.alpha)


def _square(dofs: np.ndarray, values: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return _entries(dofs, np.matmul(values.transpose(0, 2, 1) * weight[:, None], values))


def _superlu(matrix: Any) -> Callable[[np.ndarray], np.ndarray]:
    try:
        options = {"SymmetricMode": True}
        return splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options).solve
    except RuntimeError:
        raise SolutionError("the equations of the finite elements are singular.") from None


def _cholesky(matrix: Any) -> Callable[[np.ndarray], np.ndarray]:
    coo = sp.tril(matrix, format="coo")  # the solver reads the lower triangle only
    modules = ngsolve()
    entries = (
        _array(modules.core.Array_I_S, coo.row),
        _array(modules.core.Array_I_S, coo.col),
        _array(modules.core.Array_D_S, coo.data),
    )
    made = modules.ng.la.SparseMatrixd.CreateFromCOO(*entries, *matrix.shape)
    inverse = made.Inverse(inverse="sparsecholesky")

    def solve(right: np.ndarray) -> np.ndarray:
        given, found = made.CreateColVector(), made.CreateColVector()
        given.FV().NumPy()[:] = right
        found.data = inverse * given
        return found.FV().NumPy().copy()

    return solve


def _array(kind: Any, values: np.ndarray) -> Any:
    """Numbers as an array of NGSolve, which converts them one by one (longer than the factors take) if left to it."""
    made = kind(len(values))
    made.NumPy()[:] = values
    return made
