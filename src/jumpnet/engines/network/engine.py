"""The network engine: the trainings of a problem, or of a function to be approximated, for all seeds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from jumpnet.charts import Atlas, choose_atlases
from jumpnet.collocation import Collocation, Points, Stream
from jumpnet.engines.network.checkpoint import Checkpoint
from jumpnet.engines.network.embedding import grown
from jumpnet.engines.network.labels import resolve_labels
from jumpnet.engines.network.options import Network
from jumpnet.engines.network.settings import Settings, default_points, resolve
from jumpnet.engines.network.task import Task, collocated, own_features
from jumpnet.engines.network.trials import best_of
from jumpnet.engines.protocol import Request
from jumpnet.engines.trefftz.collocation_pool import with_held_out
from jumpnet.errors import ModelError
from jumpnet.fields import Field, Values
from jumpnet.fields.piecewise import piecewise_values
from jumpnet.geometry import Partition
from jumpnet.models import Model
from jumpnet.problem import Problem
from jumpnet.rows import NonlinearRows, Rows, equations, values
from jumpnet.solution import Solution, Statement


@dataclass(frozen=True)
class Training:
    """What the trainings of all seeds share: settings, charts, and the function that makes rows at points.

    The statement has the exact solution, or the function to be approximated, if it is known: labels may be computed
    from it. Without a problem there are rows for values only.
    """

    partition: Partition
    settings: Settings
    atlases: Sequence[Atlas]
    rows: Callable[[Collocation, Stream], Rows | NonlinearRows]
    statement: Statement

    def best(self, options: Network, request: Request) -> Solution:
        """The best solution of all seeds; labels of automatic dimension grow if a training does not converge."""
        path, every = options.checkpoint, options.checkpoint_every
        kept = None if path is None else Checkpoint(path, int(request.seed), every)
        seeds, steps = range(request.seed, request.seed + options.trials), self.settings.optimizer.stop.steps

        def attempt(model: Model) -> Solution:
            training = replace(self, settings=replace(self.settings, model=model))
            return best_of(
                training.task, seeds, options.workers, steps=steps, progress=request.progress, checkpoint=kept
            )

        return grown(self.settings.model, self.partition.size, attempt, once=kept is not None)

    def task(self, seed: int) -> Task:
        """The task of one seed: its labels, networks and points, and the rows of these."""
        settings, partition, raw = self.settings, self.partition, self.settings.charts == "paper"
        problem = self.statement.problem
        u, f = _values_of(self.statement.exact), _values_of(None if problem is None else problem.f)
        model = resolve_labels(settings.model, partition, u=u, f=f, raw=raw, seed=seed)
        networks = [model.network(atlas.inputs, partition.size) for atlas in self.atlases]
        counts = settings.points or default_points(networks[-1], partition.dim, partition.size, own_features(model))
        if problem is None and isinstance(counts, Points):
            counts = replace(counts, interface=0)
        given = settings.points is not None
        train, unseen = (
            collocated(partition, counts, model, seed=seed, stream=stream, given=given)
            for stream in (Stream.TRAIN, Stream.HELD_OUT)
        )
        taken = counts if isinstance(counts, Points) else train.counts()
        rows = self.rows(train, Stream.TRAIN), self.rows(unseen, Stream.HELD_OUT)
        return Task(partition, self.atlases, networks, taken, *rows, settings, self.statement)


@dataclass(frozen=True)
class NetworkEngine:
    """Networks that are allowed to jump, trained on the equations of a problem."""

    options: Network = field(default_factory=Network)

    def suits(self, problem: Problem) -> str | float:
        """Any problem, without a limit on the time of a try."""
        return np.inf

    def solve(self, problem: Problem, request: Request) -> Solution:
        """The best of the trained networks."""

        def rows(drawn: Collocation, stream: Stream) -> Rows:
            return equations(problem, with_held_out(problem, drawn) if stream is Stream.HELD_OUT else drawn)

        return request.accept(self.trained(problem, rows, request), False)

    def trained(
        self, problem: Problem, rows: Callable[[Collocation, Stream], Rows | NonlinearRows], request: Request
    ) -> Solution:
        """The best of the networks trained on equations at points of a problem, not yet accepted."""
        partition = problem.partition
        settings = _within(resolve(partition.dim, partition.size, self.options), request.budget.left)
        atlases = choose_atlases(settings.charts, partition, lambda piece, x: problem.A[piece].value(x))
        return Training(partition, settings, atlases, rows, Statement.of(problem)).best(self.options, request)

    def approximate(self, partition: Partition, u: tuple[Field, ...], request: Request) -> Solution:
        """The best of the networks trained on the values of a piecewise function."""
        settings = resolve(partition.dim, partition.size, self.options)

        def rows(drawn: Collocation, stream: Stream) -> Rows:
            x = np.concatenate([drawn.interior, drawn.boundary])
            piece = np.concatenate([drawn.piece, drawn.boundary_piece])
            return values(piecewise_values(u, x, piece), x, piece)

        known = Statement.of_function(partition, u)
        training = Training(partition, settings, choose_atlases(settings.charts, partition), rows, known)
        return request.accept(training.best(self.options, request), False)


def _within(settings: Settings, limit: float) -> Settings:
    """Settings of a training that ends in time."""
    seconds = min(limit, settings.optimizer.stop.time_limit or np.inf)
    if not np.isfinite(seconds):
        return settings
    own: Any = settings.optimizer
    if hasattr(own, "time_limit"):
        return replace(settings, optimizer=replace(own, time_limit=seconds))
    try:  # a user's optimiser, of which only `stop` is known
        return replace(settings, optimizer=replace(own, stop=replace(own.stop, time_limit=seconds)))
    except TypeError:
        raise ModelError(
            f"{type(own).__name__} cannot be given a time limit; make it a dataclass with a field `stop` "
            "(jn.optim.Stop)."
        ) from None


def _values_of(
    fields: Sequence[Values] | None,
) -> Callable[[int, np.ndarray], Float[np.ndarray, " points"]] | None:
    return None if fields is None else lambda piece, x: fields[piece].value(x)
