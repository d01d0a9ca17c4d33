"""Levenberg-Marquardt with the acceptance rule that reaches 1e-9 on discontinuity-capturing networks.

Textbook rules reject a step that raises the loss; here they crawl. What works is to accept every finite step, to
change the damping only every second step (halved if the loss fell, doubled if it rose), to cap the length of a step so
that the iteration stays out of saturated activations, and to remember the best parameters: the loss may rise by orders
of magnitude on the way down.
"""

from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import numpy as np
from jaxtyping import Float

from jumpnet.errors import ModelError
from jumpnet.models import ByCell
from jumpnet.optim.bycell import by_cell_step
from jumpnet.optim.factorisations import auto_step, cholesky_step, qr_step
from jumpnet.optim.loop import LeastSquares, Stop
from jumpnet.optim.result import Record

MIN_DAMPING, MAX_DAMPING = 1e-28, 1e8
# Steps longer than the cap are normal at first and do not raise the damping yet.
FIRST_STEPS = 20


class Step(Protocol):
    """Solves min |J d + r|^2 + mu |d|^2; None where the factorisation breaks down."""

    def __call__(self, J: np.ndarray, r: np.ndarray, damping: float) -> np.ndarray | None: ...


STEPS: dict[str, Step] = {"qr": qr_step, "cholesky": cholesky_step, "auto": auto_step}


@dataclass(frozen=True)
class State:
    """Where the iteration stands: the current linearisation, the damping, and the best parameters so far."""

    theta: np.ndarray
    r: np.ndarray
    J: np.ndarray | ByCell
    loss: float
    damping: float
    best: np.ndarray
    best_loss: float
    ceiling: float
    streak: int = 0
    steps: int = 0


@dataclass(frozen=True)
class LevenbergMarquardt:
    """Levenberg-Marquardt for networks; the defaults are the measured ones.

    `step` is how the damped least-squares problem is solved: "qr", "cholesky" or "auto" (Cholesky while it is good
    enough). `steps`, `tol`, `time_limit`, `polish` and `stall` say when to stop (`Stop`). `damping` is the first one;
    it goes below `damping_floor` only while the last `earned` steps all lowered the loss. A step longer than
    `max_step` is cut to it and multiplies the damping by `capped_raise`: such steps mean too little damping even where
    the loss happens to fall, and without the raise an iteration that has left the good region wanders off for ever.
    """

    step: Literal["qr", "cholesky", "auto"] | Step = "auto"
    steps: int = 1000
    tol: float = 1e-15
    time_limit: float | None = None
    polish: int = 100
    stall: int | None = 250
    damping: float = 1.0
    damping_floor: float = 1e-16
    earned: int = 4
    max_step: float = 3.0
    capped_raise: float = 4.0
    stop: Stop = field(init=False, repr=False)
    _solve: Step = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.step, str) and self.step not in STEPS:
            raise ModelError(f'step is {self.step!r}; choose "qr", "cholesky" or "auto".')
        if not (self.damping > 0 and self.damping_floor > 0 and self.max_step > 0):
            raise ModelError("damping, damping_floor and max_step must be positive numbers.")
        object.__setattr__(self, "stop", Stop(self.tol, self.steps, self.time_limit, self.polish, self.stall))
        object.__setattr__(self, "_solve", STEPS[self.step] if isinstance(self.step, str) else self.step)

    def init(self, system: LeastSquares, theta: Float[np.ndarray, " parameters"]) -> State:
        """The first linearisation."""
        theta = np.asarray(theta, float)
        r, J = system.linearised(theta)
        loss = float(r @ r)
        # 100: the loss may rise on the way, but from far above its first value the iteration does not return.
        return State(theta, r, J, loss, self.damping, theta, loss, 100 * loss)

    def advance(self, system: LeastSquares, state: State, limit: int) -> tuple[State, list[Record]]:
        """One step, accepted unless it leaves the range of finite, returnable losses."""
        k = state.steps + 1
        d = self._direction(state)
        norm = float(np.linalg.norm(d)) if d is not None else np.nan
        if d is None or not np.isfinite(norm):
            return self._returned(system, state, norm)
        theta = state.theta + (d if norm <= self.max_step else d * (self.max_step / norm))
        r, J = system.linearised(theta)
        loss = float(r @ r)
        if not loss <= state.ceiling:
            return self._returned(system, state, norm)
        fell = loss < state.loss
        streak = state.streak + 1 if fell else 0
        damping = state.damping
        if norm > self.max_step and k > FIRST_STEPS:
            damping = min(damping * self.capped_raise, MAX_DAMPING)
        elif k % 2 == 0:
            damping = self._lowered(damping, streak) if fell else min(damping * 2, MAX_DAMPING)
        better = loss < state.best_loss
        after = State(
            theta,
            r,
            J,
            loss,
            damping,
            best=theta if better else state.best,
            best_loss=loss if better else state.best_loss,
            ceiling=state.ceiling,
            streak=streak,
            steps=k,
        )
        return after, [self._record(system, after, norm)]

    def _direction(self, state: State) -> np.ndarray | None:
        """The step, uncut; by cell where the Jacobian is given so."""
        solve = by_cell_step if isinstance(state.J, ByCell) else self._solve
        return solve(state.J, state.r, state.damping)  # pyright: ignore[reportArgumentType]

    def _lowered(self, damping: float, streak: int) -> float:
        """Half the damping; below the floor only while the loss keeps falling.

        A fixed floor of 1e-16 stops the last digits (pde3 crawls at 1e-15), a fixed floor of 1e-24 makes harder
        problems wander (pde5 stops at 1e-8); damping that must be earned does neither (benchmarks/damping.py).
        """
        if damping / 2 >= self.damping_floor or streak >= self.earned:
            return max(damping / 2, MIN_DAMPING)
        return damping

    def _returned(self, system: LeastSquares, state: State, norm: float) -> tuple[State, list[Record]]:
        """Back to the best parameters, with more damping than led away from them."""
        r, J = system.linearised(state.best)
        damping = min(max(state.damping, self.damping_floor) * 1e3, MAX_DAMPING)
        after = replace(
            state, theta=state.best, r=r, J=J, loss=float(r @ r), damping=damping, streak=0, steps=state.steps + 1
        )
        return after, [self._record(system, after, norm)]

    def _record(self, system: LeastSquares, state: State, norm: float) -> Record:
        terms = tuple(system.loss_of_terms(state.r).tolist())
        return Record(state.steps, state.loss, terms, state.damping, norm, 0.0)
