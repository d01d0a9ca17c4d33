"""Training of the paper's CE model, with clock and error after each step.

    python -m jumpnet.experiments.bench.watched pde4 3

trains for seeds 0, 1, 2 and prints for each a line of JSON: the clock and the error of the best parameters so far
after each step. A process of its own, so that the first compilation is one; the clock runs from the call of `solve`,
and the errors are computed afterwards, from the parameters the training passed through.
"""

import json
import math
import sys
import time
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from jumpnet.collocation import Stream
from jumpnet.engines.network import Network
from jumpnet.errors import JumpnetWarning
from jumpnet.experiments import problems, tables
from jumpnet.fields.piecewise import piecewise_values
from jumpnet.optim import LevenbergMarquardt, Record, Status
from jumpnet.problem import Problem
from jumpnet.solution import Solution
from jumpnet.solving import solve


@dataclass(frozen=True)
class Watched:
    """An optimiser that notes the clock, the best loss and its parameters after each step; else the one inside."""

    inner: LevenbergMarquardt = field(default_factory=LevenbergMarquardt)
    seen: list[tuple[float, float, np.ndarray]] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def advance(self, system: Any, state: Any, limit: int) -> tuple[Any, list[Record]]:
        """The optimiser's own step."""
        state, records = self.inner.advance(system, state, limit)
        self.seen.append((time.perf_counter(), state.best_loss, state.best))
        return state, records


def train(name: str, seed: int, optimizer: LevenbergMarquardt | None = None) -> dict[str, Any]:
    """One training to its end: seconds of the first call, and (clock, error) after each step."""
    row, problem = tables.row(name, "CE"), getattr(problems, name)()
    began = time.perf_counter()
    _solved(problem, row, seed, LevenbergMarquardt(steps=2))
    first = time.perf_counter() - began
    watched, began = Watched(optimizer or LevenbergMarquardt()), time.perf_counter()
    solution = _solved(problem, row, seed, watched)
    if solution.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    x, piece = problem.partition.sample_interior(10 * row.points[0], seed=[seed, int(Stream.TEST)])
    exact = piecewise_values(problem.exact or (), x, piece)
    curve, best, error = [], math.inf, math.inf
    u = solution.representation
    for clock, loss, theta in watched.seen:
        if loss < best:
            best = loss
            then = replace(solution, representation=replace(u, theta=theta))
            error = float(np.sqrt(np.mean((then(x, piece) - exact) ** 2)))
        curve.append((clock - began, error))
    return {"seed": seed, "compiling": first, "curve": curve}


def _solved(problem: Problem, row: tables.Row, seed: int, optimizer: Any) -> Solution:
    with warnings.catch_warnings():
        # Few points in small pieces are the paper's.
        warnings.simplefilter("ignore", JumpnetWarning)
        network = Network(row.model, optimizer, row.points, row.charts)
        return solve(problem, method=network, seed=seed, verify=False)


if __name__ == "__main__":
    for number in range(int(sys.argv[2])):
        sys.stdout.write(json.dumps(train(sys.argv[1], number)) + "\n")
        sys.stdout.flush()
