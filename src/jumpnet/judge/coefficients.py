"""The coefficients of an equation at points of elements."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from jumpnet.fe.mesh import Mesh
from jumpnet.problem import Problem

Array = Float[np.ndarray, "..."]


@dataclass(frozen=True, eq=False)
class Coefficients:
    """The equation at reference points of all elements."""

    mesh: Mesh
    xi: Float[np.ndarray, "q d"]
    A: Float[np.ndarray, "m q d d"]
    divergence: Float[np.ndarray, "m q d"]
    lam: Float[np.ndarray, "m q"]
    f: Float[np.ndarray, "m q"]

    @cached_property
    def x(self) -> Float[np.ndarray, "m q d"]:
        """The points."""
        return self.mesh.points(self.xi)


def coefficients(problem: Problem, mesh: Mesh, xi: Array) -> Coefficients:
    """The equation at reference points of all elements."""
    m, (q, d) = len(mesh), xi.shape
    if all(map(problem.constant_in, np.unique(mesh.piece).tolist())):
        return _constants(problem, mesh, xi)
    empty = (np.empty((m, q, *shape)) for shape in ((d, d), (d,), (), ()))
    found = Coefficients(mesh, xi, *empty)
    for l in np.unique(mesh.piece).tolist():
        mine = mesh.piece == l
        given = problem.pde(l, found.x[mine].reshape(-1, d))
        for part, values in zip((found.A, found.divergence, found.lam, found.f), given, strict=True):
            part[mine] = values.reshape(-1, *part.shape[1:])
    return found


def _constants(problem: Problem, mesh: Mesh, xi: Array) -> Coefficients:
    """Coefficients that are constant in each piece: one value per element, without memory for each point."""
    anywhere = mesh.vertices[mesh.elements[:1, 0]]
    given = [problem.pde(l, anywhere) for l in range(problem.partition.size)]
    parts = (np.concatenate(of_pieces)[mesh.piece][:, None] for of_pieces in zip(*given, strict=True))
    A, divergence, lam, f = (np.broadcast_to(p, (len(mesh), len(xi), *p.shape[2:])) for p in parts)
    return Coefficients(mesh, xi, A, divergence, lam, f)
