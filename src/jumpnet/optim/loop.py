"""The one training loop: an optimiser makes steps, the loop decides when to stop and keeps the record.

Optimisers (`init`, `advance`) know nothing of limits, clocks, progress bars, checkpoints or Ctrl-C; the loop knows
nothing of how a step is made.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from jaxtyping import Array, Float

from jumpnet.errors import ModelError
from jumpnet.linalg.threads import one_blas_thread
from jumpnet.optim.result import History, Record, Result, Status

# Polishing ends here: the error is then two digits below that at the tolerance, near what rounding allows.
POLISHED = 1e4
# The first step at which a run may be given up as hopeless, and how many steps lie between two such questions.
FORECAST, ASKED_EVERY = 100, 25
# A training is suspended in favour of another only if at least this many steps of the budget remain (heuristic).
WORTH_ANOTHER = 200
# The descent has begun when the loss is this part of the first.
BEGUN = 1e-6

Progress = Callable[[Record, float], None]  # the step just made, the best loss so far


class LeastSquares(Protocol):
    """What an optimiser sees of a problem: residuals, their derivatives, and the families rows belong to."""

    @property
    def size(self) -> int: ...

    @property
    def terms(self) -> tuple[str, ...]: ...

    @property
    def output(self) -> np.ndarray:
        """Where in theta the parameters are in which the residual is linear; may be empty."""
        ...

    def residual(self, theta: np.ndarray) -> np.ndarray: ...

    def output_columns(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residual, and its derivatives by the output parameters; asked for only where there are some."""
        ...

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


@dataclass(frozen=True)
class Leg:
    """A run of the loop: where it stands, what it has recorded, and what decides when it ends.

    `mark` is the best loss when it was last halved, at step `at`. A leg is frozen and complete: a run broken off
    anywhere continues from its last one with the same steps.
    """

    state: Any
    first: int
    mark: float
    at: int
    records: tuple[Record, ...] = ()
    seconds: float = 0.0

    @staticmethod
    def begin(state: State) -> "Leg":
        """No step yet."""
        return Leg(state, state.steps, state.best_loss, state.steps)

    def extended(self, state: State, made: Sequence[Record], seconds: float) -> "Leg":
        """The leg after further steps."""
        halved = state.best_loss <= self.mark / 2
        return replace(
            self,
            state=state,
            mark=state.best_loss if halved else self.mark,
            at=state.steps if halved else self.at,
            records=self.records + tuple(record._replace(seconds=seconds) for record in made),
            seconds=seconds,
        )

    def verdict(self, stop: Stop, limit: int, gives_way: bool = False) -> Status | None:
        """How the leg has ended, None while it goes on; a leg without steps can only have failed or be at its limit.

        One that gives way has stalled as soon as it is hopeless.
        """
        best, idle = self.state.best_loss, self.state.steps - self.at
        if not np.isfinite(best):
            return Status.FAILED
        reached = best <= stop.tol
        if self.records:
            if reached and (idle >= stop.polish or best <= stop.tol / POLISHED):
                return Status.CONVERGED
            if stop.stall is not None and idle >= stop.stall:
                return Status.CONVERGED if reached else Status.STALLED
            if stop.time_limit is not None and self.seconds >= stop.time_limit:
                return Status.CONVERGED if reached else Status.TIME_LIMIT
            if gives_way and not reached and stop.stall is not None and self._hopeless(stop.tol, limit):
                return Status.STALLED
        if self.state.steps - self.first >= limit:
            return Status.CONVERGED if reached else Status.STEP_LIMIT
        return None

    def _hopeless(self, tol: float, limit: int) -> bool:
        """Whether the steps left are too few to reach the tolerance at the rate of the second half of those made.

        Or at that of the last quarter, if it is higher: a descent that has just begun is faster than the way to it.
        Never before it has begun: that way may be long and flat, and says nothing about what comes then.
        """
        made = len(self.records)
        if made < FORECAST or made % ASKED_EVERY or limit - made < WORTH_ANOTHER or not tol > 0:
            return False
        if self.state.best_loss > BEGUN * self.records[0].loss:
            return False
        rate = 0.0
        for last in (made - made // 2, made // 4):
            before = min(record.loss for record in self.records[:-last])
            rate = max(rate, float(np.log(max(before / self.state.best_loss, 1.0))) / last)
        return bool(np.log(self.state.best_loss / tol) > rate * (limit - made))

    def result(self, status: Status, terms: tuple[str, ...]) -> Result:
        """What the leg has led to."""
        state = self.state
        steps, history = state.steps - self.first, History.of(list(self.records), terms)
        return Result(state.best, float(state.best_loss), steps, status, history)


def minimise(
    optimizer: Optimizer,
    system: LeastSquares,
    theta: Float[np.ndarray, " parameters"] | None = None,
    *,
    state: State | None = None,
    steps: int | None = None,
    gives_way: bool = False,
    progress: Progress | None = None,
) -> tuple[Result, Any]:
    """Run the optimiser from `theta`, or on from a `state`, for at most `steps` more steps: result and last state."""
    start = optimizer.init(system, theta) if state is None else state  # pyright: ignore[reportArgumentType]
    leg, status = walk(optimizer, system, Leg.begin(start), steps=steps, gives_way=gives_way, progress=progress)
    return leg.result(status, system.terms), leg.state


def walk(
    optimizer: Optimizer,
    system: LeastSquares,
    leg: Leg,
    *,
    steps: int | None = None,
    gives_way: bool = False,
    progress: Progress | None = None,
    keep: Callable[[Leg], None] | None = None,
) -> tuple[Leg, Status]:
    """Go on with a leg until it ends, for at most `steps` steps in all; `keep` is handed the leg after each."""
    stop, began = optimizer.stop, time.perf_counter() - leg.seconds
    limit = stop.steps if steps is None else steps
    # Two threads on small matrices are slower than one, by a factor of 100 on a busy machine.
    with one_blas_thread():
        try:
            while (status := leg.verdict(stop, limit, gives_way)) is None:
                state, made = optimizer.advance(system, leg.state, limit - (leg.state.steps - leg.first))
                # A single assignment, so that Ctrl-C never leaves a step half recorded.
                leg = leg.extended(state, made, time.perf_counter() - began)
                if keep is not None:
                    keep(leg)
                if progress is not None:
                    progress(leg.records[-1], leg.state.best_loss)
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
    return leg, status
