"""Adam and L-BFGS (optax), for comparison: on these problems they stop many digits above Levenberg-Marquardt."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from jumpnet._precision import float64
from jumpnet.optim.loop import LeastSquares, Stop
from jumpnet.optim.result import Record

if TYPE_CHECKING:  # optax is imported when it is used; most solves do not use it
    from optax import GradientTransformationExtraArgs

# Steps between two looks at the clock: enough to hide the cost of leaving the compiled loop.
CHUNK = 50


@dataclass(frozen=True)
class State:
    """Parameters and moments between two chunks of steps."""

    theta: Any
    inner: Any
    best: np.ndarray
    best_loss: float
    steps: int = 0


@dataclass(frozen=True)
class _Objective:
    """A system's loss, equal to that of another system of the same parts: compiled code is found again."""

    function: Callable[..., Array]
    arguments: tuple[Any, ...] = ()

    @staticmethod
    def of(system: LeastSquares) -> tuple["_Objective", Any]:
        """The loss and the data it wants."""
        function, data = system.objective()
        if isinstance(function, partial):
            return _Objective(function.func, function.args), data
        return _Objective(function), data

    @partial(jax.jit, static_argnums=0)
    def __call__(self, theta: Array, data: Any) -> Array:
        return self.function(*self.arguments, theta, data)


@partial(jax.jit, static_argnums=(0, 1, 5))
def _chunk(method: "_FirstOrder", objective, data, theta: Array, inner: Any, count: int):
    """`count` steps; returns the last parameters, the best of them, and all losses."""

    def body(carry, _):
        theta, inner, best, best_loss = carry
        theta, inner, loss = method._update(objective, data, theta, inner)
        better = loss < best_loss
        return (theta, inner, jnp.where(better, theta, best), jnp.where(better, loss, best_loss)), loss

    start = (theta, inner, theta, objective(theta, data))
    return jax.lax.scan(body, start, None, length=count)


class _FirstOrder:
    """What Adam and L-BFGS share: chunks of compiled steps."""

    steps: int
    tol: float
    time_limit: float | None
    stop: Stop

    def __post_init__(self) -> None:
        object.__setattr__(self, "stop", Stop(self.tol, self.steps, self.time_limit))

    def _transform(self) -> "GradientTransformationExtraArgs":
        raise AssertionError("final classes say which transformation they use")

    def _update(self, objective, data, theta: Array, inner: Any) -> tuple[Array, Any, Array]:
        raise AssertionError("final classes say how a step is made")

    def init(self, system: LeastSquares, theta: Float[np.ndarray, " parameters"]) -> State:
        """No step yet."""
        objective, data = _Objective.of(system)
        with float64():
            start = jnp.asarray(theta)
            loss = float(objective(start, data))
            return State(start, self._transform().init(start), np.asarray(theta, float), loss)

    def advance(self, system: LeastSquares, state: State, limit: int) -> tuple[State, list[Record]]:
        """A chunk of steps; a chunk's records carry its last split by terms."""
        objective, data = _Objective.of(system)
        with float64():
            count = min(CHUNK, limit)
            (theta, inner, best, best_loss), losses = _chunk(self, objective, data, state.theta, state.inner, count)
            best_loss, best, losses = float(best_loss), np.asarray(best), np.asarray(losses)
        terms = tuple(system.loss_of_terms(system.residual(np.asarray(theta))).tolist())
        records = [
            Record(state.steps + i + 1, float(loss), terms, np.nan, np.nan, 0.0) for i, loss in enumerate(losses)
        ]
        if not best_loss < state.best_loss:
            best, best_loss = state.best, state.best_loss
        return State(theta, inner, best, best_loss, state.steps + count), records


@dataclass(frozen=True)
class Adam(_FirstOrder):
    """Adam with a fixed rate (the paper's comparison runs 10,000 steps)."""

    rate: float = 1e-2
    steps: int = 10_000
    tol: float = 1e-15
    time_limit: float | None = None
    stop: Stop = field(init=False, repr=False)

    def _transform(self) -> "GradientTransformationExtraArgs":
        import optax

        return optax.with_extra_args_support(optax.adam(self.rate))

    def _update(self, objective, data, theta: Array, inner: Any) -> tuple[Array, Any, Array]:
        import optax

        gradient = jax.grad(objective)(theta, data)
        updates, inner = self._transform().update(gradient, inner, theta)
        theta = jnp.asarray(optax.apply_updates(theta, updates))
        return theta, inner, objective(theta, data)


@dataclass(frozen=True)
class LBFGS(_FirstOrder):
    """L-BFGS with optax's zoom line search."""

    memory: int = 10
    steps: int = 2000
    tol: float = 1e-15
    time_limit: float | None = None
    stop: Stop = field(init=False, repr=False)

    def _transform(self) -> "GradientTransformationExtraArgs":
        import optax

        return optax.lbfgs(memory_size=self.memory)

    def _update(self, objective, data, theta: Array, inner: Any) -> tuple[Array, Any, Array]:
        import optax

        def value(t: Array) -> Array:
            return objective(t, data)

        loss, gradient = optax.value_and_grad_from_state(value)(theta, state=inner)
        updates, inner = self._transform().update(gradient, inner, theta, value=loss, grad=gradient, value_fn=value)
        theta = jnp.asarray(optax.apply_updates(theta, updates))
        return theta, inner, value(theta)
