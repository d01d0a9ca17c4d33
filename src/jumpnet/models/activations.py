"""Activation functions with their derivatives up to the third order, in closed form.

A row of second order needs s, s', s''; its Jacobian needs s''' as well. Each function returns all four from one
evaluation of the transcendental part, which is what dominates the cost of assembling a Jacobian.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from jumpnet.errors import ModelError

Jet = tuple[Float[Array, "*s"], Float[Array, "*s"], Float[Array, "*s"], Float[Array, "*s"]]
Activation = Callable[[Float[Array, "*s"]], Jet]


def sigmoid(s: Float[Array, "*s"]) -> Jet:
    """1/(1 + exp(-s)): the paper's choice."""
    f = jax.nn.sigmoid(s)
    f1 = f * (1 - f)
    return f, f1, f1 * (1 - 2 * f), f1 * (1 - 6 * f1)


def tanh(s: Float[Array, "*s"]) -> Jet:
    """The sigmoid, centred and scaled."""
    f = jnp.tanh(s)
    f1 = 1 - f * f
    return f, f1, -2 * f * f1, f1 * (6 * f * f - 2)


def sine(s: Float[Array, "*s"]) -> Jet:
    """sin(s): never saturates."""
    f, g = jnp.sin(s), jnp.cos(s)
    return f, g, -f, -g


def softplus(s: Float[Array, "*s"]) -> Jet:
    """log(1 + exp(s)): a smooth ramp, whose derivative is the sigmoid."""
    f1, f2, f3, _ = sigmoid(s)
    return jax.nn.softplus(s), f1, f2, f3


def gaussian(s: Float[Array, "*s"]) -> Jet:
    """exp(-s^2): a ridge along the neuron's hyperplane."""
    f = jnp.exp(-s * s)
    return f, -2 * s * f, (4 * s * s - 2) * f, (12 - 8 * s * s) * s * f


ACTIVATIONS: dict[str, Activation] = {
    "sigmoid": sigmoid,
    "tanh": tanh,
    "sine": sine,
    "softplus": softplus,
    "gaussian": gaussian,
}


def activation(name: str) -> Activation:
    """The activation of that name."""
    if name not in ACTIVATIONS:
        raise ModelError(f"there is no activation {name!r}; choose one of {', '.join(ACTIVATIONS)}.")
    return ACTIVATIONS[name]
