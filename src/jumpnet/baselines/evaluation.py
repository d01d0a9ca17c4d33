"""Finite elements as a `Solution`: the function of each piece is one frozen feature with weight one.

Everything that a solution answers (values, gradients, fluxes, one-sided values, jumps, errors, plots) then works as it
is; only unfitted elements (`MeshFunction`) cannot be saved.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from jumpnet.errors import SolutionError
from jumpnet.rows import Sites

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
