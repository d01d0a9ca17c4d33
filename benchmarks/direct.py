"""The default call on problems of every kind: what it reaches, what it says it reaches, and how long it takes.

    .venv/bin/python benchmarks/direct.py [--seeds 3] [--tol 1e-8] [--singular 1e-5] [--only disk]
        [--fem 8,10 [--size 0.1]] [--cusp 4,6,8]

Prints a Markdown table: the worst error over the seeds relative to the size of the solution, the smallest and the
largest ratio of estimated to true error, unknowns and the median time of `jn.solve(problem)` (in a warm process: the
first call of each problem, which also measures its geometry, is not counted). Where no closed form is known, the
reference is the same problem with other features (no images, high orders) at a tolerance of 1e-12. With --fem it is
`jn.baselines.fem` of the second order given; further columns have the difference between the two orders, which says how
well the reference is known, and the time of the first one, mesh and solve. Problems whose solutions are not smooth
(names with "singular") are solved to --singular (1e-5) instead of the tolerance, and need an exact solution or --fem.
With --cusp, the reference for the hearts is finite elements of the highest order given, graded towards the cusp
(peers/fem_cusp.py); a table of its convergence comes first, and errors are integrals instead of means over points.
"""

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import jumpnet as jn
from jumpnet.experiments import problems
from jumpnet.fields.piecewise import piecewise_values

if TYPE_CHECKING:
    from peers import fem_cusp

BOX = jn.Box((-1, -1), (1, 1))
SQUARE = jn.Box((-0.3, -0.2), (0.4, 0.5))
L_SHAPE = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.0), (0.0, 0.0), (0.0, 0.5), (-0.5, 0.5)]


def two_disks(gap: float, k: float, radius: float = 0.3) -> jn.Problem:
    """Two equal disks with a gap in radii, in a field along x1."""
    c = radius * (1 + gap / 2)
    parts = jn.Partition(BOX, [jn.Disk((-c, 0.0), radius), jn.Disk((c, 0.0), radius)])
    return jn.Problem(parts, A=[1.0, k, k], boundary=jn.Dirichlet("x1"))


