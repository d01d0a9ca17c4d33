"""Scalar labels computed from means over pieces, and initial weights that resolve many labels."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from jumpnet.collocation import Stream
from jumpnet.errors import ModelError
from jumpnet.geometry import Partition
from jumpnet.models import Deep, Model, NonlinearSystem, ScalarEncoding, System

# Monte Carlo points per piece: the labels need to be distinct, not exact.
POINTS_PER_PIECE = 200

# With more pieces than this, initial weights are enlarged until the step of a neuron spans this many pieces. On fa2
# with 50 and 100 pieces, values from 10 to 30 made no difference on two seeds, 5 was worse.
PIECES_PER_NEURON = 10

# For unscaled inputs the same holds from this number of pieces on, and the step of a neuron spans this many. Chosen by
# the held-out losses of fa2 with 10, 50 and 100 pieces (docs/method.md, the paper's setting).
MANY_UNSCALED, REACH_UNSCALED = 10, 3

Values = Callable[[int, np.ndarray], np.ndarray]


def resolve_labels(
    model: Model, partition: Partition, *, u: Values | None, f: Values | None, raw: bool, seed: int
) -> Model:
    """The model with numbers for labels; `u` and `f` give values in a piece, None where unknown.

    Pieces are ordered by their means, and labels are evenly spaced in that order, because means come in clusters that a
    smooth network cannot resolve. `raw` labels are the paper's: the means of u, or those of f divided by the largest.
    """
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
    if raw:
        labels = means if model.labels == "mean-u" else means / largest
    else:
        labels = np.linspace(-1, 1, partition.size)[means.argsort().argsort()]
    return replace(model, labels=tuple(labels.tolist()))


def initial(system: System | NonlinearSystem, rng: np.random.Generator) -> np.ndarray:
    """Random parameters; steep ones where one number is the label of many pieces.

    Neurons with weights of size one vary over the whole of [-1, 1]. If pieces are thin in some coordinate, or labels
    are close, a training first spends hundreds of steps on enlarging the weights. Therefore they are large from the
    start, and the step of each neuron is placed at a training point; otherwise most neurons would be constant on the
    points.
    """
    network, sites = system.network.shallow, system.rows.sites
    theta = system.network.initial(rng)
    if not (network and network.numbered and network.cells > PIECES_PER_NEURON):
        return theta
    x, label = np.asarray(sites.x), np.asarray(network.encoding)[0]
    apart = np.append(_widths(x, np.asarray(sites.cell)), np.ptp(label) / (len(label) - 1))
    slopes = np.maximum(1.0, 2.0 / (PIECES_PER_NEURON * apart))
    if np.all(slopes == 1.0):
        return theta
    at = rng.integers(len(x), size=network.neurons)
    return network.steepened(theta, slopes[:, None], np.column_stack([x[at], label[sites.cell[at]]]))


def initial_stretched(system: System | NonlinearSystem, rng: np.random.Generator) -> np.ndarray:
    """Random parameters for unscaled inputs: those drawn for inputs in [-1, 1], transformed to the units of the inputs.

    Without that, coordinates from 0 to 2 pi and labels from 0 to 9 would have nearly all steps of neurons at one end.
    """
    network, theta = system.network.shallow, system.network.initial(rng)
    return network.stretched(theta, *_ranges(system)) if network else theta


def initial_raw(system: System | NonlinearSystem, rng: np.random.Generator, reach: int = REACH_UNSCALED) -> np.ndarray:
    """The same for inputs without scaling; with larger weights where one number distinguishes many pieces.

    Labels that are means come in clusters: a neuron's step in the label ends at its nearest labels.
    """
    network, sites = system.network.shallow, system.rows.sites
    if not (network and network.numbered and network.cells >= MANY_UNSCALED):
        return initial_stretched(system, rng)
    theta, (middle, half) = network.initial(rng), _ranges(system)
    x, label = np.asarray(sites.x), np.asarray(network.encoding)[0]
    at = rng.integers(len(x), size=network.neurons)
    through = (np.column_stack([x[at], label[sites.cell[at]]]) - middle) / half
    # Half the length of a neuron's step: in x that of `reach` pieces, in the label up to the `reach` nearest ones.
    in_x = reach / 2 * _widths(x, np.asarray(sites.cell)) / half[:-1]
    apart = np.abs(through[:, -1:] - (label - middle[-1]) / half[-1])
    in_label = np.sort(apart, axis=1)[:, reach]
    reaches = np.vstack([np.repeat(in_x[:, None], network.neurons, axis=1), in_label])
    theta = network.steepened(theta, np.maximum(1.0, 1.0 / reaches), through)
    return network.stretched(theta, middle, half)


def _ranges(system: System | NonlinearSystem) -> tuple[np.ndarray, np.ndarray]:
    """Middle and half length of the range of each coordinate at the points of the training, and of given numbers."""
    network, x = system.network.shallow, np.asarray(system.rows.sites.x)
    lower, upper = x.min(axis=0), x.max(axis=0)
    if network and network.numbered:
        label = np.asarray(network.encoding)
        lower, upper = np.r_[lower, label.min()], np.r_[upper, label.max()]
    return (lower + upper) / 2, (upper - lower) / 2


def _widths(x: np.ndarray, cell: np.ndarray) -> np.ndarray:
    """How wide a piece is in each coordinate, the median over pieces."""
    order = np.argsort(cell, kind="stable")
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
    return np.median(np.maximum.reduceat(x[order], starts) - np.minimum.reduceat(x[order], starts), axis=0)
