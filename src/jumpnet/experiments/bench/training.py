"""Training to the paper's error: this package, a simple script (an afternoon's work), and finite elements; and the
error against time."""

import math
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from jumpnet.experiments import tables
from jumpnet.experiments.bench import peers
from jumpnet.experiments.bench.plan import Plan
from jumpnet.experiments.bench.report import Comparison, Curve, Item, Tell

STARTING = 120.0  # seconds beside those of the steps: imports, compilation, looking at errors
# The note about a run that was ended after its time limit.
LATE = "{} did not come to an end in its time and is left out."


@dataclass(frozen=True)
class Run:
    """A training: clock and error of the best parameters so far after each step, and the seconds of compilation."""

    seconds: tuple[float, ...]
    error: tuple[float, ...]
    compiling: float

    @staticmethod
    def of(record: dict[str, Any]) -> "Run":
        """From the line of JSON that a training prints."""
        seconds, error = zip(*record["curve"], strict=True)
        return Run(seconds, error, record["compiling"])

    def reached(self, target: float) -> int | None:
        """The number of the first step after which the error is below the target."""
        return next((count for count, error in enumerate(self.error, start=1) if error <= target), None)

    def seconds_to(self, target: float) -> float | None:
        """The clock at that step."""
        return None if (count := self.reached(target)) is None else self.seconds[count - 1]


@cache
def ours(name: str, plan: Plan) -> tuple[Run, ...]:
    """Our trainings, one for each seed; nothing is taken from a cache of compiled code."""
    arguments = ("-m", "jumpnet.experiments.bench.watched", name, str(plan.seeds))
    seconds = plan.seeds * (plan.peer_seconds + STARTING)
    return _runs(peers.printed(*arguments, seconds=seconds, JUMPNET_CACHE="off"), f"our training of {name}")


# The same script twice: name in the table, file in benchmarks/peers, the package it needs.
AFTERNOON = {"JAX": ("afternoon.py", "jax"), "torch": ("afternoon_torch.py", "torch")}


@cache
def afternoon(way: str, name: str, plan: Plan) -> tuple[Run, ...]:
    """The trainings of an afternoon's script, one for each seed."""
    script, package = AFTERNOON[way]
    peers.needs(package)
    options = {"--seeds": plan.seeds, "--steps": plan.peer_steps, "--limit": plan.peer_seconds}
    arguments = [str(word) for option in options.items() for word in option]
    seconds = plan.seeds * (plan.peer_seconds + STARTING)
    return _runs(peers.run(script, name, *arguments, seconds=seconds), f"{script} {name}")


def _runs(records: list[dict[str, Any]], what: str) -> tuple[Run, ...]:
    runs = tuple(Run.of(record) for record in records if record["curve"])
    if not runs:
        raise peers.UnavailableError(LATE.format(what))
    return runs


def to_the_papers_error(plan: Plan, tell: Tell) -> Iterator[Item]:
    """Seconds and steps until the error at test points is the paper's."""
    for name in plan.problems:
        target, row = _papers_error(name), {"problem": name}
        try:
            tell(f"{name}, ours")
            mine = ours(name, plan)
            # A seed that does not arrive counts as never arriving for us, and with the time it had for the others.
            seconds = _median(run.seconds_to(target) or math.inf for run in mine)
            row |= {
                "paper's error": target,
                "ours (s)": seconds,
                "steps": _median(run.reached(target) or math.inf for run in mine),
                "ms/step": _median(statistics.median(1e3 * np.diff(run.seconds)) for run in mine),
                "seeds there": _there(mine, target),
            }
            for way in AFTERNOON:
                tell(f"{name}, the afternoon's in {way}")
                row |= _beside(way, afternoon(way, name, plan), target, seconds, mine[0].compiling)
        except peers.UnavailableError as why:
            yield str(why)
        yield row


