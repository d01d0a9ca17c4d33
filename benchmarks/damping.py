"""Which damping rule converges for every seed: the study behind the defaults of LevenbergMarquardt.

    .venv/bin/python benchmarks/damping.py [--seeds 20 21 22] [--problems pde3:CE pde5:CE ...] [--rules default ...]

Prints a Markdown table: for each rule and problem how many seeds reached the paper's error, the median and the worst
error, and the mean number of steps to a loss of 1e-15 (and nothing beyond), at the paper's sizes and with at most 400
steps from one random start: restarts would hide the rule.
"""

import argparse
import warnings
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np

from jumpnet.engines.network import Network, settings
from jumpnet.experiments import tables
from jumpnet.optim import LevenbergMarquardt
from jumpnet.optim.loop import LeastSquares
from jumpnet.optim.result import Record
from jumpnet.solving import solve


@dataclass(frozen=True)
class EverySecondStep(LevenbergMarquardt):
    """Slow adaptation: the damping begins at 1 and is halved or doubled every second step, whatever the loss is."""

    def advance(self, system: LeastSquares, state: Any, limit: int) -> tuple[Any, list[Record]]:
        """One step with a damping that remembers only whether the loss fell."""
        damping = 1.0 if state.steps == 0 else state.damping
        after, made = LevenbergMarquardt.advance(self, system, replace(state, damping=damping), limit)
        if after.steps % 2 == 0:
            damping = max(damping / 2, 1e-16) if after.loss < state.loss else min(damping * 2, 1e8)
        return replace(after, damping=damping), made


@dataclass(frozen=True)
class OnlyDownhill(LevenbergMarquardt):
    """The textbook's rule: a step that raises the loss is refused and the damping doubled, else it is a third."""

    def advance(self, system: LeastSquares, state: Any, limit: int) -> tuple[Any, list[Record]]:
        """One step, refused if it leads uphill."""
        after, made = LevenbergMarquardt.advance(self, system, state, limit)
        if after.loss < state.loss:
            return replace(after, damping=max(state.damping / 3, 1e-20)), made
        return replace(state, damping=min(state.damping * 2, 1e8), steps=after.steps), made


@dataclass(frozen=True)
class Unprojected(LevenbergMarquardt):
    """Output weights move with all other parameters, damped alike."""

    output_damping: float = 1.0

    def _projected(self, system: LeastSquares, theta: np.ndarray, damping: float) -> np.ndarray:
        return theta


@dataclass(frozen=True)
class UnprojectedEverySecondStep(EverySecondStep, Unprojected):
    """The rule of the afternoon's scripts."""


RULES = {
    "default": LevenbergMarquardt(),
    "no second-order correction": LevenbergMarquardt(bend=False),
    "output weights not projected": Unprojected(),
    "neither": Unprojected(bend=False),
    "damping every second step": EverySecondStep(),
    "damping every second step, neither": UnprojectedEverySecondStep(bend=False),
    "only downhill": OnlyDownhill(),
    "damping 1e-3 times the loss": LevenbergMarquardt(damping=1e-3, power=1.0),
    "damping 1e-6 times the loss": LevenbergMarquardt(damping=1e-6, power=1.0),
    "lowered at most twofold": LevenbergMarquardt(lowered=2.0),
    "lowered at most a hundredfold": LevenbergMarquardt(lowered=100.0),
    "no cap": LevenbergMarquardt(max_step=1e9),
    "QR from the start": LevenbergMarquardt(step="qr"),
}


def main() -> None:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[20, 21, 22, 23, 24])
    parser.add_argument("--problems", nargs="+", default=["pde2:CE", "pde3:CE", "pde4:CE"])
    parser.add_argument("--rules", nargs="+", default=list(RULES))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| problem | rule | at the paper's error | median L2 | worst L2 | steps |\n|---|---|---|---|---|---|")
    for problem in options.problems:
        row = tables.row(*problem.split(":"))
        for name in options.rules:
            optimizer = replace(RULES[name], steps=400, stall=None, polish=0)
            with mock.patch("jumpnet.engines.network.engine.resolve", one_start):
                network = Network(row.model, optimizer, row.points, row.charts)
                runs = [solve(row.stated(), method=network, seed=seed) for seed in options.seeds]
            errors = [run.errors().l2 for run in runs]
            reached = sum(error <= (row.l2 or 0.0) for error in errors)
            print(
                f"| {problem} | {name} | {reached} of {len(errors)} | {np.median(errors):.1e} | {max(errors):.1e} "
                f"| {np.mean([run.steps for run in runs]):.0f} |",
                flush=True,
            )


def one_start(*given: Any, **options: Any) -> settings.Settings:
    """The settings that `solve` would choose, with a single random start."""
    return replace(settings.resolve(*given, **options), starts=1)


if __name__ == "__main__":
    main()
