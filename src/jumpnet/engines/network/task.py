"""The training of one seed: its rows, charts and network, and the solution."""

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jumpnet.charts import Atlas
from jumpnet.collocation import Collocation, PointRule, Points, Stream, collocate
from jumpnet.engines.network.checkpoint import Checkpoint, fingerprint
from jumpnet.engines.network.settings import Settings
from jumpnet.engines.network.training import Candidate, train
from jumpnet.engines.progress import Progress, with_names
from jumpnet.engines.residuals import held_out_residuals
from jumpnet.errors import JumpnetWarning, ModelError
from jumpnet.geometry import Partition
from jumpnet.models import Model, Network, NonlinearSystem, Separate, System
from jumpnet.optim import Result, Status, minimise
from jumpnet.rows import NonlinearRows, Rows, Weights, jets_of, probes, weigh
from jumpnet.solution import (
    Diagnostics,
    LeastSquares,
    PointCounts,
    Representation,
    Solution,
    Statement,
    TrainingSettings,
)

# With fewer interior points, a piece of a shared network is determined mostly by its neighbours: a warning (heuristic).
FEW_POINTS = 20

# A held-out loss that exceeds the training loss (and the tolerance) by this factor means that the network is right at
# the training points only. With the paper's few points, good solutions (1e-9) have factors up to 1e4; wrong ones 1e10
# and more.
MISSED = 1e5

# The norm to which the weighted data are scaled. Levenberg-Marquardt is not invariant to it: the values of a network
# with initial weights of size one should be about as large as the data (pde5 stalls with 1 and converges with 5).
DATA_SIZE = 5.0


@dataclass(frozen=True)
class Task:
    """The training problem of one seed: its unweighted equations at training points and at held-out points."""

    partition: Partition
    atlases: Sequence[Atlas]
    networks: Sequence[Network]
    points: Points
    train: Rows | NonlinearRows
    held_out: Rows | NonlinearRows
    settings: Settings
    statement: Statement

    def solution(self, seed: int, progress: Progress | None, checkpoint: Checkpoint | None = None) -> Solution:
        """Train, or resume a training, and evaluate the residuals at the held-out points."""
        began = time.perf_counter()
        train_rows, scale = self._weighted(_rows(self.train))
        held_rows, _ = self._weighted(_rows(self.held_out), scale)
        both = ((self.train, train_rows), (self.held_out, held_rows))
        candidates = [
            Candidate(atlas, *(_system(network, atlas, given, weighted, scale) for given, weighted in both))
            for atlas, network in zip(self.atlases, self.networks, strict=True)
        ]
        # Two random starts for each of several sets of charts, three for a single one.
        starts = self.settings.starts if len(candidates) == 1 else min(self.settings.starts, 2)
        optimizer, train_on, before = self.settings.optimizer, minimise, 0.0
        if checkpoint is not None:
            rows = (train_rows, held_rows)
            run = checkpoint.run(seed, fingerprint(rows, self.networks, self.atlases, optimizer, starts))
            train_on, before = run.minimise, run.seconds_before
        told = with_names(progress, train_rows.labels)
        raw = self.settings.charts == "paper"
        options = {"seed": seed, "starts": starts, "raw": raw, "progress": told, "minimise": train_on}
        taken, result = train(candidates, optimizer, **options)
        fit = self._fit(taken, result, held_rows, scale)
        status = result.status
        if status is Status.CONVERGED:
            # The training loss is small also for functions that meet the equations at the training points only.
            missed = not fit.held_out_loss <= MISSED * max(result.loss, optimizer.stop.tol)
            status = Status.MISSED if missed else Status.TRAINED
        seconds = before + time.perf_counter() - began
        return Solution(
            Representation(taken.system.network, result.theta, taken.atlas, scale),
            self.statement,
            self._diagnostics(status, taken.atlas, seconds, seed, fit),
        )

    def _fit(self, taken: Candidate, result: Result, held_rows: Rows, scale: float) -> LeastSquares:
        """What is known of the residuals, at training points and at held-out points."""
        residual = taken.unseen.residual(result.theta)
        return LeastSquares(
            result.loss,
            result.steps,
            result.history,
            held_out_residuals(held_rows, residual, scale),
            float(residual @ residual),
            self._point_counts(),
            _named(self.settings.weights),
        )

    def _weighted(self, rows: Rows, scale: float | None = None) -> tuple[Rows, float]:
        """Rows with weights, the data scaled to the size of a random network's values."""
        lower, upper = (np.asarray(end, float) for end in self.partition.bounds)
        rows = weigh(rows, self.settings.weights, (upper - lower) / 2)
        if scale is None:
            size = float(np.linalg.norm(rows.weight * rows.rhs))
            scale = size / DATA_SIZE if self.settings.scaled and size > 0 else 1.0
        return replace(rows, rhs=rows.rhs / scale), scale

    def _point_counts(self) -> PointCounts:
        drawn = "own" if callable(self.settings.points) else self.points.method
        counts = self.points.interior, self.points.boundary, self.points.interface
        return PointCounts(*counts, self.points.minimum, drawn)

    def _diagnostics(self, status: Status, atlas: Atlas, seconds: float, seed: int, fit: LeastSquares) -> Diagnostics:
        charts, model, optimizer = self.settings.charts, self.settings.model, self.settings.optimizer
        used = TrainingSettings(
            charts if isinstance(charts, str) else "given", atlas.inputs, repr(model), repr(optimizer)
        )
        method = f"trained: {type(model).__name__} by {type(optimizer).__name__}"
        return Diagnostics(status, method, seconds, seed=seed, fit=fit, training=used)


