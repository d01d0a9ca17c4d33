"""Defects on the cuts between the cells of a split piece, where an answer jumps although u does not.

Cuts run across the judge's elements. Their defects are loads at points: with n from the second cell to the first, and
[.] first minus second, e = u - u_h has the jumps -[u_h] and -[A grad u_h . n], which add to the equation of e

    int over cuts of  [A grad u_h . n] t - [u_h] A grad t . n.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from jumpnet.geometry.cells.power_diagram import PowerDiagram
from jumpnet.geometry.quadrature.regions import unit_gauss
from jumpnet.problem import Problem
from jumpnet.rows import Sites
from jumpnet.solution import Solution

POINTS = 6  # Gauss points on each stretch of a cut
BESIDE = 1e-9  # of the domain: how far beside a cut its cells are looked up

Places = Float[np.ndarray, "n d"]


@dataclass(frozen=True, eq=False)
class CutDefects:
    """Points of cuts, their pieces and length elements; the jump of u_h, that of its flux, and A n."""

    x: Places
    piece: Int[np.ndarray, " n"]
    weight: Float[np.ndarray, " n"]
    jump: Float[np.ndarray, " n"]
    flux: Float[np.ndarray, " n"]
    conormal: Places


def cut_defects(solution: Solution, problem: Problem, longest: float) -> CutDefects | None:
    """The defects on all cuts, at Gauss points of stretches no longer than `longest`; None where nothing is cut."""
    expansion = solution.network.expansion
    if expansion is None or expansion.cut is None or problem.dim != 2:
        return None
    lines = PowerDiagram(problem.partition, expansion.cut).lines
    start, end = lines.start, lines.end
    length = np.linalg.norm(end - start, axis=1)
    parts = np.maximum(1, np.ceil(length / longest)).astype(int)
    of = np.repeat(np.arange(len(start)), parts)
    first = (np.arange(len(of)) - np.repeat(np.cumsum(parts) - parts, parts)) / parts[of]
    t, w = unit_gauss(POINTS)
    share = (first[:, None] + t / parts[of][:, None]).ravel()
    of = np.repeat(of, POINTS)
    x = start[of] + share[:, None] * (end - start)[of]
    weight = length[of] / parts[of] * np.tile(w, len(of) // POINTS)
    along = (end - start)[of] / length[of][:, None]
    normal = np.stack([along[:, 1], -along[:, 0]], axis=1)
    piece = problem.partition.label(x)
    inside = piece >= 0
    x, weight, normal, piece = x[inside], weight[inside], normal[inside], piece[inside]
    step = BESIDE * problem.partition.domain.size * normal
    a, b = expansion.cut(x + step, piece), expansion.cut(x - step, piece)
    apart = a != b
    return _jumps(solution, problem, *(part[apart] for part in (x, weight, normal, piece, a, b)))


def _jumps(
    solution: Solution, problem: Problem, x: Places, weight: np.ndarray, n: Places, piece: np.ndarray, a: np.ndarray,
    b: np.ndarray,
) -> CutDefects:  # fmt: skip
    conormal = np.empty_like(x)
    for l in np.unique(piece).tolist():
        mine = piece == l
        conormal[mine] = np.einsum("nij,nj->ni", problem.A[l].value(x[mine]), n[mine])
    one, none = np.ones(len(x)), np.zeros_like(x)
    network = solution.network.expansion
    assert network is not None

    def difference(a0: np.ndarray, a1: np.ndarray) -> np.ndarray:
        sites = (Sites(x, cell, a0, a1, np.zeros((len(x), 2, 2)), order=1) for cell in (a, b))
        first, second = (network.values(solution.theta, site) for site in sites)
        return solution.representation.scale * (first - second)

    return CutDefects(x, piece, weight, difference(one, none), difference(0.0 * one, conormal), conormal)
