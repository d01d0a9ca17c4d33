"""The shallow network u(y, z) = sum_j c_j s(W_j . [y, z] + b_j) with everything about it in closed form.

z is the label vector of the cell: a column of the encoding matrix E, trained (categorical embedding) or frozen (the
labels of scalar encoding, the identity of one-hot encoding). For a site with coefficients (a0, a1, a2), neuron j
contributes c_j phi_j with

    phi_j = a0 s + (a1 . w_j) s' + (w_j . a2 . w_j) s''          w_j: the y-part of W_j

and all derivatives with respect to c, b, W, E follow from s, s', s'', s'''.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from jumpnet.linalg.block_qr import trained_labels
from jumpnet.models.activations import Activation, activation
from jumpnet.models.trained import Trained
from jumpnet.rows import Sites

Blocks = tuple[Float[Array, "rows sites"], ...]


class Parameters(NamedTuple):
    """The flat parameter vector, unpacked; matrices are stored input by input, so that J^T has contiguous blocks."""

    w: Float[Array, "inputs neurons"]
    v: Float[Array, "labels neurons"]
    b: Float[Array, " neurons"]
    c: Float[Array, " neurons"]
    e: Float[Array, "labels cells"]


@dataclass(frozen=True)
class Shallow(Trained):
    """One hidden layer on the coordinates y and the label z of the cell.

    `encoding` is the frozen matrix E as nested tuples, or None where E is trained. `squash` is the activation in
    z = s(E delta), or None for the linear embedding. Hashable, so that compiled functions are shared between equal
    networks.
    """

    inputs: int
    cells: int
    labels: int
    neurons: int
    hidden: str = "sigmoid"
    squash: str | None = None
    encoding: tuple[tuple[float, ...], ...] | None = None

    @property
    def shallow(self) -> "Shallow":
        """Itself."""
        return self

    @property
    def size(self) -> int:
        """The number of trained parameters."""
        trained = 0 if self.encoding is not None else self.labels * self.cells
        return (self.inputs + self.labels + 2) * self.neurons + trained

    def unpack(self, theta: Float[Array, " parameters"]) -> Parameters:
        """The parameter vector as matrices; a frozen encoding takes the place of the trained one."""
        k, labels, n = self.inputs, self.labels, self.neurons
        cuts = np.cumsum([k * n, labels * n, n, n]).tolist()
        w, v, b, c, e = (theta[i:j] for i, j in zip([0, *cuts], [*cuts, None], strict=True))
        encoding = e if self.encoding is None else jnp.asarray(self.encoding)
        return Parameters(w.reshape(k, n), v.reshape(labels, n), b, c, encoding.reshape(labels, self.cells))

    def label_vectors(self, e: Float[Array, "labels cells"]) -> tuple[Array, Array]:
        """z of every cell and dz/dE, both (labels, cells)."""
        if self.squash is None:
            return e, jnp.ones_like(e)
        z, dz, _, _ = activation(self.squash)(e)
        return z, dz

    def values(self, theta: Float[Array, " parameters"], sites: Sites) -> Float[Array, " sites"]:
        """The functional of every site."""
        return self.unpack(theta).c @ self.features(theta, sites)

    def features(self, theta: Float[Array, " parameters"], sites: Sites) -> Float[Array, "neurons sites"]:
        """The functional of every site applied to each neuron: the derivatives by the output weights c."""
        jet, g, h, _, _ = self._neurons(self.unpack(theta), sites)
        return self._functional(sites, jet[:3], g, h)

    def values_and_jacobian(
        self, theta: Float[Array, " parameters"], sites: Sites
    ) -> tuple[Float[Array, " sites"], Blocks]:
        """The functional of every site and the transpose of its Jacobian, as blocks of rows in theta's order."""
        p = self.unpack(theta)
        values, phi, dw, db, z, dz = self._derivatives(p, sites)
        dv = (db * z[:, sites.cell][:, None]).reshape(-1, len(sites))
        if self.encoding is not None:
            return values, (*dw, dv, db, phi)
        owner = sites.cell == jnp.arange(self.cells)[:, None]
        de = (p.v @ db) * dz[:, sites.cell]
        return values, (*dw, dv, db, phi, jnp.where(owner, de[:, None], 0.0).reshape(-1, len(sites)))

    def values_and_own_jacobian(
        self, theta: Float[Array, " parameters"], sites: Sites
    ) -> tuple[Float[Array, " sites"], Blocks, Float[Array, "own sites"]]:
        """The same, split into the rows of shared parameters and those of the site's own cell (`own`)."""
        p = self.unpack(theta)
        values, phi, dw, db, z, dz = self._derivatives(p, sites)
        if self.one_hot:
            return values, (*dw, db, phi), db
        dv = (db * z[:, sites.cell][:, None]).reshape(-1, len(sites))
        own = (p.v @ db) * dz[:, sites.cell] if self.encoding is None else jnp.zeros((0, len(sites)))
        return values, (*dw, dv, db, phi), own

    @property
    def output(self) -> slice:
        """Where in theta the weights c of the neurons are: the network is linear in them."""
        start = (self.inputs + self.labels + 1) * self.neurons
        return slice(start, start + self.neurons)

    @property
    def one_hot(self) -> bool:
        """Whether each cell has a row of V to itself."""
        return self.encoding is not None and self.cells > 1 and self.encoding == _identity(self.cells)

    @property
    def numbered(self) -> bool:
        """Whether the label is one given number for each of several cells."""
        return self.encoding is not None and self.labels == 1 and self.cells > 1

    @property
    def own(self) -> Int[np.ndarray, "cells own"]:
        """Where in theta the parameters are that matter in one cell only: its label, or its row of V if one-hot."""
        if self.one_hot:
            return self.inputs * self.neurons + np.arange(self.cells * self.neurons).reshape(self.cells, -1)
        return trained_labels(self.size, 0 if self.encoding is not None else self.labels, self.cells)

    def _derivatives(self, p: Parameters, sites: Sites) -> tuple[Array, Array, list[Array], Array, Array, Array]:
        """Values, their derivatives by c, W (input by input) and b, and the labels z of the cells with their slope."""
        jet, g, h, aw, (z, dz) = self._neurons(p, sites)
        c = p.c[:, None]
        phi = self._functional(sites, jet[:3], g, h)
        db = c * self._functional(sites, jet[1:], g, h)
        dw = [db * sites.x[:, k] for k in range(self.inputs)]
        if sites.order > 0:
            dw = [part + (c * jet[1]) * sites.a1[:, k] for k, part in enumerate(dw)]
        if sites.order > 1:
            dw = [part + (2 * c * jet[2]) * aw[k] for k, part in enumerate(dw)]
        return p.c @ phi, phi, dw, db, z, dz

    @staticmethod
    def _functional(sites: Sites, jet: Sequence[Array], g: Array, h: Array) -> Array:
        """a0 s + (a1 . w) s' + (w . a2 . w) s'' for s and two derivatives, as far as the sites have coefficients."""
        total = sites.a0 * jet[0]
        if sites.order > 0:
            total = total + g * jet[1]
        return jnp.asarray(total if sites.order < 2 else total + h * jet[2])

    def _neurons(self, p: Parameters, sites: Sites):
        """Per neuron and site: the activation's jet, a1 . w, w . a2 . w, a2 w, and the labels with their slope.

        Derivatives beyond the order of the sites are not computed.
        """
        z, dz = self.label_vectors(p.e)
        s = p.w.T @ sites.x.T + (p.v.T @ z)[:, sites.cell] + p.b[:, None]
        g = p.w.T @ sites.a1.T
        aw = [p.w.T @ sites.a2[:, k].T for k in range(self.inputs)]
        h = sum((aw[k] * p.w[k][:, None] for k in range(self.inputs)), jnp.zeros_like(s))
        return self._activation(s), g, h, aw, (z, dz)

    @property
    def _activation(self) -> Activation:
        return activation(self.hidden)

    def initial(self, rng: np.random.Generator) -> Float[np.ndarray, " parameters"]:
        """Random parameters: W, b, c ~ N(0, 1), E ~ U(-1, 1), the most reliable in 2-D and 3-D on scaled inputs."""
        n = self.neurons
        # E is drawn last, so that a frozen encoding meets the very same W, b, c as a trained one.
        parts = [
            rng.standard_normal((self.inputs + self.labels) * n),
            rng.standard_normal(n),
            rng.standard_normal(n),
        ]
        if self.encoding is None:
            parts.append(rng.uniform(-1, 1, self.labels * self.cells))
        return np.concatenate(parts)

    def steepened(
        self,
        theta: Float[np.ndarray, " parameters"],
        slopes: Float[np.ndarray, "all_inputs #neurons"],
        through: Float[np.ndarray, "neurons all_inputs"],
    ) -> Float[np.ndarray, " parameters"]:
        """Weights times the slopes of each input, coordinates then labels; neuron j has its step at `through[j]`."""
        inputs, n = self.inputs + self.labels, self.neurons
        W = theta[: inputs * n].reshape(inputs, n) * slopes
        b = -np.sum(W * through.T, axis=0)
        return np.concatenate([W.ravel(), b, theta[(inputs + 1) * n :]])

    def stretched(
        self,
        theta: Float[np.ndarray, " parameters"],
        middle: Float[np.ndarray, " some_inputs"],
        half: Float[np.ndarray, " some_inputs"],
    ) -> Float[np.ndarray, " parameters"]:
        """Parameters that make of [middle - half, middle + half] what `theta` makes of [-1, 1]; the first inputs."""
        inputs, n, some = self.inputs + self.labels, self.neurons, len(middle)
        W = theta[: inputs * n].reshape(inputs, n).copy()
        W[:some] /= np.where(half > 0, half, 1.0)[:, None]
        b = theta[inputs * n : (inputs + 1) * n] - middle @ W[:some]
        return np.concatenate([W.ravel(), b, theta[(inputs + 1) * n :]])


@cache
def _identity(cells: int) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in np.eye(cells).tolist())
