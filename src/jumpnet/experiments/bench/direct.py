"""The Trefftz engine, accuracy against time.

    python -m jumpnet.experiments.bench.direct pde4 1e-4,1e-6,1e-8 3

solves for each tolerance and prints a line of JSON with the median seconds of the whole call of `solve` (after one
that is not counted) and the error at test points.
"""

import json
import sys
import warnings
from typing import Any

from jumpnet.errors import JumpnetWarning
from jumpnet.experiments import problems
from jumpnet.experiments.bench.timing import side_by_side
from jumpnet.solution import Solution
from jumpnet.solving import solve


def measure(name: str, tol: float, repeats: int) -> dict[str, Any]:
    """Seconds and error of a problem at a tolerance."""
    problem, found = getattr(problems, name)(), []

    def call() -> Solution:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JumpnetWarning)
            found[:] = [solve(problem, method="trefftz", tol=tol)]
        return found[0]

    (milliseconds,) = side_by_side(call, repeats=repeats)
    return {"tol": tol, "seconds": milliseconds / 1e3, "error": found[0].errors().l2}


if __name__ == "__main__":
    for text in sys.argv[2].split(","):
        sys.stdout.write(json.dumps(measure(sys.argv[1], float(text), int(sys.argv[3]))) + "\n")
        sys.stdout.flush()
