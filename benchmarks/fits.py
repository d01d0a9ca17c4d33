"""How honest the standard deviations of fits are: conductivity, contact resistance and place of a disk, from 50 values.

    python benchmarks/fits.py [SEEDS] [plate | rod] [FIRST]

`plate` is a disk in a square (seven CPU minutes for 100 seeds), `rod` two layers on the line; FIRST is the first seed.
For each seed of the noise the parameters are fitted; printed is how many estimates lie within three reported standard
deviations of the truth, all at once and one by one. Of normal errors 99.7 % do, one by one.
"""

import sys
import time

import numpy as np

import jumpnet as jn

NOISE = 0.01


def plate(k: float, R: float, a: float, b: float) -> jn.Problem:
    """A disk in a plate between a cold and a warm side."""
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((a, b), 0.4)])
    sides = {"x1-": jn.Dirichlet(0), "x1+": jn.Dirichlet(1), "x2": jn.Neumann(0)}
    return jn.Problem(parts, A=[1, k], boundary=sides, jumps=jn.Jump(R=R))


def rod(k: float, R: float, at: float) -> jn.Problem:
    """Two heated layers with a contact resistance."""
    parts = jn.Partition(jn.Interval(0, 2), [jn.Interval(at, 2)])
    ends = {"left": jn.Dirichlet(0), "right": jn.Dirichlet(1)}
    return jn.Problem(parts, A=[1, k], f=[-1, -2], jumps=jn.Jump(R=R), boundary=ends)


CASES = {
    "plate": (
        plate,
        {"k": 5.0, "R": 0.05, "a": 0.15, "b": -0.1},
        {"k": (2.0, 0.1, 100.0), "R": (0.1, 0.0, 1.0), "a": (0.05, -0.3, 0.4), "b": (0.05, -0.4, 0.3)},
        np.random.default_rng(0).uniform(-0.95, 0.95, (50, 2)),
    ),
    "rod": (
        rod,
        {"k": 3.0, "R": 0.2, "at": 0.91},
        {"k": (1.0, 1e-2, 1e2), "R": (0.1, 0.0, 1.0), "at": (0.8, 0.7, 1.1)},
        np.linspace(0.02, 1.98, 50)[:, None],
    ),
}


def main(seeds: int, case: str, first: int) -> None:
    """Fit all seeds and print the coverage."""
    family, truth, unknown, x = CASES[case]
    u = jn.solve(family(**truth), tol=1e-9)(x)
    scores = []
    for seed in range(first, first + seeds):
        began = time.process_time()
        noise = NOISE * np.random.default_rng(1000 + seed).normal(size=len(u))
        found = jn.fit(family, unknown, jn.Data(x, u + noise), tol=1e-6)
        scores.append([(found.values[name] - true) / found.deviations[name] for name, true in truth.items()])
        within = np.abs(scores) < 3
        words = " ".join(f"{z:+.2f}" for z in scores[-1])
        seconds = time.process_time() - began
        done = f"{within.all(axis=1).sum()} of {len(scores)}, one by one {within.sum(axis=0).tolist()}"
        print(f"seed {seed}: {words}; {found.solves} solves, {seconds:.1f} s CPU; within three: {done}", flush=True)


if __name__ == "__main__":
    given = [*sys.argv[1:], *("100", "plate", "0")[len(sys.argv) - 1 :]]
    main(int(given[0]), given[1], int(given[2]))
