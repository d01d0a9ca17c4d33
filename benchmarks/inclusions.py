"""Real inclusions, for ten seeds: a disk and a ball in a uniform field, mixed conditions, an ellipse, six dimensions.

    .venv/bin/python benchmarks/inclusions.py [--seeds 10] [--only disk]

None of these is smooth where a manufactured problem is: the background's singularities lie inside its hole. Prints
a Markdown table of the worst and the mean error against the closed form, with CE and 50 neurons, the rest default.
"""

import argparse
import warnings

import numpy as np

import jumpnet as jn
from jumpnet.experiments import problems

CENTERS = {2: [(0.0, 0.0), (0.2, 0.1)], 3: [(0.0, 0.0, 0.0), (0.2, 0.1, -0.1)]}
NAMES = {2: "disk", 3: "ball"}


def cases() -> dict[str, jn.Problem]:
    """All problems by name."""
    found = {
        f"{NAMES[dim]}, k = {k:g}, centre {center}": problems.inclusion(dim=dim, k=k, center=center)
        for dim in (2, 3)
        for k in (1e-3, 10.0, 1000.0)
        for center in CENTERS[dim]
    }
    found |= {
        f"mixed conditions, {NAMES[dim]}, k = {k:g}": problems.inclusion(
            dim=dim, k=k, center=CENTERS[dim][1], boundary="mixed"
        )
        for dim in (2, 3)
        for k in (1e-3, 10.0, 1000.0)
    }
    found["ellipse 2:1, 30 degrees, background diag(4, 1)"] = problems.ellipse_inclusion()
    found["manufactured: ellipsoid3d"] = problems.ellipsoid3d()
    found["manufactured: sphere6d"] = problems.sphere6d()
    return found


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| problem | worst L2 | mean L2 | worst Linf | converged | mean steps |\n|---|---|---|---|---|---|")
    for name, problem in cases().items():
        if options.only not in name:
            continue
        model = jn.models.CategoricalEmbedding(neurons=50)
        runs = [jn.solve(problem, seed=seed, method=jn.Network(model)) for seed in range(options.seeds)]
        l2, linf = ([getattr(run.errors(), key) for run in runs] for key in ("l2", "linf"))
        ended = sum(run.status is jn.Status.CONVERGED for run in runs)
        steps = np.mean([run.steps for run in runs])
        print(
            f"| {name} | {max(l2):.1e} | {np.mean(l2):.1e} | {max(linf):.1e} | {ended}/{len(runs)} | {steps:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
