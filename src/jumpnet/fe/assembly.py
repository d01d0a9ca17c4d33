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
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from jaxtyping import Bool, Float, Int
from scipy.sparse.linalg import splu

from jumpnet.errors import SolutionError
from jumpnet.fe.field import Located
from jumpnet.fe.mesh import Faces, on_faces
from jumpnet.fe.ngsolve import ngsolve
from jumpnet.fe.simplex import face_points, gauss
from jumpnet.fe.space import Space

# Times A over the size of an element. Its inverse is the relative error that is made; its product with 1e-16, and with
# what else spreads the entries of the matrix, is that of rounding.
PENALTY = 1e5
CONSTANT = 1e-14  # coefficients that vary by no more than this part of themselves are constant
CHUNK = 500_000  # numbers of one basis gradient table, elements x points x functions


@dataclass(frozen=True, eq=False)
class Volume:
    """A, lam, r and F at the Gauss points of elements; F may be missing."""

    A: Float[np.ndarray, "m q d d"]
    lam: Float[np.ndarray, "m q"]
    load: Float[np.ndarray, "m q"]
    flux: Float[np.ndarray, "m q d"] | None = None


@dataclass(frozen=True, eq=False)
class Contact:
    """s and the loads of both sides at the Gauss points of interfaces."""

    stiffness: Float[np.ndarray, "faces q"]
    first: Float[np.ndarray, "faces q"]
    second: Float[np.ndarray, "faces q"]


@dataclass(frozen=True, eq=False)
class Outer:
    """alpha and the load at the Gauss points of the boundary."""

    alpha: Float[np.ndarray, "faces q"]
    load: Float[np.ndarray, "faces q"]


@dataclass(frozen=True, eq=False)
class System:
    """A symmetric matrix, a load, and the integral of each basis function."""

    matrix: Any
    load: Float[np.ndarray, " n"]
    mass: Float[np.ndarray, " n"]


def assembled(space: Space, count: int, volume: Volume, contact: Contact, outer: Outer) -> System:
    """The equations; `count` Gauss points in each direction are where the data are given."""
    load, mass = np.zeros(space.size), np.zeros(space.size)
    entries = [*_volume(space, count, volume, load, mass)]
    entries += _contact(space, count, contact, load)
    entries += _outer(space, count, outer, load)
    rows, columns, values = (np.concatenate([part[k].ravel() for part in entries]) for k in range(3))
    matrix = sp.coo_matrix((values, (rows, columns)), shape=(space.size, space.size)).tocsr()
    return System(matrix, load, mass)


def point_load(
    space: Space, at: Located, value: Float[np.ndarray, " n"], vector: Float[np.ndarray, "n d"]
) -> Float[np.ndarray, " unknowns"]:
    """The load of value t + vector . grad t at points that have been found in the mesh."""
    mesh, basis = space.mesh, space.basis
    J = np.einsum("nkj,nki->nij", mesh.basis.gradient(at.xi), mesh.nodes[at.element])
    along = np.linalg.solve(J, vector[..., None])  # vector . grad t = (J^-1 vector) . dt/dxi
    each = value[:, None] * basis.value(at.xi) + np.matmul(basis.gradient(at.xi), along)[..., 0]
    return np.bincount(space.dofs[at.element].ravel(), each.ravel(), space.size)


