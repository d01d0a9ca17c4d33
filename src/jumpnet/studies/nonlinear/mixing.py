"""Anderson's mixing: the next state of an iteration u -> G(u) from several steps, where G is no Newton step.

The derivative of A by u is a term of first order, which problems of the linear engines do not have, so that A is taken
at the last state. The derivative of such a step is a compact operator of lower order, which differences of former steps
approximate: with F_i = G(u_i) - u_i, the next state is sum c_i G(u_i), sum c_i = 1, where |sum c_i F_i| is least (GMRES
for nonlinear equations; Walker and Ni, 2011). Steps then shrink faster and faster, also where those of G itself grow.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from jumpnet.solution import Solution
from jumpnet.studies.nonlinear.state import State

Array = Float[np.ndarray, " points"]
# Steps that are remembered, and singular values of their differences that count, relative to the largest.
DEPTH, SMALL = 6, 1e-8


@dataclass
class Mixing:
    """The last steps: G(u) as solutions, and u and G(u) at some points."""

    solutions: list[Solution] = field(default_factory=list)
    before: list[Array] = field(default_factory=list)
    after: list[Array] = field(default_factory=list)

    def add(self, found: Solution, before: Array, after: Array) -> None:
        """Remember a step."""
        for known, new in ((self.solutions, found), (self.before, before), (self.after, after)):
            known.append(new)  # pyright: ignore[reportArgumentType]
            del known[:-DEPTH]

    def restart(self) -> None:
        """Forget all steps but the last."""
        for known in (self.solutions, self.before, self.after):
            del known[:-1]

    @property
    def shares(self) -> Float[np.ndarray, " steps"]:
        """c, the share of each step in the next state."""
        F = np.array(self.after) - np.array(self.before)
        gamma = np.linalg.lstsq(np.diff(F, axis=0).T, F[-1], rcond=SMALL)[0]
        return np.append(gamma, 1.0) - np.append(0.0, gamma)  # G_last less the sum of gamma_i (G_i+1 - G_i)

    def state(self) -> State:
        """The next state."""
        return State(list(zip(self.shares.tolist(), self.solutions, strict=True)))

    @property
    def left(self) -> float:
        """The root mean square distance from the last G(u) to the next state: what the iteration leaves."""
        return _rms(self.shares @ np.array(self.after) - self.after[-1])

    @property
    def amplification(self) -> float:
        """The norm of (1 - G')^-1 along the steps, at least 1: the factor from a residual of G to the error of the
        limit."""
        u, F = np.array(self.before), np.array(self.after) - np.array(self.before)
        return max(
            [1.0, *(_rms(a) / _rms(b) for a, b in zip(np.diff(u, axis=0), np.diff(F, axis=0), strict=True) if b.any())]
        )


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))
