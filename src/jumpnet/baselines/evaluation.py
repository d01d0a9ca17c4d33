"""Finite elements as a `Solution`: the function of each piece is one frozen feature with weight one.

Everything that a solution answers (values, gradients, fluxes, one-sided values, jumps, errors, plots) then works as it
is; only files are beyond it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from jumpnet.charts import Atlas, Box
from jumpnet.errors import SolutionError
from jumpnet.geometry import Partition
from jumpnet.models.frozen import Features, Frozen
from jumpnet.optim import History, Status
from jumpnet.problem import Problem
from jumpnet.rows import Sites
from jumpnet.solution import Solution

# Of the domain's size: how far into its piece a point on an interface is moved; a Taylor step leads back.
INSIDE = 1e-6

Places = Float[np.ndarray, "n d"]


@dataclass(frozen=True, eq=False)
class MeshFunction:
    """The function of one piece on a mesh, with its gradient; `inside` moves points to where both are known."""

    mesh: Any
    function: Any
    gradient: Any
    inside: Callable[[Places], Places]
    inputs: int
    size: int = 1

    def functionals(self, sites: Sites) -> Float[np.ndarray, "sites functions"]:
        """a0 u + a1 . grad u at every site."""
        x, a0, a1 = (np.asarray(part, float) for part in (sites.x, sites.a0, sites.a1))
        if sites.order > 1 and np.any(sites.a2):
            raise SolutionError("second derivatives of finite elements are not known; ask for values and gradients.")
        at = self.inside(x)
        points = self.mesh(*at.T)
        gradient = np.asarray(self.gradient(points)).reshape(len(x), -1)
        value = np.asarray(self.function(points)).ravel() + np.sum(gradient * (x - at), axis=1)
        return (a0 * value + np.sum(a1 * gradient, axis=1))[:, None]


@dataclass(frozen=True, eq=False)
class InPiece:
    """Points of the elements of one piece: those given, and those on its edge moved a little into it."""

    mesh: Any
    partition: Partition
    piece: int

    def __call__(self, x: Places) -> Places:
        at, step = x.copy(), INSIDE * self.partition.domain.size
        lost = np.flatnonzero(~self._holds(at))
        for shape in (self.partition.domain, *self.partition.pieces):
            if not len(lost):
                return at
            n = shape.normal(x[lost])
            for sign in (-1.0, 1.0):
                moved = np.where(np.isfinite(n), x[lost] + sign * step * n, x[lost])
                held = self._holds(moved)
                at[lost[held]] = moved[held]
                lost, n = lost[~held], n[~held]
        if len(lost):
            raise SolutionError(
                f"{len(lost)} points are not in piece {self.piece}, e.g. {x[lost[0]].tolist()}; finite elements are "
                "known in their piece and on its boundary only."
            )
        return at

    def _holds(self, x: Places) -> np.ndarray:
        """Whether each point lies in an element of the piece."""
        if not len(x):
            return np.zeros(0, bool)
        found = self.mesh(*x.T)["nr"] >= 0
        if found.any():
            of_piece = self.mesh.MaterialCF({f"piece{self.piece}": 1.0}, default=0.0)
            found[found] = np.asarray(of_piece(self.mesh(*x[found].T))).ravel() > 0.5
        return found


def as_solution(problem: Problem, functions: Sequence[MeshFunction], settings: dict[str, Any]) -> Solution:
    """The functions of the pieces as a solution."""
    shape = (problem.partition.size, problem.dim)
    identity = Box(np.zeros(shape), np.ones(shape))
    return Solution(
        network=Frozen(tuple(Features(((identity, function),)) for function in functions)),
        theta=np.ones(len(functions)),
        atlas=Atlas((identity,)),
        scale=1.0,
        dim=problem.dim,
        pieces=problem.partition.size,
        partition=problem.partition,
        tensors=problem.A,
        status=Status.CONVERGED,
        loss=np.nan,
        steps=0,
        history=History(),
        seed=0,
        problem=problem,
        exact=problem.exact,
        settings=settings,
    )
