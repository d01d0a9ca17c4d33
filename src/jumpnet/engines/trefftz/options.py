"""What the Trefftz engine may be told."""

from dataclasses import dataclass

from jumpnet.engines.seeds import check_trials
from jumpnet.errors import ModelError
from jumpnet.models import FrozenModel
from jumpnet.optim import Direct


@dataclass(frozen=True)
class Trefftz:
    """Functions made for the problem, by linear least squares: `jn.solve(problem, method=jn.Trefftz(...))`.

    Args:
        basis: `jn.models.Polynomials(...)`, `Harmonics(...)` or `RandomFeatures(...)`: solve once with these functions;
            a second solve with more of them gives the error estimate. By default the functions are chosen from the
            problem and refined where residuals are large.
        cutoff: Directions of the least-squares matrix below this part of its columns are damped.
        refinements: Steps of iterative refinement after a factorisation by QR.
        trials: The number of seeds (from `seed` on) to solve with; the answer with the smallest estimate is returned.

    Example:
        >>> import jumpnet as jn
        >>> partition = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0, 0), 0.5)])
        >>> problem = jn.Problem(partition, A=[1.0, 10.0], boundary=jn.Dirichlet("x1"))
        >>> jn.solve(problem, tol=1e-8, method=jn.Trefftz()).status.name
        'CONVERGED'
    """

    basis: FrozenModel | None = None
    cutoff: float = 1e-14
    refinements: int = 0
    trials: int = 1

    def __post_init__(self) -> None:
        if self.basis is not None and not isinstance(self.basis, FrozenModel):
            raise ModelError(
                f"basis is {self.basis!r}; give one of jn.models.Polynomials(), Harmonics(), RandomFeatures(). "
                "Networks are trained: jn.Network(model=...)."
            )
        check_trials(0, self.trials)
        _ = self.least_squares

    @property
    def least_squares(self) -> Direct:
        """The linear solver."""
        return Direct(self.cutoff, self.refinements)
