"""The judge of problems with partition coefficients K: the error of w = u/K, times K."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from jumpnet.judge.finding import ErrorField, Finding
from jumpnet.solution import Solution, quantities


@dataclass(frozen=True, eq=False)
class TimesK:
    """K (e + shift), with the K of the piece."""

    field: ErrorField
    K: Float[np.ndarray, " pieces"]
    shift: float

    def value(self, x: Float[np.ndarray, "n d"], piece: Int[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """The values."""
        return self.K[piece] * (self.field.value(x, piece) + self.shift)

    def gradient(self, x: Float[np.ndarray, "n d"], piece: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n d"]:
        """The gradients."""
        return self.K[piece][:, None] * self.field.gradient(x, piece)


def of_potential(solution: Solution) -> Solution:
    """The solution w = u/K; where only a given mean fixes the constant, its problem has the mean of w itself."""
    found = solution.potential()
    if solution.problem is None or solution.problem.mean is None:
        return found
    return found.with_problem(solution.problem.potential(quantities.mean(found).value))


def times_K(found: Finding, solution: Solution) -> Finding:
    """The result for w turned into errors of u = K w. Fluxes are those of u already.

    Where only the mean of u fixes the constant, the mean of its error is zero.
    """
    if found.field is None:
        return found
    K = np.asarray(solution.representation.factors)
    volume, total, square = (np.asarray(part, float) for part in (found.volume, found.total, found.square))
    floating = solution.problem is not None and solution.problem.mean is not None
    shift = -float(K @ total) / float(K @ volume) if floating else 0.0
    return replace(
        found,
        field=TimesK(found.field, K, shift),
        square=tuple((K**2 * (square + 2 * shift * total + shift**2 * volume)).tolist()),
        total=tuple((K * (total + shift * volume)).tolist()),
        unresolved=float(K.max()) * found.unresolved,
    )
