"""Options of the network engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Literal

import numpy as np

from jumpnet.charts import Charts
from jumpnet.collocation import PointRule, Points
from jumpnet.engines.seeds import check_trials
from jumpnet.errors import ModelError
from jumpnet.models import FrozenModel, Model
from jumpnet.optim import Direct, Optimizer
from jumpnet.rows import Weights

Preset = Literal["paper"]
# The named rules for the weights of rows (rows/weights.py).
WEIGHTS = ("equilibrated", "balanced", "paper")


@dataclass(frozen=True)
class Network:
    """A network that is allowed to jump, trained on the equations: `jn.solve(problem, method=jn.Network(...))`.

    Args:
        model: The network, one of `jn.models`; by default a categorical embedding whose size suits the problem.
        optimizer: One of `jn.optim`; by default `LevenbergMarquardt()`.
        points: `jn.Points(...)`, (interior, boundary, per interface), or a function (partition, seed, stream) ->
            `jn.Collocation`; by default enough for the network's size.
        charts: The coordinates of the network: "auto" (the default), "box", "local", "paper" or those of `jn.charts`.
        weights: The weights of the equations: "equilibrated" (the default), "balanced", "paper", factors of the loss
            by condition ({"boundary": 10.0}), or a function of the rows.
        preset: "paper" takes the paper's charts, weights, points and stopping rule where they are left out.
        trials: The number of seeds (from `seed` on) to train with; the best by held-out residual is returned, and its
            report lists the others.
        workers: The number of trainings at a time; by default one on each core.
        checkpoint: A file to which the training is written every few seconds. The same call with the same file resumes
            an interrupted training, and ends with the same bits as an uninterrupted one.
        checkpoint_every: The seconds between two writes of that file; a write takes some milliseconds.

    Example:
        >>> import jumpnet as jn
        >>> problem = jn.manufactured(jn.Partition(jn.Interval(0, 1), []), u="sin(3*x1)")
        >>> method = jn.Network(jn.models.CategoricalEmbedding(neurons=8), points=(60, 2, 1))
        >>> jn.solve(problem, method=method, verify=False).errors().l2 < 1e-5
        True
    """

    model: Model | None = None
    optimizer: Optimizer | None = None
    points: Points | PointRule | Sequence[int] | None = None
    charts: Charts | None = None
    weights: Weights | None = None
    preset: Preset | None = None
    trials: int = 1
    workers: int | None = None
    checkpoint: str | PathLike[str] | None = None
    checkpoint_every: float = 10.0

    def __post_init__(self) -> None:
        if self.preset not in (None, "paper"):
            raise ModelError(f'preset is {self.preset!r}; the only preset is "paper".')
        if isinstance(self.model, FrozenModel):
            raise ModelError(f"{self.model!r} has frozen features, which are not trained; use jn.Trefftz(basis=...).")
        if self.model is not None and not hasattr(self.model, "network"):
            raise ModelError(
                f"model is {self.model!r}; give one of jn.models, such as jn.models.CategoricalEmbedding()."
            )
        if isinstance(self.optimizer, Direct):
            raise ModelError("jn.optim.Direct() solves for frozen features, it trains no network; use jn.Trefftz(...).")
        if self.optimizer is not None and not hasattr(self.optimizer, "advance"):
            raise ModelError(
                f"optimizer is {self.optimizer!r}; give one of jn.optim, such as jn.optim.LevenbergMarquardt()."
            )
        named = isinstance(self.weights, str) and self.weights not in WEIGHTS
        if named or not (self.weights is None or isinstance(self.weights, str | Mapping) or callable(self.weights)):
            raise ModelError(
                f"weights is {self.weights!r}; choose one of {', '.join(map(repr, WEIGHTS))}, or give factors of "
                'conditions, such as {"boundary": 10.0}, or a function of the rows.'
            )
        if self.points is not None and not callable(self.points):
            points = self.points.tolist() if isinstance(self.points, np.ndarray) else self.points
            object.__setattr__(self, "points", Points.of(points))
        if not self.checkpoint_every >= 0:
            raise ModelError(f"checkpoint_every is {self.checkpoint_every!r}; give a number of seconds, such as 10.")
        check_trials(0, self.trials, self.workers)
