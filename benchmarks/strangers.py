"""Problems nobody chose: random pieces, coefficients and data, solved as users do and checked by finite elements.

    .venv/bin/python benchmarks/strangers.py [--count 50] [--first 0] [--tol 1e-6] [--order 7] [--method auto]

Each problem follows from its number: one to six disks, ellipses, stars, polygons or boxes in a square, some close to
each other or to the boundary, conductivities from 1e-6 to 1e6 (numbers, matrices or formulas), sources, absorption,
given jumps, and Dirichlet values, fluxes or both on the boundary. The reference is NGSolve through `jn.baselines.fem`,
of two orders; their difference says how well it is known. Prints a Markdown table and at the end every problem that was
called converged and is wrong: by more than ten times its estimate and than ten times what is known of the reference.
"""

import argparse
import time
import warnings

import numpy as np

import jumpnet as jn

ROOM = 10.0


def shape_at(rng: np.random.Generator, center: np.ndarray, reach: float) -> tuple[str, object]:
    """A shape that stays within `reach` of a point."""
    kind = str(rng.choice(["disk", "ellipse", "star", "polygon", "box"]))
    cx, cy = center.tolist()
    turn = float(rng.uniform(0, np.pi))
    if kind == "disk":
        return kind, jn.Disk((cx, cy), float(reach))
    if kind == "ellipse":
        return kind, jn.Ellipse((cx, cy), (float(reach), float(reach * rng.uniform(0.2, 0.9))), angle=turn)
    if kind == "star":
        depth, lobes = float(rng.uniform(0.05, 0.3)), int(rng.integers(2, 6))
        return kind, jn.Star((cx, cy), f"{reach / (1 + depth)!r}*(1 + {depth!r}*cos({lobes}*theta + {turn!r}))")
    if kind == "polygon":
        angle = np.sort(rng.uniform(0, 2 * np.pi, 3)) if rng.random() < 0.5 else turn + np.arange(5) * 0.4 * np.pi
        if np.min(np.diff(np.r_[angle, angle[0] + 2 * np.pi])) < 0.5:
            angle = turn + np.arange(3) * 2 * np.pi / 3
        corners = center + reach * np.column_stack([np.cos(angle), np.sin(angle)])
        return kind, jn.Polygon(corners.tolist())
    half = reach / np.sqrt(2)
    return kind, jn.Box((cx - half, cy - half), (cx + half, cy + half))


def conductivity(rng: np.random.Generator) -> object:
    """A number, a matrix or a formula; large, small or neither."""
    k = float(10 ** rng.choice([0.0, rng.uniform(-1, 1), rng.uniform(-3, 3), rng.uniform(-6, 6)]))
    kind = rng.choice(["number", "number", "matrix", "formula"])
    if kind == "number":
        return k
    if kind == "matrix":
        angle, ratio = rng.uniform(0, np.pi), rng.uniform(0.1, 1.0)
        turned = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        return (k * turned @ np.diag([1.0, ratio]) @ turned.T).tolist()
    return f"{k!r}*(1 + 0.5*sin({rng.uniform(0.5, 3)!r}*x1 + {rng.uniform(0.5, 3)!r}*x2))"


def stranger(number: int) -> tuple[str, jn.Problem]:
    """The problem of a number, with a few words about it."""
    rng = np.random.default_rng([2026, number])
    count = int(rng.integers(1, 7))
    tight = float(rng.choice([0.6, 0.9, 0.98]))
    columns = 1 if count == 1 else 2 if count <= 4 else 3
    lines = -(-count // columns)
    width, height = 2 / columns, 2 / lines
    kinds, shapes = [], []
    for at in range(count):
        middle = np.array([-1 + width * (at % columns + 0.5), -1 + height * (at // columns + 0.5)])
        reach = tight * min(width, height) / 2 * float(rng.uniform(0.5, 1.0) if rng.random() < 0.5 else 1.0)
        kind, shape = shape_at(rng, middle, reach)
        kinds.append(kind)
        shapes.append(shape)
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), shapes)
    source = rng.choice(["none", "one", "wave", "some"])
    f: object = {
        "none": 0.0,
        "one": 1.0,
        "wave": "sin(3*x1)*cos(2*x2)",
        "some": [0.0] + [float(rng.choice([0.0, 10.0])) for _ in range(count)],
    }[str(source)]
    lam = float(rng.choice([0.0, 0.0, 0.0, 1.0, 30.0]))
    sides = str(rng.choice(["values", "values", "mixed"]))
    boundary: object = jn.Dirichlet("x1 + 0.3*x2**2")
    if sides == "mixed":
        boundary = {"left": jn.Dirichlet(0.0), "right": jn.Dirichlet(1.0), "x2": jn.Neumann(0.0)}
    jumps = rng.random() < 0.2
    A = [conductivity(rng) for _ in range(count + 1)]
    given = jn.Jump("x1*x2", 0.5) if jumps else jn.Jump()
    problem = jn.Problem(parts, A=A, lam=lam, f=f, boundary=boundary, jumps=given)
    names = "+".join(sorted(kinds))
    return f"{names}, tight {tight}, f {source}, lam {lam:g}, {sides}{', jumps' if jumps else ''}", problem


def reference(problem: jn.Problem, order: int) -> jn.Solution:
    """By finite elements, small enough not to fold."""
    for size in (0.12, 0.06, 0.03):
        try:
            return jn.baselines.fem(problem, order=order, size=size)
        except jn.JumpnetError as why:
            if "fold" not in str(why):
                raise
    raise SystemExit("the elements fold however small they are.")


def unknowns(solution: jn.Solution) -> int:
    """Of the mesh, or of the expansion."""
    mesh = solution.diagnostics.mesh
    return len(solution.theta) if mesh is None else mesh.unknowns


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--order", type=int, default=7)
    parser.add_argument("--method", default="auto", choices=("auto", "trefftz", "fem"))
    arguments = parser.parse_args()
    print("| number | problem | status | estimate | difference to FEM | FEM known to | unknowns | seconds |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    wrong, ended = [], {}
    for number in range(arguments.first, arguments.first + arguments.count):
        what, problem = stranger(number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            began = time.perf_counter()
            solution = jn.solve(problem, tol=arguments.tol, method=arguments.method)
            seconds = time.perf_counter() - began
        x, piece = problem.partition.sample_interior(4000, seed=1)
        u = solution(x, piece)
        rough, fine = (reference(problem, p)(x, piece) for p in (arguments.order - 2, arguments.order))
        size = float(np.sqrt(np.mean(fine**2)))
        difference, known = (float(np.sqrt(np.mean((one - fine) ** 2))) / size for one in (u, rough))
        estimate = solution.estimate / size
        converged = solution.status is jn.optim.Status.CONVERGED
        ended[solution.status.name] = ended.get(solution.status.name, 0) + 1
        print(
            f"| {number} | {what} | {solution.status.name.lower()} | {estimate:.1e} | {difference:.1e} | {known:.1e} "
            f"| {unknowns(solution)} | {seconds:.1f} |",
            flush=True,
        )
        if converged and difference > ROOM * max(estimate, known):
            wrong.append(number)
    print(f"\nended: {ended}; called converged and wrong: {wrong or 'none'}")


if __name__ == "__main__":
    main()
