"""Deep and residual networks on the same inputs, by automatic differentiation.

They answer the same three calls as the closed forms, so rows, charts and optimisers do not notice; each call costs
more, and no problem so far needs them.
"""

from dataclasses import dataclass
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from jumpnet.linalg.block_qr import trained_labels
from jumpnet.models.activations import activation
from jumpnet.models.shallow import Blocks
from jumpnet.models.trained import Trained
from jumpnet.rows import Sites


@dataclass(frozen=True)
class FullyConnected(Trained):
    """Fully connected layers of the given widths on [y, z], z a trained label per cell, and a linear output.

    With `residual`, a layer whose width equals that of the one before adds its input to its output.
    """

    inputs: int
    cells: int
    labels: int
    widths: tuple[int, ...]
    hidden: str = "sigmoid"
    residual: bool = False
    encoding: tuple[tuple[float, ...], ...] | None = None

    @property
    def size(self) -> int:
        """The number of trained parameters."""
        trained = 0 if self.encoding is not None else self.labels * self.cells
        return sum((m + 1) * n for m, n in self._layers()) + self.widths[-1] + trained

    def _layers(self) -> list[tuple[int, int]]:
        widths = (self.inputs + self.labels, *self.widths)
        return list(pairwise(widths))

    def _u(self, theta: Array, y: Float[Array, " inputs"], cell: Array) -> Array:
        """The network at one point."""
        at = 0

        def take(*shape: int) -> Array:
            nonlocal at
            part = theta[at : at + int(np.prod(shape))].reshape(shape)
            at += part.size
            return part

        layers = [(take(m, n), take(n)) for m, n in self._layers()]
        c = take(self.widths[-1])
        e = take(self.labels, self.cells) if self.encoding is None else jnp.asarray(self.encoding)
        h = jnp.concatenate([y, e[:, cell]])
        for weights, bias in layers:
            out = activation(self.hidden)(h @ weights + bias)[0]
            h = out + h if self.residual and out.shape == h.shape else out
        return c @ h

    def _value(self, theta: Array, site: Sites) -> Array:
        """The functional of one site: a0 u + a1 . grad u + a2 : hess u."""

        def u(y: Array) -> Array:
            return self._u(theta, y, jnp.asarray(site.cell))

        if site.order == 0:
            return jnp.asarray(site.a0 * u(jnp.asarray(site.x)))
        value, gradient = jax.value_and_grad(u)(site.x)
        total = site.a0 * value + site.a1 @ gradient
        return total if site.order == 1 else total + jnp.sum(site.a2 * jax.hessian(u)(site.x))

    def values(self, theta: Float[Array, " parameters"], sites: Sites) -> Float[Array, " sites"]:
        """The functional of every site."""
        return jax.vmap(self._value, (None, 0))(theta, sites)

    def values_and_jacobian(
        self, theta: Float[Array, " parameters"], sites: Sites
    ) -> tuple[Float[Array, " sites"], Blocks]:
        """The functional of every site and the transpose of its Jacobian."""
        values, jacobian = jax.vmap(jax.value_and_grad(self._value), (None, 0))(theta, sites)
        return values, (jacobian.T,)

    def values_and_own_jacobian(
        self, theta: Float[Array, " parameters"], sites: Sites
    ) -> tuple[Float[Array, " sites"], Blocks, Float[Array, "own sites"]]:
        """The same, split into the rows of shared parameters and those of the label of the site's cell."""
        values, (jacobian,) = self.values_and_jacobian(theta, sites)
        shared = self.size - self.own.size
        mine = jnp.asarray(self.own)[sites.cell]
        return values, (jacobian[:shared],), jacobian[mine.T, jnp.arange(len(sites))]

    @property
    def own(self) -> Int[np.ndarray, "cells own"]:
        """Where in theta each cell's label is."""
        return trained_labels(self.size, 0 if self.encoding is not None else self.labels, self.cells)

    def initial(self, rng: np.random.Generator) -> Float[np.ndarray, " parameters"]:
        """First layer as in the shallow network; later ones scaled by their width, so that nothing saturates."""
        parts = []
        for index, (m, n) in enumerate(self._layers()):
            scale = 1.0 if index == 0 else 2.0 / np.sqrt(m)
            parts += [scale * rng.standard_normal(m * n), rng.standard_normal(n)]
        parts.append(rng.standard_normal(self.widths[-1]))
        if self.encoding is None:
            parts.append(rng.uniform(-1, 1, self.labels * self.cells))
        return np.concatenate(parts)
