"""The experiments as data: what each row of each table runs, and the errors the paper reports for it.

Each experiment is a file in plans/ (problem, models, numbers of points, stops); a row inherits what its group and its
file say. The paper's numbers are in paper.csv: root mean square (L2) and largest (Linf) error, means over ten trials; a
network without an L2 did not converge there.
"""

import csv
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from jumpnet.charts import Charts
from jumpnet.collocation import Points
from jumpnet.errors import ProblemError
from jumpnet.experiments import problems
from jumpnet.experiments.predecessors import HypercubePoints
from jumpnet.geometry import Partition
from jumpnet.models import CategoricalEmbedding, Deep, Model, OneHot, ScalarEncoding, Separate, Unlabelled
from jumpnet.problem import Problem

NAMES = ("fa1", "fa2", "pde1", "pde2", "pde3", "pde4", "pde5")  # the tables
STUDIES = ("optimizers", "maps", "embedding", "predecessors")  # figures, what the paper only mentions, its predecessor
CHAINS = ("fa2", "pde1")  # 1-D problems, with a number of pieces to choose
# The paper's networks, its alternatives, what `solve` does by itself, and classical methods.
NETWORKS = ("CE", "SE", "OH")
# All trained models.
TRAINED = (*NETWORKS, "separate", "plain")
# All methods of a table, in its order.
METHODS = (*TRAINED, "solve", "FEM", "FVM")


@dataclass(frozen=True)
class Row:
    """A row of a table: what is run, and what the paper reports for it.

    `l2` and `linf` are None where the paper has no number; `published` says whether it has the row. `trials` is the
    most that are run, `keep` what is kept of a trial beside its numbers, `measure` which
    of its errors is compared, `drawn` how points are.
    """

    table: str
    problem: str
    pieces: int
    method: str
    label: str = ""
    dim: int | str | None = None
    neurons: int = 50
    points: tuple[int, int, int] = (324, 72, 72)
    minimum: int = 0
    drawn: str = "random"
    charts: Charts = "box"
    widths: tuple[int, ...] = ()
    residual: bool = False
    squash: str | None = None
    optimizer: Mapping[str, Any] = field(default_factory=dict, hash=False)
    order: int = 1
    unknowns: int = 0
    fitted: bool = True
    setting: str = ""
    weights: str = ""
    measure: str = "l2"
    trials: int = 10**6
    keep: str = ""
    study: bool = False
    quick: bool = False
    published: bool = False
    parameters: int | None = None
    l2: float | None = None
    linf: float | None = None

    def __str__(self) -> str:
        return " ".join([self.of_problem, *self._words()])

    @property
    def failed(self) -> bool:
        """Whether it is a network that did not converge in the paper."""
        return self.published and self.l2 is None and self.method in NETWORKS

    @property
    def of_problem(self) -> str:
        """The problem's name, with the number of pieces where there is a choice."""
        return f"{self.problem}[{self.pieces}]" if self.problem in CHAINS else self.problem

    def _words(self) -> Iterator[str]:
        """The model and its label."""
        yield self.method
        if self.dim is not None:
            yield f"D={self.dim}"
        if self.label:
            yield self.label
        if self.table in STUDIES and self.neurons != 50 and not self.widths:
            yield f"N={self.neurons}"
        if self.widths:
            yield ("residual " if self.residual else "deep ") + "x".join(map(str, self.widths))
        if self.squash:
            yield f"{self.squash}(E)"
        if self.optimizer:
            yield self.optimizer_name

    @property
    def optimizer_name(self) -> str:
        """The optimiser as the paper calls it."""
        names = {
            "LevenbergMarquardt": "LM",
            "LBFGS": "L-BFGS",
            "qr": "QR",
            "cholesky": "Cholesky",
            "SlowDamping": "its damping",
        }
        given = [str(self.optimizer[key]) for key in ("name", "step") if key in self.optimizer]
        return "-".join(names.get(word, word) for word in given)

    @property
    def model(self) -> Model:
        """The network of the row."""
        means = "mean-u" if self.problem in ("fa1", "fa2") else "mean-f"
        labels = means if self.label == "mean" else "index"
        if self.widths:
            dim = self.dim if isinstance(self.dim, int) else 1
            scalar = labels if self.method == "SE" else None
            return Deep(dim=dim, widths=self.widths, residual=self.residual, labels=scalar)
        if self.method == "CE":
            dim: Any = self.dim or 1
            return CategoricalEmbedding(dim=dim, neurons=self.neurons, squash=self.squash)
        if self.method == "SE":
            return ScalarEncoding(labels=labels, neurons=self.neurons)
        return {"OH": OneHot, "separate": Separate, "plain": Unlabelled}[self.method](neurons=self.neurons)

    @property
    def counts(self) -> Points | HypercubePoints:
        """The numbers of points with the least of each piece, which separate networks need."""
        if self.drawn == "hypercube":
            return HypercubePoints(*self.points)
        return Points(*self.points, minimum=self.minimum)

    def stated(self) -> Problem | tuple[Partition, list[str]]:
        """The problem, or for function approximation the partition and its functions."""
        make = getattr(problems, self.problem)
        return make(self.pieces) if self.problem in CHAINS else make()