def _rows(equations: Rows | NonlinearRows) -> Rows:
    """The rows that weights and the scale of u are taken from."""
    return equations.first if isinstance(equations, NonlinearRows) else equations


def _system(
    network: Network, atlas: Atlas, equations: Rows | NonlinearRows, weighted: Rows, scale: float
) -> System | NonlinearSystem:
    """The least-squares system of a network, whose values times `scale` are u."""
    if isinstance(equations, Rows):
        return System(network, atlas.push_rows(weighted))
    dim = weighted.sites.x.shape[1]

    def about(values: np.ndarray) -> Rows:
        rows = equations.about(jets_of(scale * values, dim))
        return atlas.push_rows(replace(rows, weight=weighted.weight, rhs=rows.rhs / scale))

    at = atlas.push(probes(weighted.sites))
    return NonlinearSystem(network, atlas.push_rows(weighted), equations.layout, at, about)


def _named(weights: Weights) -> str | dict[str, float]:
    """Weights as reports and files have them."""
    return dict(weights) if isinstance(weights, Mapping) else "own" if callable(weights) else weights


def collocated(
    partition: Partition, points: Points | PointRule, model: Model, *, seed: int, stream: Stream, given: bool
) -> Collocation:
    """The points of a stream; pieces with too few of them are refused or warned about."""
    drawn = (
        points(partition, seed, stream) if callable(points) else collocate(partition, points, seed=seed, stream=stream)
    )
    if not isinstance(drawn, Collocation):
        raise ModelError(
            f"the function for points returned a {type(drawn).__name__}; it must return a jn.Collocation, as "
            "jn.collocate(partition, jn.Points(...), seed=seed, stream=stream) does."
        )
    if stream is not Stream.TRAIN:
        return drawn
    counts = np.bincount(drawn.piece, minlength=partition.size)
    least = int(np.argmin(counts))
    if given and counts[least] < 2 * own_features(model):
        raise ModelError(
            f"piece {least} has {counts[least]} interior points for a network of {own_features(model)} neurons of its "
            f"own; give it at least twice as many points, Points(..., minimum={2 * own_features(model)}), "
            "or fewer neurons."
        )
    if counts[least] < FEW_POINTS:
        warnings.warn(
            f"piece {least} has only {counts[least]} interior points; look at the held-out residuals, or ask for more: "
            f"Points(..., minimum={FEW_POINTS}).",
            JumpnetWarning,
            stacklevel=12,
        )
    return drawn


def own_features(model: Model) -> int:
    """How many neurons a piece has to itself, 0 in a shared network."""
    return model.neurons if isinstance(model, Separate) else 0
