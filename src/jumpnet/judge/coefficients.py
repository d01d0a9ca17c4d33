"""The coefficients of an equation at points of elements."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from jumpnet.fe.mesh import Mesh
from jumpnet.problem import Problem

Array = Float[np.ndarray, "..."]


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Points of elements, and the equation there."""

    x: Float[np.ndarray, "m q d"]
    A: Float[np.ndarray, "m q d d"]
    divergence: Float[np.ndarray, "m q d"]
    lam: Float[np.ndarray, "m q"]
    f: Float[np.ndarray, "m q"]


def coefficients(problem: Problem, mesh: Mesh, xi: Array) -> Coefficients:
    """The equation at reference points of all elements."""
    x = mesh.points(xi)
    m, q, d = x.shape
    if all(map(problem.constant_in, np.unique(mesh.piece).tolist())):
        return _constants(problem, mesh, x)
    found = Coefficients(x, np.empty((m, q, d, d)), np.empty((m, q, d)), np.empty((m, q)), np.empty((m, q)))
    for l in np.unique(mesh.piece).tolist():
        mine = mesh.piece == l
        given = problem.pde(l, x[mine].reshape(-1, d))
        for part, values in zip((found.A, found.divergence, found.lam, found.f), given, strict=True):
            part[mine] = values.reshape(-1, *part.shape[1:])
    return found


def _constants(problem: Problem, mesh: Mesh, x: Array) -> Coefficients:
    """Coefficients that are constant in each piece: one value per element, without memory for each point."""
    given = [problem.pde(l, x[:1, 0]) for l in range(problem.partition.size)]
    parts = (np.concatenate(of_pieces)[mesh.piece][:, None] for of_pieces in zip(*given, strict=True))
    A, divergence, lam, f = (np.broadcast_to(p, (*x.shape[:2], *p.shape[2:])) for p in parts)
    return Coefficients(x, A, divergence, lam, f)
