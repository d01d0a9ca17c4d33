"""The equations that connect elements: values and fluxes at vertices, one sparse system.

Each element has a left vertex of its own; its right one is that of its neighbour in the same interval, or the end of
the interval. The unknowns of a vertex are u and q = A u'. The two rows of an element are

    q_R - q_L - S_11 u_L - S_1d (u_R - u_L) = G_1,          u_R - u_L + (S_d1 u_L - q_R)/S_dd = -G_d/S_dd,

the balance of the flux and its law: both stay well scaled for any contrast, any contact resistance and any condition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import SuperLU, splu

from jumpnet.errors import SolutionError
from jumpnet.fe.line.elements import Condensed, Mesh
from jumpnet.fe.line.statement import LineStatement

# Corrections by residuals in extended precision. Two are enough unless the matrix is singular to rounding.
CORRECTIONS = 3

Triple = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Vertices:
    """The vertex at the left and right end of each element and of each interval, and the number of all."""

    left: Int[np.ndarray, " n"]
    right: Int[np.ndarray, " n"]
    first: Int[np.ndarray, " m"]
    last: Int[np.ndarray, " m"]
    count: int

    @staticmethod
    def of(mesh: Mesh) -> Vertices:
        """Numbered from left to right."""
        left = np.arange(len(mesh)) + mesh.interval
        ends = np.flatnonzero(np.diff(mesh.interval, append=mesh.interval[-1] + 1))
        starts = np.concatenate([[0], ends[:-1] + 1])
        return Vertices(left, left + 1, left[starts], left[ends] + 1, len(mesh) + int(mesh.interval[-1]) + 1)


@dataclass(frozen=True, eq=False)
class System:
    """A factorised system: rows 2k and 2k + 1 belong to element k, unknowns 2i and 2i + 1 to vertex i."""

    matrix: Triple
    factors: SuperLU
    rhs: Float[np.ndarray, " u"]
    row_scale: Float[np.ndarray, " u"]
    column_scale: Float[np.ndarray, " u"]

    def residual(self, unknowns: np.ndarray, rhs: np.ndarray | None = None) -> np.ndarray:
        """rhs - M x, in the precision of x."""
        row, column, value = self.matrix
        b = self.rhs if rhs is None else rhs
        products = value.astype(unknowns.dtype) * unknowns[column]
        first = np.flatnonzero(np.diff(row, prepend=-1))
        return b - np.add.reduceat(products, first)

    def solve(self, rhs: np.ndarray | None = None) -> tuple[Float[np.ndarray, " u"], float]:
        """The unknowns, and the last correction relative to their size."""
        x = np.zeros(len(self.rhs), np.longdouble)
        change = 0.0
        for _ in range(1 + CORRECTIONS):
            step = self._step(self.residual(x, rhs).astype(float))
            x = x + step
            scaled = np.abs(x / self.column_scale).max()
            change = float(np.abs(step / self.column_scale).max() / scaled) if scaled > 0 else 0.0
            if change < 1e-17:
                break
        return x.astype(float), change

    def adjoint(self, load: Float[np.ndarray, " u"]) -> Float[np.ndarray, " u"]:
        """z with M^T z = load."""
        return self.row_scale * self.factors.solve(self.column_scale * load, "T")

    def _step(self, residual: np.ndarray) -> np.ndarray:
        return self.column_scale * self.factors.solve(self.row_scale * residual)


def assemble(statement: LineStatement, mesh: Mesh, elements: list[Condensed], factors: SuperLU | None = None) -> System:
    """The system of all elements, joints and ends; `factors` are those of a system with the same matrix."""
    at = Vertices.of(mesh)
    S, G = np.empty((len(mesh), 2, 2)), np.empty((len(mesh), 2))
    for one in elements:
        S[one.index], G[one.index] = one.S, one.G
    if not (np.isfinite(S).all() and np.isfinite(G).all() and S[:, 1, 1].all()):
        raise SolutionError("the equations do not determine the solution: those of an element are singular.")
    rows, rhs = _element_rows(at, S, G)
    for more, b in (_joint_rows(statement, at), _end_rows(statement, at)):
        rows, rhs = [*rows, *((r + len(rhs), c, v) for r, c, v in more)], np.concatenate([rhs, b])
    size = 2 * at.count
    if statement.mean is not None:  # any constant may be added: u = 0 at the first vertex, and sources are balanced
        rows, rhs = _with_multiplier(rows, rhs, mesh, S[:, 1, 1], size)
        size += 1
    if len(rhs) != size:
        raise SolutionError("the conditions at the ends do not determine the solution; each end needs one.")
    row, column, value = (np.concatenate([np.ravel(r[k]) for r in rows]) for k in range(3))
    flux = 1.0 / np.sum(1.0 / np.abs(S[:, 1, 1]))  # that one unit of u drives through all elements
    return _factorised((row, column, value), rhs, np.where(np.arange(size) % 2, flux, 1.0), factors)


def coefficients_of(mesh: Mesh, elements: list[Condensed], unknowns: np.ndarray) -> list[np.ndarray]:
    """All coefficients of each group; d comes from the flux, which is more accurate than the difference of values."""
    at = Vertices.of(mesh)
    found = []
    for one in elements:
        u, Q = unknowns[2 * at.left[one.index]], unknowns[2 * at.right[one.index] + 1]
        U = unknowns[2 * at.right[one.index]]
        d = (Q - one.G[:, 1] - one.S[:, 1, 0] * u) / one.S[:, 1, 1]
        # The flux law is not used where its terms cancel: then the difference of values is accurate.
        noise = np.maximum(np.abs(Q), np.abs(one.S[:, 1, 0] * u)) / np.abs(one.S[:, 1, 1])
        d = np.where(noise <= np.maximum(np.abs(u), np.abs(U)), d, U - u)
        found.append(one.coefficients(np.stack([u, d], axis=1)))
    return found


def _element_rows(at: Vertices, S: np.ndarray, G: np.ndarray) -> tuple[list[Triple], np.ndarray]:
    n = len(S)
    balance, law = 2 * np.arange(n), 2 * np.arange(n) + 1
    one, u, q, U, Q = np.ones(n), 2 * at.left, 2 * at.left + 1, 2 * at.right, 2 * at.right + 1
    rows = [
        (balance, Q, one),
        (balance, q, -one),
        (balance, u, S[:, 0, 1] - S[:, 0, 0]),
        (balance, U, -S[:, 0, 1]),
        (law, U, one),
        (law, u, S[:, 1, 0] / S[:, 1, 1] - 1.0),
        (law, Q, -1.0 / S[:, 1, 1]),
    ]
    return rows, np.stack([G[:, 0], -G[:, 1] / S[:, 1, 1]], axis=1).ravel()


def _joint_rows(statement: LineStatement, at: Vertices) -> tuple[list[Triple], np.ndarray]:
    j = statement.joints
    low, high, k = at.last[j.left], at.first[j.right], 2 * np.arange(len(j.v))
    one, half = np.ones(len(j.v)), -0.5 * j.R
    rows = [
        (k, 2 * high, one),
        (k, 2 * low, -one),
        (k, 2 * high + 1, half),
        (k, 2 * low + 1, half),
        (k + 1, 2 * high + 1, one),
        (k + 1, 2 * low + 1, -one),
    ]
    return rows, np.stack([j.v, j.w], axis=1).ravel()


def _end_rows(statement: LineStatement, at: Vertices) -> tuple[list[Triple], np.ndarray]:
    e = statement.ends
    vertex, k = np.where(e.side < 0, at.first[e.interval], at.last[e.interval]), np.arange(len(e.g))
    return [(k, 2 * vertex, e.alpha), (k, 2 * vertex + 1, e.beta * e.side)], e.g


def _with_multiplier(
    rows: list[Triple], rhs: np.ndarray, mesh: Mesh, law: np.ndarray, size: int
) -> tuple[list[Triple], np.ndarray]:
    """A constant source as one more unknown, which takes up what data do not balance to rounding."""
    n = len(mesh)
    h, last = mesh.end - mesh.start, np.full(n, size)
    rows = [*rows, (2 * np.arange(n), last, h), (2 * np.arange(n) + 1, last, -0.5 * h / law)]
    return [*rows, (np.array([size]), np.array([0]), np.ones(1))], np.append(rhs, 0.0)


def _factorised(matrix: Triple, rhs: np.ndarray, columns: np.ndarray, factors: SuperLU | None) -> System:
    row, column, value = matrix
    kept = value != 0
    row, column, value = row[kept], column[kept], value[kept]
    order = np.lexsort((column, row))
    row, column, value = row[order], column[order], value[order]
    size = len(rhs)
    largest = np.zeros(size)
    np.maximum.at(largest, row, np.abs(value) * columns[column])
    if not (largest > 0).all() or not np.isfinite(largest).all():
        raise SolutionError("the equations do not determine the solution: a row of the system is empty or not finite.")
    scale = 1.0 / largest
    if factors is not None:
        return System((row, column, value), factors, rhs, scale, columns)
    scaled = csc_matrix((value * scale[row] * columns[column], (row, column)), shape=(size, size))
    try:
        factors = splu(scaled)
    except RuntimeError:
        raise SolutionError("the equations do not determine the solution: the system is singular.") from None
    return System((row, column, value), factors, rhs, scale, columns)
