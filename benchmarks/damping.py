"""Which damping rule converges for every seed: the study behind the defaults of LevenbergMarquardt.

    .venv/bin/python benchmarks/damping.py --seeds 3 [--problems pde3:CE pde5:CE ...]

Prints a Markdown table: for each rule and problem the errors (L2) of all seeds, at the paper's sizes.
"""

import argparse
import warnings

import numpy as np

from jumpnet.experiments import tables
from jumpnet.optim import LevenbergMarquardt

RULES = {
    "fixed floor 1e-16": {"earned": 10**9, "capped_raise": 1.0},
    "fixed floor 1e-24": {"earned": 10**9, "damping_floor": 1e-24, "capped_raise": 1.0},
    "earned below 1e-16": {"capped_raise": 1.0},
    "earned, capped steps raise (default)": {},
}


def main() -> None:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--problems", nargs="+", default=["pde3:CE", "pde4:SE", "pde4:OH", "pde2:CE"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| problem | rule | mean L2 | steps | L2 of each seed |\n|---|---|---|---|---|")
    for problem in options.problems:
        table, method = problem.split(":")
        (row,) = tables.rows([table], [method])
        for name, rule in RULES.items():
            optimizer = LevenbergMarquardt(stall=None, **rule)
            runs = [tables.run_row(row, seed, optimizer=optimizer) for seed in range(options.seeds)]
            errors = [run.errors.l2 for run in runs]
            steps = np.mean([run.steps for run in runs])
            each = " ".join(f"{error:.1e}" for error in errors)
            print(f"| {problem} | {name} | {np.mean(errors):.1e} | {steps:.0f} | {each} |", flush=True)


if __name__ == "__main__":
    main()
