"""Levenberg-Marquardt with the rule that reaches 1e-9 on discontinuity-capturing networks in few steps.

Textbook rules reject a step that raises the loss; here they crawl. Every finite step is accepted, the loss may rise by
orders of magnitude on the way, and the best parameters are remembered. Three things make the steps few:

- the damping follows the loss, up at once and down by a factor at a time: a step that went astray is followed by
  cautious ones, and nothing has to be counted;
- the output weights, in which the network is linear, are found anew after each step (variable projection) and damped
  a hundred times less than the rest;
- each step is bent by its second-order (geodesic) correction, which reuses the factorisation.
"""

from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import numpy as np
from jaxtyping import Float

from jumpnet.errors import ModelError
from jumpnet.linalg.factorisations import Damping, Solve, auto, cholesky, qr, qr_step
from jumpnet.linalg.qr import by_cell_step
from jumpnet.models import ByCell
from jumpnet.optim.loop import LeastSquares, Stop
from jumpnet.optim.result import Record

MIN_DAMPING, MAX_DAMPING = 1e-18, 1e8
# Of the first output weights, relative to the damping of outputs: weights of the size of the data.
FIRST_DAMPING = 0.1
# Length of the probe for second derivatives, in steps.
PROBE = 0.1
# The correction is at most this part of the step it corrects: beyond, the series says nothing.
BENT = 0.75


class Step(Protocol):
    """Factorises min |J d + r|^2 + sum_j mu_j d_j^2 for any r; None where that breaks down."""

    def __call__(self, J: np.ndarray, damping: Damping) -> Solve | None: ...


# The factorisations by name.
STEPS: dict[str, Step] = {"qr": qr, "cholesky": cholesky, "auto": auto}
# Those that are taken cell by cell where that is cheaper; it is a QR as well.
BY_CELL = ("qr", "auto")


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
    steps: int = 0


