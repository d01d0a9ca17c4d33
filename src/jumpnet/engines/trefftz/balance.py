"""Flux balances of a Trefftz solution, from the residuals at its held-out points.

By the divergence theorem, the flux out of a piece minus its sources is the integral of the residual of the equation,
and the flux lost between two pieces is the integral of the residual of their flux condition. Integrals of residuals
need no accurate quadrature, unlike differences of fluxes: means over the evenly spread held-out points suffice, with
their standard error.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from jumpnet.engines.trefftz.assembly import DirectSolver, Level
from jumpnet.problem import Problem
from jumpnet.rows import Kind, Sites

# An imbalance below this part of the flux is rounding.
ROUNDING = 1e-10
# Standard errors of a sampled integral within which a flux counts as balanced.
GRANTED = 3.0
# Points of a piece at which the size of its flux is sampled; an accuracy of a tenth suffices.
POINTS = 200


@dataclass(frozen=True)
class Imbalance:
    """The net flux lost at a place, its standard error, and the flux that passes there."""

    where: str
    value: float
    error: float
    size: float

    def exceeds(self, tol: float) -> bool:
        """Whether more than a part `tol` of the flux is lost."""
        return not abs(self.value) <= max(tol, ROUNDING) * self.size + GRANTED * self.error

    def __str__(self) -> str:
        return f"{self.where} loses {abs(self.value):.1e} of a flux of {self.size:.1e}"


def imbalances(solver: DirectSolver, level: Level) -> list[Imbalance]:
    """The net flux lost inside each piece, between pieces, and where fluxes are given on the boundary."""
    return list(_imbalances(solver, level))


def _imbalances(solver: DirectSolver, level: Level) -> Iterator[Imbalance]:
    problem, rows = solver.problem, level.held_rows
    parts = problem.partition
    length = {interface.pair: interface.measure for interface in parts.interfaces}
    flux = _flux_scale(solver, level)
    residual = level.held / np.where(rows.weight > 0, rows.weight, 1.0)
    first = np.cumsum(rows.counts) - rows.counts
    carries_flux = np.any(np.asarray(rows.sites.a1)[first] != 0, axis=1)
    for number, key in enumerate(rows.terms):
        mine = rows.term == number
        if key.kind is Kind.PDE:
            piece = key.piece
            size = flux[piece] + parts.measure(piece) * float(np.mean(np.abs(rows.rhs[mine])))
            yield _total(f"piece {parts.names[piece]!r}", residual[mine], parts.measure(piece), size)
        elif key.kind is Kind.FLUX:
            a, b = key.pieces
            measure = length[a, b] if parts.dim > 1 else float(np.sum(mine))
            size = max(flux[a], flux[b]) + measure * float(np.mean(np.abs(rows.rhs[mine])))
            names = f"the interface of {parts.names[a]!r} and {parts.names[b]!r}"
            yield _total(names, residual[mine], measure, size)
        elif key.kind is Kind.BOUNDARY and carries_flux[mine].all():
            # The measure of a part of the boundary is not known here; relative to the flux it cancels.
            size = float(np.mean(np.abs(rows.rhs[mine]))) + _mean_flux(flux, problem)
            yield _total(f"boundary part {key.part or 'boundary'!r}", residual[mine], 1.0, size)


def _total(where: str, residual: Float[np.ndarray, " rows"], measure: float, size: float) -> Imbalance:
    error = float(np.std(residual)) / np.sqrt(len(residual))
    return Imbalance(where, measure * float(np.mean(residual)), measure * error, size)


def _mean_flux(flux: Float[np.ndarray, " pieces"], problem: Problem) -> float:
    """The largest flux of a piece over the size of its boundary."""
    return float(np.max(flux / _surface(problem)))


def _surface(problem: Problem) -> Float[np.ndarray, " pieces"]:
    """The measure of a surface around each piece, as that of a cube of its volume."""
    parts = problem.partition
    return np.array([parts.measure(piece) ** ((parts.dim - 1) / parts.dim) for piece in range(parts.size)])


def _flux_scale(solver: DirectSolver, level: Level) -> Float[np.ndarray, " pieces"]:
    """The flux that passes through each piece: the mean of |A grad u|, times the measure of a surface around it."""
    problem = solver.problem
    few = np.concatenate([np.flatnonzero(solver.piece == p)[:POINTS] for p in np.unique(solver.piece)])
    x, piece = solver.x[few], solver.piece[few]
    n, d = x.shape
    A = np.empty((n, d, d))
    for p in np.unique(piece):
        A[piece == p] = problem.A[int(p)].value(x[piece == p])
    along = np.swapaxes(A, 0, 1).reshape(-1, d)  # all first rows of A, all second ones, ...
    sites = Sites(np.tile(x, (d, 1)), np.tile(piece, d), np.zeros(d * n), along, np.zeros((d * n, d, d)))
    flux = level.network.values(level.theta, level.network.placed(sites)).reshape(d, n)
    size = np.linalg.norm(flux, axis=0)
    count = np.bincount(piece, minlength=problem.partition.size)
    mean = np.bincount(piece, size, problem.partition.size) / np.maximum(count, 1)
    return mean * _surface(problem)
