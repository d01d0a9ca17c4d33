"""Checkpoints: a training written to disk every few seconds, and continued from there bit for bit.

A training is a sequence of legs: the short runs of the random starts, then the long ones. The file holds, for every
seed, the finished legs and the unfinished one. A resumed training runs as if from the beginning: results of finished
legs are read from the file, the unfinished leg continues from its last state, and decisions between legs are made
again, with the same outcome.
"""

import hashlib
import json
import re
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from jumpnet.charts import Atlas
from jumpnet.errors import JumpnetWarning, SolutionError
from jumpnet.guard.writing import check_writable
from jumpnet.models import Network, network_spec
from jumpnet.models.checked import number, whole
from jumpnet.optim import Optimizer, Record, Result, Status
from jumpnet.optim.loop import LeastSquares, Leg, Progress, walk
from jumpnet.optim.packing import Packed, check_parameters, pack, unpack
from jumpnet.rows import Rows
from jumpnet.solution.files import CHECKPOINT, NONSENSE, damaged, file_path, read, write

FORMAT = 1  # the version of the file format; others are refused
MOST_STEPS = 10**9  # the most steps of a leg that a file may state

Fingerprint = dict[str, str]


@dataclass(frozen=True)
class Kept:
    """A leg in a checkpoint: packed if it came from the file or has ended, with its status once it has ended."""

    leg: Leg
    status: Status | None = None


class Run:
    """The training of one seed: `minimise`, with every leg kept."""

    def __init__(self, legs: list[Kept], write: Callable[..., None]):
        self._legs, self._write, self._at = legs, write, -1
        self.seconds_before = sum(kept.leg.seconds for kept in legs)

    def minimise(
        self,
        optimizer: Optimizer,
        system: LeastSquares,
        theta: np.ndarray | None = None,
        *,
        state: Packed | None = None,
        steps: int | None = None,
        gives_way: bool = False,
        progress: Progress | None = None,
    ) -> tuple[Result, Packed]:
        """The next leg: read from the checkpoint, continued, or begun."""
        self._at += 1
        if self._at < len(self._legs):
            leg, status = self._legs[self._at].leg, self._legs[self._at].status
            _check(leg, system)
            if status is not None:
                return leg.result(status, system.terms), leg.state
            leg = replace(leg, state=unpack(optimizer, system, leg.state))
        else:
            start = optimizer.init(system, theta) if state is None else unpack(optimizer, system, state)  # pyright: ignore[reportArgumentType]
            leg = Leg.begin(start)
            self._legs.append(Kept(leg))
        how = {"steps": steps, "gives_way": gives_way, "progress": progress, "keep": self._keep}
        leg, status = walk(optimizer, system, leg, **how)
        packed = replace(leg, state=pack(leg.state))
        self._legs[self._at] = Kept(packed, None if status is Status.INTERRUPTED else status)
        self._write(now=True)
        return packed.result(status, system.terms), packed.state

    def _keep(self, leg: Leg) -> None:
        self._legs[self._at] = Kept(leg)
        self._write()


