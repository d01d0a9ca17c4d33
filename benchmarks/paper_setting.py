"""What the paper leaves open, tried out: initial weights and damping in its coordinates, units and labels.

    .venv/bin/python benchmarks/paper_setting.py [--seeds 100 101] [--rows fa2-10-CE-1 ...] [--choices ...]

Prints a Markdown table: for each row and choice how many seeds reached the paper's tolerance, the median loss at the
training points and at held-out points, and the mean number of steps. Choices are compared by these losses; errors are
not looked at, and the seeds are not those of the tables.
"""

import argparse
import warnings
from dataclasses import replace
from unittest import mock

import numpy as np

from jumpnet.engines.network import Network, training
from jumpnet.engines.network.labels import initial, initial_raw
from jumpnet.engines.network.settings import PAPER_DAMPING, paper_optimizer
from jumpnet.errors import JumpnetWarning
from jumpnet.experiments.tables import Row, rows
from jumpnet.experiments.trial import Trial
from jumpnet.optim import LevenbergMarquardt
from jumpnet.problem import Problem
from jumpnet.solution import Solution
from jumpnet.solving import approximate, solve

STARTS = {"size one": initial, "scaled": initial_raw}
DAMPINGS = (1e-4, 1e-3, 1e-2, 1e-1)
ROWS = ("fa2-10-CE-1", "fa2-10-SE-mean", "fa2-50-CE-1", "fa2-50-OH", "pde1-10-CE-1", "pde4-SE-index", "pde5-SE-index")


def name_of(row: Row) -> str:
    """A row's name on the command line."""
    words = [
        row.table,
        str(row.pieces) if row.table in ("fa2", "pde1") else "",
        row.method,
        row.label,
        str(row.dim or ""),
    ]
    return "-".join(word for word in words if word)


def solved(row: Row, start: str, damping: float, seed: int) -> Solution:
    """A faithful trial with other initial weights and another damping."""
    optimizer = LevenbergMarquardt(step="qr", polish=0, stall=None, damping=damping)
    trial = Trial(row, "faithful", seed).method
    assert isinstance(trial, Network)
    method = replace(trial, optimizer=optimizer)
    stated = row.stated()
    with warnings.catch_warnings(), mock.patch.object(training.labels, "initial_raw", STARTS[start]):
        warnings.simplefilter("ignore", JumpnetWarning)
        if isinstance(stated, Problem):
            return solve(stated, method=method, seed=seed)
        return approximate(*stated, method=method, seed=seed)


def main() -> None:
    known = {name_of(row): row for row in rows() if row.published}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[100, 101])
    parser.add_argument("--rows", nargs="+", default=ROWS, choices=known, metavar="ROW")
    parser.add_argument("--starts", nargs="+", default=list(STARTS), choices=STARTS)
    parser.add_argument("--dampings", type=float, nargs="+", default=DAMPINGS)
    given = parser.parse_args()
    print(f"The paper's setting now: scaled, damping {PAPER_DAMPING:g}, {paper_optimizer().steps} steps\n")
    print("| row | initial weights | damping | tolerance met | loss | held-out loss | steps |")
    print("|---|---|---|---|---|---|---|")
    for name in given.rows:
        for start in given.starts:
            for damping in given.dampings:
                found = [solved(known[name], start, damping, seed) for seed in given.seeds]
                met = sum(one.loss <= 1e-15 for one in found)
                loss, held = (np.median([getattr(one, of) for one in found]) for of in ("loss", "held_out_loss"))
                steps = np.mean([one.steps for one in found])
                cells = f"{met} of {len(found)} | {loss:.1e} | {held:.1e} | {steps:.0f}"
                print(f"| {name} | {start} | {damping:g} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