def _volume(
    space: Space, count: int, volume: Volume, load: np.ndarray, mass: np.ndarray
) -> Iterator[tuple[np.ndarray, ...]]:
    simple = _simple(space, volume)
    if simple.any():
        yield _straight_elements(space, count, volume, np.flatnonzero(simple), load, mass)
    mesh, basis, others = space.mesh, space.basis, np.flatnonzero(~simple)
    xi, w = gauss(mesh.dim, count)
    value, slope = basis.value(xi), basis.gradient(xi)
    step = max(1, CHUNK // (len(w) * basis.size))
    for start in range(0, len(others), step):
        part = others[start : start + step]
        J = mesh.jacobians(xi, part)
        weight = w * np.abs(np.linalg.det(J))
        gradient = np.matmul(slope[None], np.linalg.inv(J))  # m, q, functions, d
        m, q, n, d = gradient.shape
        flux = np.matmul(gradient, weight[..., None, None] * volume.A[part])
        matrix = np.matmul(
            flux.transpose(0, 2, 1, 3).reshape(m, n, q * d), gradient.transpose(0, 1, 3, 2).reshape(m, q * d, n)
        )
        if volume.lam[part].any():
            matrix += np.matmul(value.T[None] * (weight * volume.lam[part])[:, None], value[None])
        right = (weight * volume.load[part]) @ value
        if volume.flux is not None:
            right += np.einsum("mq,mqi,mqki->mk", weight, volume.flux[part], gradient)
        dofs = space.dofs[part]
        np.add.at(load, dofs, right)
        np.add.at(mass, dofs, weight @ value)
        yield np.repeat(dofs, n, axis=1), np.tile(dofs, (1, n)), matrix.reshape(m, n * n)


def _simple(space: Space, volume: Volume) -> Bool[np.ndarray, " m"]:
    """Which elements are straight and of one material: their matrices are combinations of a few."""
    one_A = np.ptp(volume.A, axis=1).max(axis=(1, 2)) <= CONSTANT * np.abs(volume.A[:, 0]).max(axis=(1, 2))
    one_lam = np.ptp(volume.lam, axis=1) <= CONSTANT * np.abs(volume.lam[:, 0])
    return space.mesh.straight & one_A & one_lam


def _straight_elements(
    space: Space, count: int, volume: Volume, part: Int[np.ndarray, " k"], load: np.ndarray, mass: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Rows, columns, entries of straight elements with constant coefficients, from those of the reference element."""
    basis, d = space.basis, space.mesh.dim
    xi, w = gauss(d, count)
    value, slope = basis.value(xi), basis.gradient(xi)
    n = basis.size
    stiff = np.einsum("q,qki,qlj->ijkl", w, slope, slope, optimize=True).reshape(d * d, n * n)
    J = space.mesh.jacobians(xi[:1], part)[:, 0]
    inverse, det = np.linalg.inv(J), np.abs(np.linalg.det(J))
    G = det[:, None, None] * np.einsum("mia,mab,mjb->mij", inverse, volume.A[part, 0], inverse)
    matrix = G.reshape(-1, d * d) @ stiff
    lam = volume.lam[part, 0]
    if lam.any():
        matrix += (det * lam)[:, None] * ((value.T * w) @ value).reshape(1, n * n)
    right = (det[:, None] * w * volume.load[part]) @ value
    if volume.flux is not None:
        along = np.einsum("mia,mqa->mqi", inverse, volume.flux[part]) * (det[:, None] * w)[..., None]
        right += along.reshape(len(part), -1) @ slope.transpose(0, 2, 1).reshape(-1, n)
    dofs = space.dofs[part]
    np.add.at(load, dofs, right)
    np.add.at(mass, dofs, det[:, None] * (w @ value))
    return np.repeat(dofs, n, axis=1), np.tile(dofs, (1, n)), matrix


def _traces(space: Space, faces: Faces, side: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The unknowns of one side of faces (faces, nodes), and their basis functions at the points (faces, q, nodes)."""
    basis = space.basis
    on = [basis.on_face(k) for k in range(space.mesh.dim + 1)]
    values = [basis.value(face_points(space.mesh.dim, k, count)[0])[:, on[k]] for k in range(space.mesh.dim + 1)]
    local, element = faces.local[:, side], faces.element[:, side]
    dofs = np.take_along_axis(space.dofs[element], np.array(on)[local], axis=1)
    return dofs, np.array(values)[local]


def _contact(space: Space, count: int, contact: Contact, load: np.ndarray) -> list[tuple[np.ndarray, ...]]:
    faces = space.mesh.interfaces
    if not len(faces):
        return []
    weight = on_faces(space.mesh, faces.element[:, 0], faces.local[:, 0], count).weight
    (first, a), (second, b) = (_traces(space, faces, side, count) for side in (0, 1))
    np.add.at(load, first, np.einsum("fq,fqk->fk", weight * contact.first, a))
    np.add.at(load, second, np.einsum("fq,fqk->fk", weight * contact.second, b))
    dofs, jump = np.concatenate([first, second], axis=1), np.concatenate([a, -b], axis=2)
    return [_square(dofs, jump, weight * contact.stiffness)]


def _outer(space: Space, count: int, outer: Outer, load: np.ndarray) -> list[tuple[np.ndarray, ...]]:
    faces = space.mesh.boundary
    if not len(faces):
        return []
    weight = on_faces(space.mesh, faces.element[:, 0], faces.local[:, 0], count).weight
    dofs, values = _traces(space, faces, 0, count)
    np.add.at(load, dofs, np.einsum("fq,fqk->fk", weight * outer.load, values))
    return [_square(dofs, values, weight * outer.alpha)]


def _square(dofs: np.ndarray, values: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    matrix = np.matmul(values.transpose(0, 2, 1) * weight[:, None], values)
    n = dofs.shape[1]
    return np.repeat(dofs, n, axis=1), np.tile(dofs, (1, n)), matrix.reshape(len(dofs), n * n)


class Factor:
    """The inverse of a symmetric matrix, which may be indefinite, by sparse factors without pivoting.

    In the plane SuperLU's, which take less time to set up; in space NGSolve's, which have less fill.
    """

    def __init__(self, matrix: Any, dim: int):
        self._solve = _superlu(matrix) if dim == 2 else _cholesky(matrix)

    def __call__(self, right: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """The solution for a right-hand side."""
        found = self._solve(right)
        if not np.isfinite(found).all():
            raise SolutionError("the equations of the finite elements are singular.")
        return found


def _superlu(matrix: Any) -> Callable[[np.ndarray], np.ndarray]:
    try:
        options = {"SymmetricMode": True}
        return splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options).solve
    except RuntimeError:
        raise SolutionError("the equations of the finite elements are singular.") from None


def _cholesky(matrix: Any) -> Callable[[np.ndarray], np.ndarray]:
    coo = matrix.tocoo()
    entries = coo.row.astype(np.int32), coo.col.astype(np.int32), coo.data
    made = ngsolve().ng.la.SparseMatrixd.CreateFromCOO(*entries, *coo.shape)
    inverse = made.Inverse(inverse="sparsecholesky")

    def solve(right: np.ndarray) -> np.ndarray:
        given, found = made.CreateColVector(), made.CreateColVector()
        given.FV().NumPy()[:] = right
        found.data = inverse * given
        return found.FV().NumPy().copy()

    return solve
