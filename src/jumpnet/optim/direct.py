"""Linear least squares for frozen features: one factorisation instead of a training."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from jumpnet.errors import ModelError
from jumpnet.linalg.normal import normal_solution
from jumpnet.linalg.qr import by_cell_step
from jumpnet.linalg.threads import one_blas_thread
from jumpnet.models import LinearSystem


@dataclass(frozen=True)
class Direct:
    """Least squares, cell after cell, of columns scaled to one: by normal equations, or by QR where these lose digits.

    Nearly dependent features are no obstacle: a damping of `cutoff` (relative to the columns) keeps their weights
    small, as a truncated factorisation would, and each of the `refinements` of QR solves once more for the residual.
    """

    cutoff: float = 1e-14
    refinements: int = 0

    def __post_init__(self) -> None:
        if not self.cutoff > 0:
            raise ModelError(f"the cutoff is {self.cutoff}; it must be a positive number, such as 1e-14.")
        if self.refinements < 0:
            raise ModelError(f"refinements is {self.refinements}; give a whole number, zero or more.")

    def solve(self, system: LinearSystem) -> Float[np.ndarray, " weights"]:
        """The weights of the features."""
        scaled = np.zeros(system.network.size)
        with one_blas_thread():
            found = normal_solution(system, self.cutoff**2)
            if found is not None:
                return found / system.column_size
            for _ in range(1 + self.refinements):
                step = by_cell_step(system.J, system.residual(scaled), self.cutoff**2)
                if step is None or not np.isfinite(step).all():
                    break
                scaled = scaled + step
        return scaled / system.column_size
