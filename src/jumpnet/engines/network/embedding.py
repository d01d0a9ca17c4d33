"""`CategoricalEmbedding(dim="auto")`: the dimension begins small and doubles if the training does not converge."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from jumpnet.models import CategoricalEmbedding, Model, suggested_dim
from jumpnet.optim import Status
from jumpnet.solution import Solution

# The most doublings of the dimension; each attempt is a whole training (heuristic).
MOST_DOUBLINGS = 2


def grown(model: Model, pieces: int, train: Callable[[Model], Solution], *, once: bool) -> Solution:
    """The solution of the first dimension with which the training converges, else the best by held-out loss.

    Other models, and any model if `once`, are trained as they are.
    """
    if once or not isinstance(model, CategoricalEmbedding) or model.dim != "auto":
        return train(model)
    found: list[Solution] = []
    for dim in _dims(pieces):
        found.append(train(replace(model, dim=dim)))
        if found[-1].status in (Status.TRAINED, Status.INTERRUPTED):
            break
    best = min(found, key=lambda solution: np.nan_to_num(solution.held_out_loss, nan=np.inf))
    training = best.diagnostics.training
    assert training is not None
    models = tuple(s.diagnostics.training.model for s in found if s.diagnostics.training is not None)
    return best.with_diagnostics(training=replace(training, embedding=models))


def _dims(pieces: int) -> list[int]:
    """Dimensions to try: 15 % of the number of pieces, twice and four times as many, at most the number of pieces."""
    first = suggested_dim(pieces)
    return sorted({min(first << doublings, pieces) for doublings in range(MOST_DOUBLINGS + 1)})
