"""Which damping rule converges for every seed: the study behind the defaults of LevenbergMarquardt.

    .venv/bin/python benchmarks/damping.py [--seeds 20 21 22] [--problems pde3:CE pde5:CE ...] [--rules default ...]

Prints a Markdown table: for each rule and problem how many seeds reached the paper's error, the median and the worst
error, and the mean number of steps, at the paper's sizes and with at most 600 steps from one random start (several
starts and restarts would hide the rule). "several starts" is the default as `solve` uses it.
"""

import argparse
import warnings
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np

from jumpnet.driver import settings
from jumpnet.experiments import tables
from jumpnet.optim import LevenbergMarquardt
from jumpnet.optim.loop import LeastSquares
from jumpnet.optim.result import Record


@dataclass(frozen=True)
class BestOfThree(LevenbergMarquardt):
    """Every step with three dampings, a quarter, once and four times the current one; the lowest loss goes on."""

    def advance(self, system: LeastSquares, state: Any, limit: int) -> tuple[Any, list[Record]]:
        """The best of three steps."""
        tried = [
            LevenbergMarquardt.advance(self, system, replace(state, damping=state.damping * factor), limit)
            for factor in (0.25, 1.0, 4.0)
        ]
        return min(tried, key=lambda one: one[0].loss)


@dataclass(frozen=True)
class OnlyDownhill(LevenbergMarquardt):
    """The textbook's rule: a step that raises the loss is refused and the damping doubled, else it is a third."""

    def advance(self, system: LeastSquares, state: Any, limit: int) -> tuple[Any, list[Record]]:
        """One step, refused if it leads uphill."""
        after, made = LevenbergMarquardt.advance(self, system, state, limit)
        if after.loss < state.loss:
            return replace(after, damping=max(state.damping / 3, 1e-20)), made
        return replace(state, damping=min(state.damping * 2, 1e8), steps=after.steps), made


RULES = {
    "default": LevenbergMarquardt(),
    "several starts": LevenbergMarquardt(steps=1000),
    "fixed floor 1e-16": LevenbergMarquardt(earned=10**9),
    "fixed floor 1e-24": LevenbergMarquardt(earned=10**9, damping_floor=1e-24),
    "capped steps do not raise": LevenbergMarquardt(capped_raise=1.0),
    "no cap": LevenbergMarquardt(max_step=1e9),
    "best of three dampings": BestOfThree(),
    "only downhill": OnlyDownhill(),
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
    one_start = mock.patch.object(settings, "resolve", lambda *a, **k: replace(RESOLVE(*a, **k), starts=1))
    print("| problem | rule | at the paper's error | median L2 | worst L2 | steps |\n|---|---|---|---|---|---|")
    for problem in options.problems:
        row = tables.row(*problem.split(":"))
        for name in options.rules:
            several = name == "several starts"
            optimizer = RULES[name] if several else replace(RULES[name], steps=600, stall=None)
            with mock.patch("jumpnet.driver.solving.resolve", RESOLVE if several else one_start.new):
                runs = [tables.run_row(row, seed, optimizer=optimizer) for seed in options.seeds]
            errors = [run.errors.l2 for run in runs]
            reached = sum(error <= (row.l2 or 0.0) for error in errors)
            print(
                f"| {problem} | {name} | {reached} of {len(errors)} | {np.median(errors):.1e} | {max(errors):.1e} "
                f"| {np.mean([run.steps for run in runs]):.0f} |",
                flush=True,
            )


RESOLVE = settings.resolve

if __name__ == "__main__":
    main()
