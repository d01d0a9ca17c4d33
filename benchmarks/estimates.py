"""How good error estimates are: estimate/error for every problem with a known solution.

    python benchmarks/estimates.py [--seeds 3] [--tol 1e-4 1e-6 1e-8] [--only NAME]

The paper's problems, the examples with an exact solution, and problems with contact resistance, a free constant,
periodic sides and a point source. Errors below 1e-11 are rounding, and left out of the verdict. The last line says how
many ratios lie between 1/3 and 30, and the smallest and the largest of them.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import jumpnet as jn
from jumpnet.experiments import problems

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
ROUNDING = 1e-11
LOWEST, HIGHEST = 1 / 3, 30.0


def of_paper() -> dict[str, Callable[[], jn.Problem]]:
    return {
        "pde1": lambda: problems.pde1(10),
        "pde2": problems.pde2,
        "pde3": problems.pde3,
        "pde4": problems.pde4,
        "pde5": problems.pde5,
    }


def of_examples() -> dict[str, Callable[[], jn.Problem]]:
    names = [path for path in sorted(EXAMPLES.glob("*.toml")) if "\nexact" in path.read_text(encoding="utf-8")]
    return {f"example {path.stem}": lambda path=path: jn.read_problem(path) for path in names}


def of_conditions() -> dict[str, Callable[[], jn.Problem]]:
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.2, 0.1), 0.4)])
    u, A = ["sin(x1)*exp(x2) + 3", "x1**3 - x2"], [2.0, 5.0]
    wave = "sin(2*pi*x1)*cos(2*pi*x2)"
    cell = jn.Partition(jn.Box((0, 0), (1, 1)))
    charge = "-log((x1 - 0.3)**2 + (x2 + 0.6)**2)/(4*pi) + exp(x1)*cos(x2)"
    return {
        "contact": lambda: jn.manufactured(parts, u, A, R=0.7),
        "contact, Neumann": lambda: jn.manufactured(parts, u, A, R="0.2 + x1**2", boundary=jn.Neumann),
        "Neumann": lambda: jn.manufactured(parts, u, A, boundary=jn.Neumann),
        "periodic": lambda: jn.Problem(cell, f=f"-8*pi**2*{wave}", boundary=jn.Periodic(), exact=wave),
        "point source": lambda: jn.Problem(
            jn.Partition(parts.domain),
            boundary=jn.Dirichlet(charge),
            sources=[jn.PointSource((0.3, -0.6), 1.0)],
            exact=charge,
        ),
    }


def measured(
    cases: dict[str, Callable[[], jn.Problem]], tolerances: list[float], seeds: int
) -> Iterator[tuple[str, float, int, jn.Solution, float]]:
    """Name, tolerance, seed, solution and its error, one solve after the other."""
    for name, make in cases.items():
        problem = make()
        for tol in tolerances:
            for seed in range(seeds):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", jn.JumpnetWarning)
                    solution = jn.solve(problem, tol=tol, seed=seed, method="trefftz")
                yield name, tol, seed, solution, solution.errors().l2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tol", type=float, nargs="+", default=[1e-4, 1e-6, 1e-8])
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    cases = {name: make for name, make in (of_paper() | of_examples() | of_conditions()).items() if given.only in name}
    ratios = []
    print(f"{'problem':<24} {'tol':>7} {'seed':>4}  {'estimate':>8} {'error':>8} {'ratio':>7}")
    for name, tol, seed, solution, error in measured(cases, given.tol, given.seeds):
        ratio = solution.estimate / error
        verdict = "rounding" if error < ROUNDING else "" if LOWEST <= ratio <= HIGHEST else "outside"
        if error >= ROUNDING:
            ratios.append(ratio)
        print(
            f"{name:<24} {tol:>7.0e} {seed:>4}  {solution.estimate:>8.1e} {error:>8.1e} {ratio:>7.2f}  "
            f"{solution.status.name.lower()} {verdict}",
            flush=True,
        )
    if ratios:
        within = sum(LOWEST <= ratio <= HIGHEST for ratio in ratios)
        print(f"{within} of {len(ratios)} between 1/3 and 30; from {min(ratios):.2g} to {max(ratios):.3g}")


if __name__ == "__main__":
    main()
