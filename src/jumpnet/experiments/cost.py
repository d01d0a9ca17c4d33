"""The expected time of a run: from operation counts, corrected by measured times."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from jumpnet.experiments.tables import TRAINED
from jumpnet.experiments.trial import Record, Trial
from jumpnet.studies.running import spoken

__all__ = ["Clock", "guess", "spoken"]

# Operations per second of the factorisations, seconds per step beside them, seconds of a first call: of one core of an
# ordinary machine, to an order of magnitude. What is measured while a run goes on corrects them.
RATE, STEP, START = 8e9, 1.5e-3, 3.0
STEPS = 600  # a typical training; the paper's ends at its limit more often
PROGRAM = 5.0  # seconds of `solve` by itself, of finite elements


def guess(trial: Trial) -> float:
    """Seconds of a trial, from the sizes of its matrices."""
    row = trial.row
    if row.method not in TRAINED:
        return PROGRAM
    steps = row.optimizer.get("steps") or (1000 if trial.setting == "faithful" else STEPS)
    steps = min(steps, trial.steps or steps)
    if row.optimizer.get("name") in ("Adam", "LBFGS"):
        return START + 2 * STEP * steps
    dim = {"fa2": 1, "pde1": 1, "pde5": 3}.get(row.problem, 2)
    shared = (dim + 2) * row.neurons + (row.dim if isinstance(row.dim, int) else 0) * row.neurons
    if row.widths:
        shared = sum(a * b for a, b in zip((dim + 1, *row.widths), (*row.widths, 1), strict=True))
    # Parameters of a piece alone are eliminated piece by piece (two at a time, as neighbours meet in rows).
    own = {"OH": row.neurons, "separate": shared}.get(row.method, row.dim if isinstance(row.dim, int) else 0)
    shared = 0 if row.method == "separate" else shared
    interior, boundary, interface = row.points
    rows = max(interior, row.pieces * row.minimum) + boundary + 2 * interface * (row.pieces - 1)
    width = shared + min(2, row.pieces) * own
    return START + steps * (STEP + 2 * (rows + width) * width**2 / RATE)


@dataclass
class Clock:
    """Seconds left: the predicted ones, times the ratio of measured to predicted seconds of finished trials."""

    waiting: dict[Trial, float] = field(default_factory=dict)
    guessed: float = 0.0
    taken: float = 0.0
    measured: dict[str, float] = field(default_factory=dict)

    @staticmethod
    def of(trials: Sequence[Trial], known: Iterable[tuple[Trial, Record]]) -> "Clock":
        """Predicts the time of the remaining trials from the finished ones."""
        clock = Clock({trial: guess(trial) for trial in trials})
        for trial, record in known:
            clock.tell(trial, record)
        return clock

    def tell(self, trial: Trial, record: Record) -> None:
        """A trial is done."""
        self.waiting.pop(trial, None)
        seconds = float(record.get("seconds", 0.0))
        if trial.row.method in TRAINED:  # how long `solve` takes says nothing about trainings
            self.guessed, self.taken = self.guessed + guess(trial), self.taken + seconds
        self.measured[_kind(trial)] = seconds

    def left(self, workers: int) -> float:
        """Seconds until the end on a number of workers: from the row's own time where it is known."""
        factor = self.taken / self.guessed if self.guessed > 0 else 1.0
        return sum(self.measured.get(_kind(t), factor * s) for t, s in self.waiting.items()) / workers


def _kind(trial: Trial) -> str:
    """All but the seed."""
    return trial.name.rsplit("/", 1)[0]
