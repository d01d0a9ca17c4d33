"""The judge against the truth: judged and true error of good and bad answers of every kind, and what it takes.

    .venv/bin/python benchmarks/judge.py [--only disk]

Prints a Markdown table. The true error is the difference from the exact solution at 4,000 random points, or, where none
is known (*), from an answer that the judge itself has corrected on a far finer mesh. "Corrected by" is the factor by
which the corrected answer is better, and what the verdict says of it. Seconds are CPU seconds of the judge alone,
imports excluded.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np

import jumpnet as jn
from jumpnet.experiments import problems
from jumpnet.judge import JudgeOptions

BOX = jn.Box((-1, -1), (1, 1))
DISK = jn.Partition(BOX, [jn.Disk((0.2, 0.1), 0.4)])
# A second opinion where no exact solution is known: twice as many elements, and three digits.
FINE = JudgeOptions(across={2: 24, 3: 8}, change=0.004, unknowns={2: 400_000, 3: 80_000})


def direct(problem: jn.Problem, tol: float) -> Callable[[], jn.Solution]:
    return lambda: jn.solve(problem, tol=tol, method="trefftz")


def network(problem: jn.Problem, steps: int, **options) -> Callable[[], jn.Solution]:
    model = jn.models.CategoricalEmbedding(dim=1, neurons=50)
    optimizer = jn.optim.LevenbergMarquardt(steps=steps)
    return lambda: jn.solve(problem, method=jn.Network(model, optimizer, **options))


def elements(problem: jn.Problem, order: int, size: float) -> Callable[[], jn.Solution]:
    return lambda: jn.baselines.fem(problem, order=order, size=size)


def stack() -> jn.Problem:
    """A board, a heated chip and a slab, in air."""
    boxes = [jn.Box((0, 0), (60, 6)), jn.Box((20, 6), (40, 10)), jn.Box((10, 10), (50, 13))]
    boundary = {
        "x2+": jn.Robin(0.01, 0.25),
        "x2-": jn.Robin(0.005, 0.125),
        "x1-": jn.Neumann(0.0),
        "x1+": jn.Neumann(0.0),
    }
    parts = jn.Partition(jn.Box((0, 0), (60, 40)), boxes)
    return jn.Problem(parts, A=[0.026, 0.3, 100.0, 200.0], f=[0.0, 0.0, -0.01, 0.0], boundary=boundary)


def two_disks(gap: float, k: float) -> jn.Problem:
    c = 0.3 + gap / 2
    parts = jn.Partition(BOX, [jn.Disk((-c, 0.0), 0.3), jn.Disk((c, 0.0), 0.3)])
    return jn.Problem(parts, A=[1.0, k, k], boundary=jn.Dirichlet("x1"))


def hot_lid() -> jn.Problem:
    sides = {"x1-": jn.Dirichlet(0.0), "x1+": jn.Dirichlet(0.0), "x2-": jn.Dirichlet(0.0), "x2+": jn.Dirichlet(1.0)}
    return jn.Problem(jn.Partition(BOX, [jn.Disk((0.0, 0.0), 0.4)]), A=[1.0, 10.0], boundary=sides)


def changing() -> jn.Problem:
    """A condition that changes in the middle of a side."""
    parts = jn.Partition(BOX, [jn.Disk((0.1, 0.0), 0.4)], boundary={"lid": "x2 > 0.999 and x1 > 0.13"})
    sides = {"lid": jn.Dirichlet(1.0), "x1-": jn.Dirichlet(0.0), "x2-": jn.Dirichlet(0.0)}
    return jn.Problem(parts, A=[1.0, 10.0], boundary={**sides, "x1+": jn.Neumann(0.0), "x2+": jn.Neumann(0.0)})


def cell() -> jn.Problem:
    parts = jn.Partition(jn.Box((0, 0), (1, 1)), [jn.Disk((0.5, 0.5), 0.3)])
    return jn.Problem(parts, A=[1.0, 50.0], boundary={"x1": jn.Periodic(1.0), "x2": jn.Periodic()})


def smooth(**others) -> jn.Problem:
    return jn.manufactured(DISK, u=["sin(2*x1)*x2", "exp(x1) - x2**2"], **{"A": [1.0, 7.0], **others})


def in_a_disk(**others) -> jn.Problem:
    return jn.Problem(DISK, **{"A": [1.0, 10.0], "boundary": jn.Dirichlet("exp(x1)*sin(3*x2)"), **others})


def layers() -> jn.Problem:
    parts = jn.Partition(BOX, [jn.Box((-1, -1), (1, -0.3)), jn.Box((-1, -0.3), (1, 0.2))])
    return jn.Problem(parts, A=[1.0, 10.0, 0.1], f=1.0, boundary=jn.Dirichlet("x1*x2"))


def cases() -> Iterator[tuple[str, jn.Problem, Callable[[], jn.Solution]]]:
    """Names, problems and answers."""
    for tol in (1e-2, 1e-8):
        yield f"pde2, direct, tol {tol:g}", problems.pde2(), direct(problems.pde2(), tol)
        yield f"pde4, direct, tol {tol:g}", problems.pde4(), direct(problems.pde4(), tol)
        yield f"pde3, direct, tol {tol:g}", problems.pde3(), direct(problems.pde3(), tol)
        yield f"pde5, direct, tol {tol:g}", problems.pde5(), direct(problems.pde5(), tol)
    for steps in (60, 200):
        yield f"pde2, network, {steps} steps", problems.pde2(), network(problems.pde2(), steps)
        yield f"pde4, network, {steps} steps", problems.pde4(), network(problems.pde4(), steps)
    disk = problems.inclusion(2, 10.0, (0.2, 0.1))
    yield "disk, k = 10, network in a box, fails", disk, network(disk, 200, charts="box")
    yield "disk, k = 10, network with poles", disk, network(disk, 200)
    for order, size in ((2, 0.3), (3, 0.3), (3, 0.15), (5, 0.3)):
        yield f"disk, elements of order {order}, size {size:g}", disk, elements(disk, order, size)
    yield "pde2, elements of order 3", problems.pde2(), elements(problems.pde2(), 3, 0.2)
    for tol in (1e-2, 1e-8):
        yield f"two disks, gap 0.04, tol {tol:g}", two_disks(0.04, 100.0), direct(two_disks(0.04, 100.0), tol)
    yield "board, chip and slab", stack(), direct(stack(), 1e-3)
    yield "singular: hot lid", hot_lid(), direct(hot_lid(), 1e-4)
    yield "singular: changing condition", changing(), direct(changing(), 1e-3)
    for k in (3.0, 10.0):
        yield f"singular: crossing, k = {k:g}", problems.crossing(k), direct(problems.crossing(k), 1e-3)
    yield "layers", layers(), direct(layers(), 1e-3)
    yield "periodic cell", cell(), direct(cell(), 1e-2)
    yield "flux on all sides", smooth(boundary=jn.Neumann), direct(smooth(boundary=jn.Neumann), 1e-3)
    for R in (1e-6, 1e-2, 1.0, 1e6):
        yield f"contact resistance {R:g}", smooth(R=R), direct(smooth(R=R), 1e-3)
    for k in (1e-6, 1e6):
        yield f"contrast {k:g}", in_a_disk(A=[1.0, k]), direct(in_a_disk(A=[1.0, k]), 1e-2)
    tensor = in_a_disk(A=[[[100.0, 0.0], [0.0, 1.0]], 1.0])
    yield "anisotropy 100", tensor, direct(tensor, 1e-2)
    air = in_a_disk(f=[0.0, -1.0], boundary=jn.Robin(2.0, "1 + x1"))
    yield "Robin on all sides", air, direct(air, 1e-2)
    sources = in_a_disk(sources=[jn.PointSource((-0.6, 0.2), 1.0), jn.PointSource((0.2, 0.3), -2.0)])
    yield "point sources", sources, direct(sources, 1e-2)
    ball = problems.inclusion(3, 10.0, (0.2, 0.1, -0.1))
    yield "ball, network, 60 steps", ball, network(ball, 60)
    yield "ball, elements of order 2", ball, elements(ball, 2, 0.5)
    parts = jn.Partition(jn.Box((-1, -1, -1), (1, 1, 1)), [jn.Ball((0.1, 0.0, 0.0), 0.5)])
    heated = jn.manufactured(parts, u=["sin(x1 + x2)*x3", "exp(x1)*x2 + x3"], A=[1.0, 100.0])
    yield "ball, manufactured, direct", heated, direct(heated, 1e-3)


def rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| answer | judged | true | judged / true | estimate | corrected by | unknowns | seconds |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    jn.judge(jn.solve(smooth(), tol=1e-1, method="trefftz"))  # imports
    for name, problem, answer in cases():
        if options.only not in name:
            continue
        solution = answer()
        began = time.process_time()
        verdict = jn.judge(solution)
        seconds = time.process_time() - began
        if verdict.finding.field is None:
            print(f"| {name} | {verdict.reason} | | | | | | {seconds:.1f} |", flush=True)
            continue
        x, piece = problem.partition.sample_interior(4000, seed=77)
        known = problem.exact is not None
        better = problem.exact_values(x, piece) if known else jn.judge(solution, options=FINE).corrected(x, piece)
        error = better - solution(x, piece)
        true, left = rms(error), rms(error - verdict.error(x, piece))
        said = f"{verdict.rms:.2e}" + ("" if verdict.decided else " (undecided)")
        ratios = f"{verdict.rms / true:.2f} | {verdict.estimate:.1e} | {true / left:.0f} ({verdict.corrected.gain:.0f})"
        print(
            f"| {name} | {said} | {true:.2e}{'' if known else ' *'} | {ratios} | {verdict.finding.unknowns} "
            f"| {seconds:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
