"""Training to the paper's error: ours, the afternoon's, and finite elements; and the error against time on the way."""

import math
import statistics
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from jumpnet.collocation import Stream
from jumpnet.driver import solve
from jumpnet.errors import JumpnetWarning
from jumpnet.experiments import problems, tables
from jumpnet.experiments.bench import peers
from jumpnet.experiments.bench.plan import Plan
from jumpnet.experiments.bench.report import Comparison, Curve, Item, Tell
from jumpnet.fields.piecewise import piecewise_values
from jumpnet.optim import LevenbergMarquardt, Record, Status
from jumpnet.problem import Problem
from jumpnet.solution import Solution


@dataclass(frozen=True)
class Watched:
    """An optimiser that notes the clock and the best parameters after each step, and else is the one inside."""

    inner: LevenbergMarquardt = field(default_factory=LevenbergMarquardt)
    seen: list[tuple[float, float, np.ndarray]] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def advance(self, system: Any, state: Any, limit: int) -> tuple[Any, list[Record]]:
        """The optimiser's own step."""
        state, records = self.inner.advance(system, state, limit)
        self.seen.append((time.perf_counter(), state.best_loss, state.best))
        return state, records


@dataclass(frozen=True)
class Run:
    """A training: clock and error of the best parameters so far after each step, and the seconds of compilation."""

    seconds: tuple[float, ...]
    error: tuple[float, ...]
    compiling: float

    def reached(self, target: float) -> int | None:
        """The number of the first step after which the error is below the target."""
        return next((count for count, error in enumerate(self.error, start=1) if error <= target), None)


def _solved(problem: Problem, row: tables.Row, seed: int, optimizer: Any) -> Solution:
    with warnings.catch_warnings():
        # Few points in small pieces are the paper's.
        warnings.simplefilter("ignore", JumpnetWarning)
        return solve(problem, model=row.model, points=row.points, charts=row.charts, optimizer=optimizer, seed=seed)


@cache
def ours(name: str, seed: int) -> Run:
    """Our training of the paper's CE model; the errors are computed after it, from the parameters it passed through."""
    row, problem = tables.row(name, "CE"), getattr(problems, name)()
    began = time.perf_counter()
    _solved(problem, row, seed, LevenbergMarquardt(steps=2))
    first = time.perf_counter() - began
    watched, began = Watched(), time.perf_counter()
    solution = _solved(problem, row, seed, watched)
    if solution.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    x, piece = problem.partition.sample_interior(10 * row.points[0], seed=[seed, int(Stream.TEST)])
    exact = piecewise_values(problem.exact or (), x, piece)
    seconds, errors, best, error = [], [], math.inf, math.inf
    for clock, loss, theta in watched.seen:
        if loss < best:
            best = loss
            error = float(np.sqrt(np.mean((replace(solution, theta=theta)(x, piece) - exact) ** 2)))
        seconds.append(clock - began)
        errors.append(error)
    return Run(tuple(seconds), tuple(errors), first)


@cache
def afternoon(name: str, plan: Plan) -> tuple[dict[str, Any], ...]:
    """The trainings of benchmarks/peers/afternoon.py, one for each seed."""
    options = {"--seeds": plan.seeds, "--steps": plan.peer_steps, "--limit": plan.peer_seconds}
    arguments = [str(word) for option in options.items() for word in option]
    # Starting, compiling and looking at errors are beside the limit.
    return tuple(peers.run("afternoon.py", name, *arguments, seconds=plan.seeds * (2 * plan.peer_seconds + 120)))


