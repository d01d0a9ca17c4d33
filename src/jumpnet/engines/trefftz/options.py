"""Options of the Trefftz engine."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from jumpnet.engines.seeds import check_trials
from jumpnet.engines.trefftz.enrichments import ENRICHMENTS, Enrichment
from jumpnet.engines.trefftz.enrichments.multipoles import Multipoles
from jumpnet.errors import ModelError
from jumpnet.models import FrozenModel
from jumpnet.optim import Direct


@dataclass(frozen=True)
class Trefftz:
    """A Trefftz method by linear least squares: `jn.solve(problem, method=jn.Trefftz(...))`.

    Args:
        basis: `jn.models.Polynomials(...)`, `Harmonics(...)` or `RandomFeatures(...)`: solve once with these functions;
            a second solve with more of them gives the error estimate. By default the functions are chosen from the
            problem and refined where residuals are large.
        cutoff: Directions of the least-squares matrix below this part of its columns are damped.
        refinements: Steps of iterative refinement after a factorisation by QR.
        trials: The number of seeds (from `seed` on) to solve with; the answer with the smallest estimate is returned.
        enrichments: Which functions the trial space may have beside polynomials and harmonic functions, in the order in
            which they are asked: names of the registry `jumpnet.engines.trefftz.enrichments.ENRICHMENTS`, by default
            all of them (docs: "The Trefftz engine", "Which functions").
        images: Whether multipoles have images in straight walls and in each other.
        most_holes: A piece with more holes, and corners of holes, is split into one cell for each of them (heuristic).
        first_degree: The degree of polynomials and harmonic functions in the first space; smooth pieces need about
            twice as much for 1e-8.
        unknowns: The largest trial space of whole pieces; beyond it algebraic convergence is not worth its cost.
        unknowns_of_cells: The same where a piece is split into cells (400 disks have 90,000: benchmarks/many.py).
        levels: The most trial spaces that are solved.
        marked: Blocks are refined where the residual exceeds this part of the largest (heuristic).
        slow: A level whose residual exceeds this part of the one before makes no progress.
        patience: The number of levels in a row without progress that ends the loop. Where another engine is tried next,
            `slow` is at most 0.4 and `patience` at most 2, as algebraic convergence is not worth its unknowns
            (heuristic).
        stagnation: p-refinement stagnates if more than this part of the residual remains. Then the enrichments propose
            blocks, which are accepted if at most this part remains per unit of their cost, in levels (heuristic).
        oversampling: Equations for each unknown. With fewer than two, residuals are small at the points only.
        safety: The factor of the error estimate (benchmarks/estimates.py).
        saturation: The difference between two spaces counts as the error of the former if the residual of the latter is
            at most this part of the former's (saturation assumption).
        memory: The reliability constant (error per unit of residual) measured on a former space is multiplied by this
            factor with every further space (heuristic).

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
    enrichments: tuple[str, ...] = tuple(ENRICHMENTS)
    images: bool = True
    most_holes: int = 16
    first_degree: int = 6
    unknowns: int = 6000
    unknowns_of_cells: int = 300_000
    levels: int = 20
    marked: float = 0.05
    slow: float = 0.8
    patience: int = 3
    stagnation: float = 0.3
    oversampling: float = 2.0
    safety: float = 5.0
    saturation: float = 0.1
    memory: float = 0.5

    def __post_init__(self) -> None:
        if self.basis is not None and not isinstance(self.basis, FrozenModel):
            raise ModelError(
                f"basis is {self.basis!r}; give one of jn.models.Polynomials(), Harmonics(), RandomFeatures(). "
                "Networks are trained: jn.Network(model=...)."
            )
        check_trials(0, self.trials)
        unknown = [name for name in self.enrichments if name not in ENRICHMENTS]
        if unknown or isinstance(self.enrichments, str):
            raise ModelError(
                f"enrichments is {self.enrichments!r}; give a tuple of {', '.join(map(repr, ENRICHMENTS))}."
            )
        for name in ("first_degree", "unknowns", "unknowns_of_cells", "levels", "patience", "oversampling", "safety"):
            if not getattr(self, name) > 0:
                raise ModelError(f"{name} is {getattr(self, name)!r}; give a positive number.")
        for name in ("marked", "slow", "stagnation", "saturation", "memory"):
            if not 0 < getattr(self, name) < 1:
                raise ModelError(f"{name} is {getattr(self, name)!r}; give a number between 0 and 1.")
        _ = self.least_squares

    @property
    def chosen(self) -> Mapping[str, Enrichment]:
        """The enrichments by name, in the order in which they are asked."""
        found = {name: ENRICHMENTS[name] for name in self.enrichments}
        return {
            name: replace(one, images=self.images) if isinstance(one, Multipoles) else one
            for name, one in found.items()
        }

    @property
    def least_squares(self) -> Direct:
        """The linear solver."""
        return Direct(self.cutoff, self.refinements)
