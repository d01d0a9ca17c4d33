"""One trial: a row of a table, a setting and a seed; what it computes, and what is kept of it."""

import base64
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np

from jumpnet import optim
from jumpnet.engines.network import Network
from jumpnet.engines.network.settings import paper_optimizer
from jumpnet.engines.progress import Progress
from jumpnet.errors import JumpnetError, JumpnetWarning
from jumpnet.experiments.bench.timing import versions
from jumpnet.experiments.predecessors import SlowDamping, hypercube_error
from jumpnet.experiments.tables import NETWORKS, Row
from jumpnet.judge import judge
from jumpnet.optim import History, LevenbergMarquardt, Optimizer, Status
from jumpnet.problem import Problem
from jumpnet.solution import Solution
from jumpnet.solving import approximate, solve

Setting = Literal["default", "faithful"]
Record = dict[str, Any]

# The tolerance of Trefftz solves: two digits more than the default, as the paper's best networks reach.
TOL = 1e-8
# What a result may depend on.
PACKAGES = ("jumpnet", "jax", "numpy", "scipy", "ngsolve")
# Points of a history that are kept: more than a figure shows.
HISTORY_POINTS = 400
# A measure of rows: the relative error at points as the predecessor draws them in a ball.
HYPERCUBE = "relative_l2_hypercube"
# Rows without a random number: one trial says all.
DETERMINED = ("FEM", "FVM")
# Experiments whose networks are judged: the page has the judged error beside the true one, which the judge never sees.
JUDGED = ("pde1", "pde2", "pde3", "pde4", "pde5")


@dataclass(frozen=True)
class Trial:
    """What is computed: a row with a setting and a seed, in at most `steps` steps of a training."""

    row: Row
    setting: Setting
    seed: int
    steps: int | None = None

    @property
    def name(self) -> str:
        """Unique within an experiment, and fit to be a file's name."""
        words = str(self.row).replace(self.row.of_problem, f"{self.row.problem}-{self.row.pieces}", 1)
        kept = "".join(c if c.isalnum() or c in "=.-" else "-" for c in words)
        return f"{self.row.table}/{self.setting}/{kept}/{self.seed}"

    @property
    def optimizer(self) -> Optimizer | None:
        """The row's optimiser, or that of the setting, with the trial's limit of steps; None is the program's own."""
        given: dict[str, Any] = dict(self.row.optimizer)
        if given:
            name = given.pop("name")
            kind: Any = SlowDamping if name == SlowDamping.__name__ else getattr(optim, name)
            return kind(**given | ({"steps": min(self.steps, kind(**given).steps)} if self.steps else {}))
        if self.steps is None:
            return None
        return paper_optimizer(self.steps) if self.setting == "faithful" else LevenbergMarquardt(steps=self.steps)

    @property
    def options(self) -> dict[str, Any]:
        """The seed and the options of the trial's network."""
        if self.row.method == "solve":
            return {"seed": self.seed} | ({} if self.steps is None else {"optimizer": self.optimizer})
        options = {"model": self.row.model, "points": self.row.counts, "seed": self.seed, "optimizer": self.optimizer}
        if self.row.weights:
            options["weights"] = self.row.weights
        return options | ({"preset": "paper"} if self.setting == "faithful" else {"charts": self.row.charts})

    @property
    def method(self) -> Network | str:
        """The `method=` of `solve` or `approximate`."""
        options = {name: value for name, value in self.options.items() if name != "seed"}
        return Network(**options) if options else "auto"

    @property
    def spec(self) -> str:
        """Everything a result depends on but the versions: a stored result with another one is not this trial's."""
        if self.row.method in DETERMINED:
            return f"{self.row.method} order={self.row.order} unknowns={self.row.unknowns} fitted={self.row.fitted}"
        return repr(self.options)


def run(trial: Trial, progress: bool | Progress = False) -> Record:
    """Compute a trial. What the program refuses is a result too; an interruption is not."""
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            # Few points in small pieces are the paper's, and the status says what did not converge.
            warnings.simplefilter("ignore", JumpnetWarning)
            found = _computed(trial, progress)
    except JumpnetError as refused:
        found = {"status": "refused", "message": str(refused)}
    return {
        "trial": trial.name,
        "spec": trial.spec,
        "seconds": time.perf_counter() - began,
        "finished": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "versions": versions(PACKAGES),
        **found,
    }


def _computed(trial: Trial, progress: bool | Progress) -> Record:
    row = trial.row
    if row.method == "FVM":
        return {"status": "quoted", "message": "the paper's number; not computed here"}
    stated = row.stated()
    if row.method == "FEM":
        from jumpnet.baselines import fem

        assert isinstance(stated, Problem)
        return _measured(fem(stated, order=row.order, unknowns=row.unknowns, fitted=row.fitted))
    options: dict[str, Any] = {"seed": trial.seed, "progress": progress}
    if isinstance(stated, Problem):
        # A training's status is about its loss here; its error is judged afterwards.
        verify = "auto" if row.method == "solve" else False
        solution = solve(stated, tol=TOL, method=trial.method, verify=verify, **options)
    else:
        solution = approximate(*stated, method="network" if trial.method == "auto" else trial.method, **options)
    if solution.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    found = _measured(solution) | _judged(solution, row) | _kept(solution, row.keep)
    return found | ({HYPERCUBE: hypercube_error(solution)} if row.measure == HYPERCUBE else {})


def _measured(solution: Solution) -> Record:
    errors, mesh = solution.errors(), solution.diagnostics.mesh
    return {
        "status": solution.status.name.lower(),
        "message": str(solution.status),
        "l2": errors.l2,
        "linf": errors.linf,
        "relative_l2": errors.relative_l2,
        "test_points": errors.points,
        "loss": solution.loss,
        "held_out_loss": solution.held_out_loss,
        "estimate": solution.estimate,
        "steps": solution.steps,
        "parameters": solution.network.size if mesh is None else mesh.unknowns,
        "how": solution.diagnostics.method,
    }


def _judged(solution: Solution, row: Row) -> Record:
    """The error found by solving for it, where the solution has a verdict or the row's networks are judged."""
    verdict = solution.verdict
    if verdict is None and row.table in JUDGED and row.method in NETWORKS:
        verdict = judge(solution)
    return {} if verdict is None else {"judged": verdict.rms if verdict.decided else None}


def _kept(solution: Solution, what: str) -> Record:
    """The additional results that the row keeps."""
    if what == "history":
        return {"history": thinned(solution.history)}
    if what == "solution":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "solution.jumpnet"
            solution.save(path)
            return {"solution": base64.b64encode(path.read_bytes()).decode("ascii")}
    return {}


def thinned(history: History, most: int = HISTORY_POINTS) -> list[tuple[int, float]]:
    """Steps and the best loss up to them, at evenly spaced steps and at the last."""
    if len(history) == 0:
        return []
    at = np.unique(np.linspace(0, len(history) - 1, most).astype(int))
    best = np.minimum.accumulate(np.nan_to_num(history.loss, nan=np.inf))
    return [(int(k) + 1, float(best[k])) for k in at]


def run_until(trial: Trial, stopped: Callable[[], bool]) -> Record:
    """Run a trial in a worker, which may be told to stop."""
    return run(trial, interrupting(stopped))


def interrupting(stopped: Callable[[], bool]) -> Progress:
    """A progress that ends a training as Ctrl-C would, once `stopped()`."""

    def progress(record: Any, best: float) -> None:
        if stopped():
            raise KeyboardInterrupt

    return progress