@dataclass(frozen=True)
class LevenbergMarquardt:
    """Levenberg-Marquardt for networks; the defaults are the measured ones (benchmarks/damping.py).

    `step` is how the damped least-squares problem is solved: "qr", "cholesky" or "auto" (Cholesky while it is good
    enough); QR and "auto" go cell by cell where that is cheaper. `steps`, `tol`, `time_limit`, `polish` and `stall` say
    when to stop (`Stop`). The damping is `damping` times the loss to the power `power`, but falls at most by the factor
    `lowered` in one step. Output weights are damped by `output_damping` of that. A step whose other parameters move by
    more than `max_step` is cut to it: long steps lead into saturated activations. `bend=False` leaves out the
    second-order correction.
    """

    step: Literal["qr", "cholesky", "auto"] | Step = "auto"
    steps: int = 1000
    tol: float = 1e-15
    time_limit: float | None = None
    polish: int = 30
    stall: int | None = 250
    damping: float = 1e-4
    power: float = 1.1
    lowered: float = 4.0
    output_damping: float = 1e-2
    max_step: float = 3.0
    bend: bool = True
    stop: Stop = field(init=False, repr=False)
    _factorise: Step = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.step, str) and self.step not in STEPS:
            raise ModelError(f'step is {self.step!r}; choose "qr", "cholesky" or "auto".')
        if not (self.damping > 0 and self.power > 0 and self.output_damping > 0 and self.max_step > 0):
            raise ModelError("damping, power, output_damping and max_step must be positive numbers.")
        if not self.lowered > 1:
            raise ModelError(f"lowered is {self.lowered}; the damping can only fall by a factor above 1.")
        object.__setattr__(self, "stop", Stop(self.tol, self.steps, self.time_limit, self.polish, self.stall))
        object.__setattr__(self, "_factorise", STEPS[self.step] if isinstance(self.step, str) else self.step)

    def init(self, system: LeastSquares, theta: Float[np.ndarray, " parameters"]) -> State:
        """The first linearisation."""
        theta = np.asarray(theta, float)
        r, J = system.linearised(theta)
        loss = float(r @ r)
        # 100: the loss may rise on the way, but from far above its first value the iteration does not return.
        return State(theta, r, J, loss, self._target(loss), theta, loss, 100 * loss)

    def advance(self, system: LeastSquares, state: State, limit: int) -> tuple[State, list[Record]]:
        """One step, accepted unless it leaves the range of finite, returnable losses."""
        if state.steps == 0:
            state = self._first(system, state)
        d = self._direction(system, state)
        moved = np.nan if d is None else float(np.linalg.norm(np.delete(d, system.output)))
        if d is None or not np.isfinite(moved):
            return self._returned(system, state, moved)
        theta = state.theta + (d if moved <= self.max_step else d * (self.max_step / moved))
        theta = self._projected(system, theta, state.damping)
        r, J = system.linearised(theta)
        loss = float(r @ r)
        if not loss <= state.ceiling:
            return self._returned(system, state, moved)
        better = loss < state.best_loss
        after = State(
            theta,
            r,
            J,
            loss,
            damping=max(self._target(loss), state.damping / self.lowered),
            best=theta if better else state.best,
            best_loss=loss if better else state.best_loss,
            ceiling=state.ceiling,
            steps=state.steps + 1,
        )
        return after, [self._record(system, after, moved)]

    def _first(self, system: LeastSquares, state: State) -> State:
        """The start, with output weights that suit the random neurons."""
        theta = self._projected(system, state.theta, FIRST_DAMPING)
        if theta is state.theta:
            return state
        fitted = self.init(system, theta)
        return replace(fitted, ceiling=state.ceiling)

    def _target(self, loss: float) -> float:
        """The damping that suits a loss."""
        return float(np.clip(self.damping * loss**self.power, MIN_DAMPING, MAX_DAMPING))

    def _direction(self, system: LeastSquares, state: State) -> np.ndarray | None:
        """The step, uncut, with its second-order correction; by cell, where that would cost as much again, without."""
        J, r = state.J, state.r
        if isinstance(J, ByCell):
            if self.step in BY_CELL:
                return by_cell_step(J, r, state.damping)
            J = J.dense()
        damping = np.full(len(state.theta), state.damping)
        damping[system.output] *= self.output_damping
        solve = self._factorise(J, damping)
        d = None if solve is None else solve(r)
        if solve is None or d is None or not self.bend:
            return d
        # Half of r''(d, d), from one more residual.
        second = ((system.residual(state.theta + PROBE * d) - r) / PROBE - J @ d) / PROBE
        bend = solve(second)
        if bend is None or not np.isfinite(bend).all():
            return d
        inner = np.delete(np.arange(len(d)), system.output)
        length, most = np.linalg.norm(bend[inner]), BENT * np.linalg.norm(d[inner])
        return d + bend * (most / length if length > most else 1.0)

    def _projected(self, system: LeastSquares, theta: np.ndarray, damping: float) -> np.ndarray:
        """The parameters with output weights that suit the others."""
        if len(system.output) == 0 or not np.isfinite(theta).all():
            return theta
        r, P = system.output_columns(theta)
        fitted = qr_step(P, r - P @ theta[system.output], self.output_damping * damping)
        if fitted is None or not np.isfinite(fitted).all():
            return theta
        theta = theta.copy()
        theta[system.output] = fitted
        return theta

    def _returned(self, system: LeastSquares, state: State, moved: float) -> tuple[State, list[Record]]:
        """Back to the best parameters, with more damping than led away from them."""
        r, J = system.linearised(state.best)
        damping = min(state.damping * 1e3, MAX_DAMPING)
        after = replace(state, theta=state.best, r=r, J=J, loss=float(r @ r), damping=damping, steps=state.steps + 1)
        return after, [self._record(system, after, moved)]

    def _record(self, system: LeastSquares, state: State, moved: float) -> Record:
        terms = tuple(system.loss_of_terms(state.r).tolist())
        return Record(state.steps, state.loss, terms, state.damping, moved, 0.0)
