"""Results on disk: one file for each trial, written whole or not at all; behind them, those recorded with the package.

A trial is done if its file is there and was made from the same settings. Nothing can be lost by an interruption or
counted twice: two runs of a trial have the same file.
"""

import base64
import binascii
from pathlib import Path

from jumpnet.errors import SolutionError
from jumpnet.experiments.recorded import Recorded
from jumpnet.experiments.schema import checked
from jumpnet.experiments.trial import Record, Trial
from jumpnet.guard.writing import write_atomically
from jumpnet.studies.store import read_record, write_record


class Store:
    """The trials in a directory; those it does not have are looked up among the `recorded` ones, if given."""

    def __init__(self, folder: Path, recorded: Recorded | None = None):
        self.folder = folder
        self.recorded = recorded

    def get(self, trial: Trial) -> Record | None:
        """The trial's result; None if there is none, if it cannot be read, or if it was made from other settings."""
        found = self._own(trial)
        return self.recorded.get(trial) if found is None and self.recorded is not None else found

    def _own(self, trial: Trial) -> Record | None:
        """The result in the directory."""
        path = self._path(trial)
        try:
            record = checked(read_record(path))
        except (ValueError, RecursionError):
            return None
        good = record["trial"] == trial.name and record["spec"] == trial.spec
        incomplete = trial.row.keep == "solution" and "l2" in record and not path.with_suffix(".jumpnet").is_file()
        return record if good and not incomplete else None

    def put(self, trial: Trial, record: Record) -> None:
        """Keep a result; a solution in it goes to a file of its own, first."""
        record = dict(record)
        path = self._path(trial)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if "solution" in record:
                write_atomically(path.with_suffix(".jumpnet"), base64.b64decode(record.pop("solution")))
            write_record(path, record)
        except (OSError, binascii.Error) as problem:
            raise SolutionError(f"the result {str(path)!r} cannot be written ({problem}).") from None

    def solution(self, trial: Trial) -> Path | None:
        """The file of a trial's solution, where the row keeps it."""
        path = self._path(trial).with_suffix(".jumpnet")
        if path.is_file():
            return path
        return None if self.recorded is None else self.recorded.solution(trial)

    def _path(self, trial: Trial) -> Path:
        return self.folder / f"{trial.name}.json"
