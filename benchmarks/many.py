"""How the time of the default call grows with the number of inclusions.

    .venv/bin/python benchmarks/many.py [--disks 25 100 400] [--tol 1e-6] [--fem 6 [--size 0.5]]

Disks on a shaken lattice, 100 times as conductive as what is between them, filling 30 % of a square in a field along
x1. Prints a Markdown table: status, estimate, unknowns, seconds of making the problem and of `jn.solve`, most memory
so far, and the exponent of the time since the row before. With --fem also the difference from finite elements of that
order (elements of `--size` radii) and their seconds, mesh and solve.
"""

import argparse
import resource
import time
import warnings

import numpy as np

import jumpnet as jn


def many_disks(count: int, k: float = 100.0, filled: float = 0.3) -> jn.Problem:
    """Equal disks, `count` of them (a square number), each moved at random by up to 0.8 of the room it has."""
    side = round(count**0.5)
    if side * side != count:
        raise SystemExit(f"--disks is {count}; give square numbers, such as 25 100 400.")
    pitch, radius = 1 / side, float(np.sqrt(filled / np.pi)) / side
    lattice = (np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2) + 0.5) * pitch
    room = 0.8 * (pitch / 2 - radius)
    places = lattice + np.random.default_rng(0).uniform(-room, room, (count, 2))
    parts = jn.Partition(jn.Box((0, 0), (1, 1)), [jn.Disk(place, radius) for place in places])
    return jn.Problem(parts, A=[1.0] + [k] * count, boundary=jn.Dirichlet("x1"))


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--disks", type=int, nargs="+", default=[25, 100, 400])
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--fem", type=int, default=0, help="order of finite elements to compare with")
    parser.add_argument("--size", type=float, default=0.5, help="of the elements, in radii")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    more = " from FEM | FEM (s) |" if options.fem else ""
    print(f"| disks | status | estimate | unknowns | problem (s) | solve (s) | memory (GB) | exponent |{more}")
    print("|---|---|---|---|---|---|---|---|" + "---|---|" * bool(options.fem), flush=True)
    jn.solve(many_disks(4), tol=1e-3)  # imports
    before: tuple[int, float] | None = None
    for count in options.disks:
        began = time.perf_counter()
        problem = many_disks(count)
        made = time.perf_counter()
        solution = jn.solve(problem, tol=options.tol)
        solved = time.perf_counter()
        seconds = solved - began
        exponent = f"{np.log(seconds / before[1]) / np.log(count / before[0]):.2f}" if before else "-"
        before = count, seconds
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        columns = ""
        if options.fem:
            radius = float(np.sqrt(0.3 / np.pi / count))
            fem = jn.baselines.fem(problem, order=options.fem, size=options.size * radius)
            x, piece = problem.partition.sample_interior(2000, seed=1)
            values = fem(x, piece)
            away = float(np.sqrt(np.mean((solution(x, piece) - values) ** 2) / np.mean(values**2)))
            columns = f" {away:.1e} | {fem.diagnostics.seconds:.1f} |"
        print(
            f"| {count} | {solution.status.name.lower()} | {solution.estimate:.1e} | {solution.network.size} "
            f"| {made - began:.1f} | {solved - made:.1f} | {memory:.1f} | {exponent} |{columns}",
            flush=True,
        )


if __name__ == "__main__":
    main()
