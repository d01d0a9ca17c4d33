"""The paper's tables as data: each row names a problem, a model and the errors the paper reports for them.

The numbers are in paper.csv beside this file: root mean square (L2) and largest (Linf) error, means over ten
trials; an empty L2 of a network means that its training did not converge. `run_row` computes our value of a row for
one seed with the paper's numbers of neurons and points.
"""

import csv
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from jumpnet.charts import Charts
from jumpnet.driver import approximate, solve
from jumpnet.driver.progress import Progress
from jumpnet.errors import JumpnetWarning, ProblemError
from jumpnet.experiments import problems
from jumpnet.models import CategoricalEmbedding, Model, OneHot, ScalarEncoding
from jumpnet.optim import Optimizer, Status
from jumpnet.solution import Errors, Solution

MODELS = ("CE", "SE", "OH")
NAMES = ("fa1", "fa2", "pde1", "pde2", "pde3", "pde4", "pde5")
APPROXIMATIONS = ("fa1", "fa2")
CHAINS = ("fa2", "pde1")  # 1-D problems, with a number of pieces to choose
POINTS = {"fa1": (880, 120, 0), "pde5": (324, 144, 144)}
PLANE_POINTS = (324, 72, 72)


@dataclass(frozen=True)
class Row:
    """A line of a table; `l2` and `linf` are the paper's, None where its training failed."""

    table: str
    title: str
    pieces: int
    method: str
    label: str
    dim: int | None
    parameters: int
    l2: float | None
    linf: float | None

    def __str__(self) -> str:
        detail = f" D={self.dim}" if self.dim is not None else f" {self.label}" if self.label else ""
        pieces = f"[{self.pieces}]" if self.table in CHAINS else ""
        return f"{self.table}{pieces} {self.method}{detail}"

    @property
    def neurons(self) -> int:
        """The paper's N."""
        return 100 if self.table == "pde5" else 50

    @property
    def model(self) -> Model:
        """The network of the row."""
        if self.method == "CE":
            return CategoricalEmbedding(dim=self.dim or 1, neurons=self.neurons)
        if self.method == "OH":
            return OneHot(neurons=self.neurons)
        means = "mean-u" if self.table in APPROXIMATIONS else "mean-f"
        return ScalarEncoding(labels=means if self.label == "mean" else "index", neurons=self.neurons)

    @property
    def points(self) -> tuple[int, int, int]:
        """The paper's numbers of points: interior, boundary, per interface."""
        if self.table in CHAINS:
            return (2000 if self.pieces == 100 else 1000, 2, 1)
        return POINTS.get(self.table, PLANE_POINTS)

    @property
    def charts(self) -> Charts:
        """Each interval in its own box in 1-D; elsewhere the domain's box, which adds no inputs to the paper's."""
        return "local" if self.table in CHAINS else "box"


@dataclass(frozen=True)
class Outcome:
    """What one seed of a row came to."""

    errors: Errors
    status: Status
    steps: int
    seconds: float


@cache
def paper_rows() -> tuple[Row, ...]:
    """Every line of the paper's tables, references by other methods (FVM, FEM) included."""
    text = resources.files("jumpnet.experiments").joinpath("paper.csv").read_text(encoding="utf-8")
    return tuple(
        Row(
            table=line["table"],
            title=line["problem"],
            pieces=int(line["pieces"]),
            method=line["method"],
            label=line["label"],
            dim=int(line["D"]) if line["D"] else None,
            parameters=int(line["Np"]),
            l2=float(line["L2"]) if line["L2"] else None,
            linf=float(line["Linf"]) if line["Linf"] else None,
        )
        for line in csv.DictReader(text.splitlines())
    )


def rows(tables: Sequence[str] = NAMES, models: Sequence[str] = MODELS) -> tuple[Row, ...]:
    """The lines of some tables that networks can be trained for, in the paper's order."""
    for name in tables:
        if name not in NAMES:
            raise ProblemError(f"there is no table {name!r}; the tables are {', '.join(NAMES)} (or all).")
    for name in models:
        if name not in MODELS:
            raise ProblemError(f"there is no model {name!r}; the tables have {', '.join(MODELS)}.")
    return tuple(row for row in paper_rows() if row.table in tables and row.method in models)


def row(table: str, method: str = "CE", **wanted: Any) -> Row:
    """The one line of a table and a model, further told apart by `pieces`, `dim` or `label`."""
    found = [r for r in rows((table,), (method,)) if all(getattr(r, name) == v for name, v in wanted.items())]
    if len(found) != 1:
        raise ProblemError(f"{len(found)} lines of {table} fit {method} {wanted}; give pieces, dim or label as well.")
    return found[0]


def solve_row(
    row: Row, seed: int, *, optimizer: Optimizer | None = None, progress: bool | Progress = False
) -> Solution:
    """Our solution of a line for one seed."""
    options: dict[str, Any] = {
        "model": row.model,
        "points": row.points,
        "charts": row.charts,
        "optimizer": optimizer,
        "seed": seed,
        "progress": progress,
    }
    make = getattr(problems, row.table)
    stated = make(row.pieces) if row.table in CHAINS else make()
    return approximate(*stated, **options) if row.table in APPROXIMATIONS else solve(stated, **options)


def run_row(row: Row, seed: int, *, optimizer: Optimizer | None = None, progress: bool | Progress = False) -> Outcome:
    """Errors, status, steps and seconds of a line for one seed, at ten times as many test points as interior ones."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        # Few points in small pieces are the paper's, and the status says what did not converge.
        warnings.simplefilter("ignore", JumpnetWarning)
        solution = solve_row(row, seed, optimizer=optimizer, progress=progress)
    seconds = time.perf_counter() - began
    return Outcome(solution.errors(), solution.status, solution.steps, seconds)
