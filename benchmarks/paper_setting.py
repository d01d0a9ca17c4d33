"""What the paper leaves open, tried out: initial weights and damping in its coordinates, units and labels.

    .venv/bin/python benchmarks/paper_setting.py [--seeds 100 101] [--rows fa2-10-CE-1 ...] [--dampings 1e-3 ...]
        [--starts steep ...] [--coefficients "0.5 to 1.5" ...]

Prints a Markdown table: for each row and choice how many seeds reached the paper's tolerance, the median loss at the
training points and at held-out points, and the mean number of steps. Choices are compared by these losses; errors are
not looked at, and the seeds are not those of the tables. `--coefficients` are other distributions of the random
coefficients of the chains, which the paper does not give either: a study of what they do, not a choice.
"""

import argparse
import warnings
from dataclasses import replace
from functools import partial
from itertools import product
from unittest import mock

import numpy as np

from jumpnet.engines.network import Network, training
from jumpnet.engines.network.labels import initial, initial_raw, initial_stretched
from jumpnet.engines.network.settings import PAPER_DAMPING, paper_optimizer
from jumpnet.errors import JumpnetWarning
from jumpnet.experiments import problems
from jumpnet.experiments.tables import Row, rows
from jumpnet.experiments.trial import Trial
from jumpnet.optim import LevenbergMarquardt
from jumpnet.problem import Problem
from jumpnet.solution import Solution
from jumpnet.solving import approximate, solve

STARTS = {"size one": initial, "scaled": initial_stretched, "steep": initial_raw}
STARTS |= {f"reach {reach}": partial(initial_raw, reach=reach) for reach in (3, 4, 5, 6, 7)}
COEFFICIENTS = {
    "0.5 to 1.5": lambda rng, count: rng.uniform(0.5, 1.5, count),
    "0 to 1": lambda rng, count: rng.uniform(0.0, 1.0, count),
    "0 to 2": lambda rng, count: rng.uniform(0.0, 2.0, count),
    "normal": lambda rng, count: rng.normal(size=count),
}
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


def drawn(coefficients: str, pieces: int) -> list[list[float]]:
    """a, b, c, d, e of every piece from another distribution, with the seed of the tables."""
    rng = np.random.default_rng(problems.CHAIN_SEED)
    return [COEFFICIENTS[coefficients](rng, pieces).tolist() for _ in range(5)]


def solved(row: Row, coefficients: str, start: str, damping: float, seed: int) -> Solution:
    """A faithful trial with other coefficients, initial weights and damping."""
    optimizer = LevenbergMarquardt(step="qr", polish=0, stall=None, damping=damping)
    trial = Trial(row, "faithful", seed).method
    assert isinstance(trial, Network)
    method = replace(trial, optimizer=optimizer)
    with mock.patch.object(problems, "_chain_coefficients", partial(drawn, coefficients)):
        stated = row.stated()
    with warnings.catch_warnings(), mock.patch.object(training.labels, "initial_raw", STARTS[start]):
        warnings.simplefilter("ignore", JumpnetWarning)
        if isinstance(stated, Problem):
            return solve(stated, method=method, seed=seed, verify=False)
        return approximate(*stated, method=method, seed=seed)


def main() -> None:
    known = {name_of(row): row for row in rows() if row.published}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[100, 101])
    parser.add_argument("--rows", nargs="+", default=ROWS, choices=known, metavar="ROW")
    parser.add_argument("--starts", nargs="+", default=list(STARTS), choices=STARTS)
    parser.add_argument("--dampings", type=float, nargs="+", default=DAMPINGS)
    parser.add_argument("--coefficients", nargs="+", default=["0.5 to 1.5"], choices=COEFFICIENTS)
    given = parser.parse_args()
    print(f"The paper's setting now: steep, damping {PAPER_DAMPING:g}, {paper_optimizer().steps} steps\n")
    print("| row | coefficients | initial weights | damping | tolerance met | loss | held-out loss | steps |")
    print("|---|---|---|---|---|---|---|---|")
    for name, *choice in product(given.rows, given.coefficients, given.starts, given.dampings):
        found = [solved(known[name], *choice, seed) for seed in given.seeds]
        met = sum(one.loss <= 1e-15 for one in found)
        loss, held = (np.median([getattr(one, of) for one in found]) for of in ("loss", "held_out_loss"))
        steps = np.mean([one.steps for one in found])
        coefficients, start, damping = choice
        cells = f"{met} of {len(found)} | {loss:.1e} | {held:.1e} | {steps:.0f}"
        print(f"| {name} | {coefficients} | {start} | {damping:g} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
