"""Images by TauFactor (PyPI: taufactor, needs torch): finite differences on the pixels, over-relaxation.

    python benchmarks/peers/users_taufactor.py IMAGE --A 0=1 --A 255=10 [--tol 1e-3]

Run it in an environment of its own. The same conditions as users_staircase.py; materials that conduct equally in all
directions only. Prints a line of JSON: the heat, and CPU and wall seconds.
"""

import argparse
import json
import time

import numpy as np
import taufactor as tau
from PIL import Image


def main() -> None:
    """Print the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image")
    parser.add_argument("--A", action="append", required=True, metavar="LABELS=A")
    parser.add_argument("--tol", type=float, default=1e-3)
    given = parser.parse_args()
    labels = np.asarray(Image.open(given.image)).astype(int).T  # the first axis is that of the heat
    values = {}
    for entry in given.A:
        names, _, number = entry.partition("=")
        values |= dict.fromkeys(map(int, names.split(",")), float(number))
    of_value = {k: v for k, v in values.items() if k in np.unique(labels)}
    # TauFactor refuses the label 0, which it takes for what does not conduct.
    solver = tau.MultiPhaseSolver(
        (labels + 1)[None].transpose(1, 2, 0), {k + 1: v for k, v in of_value.items()}, device="cpu"
    )
    cpu, wall = time.process_time(), time.perf_counter()
    solver.solve(verbose=False, conv_crit=given.tol)
    print(
        json.dumps(
            {
                "heat": float(np.asarray(solver.D_eff).ravel()[0]),
                "cpu": time.process_time() - cpu,
                "wall": time.perf_counter() - wall,
            }
        )
    )


if __name__ == "__main__":
    main()
