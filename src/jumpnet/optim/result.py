"""What an optimiser hands back: parameters, a status that explains itself, and the whole history."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, overload

import numpy as np
from jaxtyping import Float

from jumpnet.errors import SolutionError


class Status(Enum):
    """How a training or a solve ended; `str(status)` is its sentence, `status.ok` whether the tolerance was reached.

    Example:
        >>> import jumpnet as jn
        >>> str(jn.Status.CONVERGED), jn.Status.STALLED.ok
        ('the tolerance was reached', False)
    """

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
    """A step of an optimiser or a level of a Trefftz solve; `damping` and `step_norm` are nan where there is none."""

    step: int
    loss: float
    terms: tuple[float, ...]
    damping: float
    step_norm: float
    seconds: float


@dataclass(frozen=True)
class History:
    """Every step of a training, or every level of a Trefftz solve, as columns."""

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
            return History(terms, loss_of_term=np.zeros((0, len(terms))))
        step, loss, of_term, damping, norm, seconds = (np.array(column) for column in zip(*records, strict=True))
        return History(terms, step, loss, of_term.reshape(len(loss), len(terms)), damping, norm, seconds)

    def __len__(self) -> int:
        return len(self.loss)

    @overload
    def __getitem__(self, at: int) -> Record: ...
    @overload
    def __getitem__(self, at: slice) -> "History": ...
    @overload
    def __getitem__(self, at: str) -> np.ndarray: ...
    def __getitem__(self, at: int | slice | str) -> "Record | History | np.ndarray":
        """A step, `history[-1]`; some of them, `history[::10]`; or a column by its name, `history["loss"]`."""
        if isinstance(at, str):
            known = self.columns()
            if at not in known:
                raise SolutionError(f"the history has no column {at!r}; the columns are {', '.join(known)}.")
            return known[at]
        if isinstance(at, slice):
            columns = (self.step, self.loss, self.loss_of_term, self.damping, self.step_norm, self.seconds)
            return History(self.terms, *(column[at] for column in columns))
        if not -len(self) <= at < len(self):
            raise IndexError(f"the history has {len(self)} entries, there is no number {at}")
        columns = (self.damping, self.step_norm, self.seconds)
        terms = tuple(self.loss_of_term[at].tolist())
        return Record(int(self.step[at]), float(self.loss[at]), terms, *(float(column[at]) for column in columns))

    def __iter__(self) -> Iterator[Record]:
        return (self[k] for k in range(len(self)))

    def columns(self) -> dict[str, np.ndarray]:
        """All columns by name, the losses of the families of equations too, as `pandas.DataFrame` takes them."""
        found = {"step": self.step, "loss": self.loss, "damping": self.damping}
        found |= {"step norm": self.step_norm, "seconds": self.seconds}
        return found | {f"loss of {term}": self.loss_of_term[:, k] for k, term in enumerate(self.terms)}


@dataclass(frozen=True)
class Result:
    """The best parameters seen, their loss, and how the optimiser came to them."""

    theta: Float[np.ndarray, " parameters"]
    loss: float
    steps: int
    status: Status
    history: History
