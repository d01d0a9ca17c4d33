"""The one training loop: an optimiser makes steps, the loop decides when to stop and keeps the record.

Optimisers (`init`, `advance`) know nothing of limits, clocks, progress bars or Ctrl-C; the loop knows nothing of how a
step is made.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
from jaxtyping import Array, Float
from threadpoolctl import ThreadpoolController

from jumpnet.errors import ModelError
from jumpnet.optim.result import History, Record, Result, Status

# Polishing ends here: the error is then two digits below that at the tolerance, near what rounding allows.
POLISHED = 1e4

Progress = Callable[[Record, float], None]  # the step just made, the best loss so far


class LeastSquares(Protocol):
    """What an optimiser sees of a problem: residuals, their derivatives, and the families rows belong to."""

    @property
    def size(self) -> int: ...

    @property
    def terms(self) -> tuple[str, ...]: ...

    def residual(self, theta: np.ndarray) -> np.ndarray: ...

    def linearised(self, theta: np.ndarray) -> tuple[np.ndarray, Any]: ...

    def loss_of_terms(self, residual: np.ndarray) -> np.ndarray: ...

    def objective(self) -> tuple[Callable[[Array, Any], Array], Any]: ...


class State(Protocol):
    """Where an optimiser stands; frozen, so that a loop can be resumed from it."""

    @property
    def best(self) -> np.ndarray: ...

    @property
    def best_loss(self) -> float: ...

    @property
    def steps(self) -> int: ...


@dataclass(frozen=True)
class Stop:
    """When to stop: at the tolerance, at a limit, or when the best loss has not been halved for `stall` steps.

    A loss that meets the tolerance often still falls fast, and each further digit costs a few steps: training goes on
    until `polish` steps have not halved it, or it is POLISHED times smaller (`polish=0` stops at once).
    """

    tol: float = 1e-15
    steps: int = 1000
    time_limit: float | None = None
    polish: int = 0
    stall: int | None = None

    def __post_init__(self) -> None:
        if not self.tol >= 0:
            raise ModelError(f"the tolerance is {self.tol}; it must be zero (off) or positive.")
        if self.steps < 1:
            raise ModelError(f"the step limit is {self.steps}; at least one step is needed.")
        if self.time_limit is not None and not self.time_limit > 0:
            raise ModelError(f"the time limit is {self.time_limit} seconds; it must be positive.")


class Optimizer(Protocol):
    """An algorithm: a first state, and the step from one state to the next (several records where steps are cheap)."""

    @property
    def stop(self) -> Stop: ...

    def init(self, system: LeastSquares, theta: np.ndarray) -> Any: ...

    def advance(self, system: LeastSquares, state: Any, limit: int) -> tuple[Any, list[Record]]: ...


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def minimise(
    optimizer: Optimizer,
    system: LeastSquares,
    theta: Float[np.ndarray, " parameters"] | None = None,
    *,
    state: State | None = None,
    steps: int | None = None,
    progress: Progress | None = None,
) -> tuple[Result, Any]:
    """Run the optimiser from `theta`, or on from a `state`, for at most `steps` more steps: result and last state."""
    stop, began, records = optimizer.stop, time.perf_counter(), []
    limit = stop.steps if steps is None else steps
    # Two threads on small matrices are slower than one, by a factor of 100 on a busy machine.
    with _blas().limit(limits=1, user_api="blas"):
        current: Any = optimizer.init(system, theta) if state is None else state  # pyright: ignore[reportArgumentType]
        first = current.steps
        status = Status.STEP_LIMIT if np.isfinite(current.best_loss) else Status.FAILED
        watch = _Watch(stop, current.best_loss, first)
        try:
            while status is Status.STEP_LIMIT and current.steps - first < limit:
                current, made = optimizer.advance(system, current, limit - (current.steps - first))
                seconds = time.perf_counter() - began
                records += [record._replace(seconds=seconds) for record in made]
                if progress is not None:
                    progress(records[-1], current.best_loss)
                if (verdict := watch.verdict(current.best_loss, current.steps, seconds)) is not None:
                    status = verdict
                    break
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
    if status is Status.STEP_LIMIT and current.best_loss <= stop.tol:
        status = Status.CONVERGED
    history = History.of(records, system.terms)
    return Result(current.best, float(current.best_loss), current.steps - first, status, history), current


class _Watch:
    """Remembers when the best loss was last halved."""

    def __init__(self, stop: Stop, loss: float, step: int):
        self.stop, self.mark, self.at = stop, loss, step

    def verdict(self, best: float, step: int, seconds: float) -> Status | None:
        if best <= self.mark / 2:
            self.mark, self.at = best, step
        idle = step - self.at
        if best <= self.stop.tol and (idle >= self.stop.polish or best <= self.stop.tol / POLISHED):
            return Status.CONVERGED
        if self.stop.stall is not None and idle >= self.stop.stall:
            return Status.CONVERGED if best <= self.stop.tol else Status.STALLED
        if self.stop.time_limit is not None and seconds >= self.stop.time_limit:
            return Status.CONVERGED if best <= self.stop.tol else Status.TIME_LIMIT
        return None
