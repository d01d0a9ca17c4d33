"""Recorded trials, shipped with the package, from which the page about the paper is written without hours of computing.

`recorded/` has a file for each experiment and in it one JSON object per line: a row in one setting, with the results
of its trials. What all trials of a row share is written once (`same`), the rest as columns (`each`); numbers have six
digits. `python -m jumpnet.experiments.recorded results` adds the trials of a directory of `jumpnet reproduce`.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from jumpnet.experiments.tables import experiment_names
from jumpnet.experiments.trial import Record, Trial
from jumpnet.guard.writing import write_atomically

FOLDER = Path(__file__).parent / "recorded"  # of the records in the repository
DIGITS = 6  # significant digits of recorded numbers: more than any table shows
# Of a history a figure needs fewer points than a trial keeps.
HISTORY_POINTS = 120
# Not kept: what `same` and `each` are filed under, and texts that the status implies.
LEFT_OUT = ("trial", "spec", "solution", "message", "how")


class Recorded:
    """Recorded trials: looked up like those of a `Store`, never written to."""

    def __init__(self, folder: Path = FOLDER):
        self.folder = folder

    @cached_property
    def _lines(self) -> dict[str, dict[str, Any]]:
        """By the name of a trial without its seed."""
        found = {}
        for name in experiment_names():
            path = self.folder / f"{name}.jsonl"
            if path.is_file():
                for text in path.read_text(encoding="utf-8").splitlines():
                    line = json.loads(text)
                    found[line["line"]] = line
        return found

    def get(self, trial: Trial) -> Record | None:
        """The trial's result; None if there is none, or if it was made from other settings."""
        line = self._lines.get(line_of(trial))
        if line is None or line["spec"] != settings_of(trial) or str(trial.seed) not in line["each"]:
            return None
        return {"trial": trial.name, "spec": trial.spec, **line["same"], **line["each"][str(trial.seed)]}

    def solution(self, trial: Trial) -> Path | None:
        """The file of a trial's solution, where it was small enough to be recorded."""
        path = self.folder / f"{trial.name.replace('/', '-')}.jumpnet"
        return path if path.is_file() else None


def line_of(trial: Trial) -> str:
    """The name of a trial without its seed."""
    return trial.name.rsplit("/", 1)[0]


def settings_of(trial: Trial) -> str:
    """What a result depends on, but the seed."""
    return trial.spec.replace(f"'seed': {trial.seed}", "'seed': *")


def packed(trials: Iterable[tuple[Trial, Record]]) -> dict[str, Any]:
    """The trials of one row and setting as one object."""
    pairs = sorted(trials, key=lambda pair: pair[0].seed)
    kept = {trial.seed: _kept(record) for trial, record in pairs}
    first = next(iter(kept.values()))
    same = {k: v for k, v in first.items() if all(k in other and _equal(other[k], v) for other in kept.values())}
    each = {str(seed): {k: v for k, v in one.items() if k not in same} for seed, one in kept.items()}
    return {"line": line_of(pairs[0][0]), "spec": settings_of(pairs[0][0]), "same": same, "each": each}


def _kept(record: Record) -> Record:
    kept = {name: value for name, value in record.items() if name not in LEFT_OUT or _says_more(record, name)}
    if "history" in kept:
        history = kept["history"]
        at = sorted({round(k * (len(history) - 1) / (HISTORY_POINTS - 1)) for k in range(HISTORY_POINTS)})
        kept["history"] = [history[k] for k in at if k < len(history)]
    return {name: _short(value) for name, value in kept.items()}


def _says_more(record: Record, name: str) -> bool:
    """Whether a message is not only the status in words: why a trial was refused."""
    return name == "message" and record.get("status") in ("refused", "quoted")


def _short(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_short(one) for one in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def _equal(one: Any, other: Any) -> bool:
    return one == other or (one != one and other != other)  # NaN, too


def record(folder: Path, into: Path = FOLDER) -> int:
    """Add the trials of a directory's store to the recorded ones; how many rows and settings there are then."""
    from jumpnet.experiments.reproduction import SETTINGS, Wanted
    from jumpnet.experiments.store import Store

    store, known, total = Store(folder), Recorded(into), 0
    into.mkdir(exist_ok=True)
    for name in experiment_names():
        wanted, lines = Wanted((name,), settings=SETTINGS, trials=10), []
        found: dict[str, list[tuple[Trial, Record]]] = defaultdict(list)
        for trial in (trial for line in wanted.lines() for trial in wanted.trials_of(*line)):
            result = store.get(trial) or known.get(trial)
            if result is not None:
                found[line_of(trial)].append((trial, result))
            if (path := store.solution(trial)) is not None:
                write_atomically(into / f"{trial.name.replace('/', '-')}.jumpnet", path.read_bytes())
        lines = [json.dumps(packed(pairs), separators=(",", ":")) for pairs in found.values()]
        if lines:
            write_atomically(into / f"{name}.jsonl", ("\n".join(lines) + "\n").encode())
        total += len(lines)
    return total


if __name__ == "__main__":
    record(Path(sys.argv[1]) / "trials")
