"""One solve of a sweep, and the records that are kept of it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jumpnet.errors import JumpnetError, JumpnetWarning
from jumpnet.optim import Status
from jumpnet.studies.family import Family, digest
from jumpnet.studies.running import Record, Stopped
from jumpnet.studies.store import read_record, write_record

# How a solve may have ended.
STATUSES = {status.name.lower() for status in Status} | {"refused"}


@dataclass(frozen=True, eq=False)
class Case:
    """One task of a sweep: the family, and values of its parameters; `run` names the sweep."""

    family: Family
    number: int
    values: Mapping[str, float]
    run: str = ""


# In a worker: the family of its sweep, from the first case. Later cases bring new copies of the family, whose geometry
# would have to be surveyed again.
_families: dict[str, Family] = {}


def _known(case: Case) -> Family:
    """The family of a case, from the cache of this process."""
    if case.run not in _families:
        _families.clear()
        _families[case.run] = case.family
    return _families[case.run]


def solved(case: Case, stopped: Stopped) -> Record:
    """The record of a case: status, estimate and quantities. What the program refuses is a result too."""
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JumpnetWarning)  # the status says what did not converge
            solution, measures = _known(case).measure(case.values)
    except JumpnetError as refused:
        return {"status": "refused", "message": str(refused), "seconds": time.perf_counter() - began}
    return {
        "status": solution.status.name.lower(),
        "estimate": float(solution.estimate),
        "quantities": {name: [float(value), float(error)] for name, (value, error) in measures.items()},
        "seconds": time.perf_counter() - began,
    }


class Store:
    """The records of a sweep in a directory."""

    def __init__(self, folder: Path, family: Family):
        self.folder, self.key = folder, family.key

    def get(self, case: Case) -> Record | None:
        """The record of a case; None if there is none, or if it was made from something else."""
        found = read_record(self._path(case))
        good = isinstance(found, dict) and found.get("key") == self.key and found.get("values") == dict(case.values)
        return found["record"] if good and _is_record(found.get("record")) else None

    def put(self, case: Case, record: Record) -> None:
        """Keep a record."""
        write_record(self._path(case), {"key": self.key, "values": dict(case.values), "record": record})

    def _path(self, case: Case) -> Path:
        name = digest(repr(sorted(case.values.items())))
        return self.folder / name[:2] / f"{name}.json"  # 256 folders: each stays small


def _is_record(found: Any) -> bool:
    """Whether this is what `solved` returns: the file may have been damaged, or made by anybody."""
    if not isinstance(found, dict):
        return False
    quantities, message = found.get("quantities", {}), found.get("message", "")
    pairs = list(quantities.values()) if isinstance(quantities, dict) else [None]
    return (
        isinstance(status := found.get("status"), str)
        and status in STATUSES
        and isinstance(message, str)
        and all(isinstance(pair, list) and len(pair) == 2 and all(map(_is_number, pair)) for pair in pairs)
        and all(_is_number(found[name]) for name in ("estimate", "seconds") if name in found)
    )


def _is_number(value: Any) -> bool:
    """As JSON has them: float64 or nan, no integer of hundreds of digits."""
    return type(value) is float or (type(value) is int and abs(value) < 2**53)
