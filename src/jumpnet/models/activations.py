"""Activation functions with their derivatives up to the third order, in closed form.

A row of second order needs s, s', s''; its Jacobian needs s''' as well. Each function returns all four from one
evaluation of the transcendental part, which is what dominates the cost of assembling a Jacobian.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jumpnet._precision import float64
from jumpnet.errors import ModelError
from jumpnet.guard.text import one_line, shorten

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


# By name; `register_activation` adds to them.
ACTIVATIONS: dict[str, Activation] = {
    "sigmoid": sigmoid,
    "tanh": tanh,
    "sine": sine,
    "softplus": softplus,
    "gaussian": gaussian,
}


Function = Callable[[Array], Array]
_given: dict[str, Function] = {}


def register_activation(name: str, function: Function) -> str:
    """Make a function s -> sigma(s) of JAX arrays, entry by entry, known as an activation; returns its name.

    Its derivatives are JAX's. The name is what saved solutions hold: whoever loads one registers the function first. A
    name stands for one function, since code is compiled for it; the same function may be registered again.

    Examples:
        >>> import jax.numpy as jnp, jumpnet as jn
        >>> jn.models.register_activation("swish", lambda s: s / (1 + jnp.exp(-s)))
        'swish'
    """
    if not (isinstance(name, str) and name.isidentifier()):
        raise ModelError(f"an activation cannot be called {shorten(name)}; give a name of letters, digits and _.")
    if not callable(function):
        raise ModelError(f"the activation {name!r} is {shorten(function)}; give a function of a JAX array.")
    if name in ACTIVATIONS and (name not in _given or not _alike(_given[name], function)):
        raise ModelError(f"{name!r} is the name of another activation already; choose another name.")
    if name not in ACTIVATIONS:
        _check_entrywise(name, function)
        _given[name], ACTIVATIONS[name] = function, _differentiated(function)
    return name


def _differentiated(function: Function) -> Activation:
    """The function with three derivatives by forward differentiation."""

    def slope(of: Function) -> Function:
        return lambda s: jax.jvp(of, (s,), (jnp.ones_like(s),))[1]

    first = slope(function)
    second = slope(first)
    third = slope(second)
    return lambda s: (function(s), first(s), second(s), third(s))


def _check_entrywise(name: str, function: Function) -> None:
    """Refuse a function that does not make a number of each number, or none of which JAX can differentiate."""
    with float64():
        try:
            jet = _differentiated(function)(jnp.array([[-1.5, 0.25, 2.0]]))
        except Exception as problem:
            raise ModelError(
                f"the activation {name!r} cannot be evaluated and differentiated by JAX ({one_line(problem, 200)}); "
                "use functions of jax.numpy."
            ) from problem
    if any(np.shape(part) != (1, 3) or not np.isfinite(part).all() for part in jet):
        raise ModelError(f"the activation {name!r} must give a finite number for each entry of an array.")


def _alike(one: Function, other: Function) -> bool:
    """Whether two functions are the same code with the same constants: a cell of a notebook that is run again."""

    def parts(function: Function) -> tuple[object, ...] | None:
        code = getattr(function, "__code__", None)
        if code is None:
            return None
        closed = tuple(cell.cell_contents for cell in getattr(function, "__closure__", None) or ())
        return code.co_code, code.co_consts, code.co_names, getattr(function, "__defaults__", None), closed

    return one is other or (parts(one) is not None and parts(one) == parts(other))


def activation(name: str) -> Activation:
    """The activation of that name."""
    if name not in ACTIVATIONS:
        raise ModelError(
            f"there is no activation {shorten(name)}; choose one of {', '.join(ACTIVATIONS)}, or make your own known "
            "by jn.models.register_activation(name, function)."
        )
    return ACTIVATIONS[name]
