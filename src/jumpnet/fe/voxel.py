"""Finite volumes on the voxels of a label volume: a value for each voxel, a flux for each face.

Between the centres of two voxels the flux is that of their resistances in series, which is exact for layers. Inside a
voxel u is linear from its centre to each of its faces, and the flux linear between opposite faces.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from jaxtyping import Float, Int

from jumpnet.errors import ModelError, SolutionError
from jumpnet.fields import is_zero
from jumpnet.problem import Problem
from jumpnet.problem.conditions import GivenOnInterface, JumpCondition
from jumpnet.rows import Sites

# Of the residual: where the iteration ends; and iterations, at most.
TOLERANCE, MOST = 1e-9, 300

Grid = Float[np.ndarray, "nx ny nz"]
Fluxes = tuple[Grid, Grid, Grid]


@dataclass(frozen=True, eq=False)
class VoxelField:
    """Values at the centres of voxels and A grad u along each axis at their faces; `conductivity` is A's diagonal."""

    origin: Float[np.ndarray, " 3"]
    size: Float[np.ndarray, " 3"]
    pieces: Int[np.ndarray, "nx ny nz"]
    values: Grid
    fluxes: Fluxes
    conductivity: Float[np.ndarray, "nx ny nz 3"]

    def value(self, x: Float[np.ndarray, "n 3"], piece: Int[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """The values at points; the voxel of a point decides, not the piece."""
        cell, offset = self._cell(x)
        found = self.values[cell].copy()
        for axis in range(3):
            ahead = offset[:, axis] > 0
            slope = np.where(ahead, self._face(cell, axis, 1), self._face(cell, axis, 0))
            found += offset[:, axis] * self.size[axis] * slope / self.conductivity[(*cell, axis)]
        return found

    def gradient(self, x: Float[np.ndarray, "n 3"], piece: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n 3"]:
        """The gradients, from fluxes that are linear between opposite faces."""
        cell, offset = self._cell(x)
        found = np.empty((len(x), 3))
        for axis in range(3):
            share = np.clip(offset[:, axis] + 0.5, 0.0, 1.0)
            flux = (1 - share) * self._face(cell, axis, 0) + share * self._face(cell, axis, 1)
            found[:, axis] = flux / self.conductivity[(*cell, axis)]
        return found

    def on_face(
        self, cell: Int[np.ndarray, "n 3"], axis: int, side: int
    ) -> tuple[Float[np.ndarray, "n 3"], Float[np.ndarray, " n"], Float[np.ndarray, "n 3"]]:
        """The centres of lower (0) or upper (1) faces of voxels, u there, and its gradient seen from the voxels."""
        index, off = tuple(cell.T), (side - 0.5) * self.size[axis]
        x = self.origin + self.size * (cell + 0.5)
        x[:, axis] += off
        slope = np.empty(x.shape)
        for k in range(3):
            low, high = self._face(index, k, 0), self._face(index, k, 1)
            flux = (low, high)[side] if k == axis else (low + high) / 2
            slope[:, k] = flux / self.conductivity[(*index, k)]
        return x, self.values[index] + off * slope[:, axis], slope

    def centers(self) -> Float[np.ndarray, "n 3"]:
        """The centres of all voxels."""
        return centers(self.origin, self.size, self.values.shape)

    def _cell(self, x: np.ndarray) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """The voxels of points, and how far these are from the centres, in voxels."""
        place = (np.asarray(x, float) - self.origin) / self.size
        cell = np.clip(np.floor(place), 0, np.array(self.values.shape) - 1).astype(int)
        return tuple(cell.T), place - cell - 0.5

    def _face(self, cell: tuple[np.ndarray, ...], axis: int, side: int) -> np.ndarray:
        index = list(cell)
        index[axis] = index[axis] + side
        return self.fluxes[axis][tuple(index)]


@dataclass(frozen=True, eq=False)
class VoxelFunction:
    """The function of one piece of finite volumes; all pieces have the same field."""

    field: VoxelField
    piece: int
    inputs: int = 3
    size: int = 1

    def functionals(self, sites: Sites) -> Float[np.ndarray, "sites functions"]:
        """a0 u + a1 . grad u at every site."""
        x, a0, a1 = (np.asarray(part, float) for part in (sites.x, sites.a0, sites.a1))
        if sites.order > 1 and np.any(sites.a2):
            raise SolutionError("second derivatives of finite volumes are not known; ask for values and gradients.")
        piece = np.full(len(x), self.piece)
        found = a0 * self.field.value(x, piece) if np.any(a0) else np.zeros(len(x))
        if np.any(a1):
            found = found + np.sum(a1 * self.field.gradient(x, piece), axis=1)
        return found[:, None]


def centers(origin: np.ndarray, size: np.ndarray, shape: Sequence[int]) -> Float[np.ndarray, "n 3"]:
    """The centres of voxels, the last axis running fastest."""
    axes = [origin[k] + size[k] * (np.arange(shape[k]) + 0.5) for k in range(3)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def voxels_refused(problem: Problem) -> str:
    """Why finite volumes on voxels cannot take a problem; empty where they can."""
    if problem.dim != 3 or problem.partition.image is None:
        return "there is no label volume"
    if problem.sources or problem.data is not None:
        return "there are point sources or measured values"
    if not all(map(_plain, problem.jumps.values())):
        return "there are jumps or contact resistances"
    return ""


def _plain(jump: JumpCondition) -> bool:
    """Whether u and its flux are continuous."""
    given = [part.function for part in (jump.v, jump.w) if isinstance(part, GivenOnInterface)]
    return len(given) == 2 and all(is_zero(field) for field in (*given, jump.R))


def solve_voxels(
    problem: Problem, pieces: Int[np.ndarray, "nx ny nz"], origin: np.ndarray, size: np.ndarray
) -> VoxelField:
    """The finite volumes of a problem on voxels with these pieces; ModelError for tensors that are not diagonal."""
    k, lam, f = _coefficients(problem, pieces, origin, size)
    ends = [_end_conditions(problem, pieces, origin, size, k, axis) for axis in range(3)]
    matrix, load = _system(size, k, lam, f, ends)
    free = problem.mean is not None
    if free:
        matrix = matrix + sp.coo_matrix(([matrix[0, 0]], ([0], [0])), shape=matrix.shape)
        load = load - load.mean()
    values = _solved(matrix.tocsr(), load).reshape(pieces.shape)
    if free:
        values += problem.mean - values.mean()
    fluxes = tuple(_fluxes(values, size, k, axis, ends[axis]) for axis in range(3))
    return VoxelField(origin, size, pieces, values, (fluxes[0], fluxes[1], fluxes[2]), k)


def _coefficients(
    problem: Problem, pieces: np.ndarray, origin: np.ndarray, size: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The diagonal of A, lam and f of every voxel, at its centre."""
    k, lam, f = np.empty((*pieces.shape, 3)), np.empty(pieces.shape), np.empty(pieces.shape)
    x = None
    for piece in range(problem.partition.size):
        mine = pieces == piece
        if not mine.any():
            continue
        if problem.constant_in(piece):
            at = (origin + 0.5 * size * pieces.shape)[None]
        else:
            x = centers(origin, size, pieces.shape).reshape(*pieces.shape, 3) if x is None else x
            at = x[mine]
        A, _, own_lam, own_f = problem.pde(piece, at)
        diagonal = np.diagonal(A, axis1=1, axis2=2)
        if np.abs(A - diagonal[:, :, None] * np.eye(3)).max() > 1e-12 * diagonal.max():
            raise ModelError("finite volumes on voxels need tensors along the axes; these have others.")
        k[mine], lam[mine], f[mine] = diagonal, own_lam, own_f
    if lam.min() < 0:
        raise ModelError("finite volumes on voxels need lam >= 0.")
    return k, lam, f


@dataclass(frozen=True, eq=False)
class Ends:
    """The flux into the first and out of the last voxels along an axis, as A du/dx: a + b u of the voxel.

    Of a periodic axis, `across` is T with T (u_first + jump - u_last) the flux through the joined sides.
    """

    first: tuple[np.ndarray, np.ndarray]
    last: tuple[np.ndarray, np.ndarray]
    across: tuple[np.ndarray, np.ndarray] | None = None


def _end_conditions(
    problem: Problem, pieces: np.ndarray, origin: np.ndarray, size: np.ndarray, k: np.ndarray, axis: int
) -> Ends:
    """The conditions on the two sides across an axis."""
    upper = origin + size * pieces.shape
    half, found = size[axis] / 2, []
    for side, sign in ((0, -1.0), (-1, 1.0)):
        labels, own = np.take(pieces, side, axis), np.take(k[..., axis], side, axis)
        x = np.take(centers(origin, size, pieces.shape).reshape(*pieces.shape, 3), side, axis).reshape(-1, 3).copy()
        x[:, axis] = origin[axis] if side == 0 else upper[axis]
        normal = np.zeros_like(x)
        normal[:, axis] = sign
        number = problem.partition.part_numbers(x, normal, labels.ravel())
        a, b = np.zeros(len(x)), np.zeros(len(x))
        for part in np.unique(number).tolist():
            mine = number == part
            name = problem.partition.boundary_parts[part]
            given = problem.boundary_data(name, x[mine], normal[mine], labels.ravel()[mine])
            resistance = half / own.ravel()[mine]
            if given[0] == "periodic":
                if side == 0:
                    there = np.take(k[..., axis], -1, axis).ravel()[mine]
                    return Ends(*_nothing(labels), (1.0 / (resistance + half / there), given[2]))  # whole sides
                continue
            a[mine], b[mine] = _outflow(*given, resistance)
        found.append((sign * a.reshape(labels.shape), sign * b.reshape(labels.shape)))
    return Ends(found[0], found[1])


def _nothing(labels: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    zero = np.zeros(labels.shape)
    return (zero, zero), (zero, zero)


def _outflow(kind: str, alpha: np.ndarray, g: np.ndarray, resistance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A grad u . n on a side as a + b u, with the value u of the voxel behind half a voxel's resistance."""
    if kind == "dirichlet":
        return g / resistance, -1.0 / resistance
    factor = alpha if kind == "robin" else np.zeros_like(g)
    return g / (1.0 + factor * resistance), -factor / (1.0 + factor * resistance)


def _system(
    size: np.ndarray, k: np.ndarray, lam: np.ndarray, f: np.ndarray, ends: list[Ends]
) -> tuple[Any, np.ndarray]:
    """The balance of every voxel, divided by its volume: a symmetric matrix and a load."""
    shape = lam.shape
    number = np.arange(lam.size, dtype=np.int32).reshape(shape)
    diagonal, load = lam.copy(), -f
    rows, columns, entries = [], [], []
    for axis in range(3):
        h, along = size[axis], k[..., axis]
        low = tuple(slice(0, -1) if j == axis else slice(None) for j in range(3))
        high = tuple(slice(1, None) if j == axis else slice(None) for j in range(3))
        first, last = (tuple(s if j == axis else slice(None) for j in range(3)) for s in (0, -1))
        pairs = [(number[low], number[high], 2.0 / (h * h * (1.0 / along[low] + 1.0 / along[high])))]
        end = ends[axis]
        if end.across is not None:
            T, jump = (part.reshape(number[first].shape) for part in end.across)
            pairs.append((number[last], number[first], T / h))
            load[last] += T * jump / h
            load[first] -= T * jump / h
        for a, b, T in pairs:
            np.add.at(diagonal.reshape(-1), a.ravel(), T.ravel())
            np.add.at(diagonal.reshape(-1), b.ravel(), T.ravel())
            rows += [a.ravel(), b.ravel()]
            columns += [b.ravel(), a.ravel()]
            entries += [-T.ravel(), -T.ravel()]
        load[first] -= end.first[0] / h
        diagonal[first] += end.first[1] / h
        load[last] += end.last[0] / h
        diagonal[last] -= end.last[1] / h
    rows.append(number.ravel())
    columns.append(number.ravel())
    entries.append(diagonal.ravel())
    places = np.concatenate(rows), np.concatenate(columns)
    return sp.coo_matrix((np.concatenate(entries), places), shape=(lam.size, lam.size)).tocsr(), load.ravel()


def _solved(matrix: Any, load: np.ndarray) -> np.ndarray:
    """The values, by conjugate gradients and algebraic multigrid (smoothed aggregation)."""
    import pyamg  # its import takes a second

    if not load.any():
        return np.zeros_like(load)
    made = pyamg.smoothed_aggregation_solver(matrix, symmetry="symmetric", max_coarse=500)
    residuals: list[float] = []
    found: Any = made.solve(load, tol=TOLERANCE, maxiter=MOST, accel="cg", residuals=residuals)
    if not np.isfinite(found).all() or residuals[-1] > 1e-6 * float(np.linalg.norm(load)):
        raise SolutionError("the iteration for the equations of the voxels does not converge.")
    return found


def _fluxes(values: Grid, size: np.ndarray, k: np.ndarray, axis: int, end: Ends) -> Grid:
    """A du/dx at the faces across an axis."""
    h, along = size[axis], np.moveaxis(k[..., axis], axis, 0)
    u = np.moveaxis(values, axis, 0)
    found = np.empty((len(u) + 1, *u.shape[1:]))
    found[1:-1] = 2.0 * (u[1:] - u[:-1]) / (h * (1.0 / along[1:] + 1.0 / along[:-1]))
    if end.across is not None:
        T, jump = (part.reshape(u.shape[1:]) for part in end.across)
        found[0] = found[-1] = T * (u[0] + jump - u[-1])
    else:
        found[0] = end.first[0] + end.first[1] * u[0]
        found[-1] = end.last[0] + end.last[1] * u[-1]
    return np.ascontiguousarray(np.moveaxis(found, 0, axis))
