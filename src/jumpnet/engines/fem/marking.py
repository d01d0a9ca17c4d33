"""Where to refine, and how: by the highest modes of the solution in each element.

What an element lacks beyond its degree is about as large as its modes of the highest two degrees. Where those are much
smaller than the two degrees before, more degrees help; elsewhere smaller elements do.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from jumpnet.fe.simplex import gauss
from jumpnet.fe.small import determinant, solved
from jumpnet.judge.level import Level

# The part of the squared indicators that the marked elements have together (Doerfler).
BULK = 0.9
# Modes that fall by more than this factor over two degrees: the solution is analytic there, and more degrees will do.
ANALYTIC = 0.25


@dataclass(frozen=True, eq=False)
class Indicators:
    """Of each element: the energy norm of its highest modes, and how much smaller they are than those before."""

    size: Float[np.ndarray, " m"]
    decay: Float[np.ndarray, " m"]

    def marked(self) -> Bool[np.ndarray, " m"]:
        """The fewest elements that have most of the error."""
        order = np.argsort(self.size)[::-1]
        total = np.cumsum(self.size[order] ** 2)
        found = np.zeros(len(order), bool)
        found[order[: int(np.searchsorted(total, BULK * total[-1])) + 1]] = True
        return found

    @property
    def analytic(self) -> bool:
        """Whether most of the error is where more degrees will do."""
        square = self.size**2
        return bool(square[self.decay < ANALYTIC].sum() >= 0.5 * square.sum())


def indicators(level: Level) -> Indicators:
    """The highest modes of a solution."""
    basis, p = level.space.basis, level.space.order
    modes = basis.modes(level.field.values)
    high, before = (
        _energy(level, basis.from_modes(np.where((basis.degrees > low) & (basis.degrees <= low + 2), modes, 0.0)))
        for low in (p - 2, p - 4)
    )
    return Indicators(high, high / np.maximum(before, 1e-300))


def _energy(level: Level, values: Float[np.ndarray, "m nodes"]) -> Float[np.ndarray, " m"]:
    """The energy norm of a function in each element."""
    mesh, basis, volume = level.space.mesh, level.space.basis, level.defects.volume
    xi, w = gauss(mesh.dim, level.count)
    J = mesh.jacobians(xi)
    slope = np.einsum("qkj,mk->mqj", basis.gradient(xi), values)
    gradient = solved(np.swapaxes(J, 2, 3), slope)
    square = np.einsum("mqi,mqij,mqj->mq", gradient, volume.A, gradient, optimize=True)
    square += np.abs(volume.lam) * (values @ basis.value(xi).T) ** 2
    return np.sqrt(np.sum(w * np.abs(determinant(J)) * square, axis=1))