class Checkpoint:
    """The file of a solve: the legs of all its seeds, written every few seconds and at the end of each leg.

    Several threads may train and write at the same time.
    """

    def __init__(self, path: str | PathLike[str], seed: int, every: float):
        self._path, self._seed, self._every = file_path(path), seed, every
        self._fingerprints: dict[int, Fingerprint] = {}
        self._legs: dict[int, list[Kept]] = {}
        self._lock, self._due, self._warned = threading.Lock(), time.monotonic() + every, False
        if self._path.exists():
            self._read()
        self._try_folder()

    def run(self, seed: int, fingerprint: Fingerprint) -> Run:
        """The training of one seed, begun or continued; refused if the file belongs to another training."""
        kept = self._fingerprints.setdefault(seed, fingerprint)
        if kept != fingerprint:
            other = ", ".join(name for name in fingerprint if fingerprint[name] != kept.get(name))
            raise self._of_another_run(other)
        return Run(self._legs.setdefault(seed, []), self._write)

    def _of_another_run(self, what: str) -> SolutionError:
        return SolutionError(
            f"{str(self._path)!r} is the checkpoint of another run (not the same {what}); "
            "give another path, or delete the file to begin anew."
        )

    def _try_folder(self) -> None:
        """Refuse a path that cannot be written to, before any work is done."""
        try:
            check_writable(self._path)
        except (OSError, ValueError) as problem:  # ValueError: no name, or a null character in it
            reason = getattr(problem, "strerror", None) or problem
            raise SolutionError(
                f"the checkpoint {str(self._path)!r} cannot be written ({reason}); give another path."
            ) from None

    def _write(self, *, now: bool = False) -> None:
        if not now and time.monotonic() < self._due:
            return
        with self._lock:
            try:
                write(self._path, CHECKPOINT, *self._content())
            except OSError as problem:
                self._warn(problem)
            self._due = time.monotonic() + self._every

    def _warn(self, problem: OSError) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"the checkpoint {str(self._path)!r} cannot be written ({problem.strerror}); "
                "the training goes on, and tries again every few seconds.",
                JumpnetWarning,
                stacklevel=2,
            )

    def _content(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        described, arrays = {}, {}
        for seed, legs in list(self._legs.items()):
            described[str(seed)] = {"fingerprint": self._fingerprints[seed], "legs": []}
            for index, kept in enumerate(list(legs)):
                leg = kept.leg
                status = None if kept.status is None else kept.status.name
                numbers = {"first": leg.first, "mark": leg.mark, "at": leg.at, "seconds": leg.seconds, "status": status}
                described[str(seed)]["legs"].append(numbers)
                state = leg.state if isinstance(leg.state, Packed) else pack(leg.state)
                arrays |= {f"{seed}/{index}/state/{name}": array for name, array in state.arrays.items()}
                arrays[f"{seed}/{index}/records"] = _as_table(leg.records)
        description = {"format": FORMAT, "seed": self._seed, "seeds": described}
        return description | {"digest": _digest(description, arrays)}, arrays

    def _read(self) -> None:
        description, arrays = read(self._path, CHECKPOINT)
        try:
            if description["format"] != FORMAT:
                raise self._of_another_run("format")
            digest = description.pop("digest")
            if digest != _digest(description, arrays):
                raise ValueError("its numbers are not those that were written")
            if description["seed"] != self._seed:
                raise self._of_another_run("seed")
            for name, of_seed in description["seeds"].items():
                self._fingerprints[int(name)] = {str(key): str(one) for key, one in of_seed["fingerprint"].items()}
                self._legs[int(name)] = [
                    _kept(numbers, f"{name}/{index}/", arrays) for index, numbers in enumerate(of_seed["legs"])
                ]
        except SolutionError:
            raise
        except NONSENSE as problem:
            raise damaged(self._path, problem) from None


def fingerprint(
    rows: Sequence[Rows], networks: Sequence[Network], atlases: Sequence[Atlas], optimizer: Optimizer, starts: int
) -> Fingerprint:
    """A hash of all that a training depends on except its seed: equal fingerprints mean equal steps."""
    from jumpnet import __version__

    equations = hashlib.sha256()
    for table in rows:
        s = table.sites
        for column in (s.x, s.cell, s.a0, s.a1, s.a2, table.counts, table.rhs, table.weight):
            equations.update(np.asarray(column).tobytes())
    return {
        "version of jumpnet": __version__,
        "problem, points or weights": equations.hexdigest(),
        "model": _hashed([network_spec(network) for network in networks]),
        "charts": _hashed([atlas.spec() for atlas in atlases]),
        # The address of a user's own function differs from run to run.
        "optimizer": re.sub(r" at 0x[0-9a-fA-F]+", "", repr(optimizer)),
        "number of starts": str(starts),
    }


def _hashed(description: Any) -> str:
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()


def _digest(description: Any, arrays: Mapping[str, np.ndarray]) -> str:
    """A checksum of everything in the file."""
    found = hashlib.sha256(_hashed(description).encode())
    for name in sorted(arrays):
        found.update(name.encode() + arrays[name].tobytes())
    return found.hexdigest()


def _as_table(records: Sequence[Record]) -> np.ndarray:
    """Records as rows: step, loss, damping, length of the step, seconds, and the loss term by term."""
    return np.array([[r.step, r.loss, r.damping, r.step_norm, r.seconds, *r.terms] for r in records], float)


def _check(leg: Leg, system: LeastSquares) -> None:
    """Refuse a leg of another training, whatever its checksum says."""
    check_parameters(leg.state, system, "best")
    if any(len(record.terms) != len(system.terms) for record in leg.records):
        raise SolutionError("the checkpoint does not fit this training: it has other equations; delete the file.")


def _kept(numbers: Mapping[str, Any], prefix: str, arrays: Mapping[str, np.ndarray]) -> Kept:
    """A leg read from the file, with every entry checked."""
    start = f"{prefix}state/"
    state = Packed({name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)})
    if any(state.arrays[name].shape != () for name in ("best_loss", "steps")):
        raise ValueError("a loss or a number of steps is not one number")
    table = arrays[f"{prefix}records"]
    if table.dtype != float or (table.size and (table.ndim != 2 or table.shape[1] < 5)):
        raise ValueError("the records are not a table")
    records = tuple(
        Record(int(step), loss, tuple(terms), damping, norm, seconds)
        for step, loss, damping, norm, seconds, *terms in table.tolist()
    )
    first, at = (whole(name, numbers[name], MOST_STEPS) for name in ("first", "at"))
    mark, seconds = (number(name, numbers[name]) for name in ("mark", "seconds"))
    leg = Leg(state, first, mark, at, records, seconds)
    return Kept(leg, None if numbers["status"] is None else Status[numbers["status"]])
