"""`sweep`: a family of problems, solved for many values of its parameters; a table comes back."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from jumpnet.engines.network.trials import cores
from jumpnet.studies.family import Quantity, family_of
from jumpnet.studies.progress import Shown, shown
from jumpnet.studies.running import Record, results
from jumpnet.studies.sweeping.cases import Case, Store, solved
from jumpnet.studies.sweeping.result import Sweep
from jumpnet.studies.sweeping.spans import points_of, whole


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

    If a worker is killed its task is repeated; the table is the same, bit for bit.

    Args:
        problem: A function of the parameters that returns a `Problem`, a `Problem` whose formulas use `constants`, or
            what `jn.read_file` returns: then parameters are the file's constants, of coefficients and of shapes.
        vary: Names to lists of values or `jn.Span(low, high, count)`; all combinations are solved.
        quantities: Names to functions of the solution, or to "mean", ("mean", piece), ("integral", piece), ("energy",
            piece), ("flux", part or (a, b)), ("value", point); of a file they are its own unless given. Those that are
            not functions have errors: judged where the solution was (`verify=True` for always), else from its estimate
            if they can.
        samples: The number of points of a low-discrepancy (Sobol) sequence in the spans, in place of all combinations.
        seed: The shift of the sequence, and the seed of the solves.
        workers: The number of processes (None: one on each core). Functions are sent to them by name, so they belong
            into a module or behind `if __name__ == "__main__"`.
        cluster: The address of a dask.distributed scheduler, in place of processes.
        store: A directory that keeps each result: the same call continues where it was interrupted.
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
    points = list(points_of(vary, samples, seed))
    family.problem(points[0])  # says what is wrong before anything is begun
    run = uuid4().hex
    cases = [Case(family, number, values, run) for number, values in enumerate(points)]
    kept = None if store is None else Store(Path(store), family)
    found = {} if kept is None or again else {c.number: r for c in cases if (r := kept.get(c)) is not None}
    waiting = [case for case in cases if case.number not in found]
    jobs = min(cores() if workers is None else whole(workers, "workers"), max(len(waiting), 1))
    with shown(progress, len(cases), len(found)) as advance:
        coming = results(solved, waiting, jobs, cluster, lambda case: f"{family.key}-{case.number}")
        with closing(coming):  # pyright: ignore[reportArgumentType]
            for case, record in coming:
                if kept is not None:
                    kept.put(case, record)
                found[case.number] = record
                advance()
    return _table(points, [found[case.number] for case in cases])


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
