"""The models a user names: each says which network it becomes, given the coordinates and cells there are.

With d inputs and L + 1 cells the parameter counts are the paper's: (d + 3) N for scalar encoding, (d + L + 3) N for
one-hot, (d + D + 2) N + (L + 1) D for the categorical embedding.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from jumpnet.errors import ModelError
from jumpnet.models.activations import activation
from jumpnet.models.connected import FullyConnected
from jumpnet.models.percell import PerCell
from jumpnet.models.shallow import Shallow
from jumpnet.models.system import Network

Encoding = tuple[tuple[float, ...], ...]
Labels = Literal["index", "mean-u", "mean-f"] | Sequence[float]


class Model(Protocol):
    """A kind of network, before the number of inputs and cells is known."""

    def network(self, inputs: int, cells: int) -> Network:
        """The network on a number of coordinates and cells."""
        ...


@dataclass(frozen=True)
class CategoricalEmbedding:
    """One shallow network whose label vector (of length `dim`) is trained for each cell.

    `dim="auto"` starts with `suggested_dim` of the number of pieces and takes more where a training does not converge.
    `squash` names an activation s for the nonlinear embedding z = s(E delta). `encoding` freezes E to a given
    dim x cells matrix: to the labels it is scalar encoding, to the identity one-hot.
    """

    dim: int | Literal["auto"] = 1
    neurons: int = 50
    activation: str = "sigmoid"
    squash: str | None = None
    encoding: Encoding | None = None

    def __post_init__(self) -> None:
        _check(self.neurons, self.activation)
        if self.dim != "auto" and (not isinstance(self.dim, int | np.integer) or self.dim < 1):
            raise ModelError(f'the embedding\'s dim is {self.dim!r}; give a whole number, at least 1, or "auto".')
        if self.squash is not None:
            activation(self.squash)

    def network(self, inputs: int, cells: int) -> Network:
        """The network on a number of coordinates and cells."""
        dim = suggested_dim(cells) if self.dim == "auto" else self.dim
        if self.encoding is not None:
            frozen = np.array(self.encoding, float)
            if frozen.shape != (dim, cells):
                raise ModelError(
                    f"encoding has shape {frozen.shape}; with dim={dim} and {cells} pieces it must be {(dim, cells)}."
                )
            return Shallow(inputs, cells, dim, self.neurons, self.activation, self.squash, _frozen(frozen))
        if dim > cells:
            raise ModelError(
                f"the embedding's dim is {dim} but there are only {cells} pieces; "
                f"take dim <= {cells} (10 to 20 % of the pieces is usually enough)."
            )
        return Shallow(inputs, cells, dim, self.neurons, self.activation, self.squash)


def suggested_dim(cells: int) -> int:
    """The label's length to begin with: one number for a handful of pieces, 15 % of them for many."""
    return 1 if cells <= 5 else int(np.ceil(0.15 * cells))


@dataclass(frozen=True)
class ScalarEncoding:
    """One shallow network with a fixed number per piece as its label.

    `labels`: "index" (0, 1, 2, ...), "mean-u" or "mean-f" (in the order of the means over the pieces, which the engine
    computes), evenly spaced in [-1, 1]; or the numbers themselves. With the paper's charts the labels are the paper's:
    the index as it is, the means of u, the means of f divided by the largest.
    """

    labels: Labels = "index"
    neurons: int = 50
    activation: str = "sigmoid"

    def __post_init__(self) -> None:
        _check(self.neurons, self.activation)
        _check_labels(self.labels)

    def network(self, inputs: int, cells: int) -> Network:
        """The network on a number of coordinates and cells."""
        return Shallow(inputs, cells, 1, self.neurons, self.activation, None, _scalar(self.labels, cells))


@dataclass(frozen=True)
class _OneLayer:
    """Networks of one layer without further settings."""

    neurons: int = 50
    activation: str = "sigmoid"

    def __post_init__(self) -> None:
        _check(self.neurons, self.activation)


@dataclass(frozen=True)
class OneHot(_OneLayer):
    """One shallow network whose label is the unit vector of the cell."""

    def network(self, inputs: int, cells: int) -> Network:
        """The network on a number of coordinates and cells."""
        return Shallow(inputs, cells, cells, self.neurons, self.activation, None, _frozen(np.eye(cells)))