def _beside(way: str, theirs: tuple[Run, ...], target: float, ours: float, compiling: float) -> dict[str, Any]:
    """A rival's columns; its first compilation counts in the last."""
    spent = _median(run.seconds[-1] for run in theirs)
    return {
        f"{way} (s)": spent,
        f"{way} steps": _median(len(run.seconds) for run in theirs),
        f"{way} ms/step": _median(1e3 * run.seconds[-1] / len(run.seconds) for run in theirs),
        f"{way} seeds there": _there(theirs, target),
        f"ratio to {way}": spent / ours,
        f"with compilation, {way}": (spent + theirs[0].compiling) / (ours + compiling),
    }


def _median(values: Iterable[float]) -> float:
    return float(statistics.median(values))


def _there(runs: tuple[Run, ...], target: float) -> str:
    return f"{sum(run.reached(target) is not None for run in runs)}/{len(runs)}"


def error_against_time(plan: Plan, tell: Tell) -> Iterator[Item]:
    """The error of the best so far over time; a point for each setting of what is no training."""
    for name in plan.problems:
        trained = {
            "jumpnet, trained": lambda n=name: ours(n, plan)[0],
            **{f"afternoon, {way}": lambda n=name, w=way: afternoon(w, n, plan)[0] for way in AFTERNOON},
        }
        solved = {"jumpnet, direct": lambda n=name: _direct(n, plan)} | {
            f"NGSolve, {way}": lambda n=name, w=way, o=orders: _finite_elements(n, w, o, plan)
            for problem, way, orders in plan.finite_elements
            if problem == name
        }
        base = None
        for label, measured in (trained | solved).items():
            tell(f"{name}, {label}")
            try:
                run = measured()
            except peers.UnavailableError as why:
                yield str(why)
                continue
            there = run.seconds_to(_papers_error(name))
            base = there if label == "jumpnet, trained" else base
            yield Curve(name, label, run.seconds, run.error, points=label in solved)
            yield {
                "problem": name,
                "program": label,
                "seconds": run.seconds[-1],
                "error": run.error[-1],
                "seconds to the paper's error": there,
                "ratio": there / base if there and base else None,
            }


def _direct(name: str, plan: Plan) -> Run:
    """Our Trefftz engine, once for each tolerance."""
    arguments = ("-m", "jumpnet.experiments.bench.direct", name, plan.tolerances, str(plan.solves))
    return _points(peers.printed(*arguments, seconds=2 * plan.peer_seconds), f"the Trefftz engine on {name}")


def _finite_elements(name: str, way: str, orders: str, plan: Plan) -> Run:
    """NGSolve, once for each order."""
    peers.needs("ngsolve")
    arguments = ("fem.py", name, "--way", way, "--orders", orders, "--repeats", str(plan.solves))
    return _points(peers.run(*arguments, seconds=2 * plan.peer_seconds), f"NGSolve on {name}")


def _points(lines: list[dict[str, Any]], what: str) -> Run:
    if not lines:
        raise peers.UnavailableError(LATE.format(what))
    return Run(*(tuple(line[key] for line in lines) for key in ("seconds", "error")), compiling=0.0)


def _papers_error(name: str) -> float:
    return tables.row(name, "CE").l2 or 0.0


TRAINING = Comparison(
    "training",
    "Training to the paper's error: ours against an afternoon's script in JAX and in torch",
    "The paper's CE model (D = 1), its neurons and points, box charts; medians over seeds. Ours: the whole call of "
    "solve (drawing points, building rows, all random starts) until the error at test points is the paper's. "
    "Afternoon: the steps only, its data at hand, from one start. Compiled on both sides (torch compiles nothing); the "
    "columns with compilation add the first call, for us one of two steps. The errors are looked at outside the timed "
    "part.",
    to_the_papers_error,
)
ACCURACY = Comparison(
    "accuracy",
    "Error against time",
    "Trained: error of the best parameters so far, seed 0, times as above; the row gives the end of the training. "
    "Trefftz: the whole call of solve with the Trefftz engine, one point per tolerance. NGSolve: geometry, mesh, "
    "assembly, solve, one point per polynomial order. Imports and compilation are not counted; the row gives the last "
    "point. The ratio is that of the times to the paper's error, theirs over that of our training.",
    error_against_time,
)
