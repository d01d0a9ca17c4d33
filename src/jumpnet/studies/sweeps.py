"""`sweep`: a family of problems, solved for many values of its parameters; a table comes back."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import numpy as np

from jumpnet.engines.network.trials import cores
from jumpnet.errors import JumpnetError, JumpnetWarning, ModelError
from jumpnet.guard.text import shorten, spreadsheet
from jumpnet.optim import Status
from jumpnet.studies.family import Family, Quantity, checked_values, digest, family_of
from jumpnet.studies.progress import Shown, shown
from jumpnet.studies.running import Record, Stopped, in_processes, in_turn, on_cluster
from jumpnet.studies.store import read_record, write_record

# A span whose ends differ by this factor or more is meant logarithmically.
WIDE = 100.0
# More solves than this are a mistake (of grids in many parameters).
MOST = 1_000_000
# How a solve may have ended.
STATUSES = {status.name.lower() for status in Status} | {"refused"}


@dataclass(frozen=True)
class Span:
    """Values from `low` to `high`: `count` of them in a grid, or a range to sample from.

    Args:
        low: The lower end.
        high: The upper end.
        count: The number of values in a grid, at least 2.
        scale: "linear" or "log"; by default logarithmic where both ends are positive and differ by a factor of 100.

    Example:
        >>> import jumpnet as jn
        >>> jn.Span(1e-3, 1e3, 3).values().round(3).tolist(), jn.Span(0, 1, 3).values().tolist()
        ([0.001, 1.0, 1000.0], [0.0, 0.5, 1.0])
    """

    low: float
    high: float
    count: int = 11
    scale: Literal["linear", "log"] | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite([self.low, self.high, self.high - self.low]).all() and self.low < self.high):
            raise ModelError(
                f"the span from {self.low!r} to {self.high!r} is empty or endless; give a low and a higher number."
            )
        if self.scale not in (None, "linear", "log") or (self.scale == "log" and self.low <= 0):
            raise ModelError(f'scale is {self.scale!r}; give "linear", or for positive numbers "log".')
        if isinstance(self.count, bool) or not isinstance(self.count, int) or not 2 <= self.count <= MOST:
            raise ModelError(f"count is {shorten(self.count)}; a span has 2 to {MOST} values.")

    @property
    def is_log(self) -> bool:
        """Whether values have equal ratios."""
        return self.low > 0 and self.high / self.low >= WIDE if self.scale is None else self.scale == "log"

    def values(self) -> np.ndarray:
        """The values of the grid."""
        return self.at(np.linspace(0.0, 1.0, self.count))

    def at(self, share: np.ndarray) -> np.ndarray:
        """Values at shares from 0 to 1 of the span; its ends exactly."""
        if self.is_log:
            found = self.low * (self.high / self.low) ** share
        else:
            found = self.low + (self.high - self.low) * share
        return np.where(share == 1.0, self.high, found)


@dataclass(frozen=True, eq=False)
class Case:
    """One task of a sweep: the family, and values of its parameters; `run` names the sweep."""

    family: Family
    number: int
    values: Mapping[str, float]
    run: str = ""


# In a worker: the family of the sweep it works for, as its first case brought it. Later cases come as new copies of the
# family, which would have to survey their geometry again.
_families: dict[str, Family] = {}


def _known(case: Case) -> Family:
    """The family of a case, the one that this process has by now."""
    if case.run not in _families:
        _families.clear()
        _families[case.run] = case.family
    return _families[case.run]


@dataclass(frozen=True, eq=False)
class Sweep:
    """The table of a sweep, one row for each solve, as `jn.sweep` returns it.

    Args:
        parameters: Columns of the parameters, by name.
        values: Columns of the quantities, by name; nan where a problem was refused, which `messages` says.
        errors: Their errors, judged where the solution was; nan where nothing is known.
        status: How each solve ended.
        estimate: The estimated root mean square error of each.
        messages: Sentences about problems that were refused, else empty.
        seconds: What each solve took; no part of the table.

    Example:
        >>> import jumpnet as jn
        >>> parts, ends = jn.Partition(jn.Interval(0, 1)), jn.Dirichlet(0)
        >>> rod = jn.Problem(parts, A="k", f=-1.0, boundary=ends, constants={"k": 1.0})
        >>> table = jn.sweep(rod, {"k": [1, 2]}, {"mean": "mean"})
        >>> len(table), table.ok, table.values["mean"].round(6).tolist()
        (2, True, [0.083333, 0.041667])
    """

    parameters: Mapping[str, np.ndarray]
    values: Mapping[str, np.ndarray]
    errors: Mapping[str, np.ndarray]
    status: tuple[str, ...]
    estimate: np.ndarray
    messages: tuple[str, ...]
    seconds: np.ndarray

    def __len__(self) -> int:
        return len(self.status)

    @property
    def ok(self) -> bool:
        """Whether all solves converged."""
        return all(status == "converged" for status in self.status)

    def columns(self) -> dict[str, Any]:
        """The table: parameters, each quantity with its error, estimate, status.

        Example: `pandas.DataFrame(table.columns())`.
        """
        found: dict[str, Any] = dict(self.parameters)
        for name, values in self.values.items():
            found |= {name: values, f"{name} error": self.errors[name]}
        return found | {"estimate": self.estimate, "status": list(self.status)}

    def to_csv(self) -> str:
        """The table as text; numbers with all their digits, nothing where one is not known."""
        columns = self.columns()
        lines = [",".join(_quoted(name) for name in columns)]
        lines += [",".join(map(_cell, row)) for row in zip(*columns.values(), strict=True)]
        return "\n".join(lines) + "\n"

    def write(self, path: str | PathLike[str]) -> None:
        """Write the table as .csv or .parquet (which needs pyarrow), by the name of the file.

        Example: `table.write("sweep.csv")`.
        """
        from jumpnet.guard.writing import write_atomically

        kind = Path(path).suffix.lower()
        if kind not in (".csv", ".parquet"):
            raise ModelError(
                f"the table cannot be written as {str(path)!r}; give a name that ends with .csv or .parquet."
            )
        content = self.to_csv().encode() if kind == ".csv" else _parquet(self.columns())
        try:
            write_atomically(path, content)
        except (OSError, ValueError) as problem:
            raise ModelError(f"{str(path)!r} cannot be written ({problem}); give another path.") from None

    def plot(self, path: str | PathLike[str] | None = None) -> Any:
        """A figure of each quantity over the parameters, with error bars; written to `path` if given.

        Example: `table.plot("sweep.png")`.
        """
        from jumpnet.reporting.figures.sweeps import plot_sweep

        return plot_sweep(self, path)

    def __repr__(self) -> str:
        bad = sum(status != "converged" for status in self.status)
        return f"Sweep({len(self)} solves in {', '.join(self.parameters)}{f', {bad} not converged' * bool(bad)})"


def sweep(
    problem: Any,
    vary: Mapping[str, Any],
    quantities: Mapping[str, Quantity] | None = None,
    *,
    samples: int | None = None,
    seed: int = 0,
    workers: int | None = 1,
    cluster: str | None = None,
    store: str | PathLike[str] | None = None,
    again: bool = False,
    progress: bool | Shown = False,
    **options: Any,
) -> Sweep:
    """Solve a family of problems for many values of its parameters; a table of quantities with errors comes back.

    A worker that is killed costs its task some time; the table is the same, bit for bit.

    Args:
        problem: A function of the parameters that returns a `Problem`, a `Problem` whose formulas use `constants`, or
            what `jn.read_file` returns: then parameters are the file's constants, of coefficients and of shapes.
        vary: Names to lists of values or `jn.Span(low, high, count)`; all combinations are solved.
        quantities: Names to functions of the solution, or to "mean", ("mean", piece), ("integral", piece), ("energy",
            piece), ("flux", part or (a, b)), ("value", point); of a file they are its own unless given. Those that are
            not functions have errors: judged where the solution was (`verify=True` for always), else from its estimate
            if they can.
        samples: So many points of a low-discrepancy sequence (Sobol's) in the spans, in place of all combinations.
        seed: What shifts the sequence, and that of the solves.
        workers: The number of processes (None: one on each core). Functions are sent to them by name, so they belong
            into a module or behind `if __name__ == "__main__"`.
        cluster: The address of a dask.distributed scheduler, in place of processes.
        store: A directory that keeps each result: the same call goes on where it was interrupted.
        again: True computes what is in the store once more.
        progress: True shows a bar with the time left; a function is called with (done, total, seconds left).
        options: Those of `jn.solve`.

    Returns:
        A `Sweep`: `columns()`, `write("a.csv")`, `plot()`.

    Example:
        >>> import jumpnet as jn
        >>> parts = jn.Partition(jn.Interval(0, 2), [jn.Interval(1, 2)])
        >>> ends = {"left": jn.Dirichlet(0), "right": jn.Dirichlet(1)}
        >>> problem = jn.Problem(parts, A=[1, "k"], boundary=ends, constants={"k": 1})
        >>> table = jn.sweep(problem, {"k": [1, 3]}, {"through": ("flux", "right")})
        >>> table.values["through"].round(6).tolist()
        [0.5, 0.75]
    """
    family = family_of(problem, quantities, options)
    points = list(_points(vary, samples, seed))
    family.problem(points[0])  # says what is wrong before anything is begun
    run = uuid4().hex
    cases = [Case(family, number, values, run) for number, values in enumerate(points)]
    kept = None if store is None else Store(Path(store), family)
    found = {} if kept is None or again else {c.number: r for c in cases if (r := kept.get(c)) is not None}
    waiting = [case for case in cases if case.number not in found]
    jobs = min(cores() if workers is None else _whole(workers, "workers"), max(len(waiting), 1))
    with shown(progress, len(cases), len(found)) as advance:
        if cluster is not None:
            results = on_cluster(solved, waiting, cluster, lambda case: f"{family.key}-{case.number}")
        else:
            results = in_turn(solved, waiting) if jobs == 1 else in_processes(solved, waiting, jobs)
        with closing(results):  # pyright: ignore[reportArgumentType]
            for case, record in results:
                if kept is not None:
                    kept.put(case, record)
                found[case.number] = record
                advance()
    return _table(points, [found[case.number] for case in cases])


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
        return self.folder / name[:2] / f"{name}.json"  # some hundred folders: looking into one takes no time


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


def _points(vary: Any, samples: int | None, seed: int) -> Iterator[dict[str, float]]:
    """Values of all parameters, for each solve."""
    if not isinstance(vary, Mapping) or not vary:
        raise ModelError(
            f"vary is {vary!r}; a mapping from names to values is wanted, e.g. {{'k': jn.Span(1, 100, 9)}}."
        )
    if samples is not None:
        yield from _samples(vary, _whole(samples, "samples"), seed)
        return
    lists = {
        name: v.values() if isinstance(v, Span) else checked_values(v, f"vary[{name!r}]") for name, v in vary.items()
    }
    total = int(np.prod([float(len(values)) for values in lists.values()]))
    if total > MOST:
        raise ModelError(f"the grid has {total} points, more than {MOST}; take fewer values, or samples=.")
    for row in itertools.product(*(values.tolist() for values in lists.values())):
        yield dict(zip(lists, row, strict=True))


def _samples(vary: Mapping[str, Any], count: int, seed: int) -> Iterator[dict[str, float]]:
    """Points of a Sobol sequence in the spans; lists are drawn from."""
    from scipy.stats import qmc

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # balance wants powers of two; any count will do here
        shares = qmc.Sobol(len(vary), scramble=False).random(count)
    shares = (shares + np.random.default_rng(seed).random(len(vary))) % 1.0  # shifted: no point on all lower ends
    columns = {}
    for (name, given), share in zip(vary.items(), shares.T, strict=True):
        if isinstance(given, Span):
            columns[name] = given.at(share)
        else:
            values = checked_values(given, f"vary[{name!r}]")
            columns[name] = values[np.minimum((share * len(values)).astype(int), len(values) - 1)]
    for row in zip(*(column.tolist() for column in columns.values()), strict=True):
        yield dict(zip(columns, row, strict=True))


def _whole(given: Any, what: str) -> int:
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not 1 <= given <= MOST:
        raise ModelError(f"{what} is {shorten(given)}; a whole number from 1 to {MOST} is wanted.")
    return int(given)


def _table(points: list[dict[str, float]], records: list[Record]) -> Sweep:
    names = list(dict.fromkeys(name for record in records for name in record.get("quantities", ())))

    def column(name: str, which: int) -> np.ndarray:
        return np.array([record.get("quantities", {}).get(name, (np.nan, np.nan))[which] for record in records])

    return Sweep(
        {name: np.array([values[name] for values in points]) for name in points[0]},
        {name: column(name, 0) for name in names},
        {name: column(name, 1) for name in names},
        tuple(str(record["status"]) for record in records),
        np.array([record.get("estimate", np.nan) for record in records], float),
        tuple(str(record.get("message", "")) for record in records),
        np.array([record.get("seconds", np.nan) for record in records], float),
    )


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return _quoted(value)
    return "" if np.isnan(value) else repr(float(value))


def _quoted(text: str) -> str:
    text = str(spreadsheet(text))
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n') else text


def _parquet(columns: dict[str, Any]) -> bytes:
    try:
        import pyarrow  # pyright: ignore[reportMissingImports]
        import pyarrow.parquet  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise ModelError(
            "Parquet needs pyarrow, which is not installed; pip install 'jumpnet[parquet]' adds it, or write a .csv."
        ) from None
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(columns), sink)
    return sink.getvalue().to_pybytes()