def nine_disks(gap: float, k: float) -> jn.Problem:
    """Nine equal disks in a square, with gaps in radii, in a field along x1."""
    radius = 0.55 / (2 + gap)
    places = [(0.55 * i, 0.55 * j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
    parts = jn.Partition(BOX, [jn.Disk(place, radius) for place in places])
    return jn.Problem(parts, A=[1.0] + [k] * 9, boundary=jn.Dirichlet("x1"))


def star(lobes: int, amplitude: float, k: float, **others: object) -> jn.Problem:
    """A star of a conductivity in a field along x1; its lobes reach out to 0.45."""
    shape = jn.Star((0.07, -0.04), f"0.45*(1 + {amplitude}*cos({lobes}*theta + 0.3))/(1 + {amplitude})")
    given: dict = {"A": [1.0, k], "boundary": jn.Dirichlet("x1"), **others}
    return jn.Problem(jn.Partition(BOX, [shape]), **given)


def two_stars(gap: float) -> jn.Problem:
    """Two stars whose lobes point at each other, with a gap between them."""
    c = 0.36 + gap / 2
    shapes = [jn.Star((-c, 0.0), "0.3 + 0.06*cos(5*theta)"), jn.Star((c, 0.0), "0.3 - 0.06*cos(5*theta)")]
    return jn.Problem(jn.Partition(BOX, shapes), A=[1.0, 10.0, 100.0], boundary=jn.Dirichlet("x1"))


def smooth(shape: jn.Superellipse | jn.Curve) -> jn.Problem:
    """Another smooth shape in a field along x1."""
    return jn.Problem(jn.Partition(BOX, [shape]), A=[1.0, 10.0], boundary=jn.Dirichlet("x1"))


def stars_of_pde4() -> jn.Problem:
    """The four stars in a superellipse of pde4 with constant conductivities, in a field along x1."""
    return jn.Problem(problems.pde4().partition, A=[1.0, 0.1, 0.01, 10.0, 100.0], boundary=jn.Dirichlet("x1"))


def graded_disk() -> jn.Problem:
    """A disk of varying conductivity in a field along x1."""
    parts = jn.Partition(BOX, [jn.Disk((0.2, 0.1), 0.4)])
    return jn.Problem(parts, A=[1.0, "1000*(1 + x1**2)"], boundary=jn.Dirichlet("x1"))


def heated_disks() -> jn.Problem:
    """Two disks, one with a source, one nearly insulating."""
    parts = jn.Partition(BOX, [jn.Disk((0.3, 0.0), 0.4), jn.Disk((-0.45, -0.3), 0.25)])
    return jn.Problem(parts, A=[1.0, 100.0, 0.01], f=[0.0, -1.0, "-exp(x1)"], boundary=jn.Dirichlet("x2"))


def angular(piece: Any, A: list[object], f: float = 0.0) -> jn.Problem:
    """A piece with corners."""
    return jn.Problem(jn.Partition(BOX, [piece]), A=A, f=f, boundary=jn.Dirichlet("x1"))


def regular(corners: int, radius: float = 0.5) -> jn.Path:
    """A polygon with equal sides and angles."""
    angle = 0.2 + 2 * np.pi * np.arange(corners) / corners
    return jn.Polygon(0.05 + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1))


def squares(across: int, k: float) -> jn.Problem:
    """Rows of squares that fill 4/9 of the domain."""
    middle, half = (2 * np.arange(across) + 1) / across - 1, 2 / (3 * across)
    pieces = [jn.Box((x - half, y - half), (x + half, y + half)) for x in middle for y in middle]
    return jn.Problem(jn.Partition(BOX, pieces), A=[1.0, *[k] * across**2], boundary=jn.Dirichlet("x1"))


def boundary(given: dict[str, Any], pieces: list[Any] | None = None) -> jn.Problem:
    """A square with zero on its sides but for what is given; "right half" is that of its lower side."""
    named = {"right half": "x2 < -1 + 1e-9 and x1 > 0"} if "right half" in given else None
    cold = {side: jn.Dirichlet(0.0) for side in ("left", "right", "bottom", "top")}
    pieces = pieces or []
    return jn.Problem(jn.Partition(BOX, pieces, boundary=named), A=[1.0, *[10.0] * len(pieces)], boundary=cold | given)


def singular(name: str) -> jn.Problem:
    """Corners, a cusp and a point of four materials, heated, with u = 0 outside."""
    heart = problems.pde2()
    square = jn.Partition(BOX, [jn.Box((-0.5, -0.5), (0.5, 0.5))])
    made: dict[str, Callable[[], jn.Problem]] = {
        "heart": lambda: jn.Problem(heart.partition, A=heart.A, lam=heart.lam, f=1.0, boundary=jn.Dirichlet(0.0)),
        "constant": lambda: jn.Problem(heart.partition, A=[1.0, 10.0], f=1.0, boundary=jn.Dirichlet(0.0)),
        "square": lambda: jn.Problem(square, A=[1.0, 100.0], f=1.0, boundary=jn.Dirichlet(0.0)),
        "quadruple": lambda: jn.Problem(
            problems.crossing().partition, A=[1.0, 2.0, 3.0, 4.0], f=1.0, boundary=jn.Dirichlet(0.0)
        ),
    }
    return made[name]()


CASES: dict[str, Callable[[], jn.Problem]] = {
    **{f"disk, k = {k:g}": lambda k=k: problems.inclusion(2, k, (0.2, 0.1)) for k in (1e-3, 10.0, 1e4, 1e6)},
    **{f"ball, k = {k:g}": lambda k=k: problems.inclusion(3, k, (0.2, 0.1, -0.1)) for k in (1e-3, 10.0, 1e4)},
    "disk, mixed conditions": lambda: problems.inclusion(2, 1e3, (0.2, 0.1), boundary="mixed"),
    "ball, mixed conditions": lambda: problems.inclusion(3, 1e3, (0.2, 0.1, -0.1), boundary="mixed"),
    "ellipse 2:1": problems.ellipse_inclusion,
    "ellipse 4:1": lambda: problems.ellipse_inclusion(axes=(0.6, 0.15)),
    "disk, k = 1000 (1 + x1^2), confined": graded_disk,
    "heated disks": heated_disks,
    **{f"two disks, gap R*{g:g}, k = {k:g}": lambda g=g, k=k: two_disks(g, k)
       for g in (1.0, 0.2, 0.05) for k in (100.0, 1000.0)},
    **{f"nine disks, gap R*{g:g}, k = {k:g}": lambda g=g, k=k: nine_disks(g, k)
       for g in (1.0, 0.2, 0.05) for k in (100.0, 1000.0)},
    **{f"corners: square, k = {k:g}": lambda k=k: angular(SQUARE, [1.0, k]) for k in (1e-3, 10.0, 1e4)},
    "corners: square, k = 100, heated": lambda: angular(SQUARE, [1.0, 100.0], 1.0),
    "corners: square in diag(4, 1) turned": lambda: angular(SQUARE, [[[3.25, 1.3], [1.3, 1.75]], 10.0]),
    "corners: rectangle 5:1": lambda: angular(jn.Box((-0.6, -0.1), (0.4, 0.1)), [1.0, 10.0]),
    "corners: triangle": lambda: angular(regular(3), [1.0, 10.0]),
    "corners: hexagon": lambda: angular(regular(6), [1.0, 10.0]),
    "corners: L": lambda: angular(jn.Polygon(L_SHAPE), [1.0, 10.0]),
    "boundary: hot lid": lambda: boundary({"top": jn.Dirichlet(1.0)}),
    "boundary: hot lid over a disk": lambda: boundary({"top": jn.Dirichlet(1.0)}, [jn.Disk((0.0, 0.0), 0.4)]),
    "boundary: insulated half of a side": lambda: boundary({"right half": jn.Neumann(0.0), "top": jn.Dirichlet(1.0)}),
    "boundary: step of values": lambda: boundary({"bottom": jn.Dirichlet("where(x1 < 0.3, 1, 0)")}),
    "boundary: kink of values": lambda: boundary({"bottom": jn.Dirichlet("max(0, 1 - 2*abs(x1 - 0.1))")}),
    "boundary: Robin beside values": lambda: boundary({"right half": jn.Robin(1.0, 1.0)}),
    "corners: slanted layer, heated": lambda: angular(jn.HalfSpace((0.3, 1), 0.1), [1.0, 10.0], 1.0),
    **{f"corners: {n * n} squares, k = 10": lambda n=n: squares(n, 10.0) for n in (2, 3)},
    **{f"star, {n} lobes of {a:g}, k = {k:g}": lambda n=n, a=a, k=k: star(n, a, k)
       for n, a in ((3, 0.2), (3, 0.5), (5, 0.3), (5, 0.5), (7, 0.2), (7, 0.5)) for k in (0.01, 10.0, 1000.0)},
    "star, heated": lambda: star(5, 0.3, 10.0, f=1.0, boundary=jn.Dirichlet(0.0)),
    "star, A = diag(4, 1) outside": lambda: star(5, 0.3, 10.0, A=[[[4.0, 0.0], [0.0, 1.0]], 10.0]),
    **{f"two stars, gap {g:g}": lambda g=g: two_stars(g) for g in (0.2, 0.04)},
    "superellipse, exponent 4": lambda: smooth(jn.Superellipse((0.1, 0.0), (0.5, 0.4), 4)),
    "curve with a dent": lambda: smooth(jn.Curve("0.5*cos(t) + 0.2*cos(2*t)", "0.4*sin(t) + 0.1*sin(2*t)")),
    "stars of pde4, A constant": stars_of_pde4,
    **{f"pde1, {n} pieces": lambda n=n: problems.pde1(n) for n in (5, 10, 50, 100)},
    "pde2": problems.pde2,
    "pde3": problems.pde3,
    "pde4": problems.pde4,
    "pde5": problems.pde5,
    "ellipsoid in a cube": problems.ellipsoid3d,
    **{f"singular: crossing, k = {k:g}": lambda k=k: problems.crossing(k) for k in (3.0, 5.0, 10.0)},
    "singular: point of four materials": lambda: singular("quadruple"),
    "singular: square, k = 100": lambda: singular("square"),
    "singular: heart with a cusp, A constant": lambda: singular("constant"),
    "singular: heart with a cusp, pde2's A": lambda: singular("heart"),
}  # fmt: skip


def reference(problem: jn.Problem) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The exact values where they are known, else those of a far finer solution with other features."""
    if problem.exact is not None:
        return partial(piecewise_values, problem.exact)
    return jn.solve(problem, tol=1e-12, seed=99, method=jn.Trefftz(images=False))


def graded_references(only: str, orders: str) -> dict[str, "fem_cusp.Reference"]:
    """Finite elements graded towards the cusp for the hearts; prints how they converge."""
    from peers import fem_cusp

    found = {}
    for name, make in CASES.items():
        if "heart" in name and only in name:
            print(f"{name}: differences to the reference\n")
            found[name] = fem_cusp.converged(make(), [int(order) for order in orders.split(",")])
    return found


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tol", type=float, default=1e-8)
    parser.add_argument("--only", default="")
    parser.add_argument("--fem", default="", help="two orders of finite elements")
    parser.add_argument("--size", type=float, default=None, help="of the elements")
    parser.add_argument("--singular", type=float, default=1e-5, help="tolerance where solutions are not smooth")
    parser.add_argument("--cusp", default="", help="orders of finite elements graded towards the heart's cusp")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    graded = graded_references(options.only, options.cusp) if options.cusp else {}
    more = " FEM known to | FEM seconds |" if options.fem else ""
    print(f"| problem | status | worst error | estimate / error | unknowns | seconds |{more}")
    print("|---|---|---|---|---|---|" + ("---|---|" if options.fem else ""), flush=True)
    for name, make in CASES.items():
        known = options.fem or name in graded or not name.startswith("singular")
        if options.only not in name or not (known or make().exact is not None):
            continue
        problem, tol = make(), options.singular if name.startswith("singular") else options.tol
        x, piece = problem.partition.sample_interior(1000, seed=77)
        weight = np.ones(len(x))
        if name not in graded:
            solve(problem, tol, 0)
        columns = " - | - |" if options.fem else ""
        if name in graded:
            best = graded[name]
            x, piece, weight, exact = best.x, best.piece, best.weight, best.value
        elif options.fem and problem.exact is None:
            orders = [int(order) for order in options.fem.split(",")]
            coarse, fine = (jn.baselines.fem(problem, order=order, size=options.size) for order in orders)
            exact = fine(x, piece)
            known = rms(coarse(x, piece) - exact) / rms(exact)
            columns = f" {known:.1e} | {coarse.diagnostics.seconds:.2f} |"
        else:
            exact = reference(problem)(x, piece)
        errors, ratios, seconds, ended, unknowns = [], [], [], set(), 0
        for seed in range(options.seeds):
            began = time.perf_counter()
            solution = solve(problem, tol, seed)
            seconds.append(time.perf_counter() - began)
            error = rms(solution(x, piece) - exact, weight)
            errors.append(error / rms(exact, weight))
            ratios.append(solution.estimate / error)
            ended.add(solution.status.name.lower())
            unknowns = max(unknowns, solution.network.size)
        print(
            f"| {name} | {', '.join(sorted(ended))} | {max(errors):.1e} | {min(ratios):.1f} to {max(ratios):.1f} "
            f"| {unknowns} | {statistics.median(seconds):.2f} |{columns}",
            flush=True,
        )


def solve(problem: jn.Problem, tol: float, seed: int) -> jn.Solution:
    """The direct part of the default call."""
    return jn.solve(problem, tol=tol, seed=seed, method="trefftz")


def rms(values: np.ndarray, weight: np.ndarray | float = 1.0) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.sum(weight * values**2) / np.sum(weight * np.ones(len(values)))))


if __name__ == "__main__":
    main()
