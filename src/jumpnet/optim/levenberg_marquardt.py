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
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from jumpnet.errors import ModelError
from jumpnet.optim.loop import LeastSquares, Stop
from jumpnet.optim.result import Record

MIN_DAMPING, MAX_DAMPING = 1e-28, 1e8
# Steps longer than the cap are normal at first and do not raise the damping yet.
FIRST_STEPS = 20
_tpqrt, _trtrs, _posv = get_lapack_funcs(("tpqrt", "trtrs", "posv"), dtype=np.float64)
(_syrk,) = get_blas_funcs(("syrk",), dtype=np.float64)


class Step(Protocol):
    """Solves min |J d + r|^2 + mu |d|^2; None where the factorisation breaks down."""

    def __call__(self, J: np.ndarray, r: np.ndarray, damping: float) -> np.ndarray | None: ...


def qr_step(J: Float[np.ndarray, "m n"], r: Float[np.ndarray, " m"], damping: float) -> np.ndarray | None:
    """By QR of [J; sqrt(mu) I], never forming J^T J.

    The lower block is already triangular, so LAPACK's triangular-pentagonal QR starts from it and only eliminates J:
    a quarter to a half less work than factoring the stacked matrix. r rides along as a last column, so Q is not needed.
    """
    m, n = J.shape
    triangle = np.zeros((n + 1, n + 1), order="F")
    np.fill_diagonal(triangle[:n, :n], np.sqrt(damping))
    below = np.empty((m, n + 1), order="F")
    below[:, :n], below[:, n] = J, r
    # 32: the block size; 16 to 32 are equally fast for 250 to 600 columns, 48 is slower (benchmarks/step.py).
    R, _, _, info = _tpqrt(0, min(32, n), triangle, below, overwrite_a=1, overwrite_b=1)
    d, singular = _trtrs(R[:n, :n], R[:n, n])
    return -d if info == 0 and singular == 0 else None


def cholesky_step(J: Float[np.ndarray, "m n"], r: Float[np.ndarray, " m"], damping: float) -> np.ndarray | None:
    """By the normal equations: several times cheaper than QR, at the price of squaring the condition number."""
    normal = _syrk(1.0, J, trans=1)
    np.fill_diagonal(normal, normal.diagonal() + damping)
    _, d, info = _posv(normal, J.T @ r, overwrite_a=1)
    return -d if info == 0 else None


def auto_step(J: Float[np.ndarray, "m n"], r: Float[np.ndarray, " m"], damping: float) -> np.ndarray | None:
    """Cholesky while its rounding errors stay far below the damping, else QR.

    Forming J^T J perturbs it by about eps |J|_F^2; as long as the damping exceeds that a thousandfold, the step is the
    same to three digits, and the next step corrects the rest.
    """
    if damping > 1e3 * np.finfo(float).eps * np.vdot(J, J):
        d = cholesky_step(J, r, damping)
        if d is not None:
            return d
    return qr_step(J, r, damping)


STEPS: dict[str, Step] = {"qr": qr_step, "cholesky": cholesky_step, "auto": auto_step}


@dataclass(frozen=True)
class State:
    """Where the iteration stands: the current linearisation, the damping, and the best parameters so far."""

    theta: np.ndarray
    r: np.ndarray
    J: np.ndarray
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
        d = self._solve(state.J, state.r, state.damping)
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