@dataclass(frozen=True)
class Experiment:
    """A file of plans/: a title, rows, and what a reader should know about them."""

    name: str
    title: str
    rows: tuple[Row, ...]
    remark: str = ""


def experiment_names() -> tuple[str, ...]:
    """All experiments, in the order of the page."""
    return (*NAMES, *STUDIES)


@cache
def experiment(name: str) -> Experiment:
    """The experiment of that name, with the paper's numbers where it has them."""
    if name not in (*NAMES, *STUDIES):
        known = ", ".join((*NAMES, *STUDIES))
        raise ProblemError(f"there is no experiment {name!r}; there are {known} (or all).")
    plan = tomllib.loads(_data(f"plans/{name}.toml"))
    title, groups, remark = plan.pop("title"), plan.pop("groups"), plan.pop("remark", "")
    rows = [_row(name, plan | group | own) for group in groups for own in group.pop("rows")]
    return Experiment(name, title, tuple(rows), remark)


def _row(table: str, given: dict[str, Any]) -> Row:
    given = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    if "optimizer" in given:  # TOML has no null
        given["optimizer"] = {k: None if v is False else v for k, v in given["optimizer"].items()}
    key = (table, given["pieces"], given["method"], given.get("label", ""), given.get("dim"))
    return Row(table=table, **given, **_published().get(key, {}))


@cache
def _published() -> dict[tuple[Any, ...], dict[str, Any]]:
    """The paper's numbers by table, pieces, method, label and D."""

    def number(text: str) -> float | None:
        return float(text) if text else None

    return {
        (line["table"], int(line["pieces"]), line["method"], line["label"], int(line["D"]) if line["D"] else None): {
            "published": True,
            "parameters": int(line["Np"]),
            "l2": number(line["L2"]),
            "linf": number(line["Linf"]),
        }
        for line in csv.DictReader(_data("paper.csv").splitlines())
    }


def _data(path: str) -> str:
    return resources.files("jumpnet.experiments").joinpath(path).read_text(encoding="utf-8")


def rows(tables: Sequence[str] = NAMES, methods: Sequence[str] = METHODS) -> tuple[Row, ...]:
    """The rows of some experiments for some methods, in the paper's order."""
    for name in methods:
        if name not in METHODS:
            raise ProblemError(f"there is no model {name!r}; the rows have {', '.join(METHODS)}.")
    return tuple(row for name in tables for row in experiment(name).rows if row.method in methods)


def row(table: str, method: str = "CE", **wanted: Any) -> Row:
    """The one row of a table and a model, further told apart by `pieces`, `dim` or `label`."""
    found = [r for r in rows((table,), (method,)) if all(getattr(r, k, None) == v for k, v in wanted.items())]
    if len(found) != 1:
        raise ProblemError(f"{len(found)} rows of {table} fit {method} {wanted}; give pieces, dim or label as well.")
    return found[0]