def to_the_papers_error(plan: Plan, tell: Tell) -> Iterator[Item]:
    """Seconds and steps until the error at test points is the paper's."""
    for name in plan.problems:
        target = tables.row(name, "CE").l2 or 0.0
        mine = []
        for seed in range(plan.seeds):
            tell(f"{name}, ours, seed {seed}")
            mine.append(ours(name, seed))
        steps = [run.reached(target) for run in mine]
        # A seed that does not arrive counts as never arriving for us, and with the time it had for the others.
        seconds = _median(run.seconds[at - 1] if at else math.inf for run, at in zip(mine, steps, strict=True))
        row = {
            "problem": name,
            "paper's error": target,
            "ours (s)": seconds,
            "steps": _median(at or math.inf for at in steps),
            "ms/step": _median(1e3 * statistics.median(np.diff(run.seconds)) for run in mine),
            "seeds there": f"{sum(at is not None for at in steps)}/{len(steps)}",
        }
        tell(f"{name}, the afternoon's")
        try:
            theirs = afternoon(name, plan)
        except peers.UnavailableError as why:
            yield str(why)
            yield row
            continue
        if not theirs:
            yield f"afternoon.py did not finish a training of {name}; its columns are left out."
            yield row
            continue
        spent, compiling = _median(run["seconds"] for run in theirs), _median(run["compiling"] for run in theirs)
        first = _median(run.compiling for run in mine[:1])
        yield row | {
            "afternoon (s)": spent,
            "its steps": _median(run["steps"] for run in theirs),
            "its ms/step": _median(1e3 * run["seconds"] / run["steps"] for run in theirs),
            "its seeds there": f"{sum(run['reached'] for run in theirs)}/{len(theirs)}",
            "ratio": spent / seconds,
            "ratio with compilation": (spent + compiling) / (seconds + first),
        }


def _median(values: Any) -> float:
    return float(statistics.median(values))


def error_against_time(plan: Plan, tell: Tell) -> Iterator[Item]:
    """The error of the best so far over time; finite elements as points."""
    for name in plan.problems:
        tell(f"{name}, ours")
        run = ours(name, 0)
        yield Curve(name, "jumpnet", run.seconds, run.error)
        target = tables.row(name, "CE").l2 or 0.0
        at = run.reached(target)
        yield {"problem": name, "program": "jumpnet, seed 0", "seconds": run.seconds[-1], "error": run.error[-1]} | {
            "seconds to the paper's error": run.seconds[at - 1] if at else None
        }
        tell(f"{name}, the afternoon's")
        try:
            trained = afternoon(name, plan)
        except peers.UnavailableError as why:
            yield str(why)
            continue
        for found in trained[:1]:
            seconds, errors = zip(*found["curve"], strict=True)
            yield Curve(name, "afternoon", seconds, errors)
            yield {"problem": name, "program": "afternoon, seed 0", "seconds": seconds[-1], "error": errors[-1]} | {
                "seconds to the paper's error": seconds[-1] if found["reached"] else None
            }
    yield from _finite_elements(plan, tell)


def _finite_elements(plan: Plan, tell: Tell) -> Iterator[Item]:
    for name, way, orders in plan.finite_elements:
        if name not in plan.problems:
            continue
        tell(f"{name}, NGSolve, {way}")
        try:
            peers.needs("ngsolve")
            found = peers.run("fem.py", name, "--way", way, "--orders", orders, seconds=2 * plan.peer_seconds)
        except peers.UnavailableError as why:
            yield str(why)
            continue
        if not found:
            continue
        label, target = f"NGSolve, {way}", tables.row(name, "CE").l2 or 0.0
        yield Curve(name, label, *(tuple(line[key] for line in found) for key in ("seconds", "error")), points=True)
        there = [line["seconds"] for line in found if line["error"] <= target]
        last = found[-1]
        yield {"problem": name, "program": f"{label}, p = {last['order']}", "seconds": last["seconds"]} | {
            "error": last["error"],
            "seconds to the paper's error": min(there) if there else None,
        }


TRAINING = Comparison(
    "training",
    "Training to the paper's error: ours against an afternoon's script in JAX",
    "The paper's CE model (D = 1), its neurons and points, box charts; medians over seeds. Ours: the whole call of "
    "solve (drawing points, building rows, all random starts) until the error at test points is the paper's. "
    "Afternoon: the steps only, its data at hand, from one start. Compiled on both sides; the last column adds the "
    "first compilation, for us a call of two steps. The errors are looked at outside the timed part.",
    to_the_papers_error,
)
ACCURACY = Comparison(
    "accuracy",
    "Error against time",
    "jumpnet and afternoon: error of the best parameters so far, seed 0, times as above; the row gives the end of the "
    "training. NGSolve: geometry, mesh, assembly, solve, without imports; one point per polynomial order.",
    error_against_time,
)
