"""Finite elements as features of a solution: the function of each piece is one frozen feature with weight one."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from jumpnet.errors import SolutionError
from jumpnet.fe.field import Field
from jumpnet.fe.line import LineExpansion
from jumpnet.rows import Sites

# Of an element: how far beyond its piece a point may lie, as those of a curved interface do beyond straight elements.
BEYOND = 0.3


@dataclass(frozen=True, eq=False)
class FieldFunction:
    """The function of one piece of finite elements on a fitted mesh, from plain arrays."""

    field: Field
    piece: int
    inputs: int
    size: int = 1

    def functionals(self, sites: Sites) -> Float[np.ndarray, "sites functions"]:
        """a0 u + a1 . grad u at every site."""
        x, a0, a1 = (np.asarray(part, float) for part in (sites.x, sites.a0, sites.a1))
        if sites.order > 1 and np.any(sites.a2):
            raise SolutionError("second derivatives of finite elements are not known; ask for values and gradients.")
        at = self.field.locate(x, np.full(len(x), self.piece))
        lost = np.flatnonzero(at.outside > BEYOND)
        if len(lost):
            raise SolutionError(
                f"{len(lost)} points are not in piece {self.piece}, e.g. {x[lost[0]].tolist()}; finite elements are "
                "known in their piece and on its boundary only."
            )
        found = a0 * self.field.value_at(at)
        if np.any(a1):
            found = found + np.sum(a1 * self.field.gradient_at(at), axis=1)
        return found[:, None]


@dataclass(frozen=True, eq=False)
class LineFunction:
    """The function of one piece of finite elements on the line."""

    expansion: LineExpansion
    piece: int
    inputs: int = 1
    size: int = 1

    def functionals(self, sites: Sites) -> Float[np.ndarray, "sites functions"]:
        """a0 u + a1 u' + a2 u'' at every site."""
        x, a0, a1, a2 = (np.asarray(part, float) for part in (sites.x, sites.a0, sites.a1, sites.a2))
        piece = np.full(len(x), self.piece)
        found = a0 * self.expansion.value(x, piece)
        if np.any(a1):
            found = found + a1[:, 0] * self.expansion.gradient(x, piece)[:, 0]
        if sites.order > 1 and np.any(a2):
            found = found + a2[:, 0, 0] * self.expansion.hessian(x, piece)[:, 0, 0]
        return found[:, None]
