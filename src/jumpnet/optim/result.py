"""What an optimiser hands back: parameters, a status that explains itself, and the whole history."""

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np
from jaxtyping import Float


class Status(Enum):
    """How a training or a solve ended; `str(status)` is its sentence."""

    CONVERGED = "the tolerance was reached"
    STEP_LIMIT = "the limit of steps or levels came before the tolerance was reached"
    TIME_LIMIT = "the time limit came before the tolerance was reached"
    STALLED = "progress stopped before the tolerance was reached"
    TRAINED = "the training reached its loss; the error of the solution has not been judged"
    MISSED = "the tolerance was reached at the training points, but not at points the training never saw"
    UNBALANCED = "the estimate meets the tolerance, but fluxes and sources do not balance"
    UNRESOLVED = "the data change faster than the solve resolves"
    REFUTED = "the error that was solved for is above the tolerance"
    UNDECIDED = "the method's own estimate meets the tolerance, but cannot be relied on and could not be verified"
    INTERRUPTED = "interrupted; this is the best so far"
    FAILED = "the loss is not a finite number from the start"

    def __str__(self) -> str:
        return self.value

    @property
    def ok(self) -> bool:
        """Whether the tolerance was reached."""
        return self is Status.CONVERGED


class Record(NamedTuple):
    """A step of an optimiser or a level of a direct solve; `damping` and `step_norm` are nan where there is none."""

    step: int
    loss: float
    terms: tuple[float, ...]
    damping: float
    step_norm: float
    seconds: float


@dataclass(frozen=True)
class History:
    """Every step of a training, or every level of a direct solve, as columns."""

    terms: tuple[str, ...] = ()
    step: Float[np.ndarray, " k"] = field(default_factory=lambda: np.zeros(0))
    loss: Float[np.ndarray, " k"] = field(default_factory=lambda: np.zeros(0))
    loss_of_term: Float[np.ndarray, "k terms"] = field(default_factory=lambda: np.zeros((0, 0)))
    damping: Float[np.ndarray, " k"] = field(default_factory=lambda: np.zeros(0))
    step_norm: Float[np.ndarray, " k"] = field(default_factory=lambda: np.zeros(0))
    seconds: Float[np.ndarray, " k"] = field(default_factory=lambda: np.zeros(0))

    @staticmethod
    def of(records: list[Record], terms: tuple[str, ...]) -> "History":
        """The records as columns."""
        if not records:
            return History(terms)
        step, loss, of_term, damping, norm, seconds = (np.array(column) for column in zip(*records, strict=True))
        return History(terms, step, loss, of_term.reshape(len(loss), len(terms)), damping, norm, seconds)

    def __len__(self) -> int:
        return len(self.loss)


@dataclass(frozen=True)
class Result:
    """The best parameters seen, their loss, and how the optimiser came to them."""

    theta: Float[np.ndarray, " parameters"]
    loss: float
    steps: int
    status: Status
    history: History
