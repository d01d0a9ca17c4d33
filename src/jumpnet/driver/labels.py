"""Mean labels: scalar encodings that know something about the pieces, resolved to numbers."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from jumpnet.collocation import Stream
from jumpnet.errors import ModelError
from jumpnet.geometry import Partition
from jumpnet.models import Deep, Model, ScalarEncoding

# Monte Carlo points per piece: the labels need to be distinct, not exact.
POINTS_PER_PIECE = 200

Values = Callable[[int, np.ndarray], np.ndarray]


def resolve_labels(
    model: Model, partition: Partition, *, u: Values | None, f: Values | None, raw: bool, seed: int
) -> Model:
    """The model with numbers for labels; `u` and `f` give values in a piece, None where unknown."""
    if not isinstance(model, ScalarEncoding | Deep) or not isinstance(model.labels, str):
        return model
    if model.labels == "index":
        return replace(model, labels=tuple(range(partition.size))) if raw else model
    values = u if model.labels == "mean-u" else f
    if values is None:
        raise ModelError(
            f'labels "{model.labels}" need {model.labels[-1]}, which is not known here; use labels="index".'
        )
    count = POINTS_PER_PIECE * partition.size
    x, piece = partition.sample_interior(count, seed=[seed, int(Stream.LABELS)], minimum=POINTS_PER_PIECE // 4)
    means = np.array([values(p, x[piece == p]).mean() for p in range(partition.size)])
    largest = np.abs(means).max()
    if largest == 0 or len(np.unique(means)) < partition.size:
        raise ModelError(
            f'labels "{model.labels}" are {means.tolist()}: equal means cannot tell pieces apart; '
            'use labels="index" or CategoricalEmbedding().'
        )
    return replace(model, labels=tuple((means / largest).tolist()))