@dataclass(frozen=True)
class Unlabelled(_OneLayer):
    """One smooth shallow network that is not told the piece, and so cannot jump: what a plain PINN does."""

    def network(self, inputs: int, cells: int) -> Network:
        """The network on a number of coordinates."""
        return Shallow(inputs, cells, 0, self.neurons, self.activation, None, ())


@dataclass(frozen=True)
class Separate(_OneLayer):
    """A shallow network of its own for each cell, coupled only at the interfaces."""

    def network(self, inputs: int, cells: int) -> Network:
        """The networks on a number of coordinates and cells."""
        return PerCell(Shallow(inputs, 1, 0, self.neurons, self.activation, None, ()), cells)


@dataclass(frozen=True)
class Deep:
    """A deep (or residual) fully connected network on coordinates and a label, by automatic differentiation.

    The label is a vector of length `dim`, trained; or one given number per piece, `labels` as in `ScalarEncoding`.
    """

    dim: int = 1
    widths: tuple[int, ...] = (20, 20)
    activation: str = "sigmoid"
    residual: bool = False
    labels: Labels | None = None

    def __post_init__(self) -> None:
        if not self.widths:
            raise ModelError("widths is empty; give the width of at least one layer.")
        for width in self.widths:
            _check(width, self.activation)
        _check_labels(self.labels)

    def network(self, inputs: int, cells: int) -> Network:
        """The network on a number of coordinates and cells."""
        frozen = None if self.labels is None else _scalar(self.labels, cells)
        dim = self.dim if frozen is None else 1
        return FullyConnected(inputs, cells, dim, tuple(self.widths), self.activation, self.residual, frozen)


@dataclass(frozen=True)
class _OfDegrees:
    """Functions up to a degree in each piece, and up to an order about each of its holes."""

    degree: int = 10
    order: int = 0

    def __post_init__(self) -> None:
        for value in (self.degree, self.order):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
                raise ModelError(f"a degree is {value!r}; give a whole number, zero or more.")


@dataclass(frozen=True)
class Polynomials(_OfDegrees):
    """Frozen features: Legendre polynomials of total degree at most `degree` on the box of each piece.

    About each hole of a piece polynomials of degree `order` in its pole coordinates are added; 0 leaves them out.
    """


@dataclass(frozen=True)
class Harmonics(_OfDegrees):
    """Frozen features: functions that solve div(A grad u) = 0 exactly, for pieces with constant A in 2-D and 3-D.

    Growing ones up to `degree` in each piece, decaying ones up to `order` about each of its holes. A piece with another
    equation gets polynomials instead.
    """

    order: int = 10


@dataclass(frozen=True)
class RandomFeatures:
    """Frozen features: a random tanh layer of `neurons` for each piece, on the piece's box, weights up to `scale`."""

    neurons: int = 100
    scale: float = 0.5

    def __post_init__(self) -> None:
        _check(self.neurons, "tanh")
        if not self.scale > 0:
            raise ModelError(f"the scale of the random weights is {self.scale}; it must be a positive number.")


FrozenModel = Polynomials | Harmonics | RandomFeatures


def _check(neurons: int, name: str) -> None:
    if not isinstance(neurons, int | np.integer) or neurons < 1:
        raise ModelError(f"the number of neurons is {neurons!r}; give a whole number, at least 1.")
    activation(name)


def _check_labels(labels: Labels | None) -> None:
    if isinstance(labels, str) and labels not in ("index", "mean-u", "mean-f"):
        raise ModelError(f'labels is {labels!r}; choose "index", "mean-u", "mean-f" or give the numbers.')


def _scalar(given: Labels, cells: int) -> Encoding:
    """One number per piece as a frozen encoding; the index is scaled to [-1, 1]."""
    if isinstance(given, str):
        if given != "index":
            raise ModelError(f'labels "{given}" must be resolved to numbers first; solve(...) does that.')
        labels = np.linspace(-1, 1, cells)
    else:
        labels = np.asarray(given, float)
    if labels.shape != (cells,):
        raise ModelError(f"{labels.size} labels are given for {cells} pieces; give one number for each piece.")
    if len(np.unique(labels)) < cells:
        raise ModelError(
            f"the labels {labels.tolist()} are not distinct, so pieces cannot be told apart; "
            "use other labels, or CategoricalEmbedding()."
        )
    return _frozen(labels[None])


def _frozen(matrix: np.ndarray) -> Encoding:
    return tuple(tuple(row) for row in matrix.tolist())
