"""Bodies in space beside what is known of them: closed forms, lattice sums, the same body stated in another way.

    python -m benchmarks.space [NAME ...] [--limit 60] [--list]

Every case runs in a process of its own, which is ended after `--limit` CPU seconds. Names select the cases that contain
them. Shown are the status, the judged error (of u relative to its variation; of a tensor as it estimates itself), the
true error where it is known, CPU seconds of the solve (meshing included, imports not) and the unknowns. Lattice sums:
Rayleigh's method with multipoles up to l = 31.
"""

import argparse
import functools
import json
import operator
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [] if str(HERE.parent) in sys.path else [str(HERE.parent)]

from benchmarks.adversary.bodies import CUBE, cylinder, ellipsoid  # noqa: E402
from benchmarks.adversary.cases import Case, by_piece, everywhere, on_boundary  # noqa: E402

import jumpnet as jn  # noqa: E402
from jumpnet.fe.meshing import mesher  # noqa: E402

# Conductivities of lattices of balls over that of the matrix: lattice, fraction of the volume, k, value.
LATTICES = [
    ("simple cubic", 0.2, 100.0, 1.72795338),
    ("simple cubic", 0.45, 10.0, 2.6896954874),
    ("body-centred", 0.4, 10.0, 2.2970319932),
    ("face-centred", 0.5, 10.0, 2.8299528976),
]
PLACES = {
    "simple cubic": [(0, 0, 0)],
    "body-centred": [(0, 0, 0), (0.5, 0.5, 0.5)],
    "face-centred": [(0, 0, 0), (0.5, 0.5, 0), (0.5, 0, 0.5), (0, 0.5, 0.5)],
}
TOL = 1e-4


def half_ball(k: float) -> Case:
    """A ball in a field along x1, cut in half by an insulated side."""
    chi = (k - 1) / (k + 2) * 0.5**3

    def outside(x: np.ndarray) -> np.ndarray:
        return x[:, 0] * (1 - chi / np.maximum(np.linalg.norm(x, axis=1), 0.1) ** 3)

    exact = by_piece(outside, lambda x: 3 / (k + 2) * x[:, 0])

    def build() -> jn.Problem:
        box = jn.Box((-1, -1, 0), (1, 1, 1))
        g = jn.Dirichlet(on_boundary(exact))
        parts = jn.Partition(box, [jn.Ball((0, 0, 0), 0.5) & box])
        return jn.Problem(parts, A=[1.0, k], boundary={"x1": g, "x2": g, "x3-": jn.Neumann(0.0), "x3+": g})

    return Case(f"half ball on a side, k = {k:g}", "space", build, TOL, exact)


def edge() -> Case:
    """A re-entrant edge: u = r^(2/3) sin(2 theta/3), the same for every x3."""

    def u(x: np.ndarray) -> np.ndarray:
        r, theta = np.hypot(x[:, 0], x[:, 1]), np.arctan2(x[:, 1], x[:, 0]) % (2 * np.pi)
        return r ** (2 / 3) * np.sin(2 / 3 * theta)

    def build() -> jn.Problem:
        domain = jn.Box((-1, -1, 0), (1, 1, 1)) - jn.Box((0, -1, 0), (1, 0, 1))
        return jn.Problem(jn.Partition(domain), boundary=jn.Dirichlet(u))

    return Case("re-entrant edge", "space", build, TOL, everywhere(u))


def brick(k: float) -> Case:
    """A brick in a field along x1; nothing is known of it in closed form."""

    def build() -> jn.Problem:
        parts = jn.Partition(CUBE, [jn.Box((-0.4, -0.5, -0.3), (0.5, 0.4, 0.3))])
        return jn.Problem(parts, A=[1.0, k], boundary=jn.Dirichlet("x1"))

    return Case(f"brick, k = {k:g}", "space", build, TOL, why="judged only")


def superquadric(k: float) -> Case:
    """A superquadric in a field along x1; nothing is known of it in closed form."""

    def build() -> jn.Problem:
        parts = jn.Partition(CUBE, [jn.Superquadric((0.1, 0.0, 0.0), (0.5, 0.4, 0.4), 4)])
        return jn.Problem(parts, A=[1.0, k], boundary=jn.Dirichlet("x1"))

    return Case(f"superquadric, k = {k:g}", "space", build, TOL, why="judged only")


def block(lower: Sequence[float], upper: Sequence[float]) -> jn.Mesh:
    """A box as twelve triangles."""
    low, high = np.array(lower, float), np.array(upper, float)
    index = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [three for a, b, c, d in quads for three in ((a, b, c), (a, c, d))]
    return jn.Mesh(low + index * (high - low), np.array(faces))


def layers(name: str, bodies: Callable[[], list[Any]], ends: Sequence[float], A: Sequence[float]) -> Case:
    """Bodies of triangles that fill slabs across x1: u is linear in each."""
    steps = np.diff(ends) / np.array(A)
    values = np.concatenate([[0.0], np.cumsum(steps)]) / steps.sum()

    def build() -> jn.Problem:
        sides = {"x1-": jn.Dirichlet(0.0), "x1+": jn.Dirichlet(1.0), "x2": jn.Neumann(0.0), "x3": jn.Neumann(0.0)}
        found = bodies()
        return jn.Problem(jn.Partition(CUBE, found), A=_of_pieces(A, len(found)), boundary=sides)

    return Case(name, "bodies", build, TOL, everywhere(lambda x: np.interp(x[:, 0], ends, values)))


def _of_pieces(A: Sequence[float], bodies: int) -> list[float]:
    """The background first, then the bodies, of which a nested one comes after what is around it."""
    return [A[0], *A[1 : 1 + bodies]]


def bodies() -> list[Case]:
    """Two bodies of triangles, nested ones, and one through the walls of the box."""
    through = layers(
        "a body through the walls",
        lambda: [block((-0.2, -1.4, -1.3), (0.3, 1.5, 1.2)) & CUBE],
        [-1, -0.2, 0.3, 1],
        [1.0, 10.0, 1.0],
    )

    def alike(name: str, first: Callable[[], list[Any]], second: Callable[[], list[Any]], A: list[float]) -> Case:
        def build(made: Callable[[], list[Any]] = first) -> jn.Problem:
            return jn.Problem(jn.Partition(CUBE, made()), A=A, boundary=jn.Dirichlet("x1 + x2"))

        known: list[Any] = []

        def exact(x: np.ndarray, piece: np.ndarray) -> np.ndarray:
            if not known:
                known.append(jn.solve(build(second), tol=3e-5, method="fem", time_limit=300))
            return known[0](x, piece)

        return Case(name, "bodies", build, 1e-3, exact)

    ends = ((-0.7, -0.5, -0.5), (-0.1, 0.4, 0.3)), ((0.1, -0.4, -0.3), (0.6, 0.5, 0.5))
    inner = ((-0.3, -0.2, -0.2), (0.3, 0.2, 0.2)), ((-0.6, -0.5, -0.5), (0.6, 0.5, 0.5))

    def nested(make: Callable[..., Any]) -> Callable[[], list[Any]]:
        return lambda: [make(*inner[1]) - make(*inner[0]), make(*inner[0])]

    return [
        through,
        alike("two bodies", lambda: [block(*e) for e in ends], lambda: [jn.Box(*e) for e in ends], [1.0, 10.0, 0.1]),
        alike("nested bodies", nested(block), nested(jn.Box), [1.0, 10.0, 0.1]),
    ]


def fields() -> dict[str, Case]:
    """Problems whose u is compared."""
    listed = [
        ellipsoid((0.5, 0.1, 0.1), 10.0, TOL),
        ellipsoid((0.6, 0.06, 0.06), 10.0, TOL),
        cylinder(20.0, TOL),
        edge(),
        brick(10.0),
        half_ball(10.0),
        superquadric(10.0),
        *bodies(),
    ]
    return {case.name: case for case in listed}


def lattices() -> dict[str, tuple[jn.Partition, float, float]]:
    """Cells of lattices of balls, with k and the known value."""
    found = {}
    for lattice, fraction, k, value in LATTICES:
        centers = PLACES[lattice]
        radius = (3 * fraction / (4 * np.pi * len(centers))) ** (1 / 3)
        box, balls = jn.Box((-0.5,) * 3, (0.5,) * 3), []
        for center in centers:
            images = [np.array(center, float) - shift for shift in np.ndindex(2, 2, 2)]
            inside = [jn.Ball(tuple(c), radius) for c in images if np.abs(c).max() < 0.5 + radius]
            balls.append(inside[0] if center == (0, 0, 0) else functools.reduce(operator.or_, inside) & box)
        found[f"{lattice} {fraction:g}, k = {k:g}"] = (jn.Partition(box, balls), k, value)
    return found


def measured(name: str) -> dict[str, Any]:
    """One case, solved."""
    warnings.simplefilter("ignore")
    cells = lattices()
    began = _cpu()
    if name in cells:
        parts, k, value = cells[name]
        began = _cpu()
        found = jn.effective_tensor(parts, [1.0, *[k] * (parts.size - 1)], tol=1e-5)
        mean = float(np.trace(found.tensor)) / 3
        off = float(np.abs(np.linalg.eigvalsh(found.tensor) - value).max()) / value
        first = found.solutions[0]
        return _row(name, first, found.estimate / mean, off, _cpu() - began)
    case = fields()[name]
    problem = case.build()
    solution = jn.solve(problem, tol=case.tol)
    seconds = _cpu() - began
    x, piece = problem.partition.sample_interior(2000, seed=5)
    variation = float(np.std(solution(x, piece)))
    error = None if case.exact is None else float(np.sqrt(np.mean((solution(x, piece) - case.exact(x, piece)) ** 2)))
    return _row(name, solution, solution.estimate / variation, None if error is None else error / variation, seconds)


def _row(name: str, solution: Any, judged: float, error: float | None, seconds: float) -> dict[str, Any]:
    mesh = solution.diagnostics.mesh
    unknowns = len(solution.theta) if mesh is None else mesh.unknowns
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    found = {"name": name, "status": solution.status.name, "judged": judged, "error": error, "seconds": seconds}
    return found | {"unknowns": unknowns, "memory": memory, "tried": list(solution.diagnostics.tried)}


def _cpu() -> float:
    """CPU seconds of this process and of the mesher, which is ended: the system counts it then."""
    mesher._end()
    return sum(os.times()[:4])


def shown(row: dict[str, Any]) -> str:
    """A line of the table."""
    error = "-" if row.get("error") is None else f"{row['error']:.1e}"
    judged = f"{row['judged']:.1e}" if "judged" in row else "-"
    rest = f"{row['seconds']:.1f} | {row.get('unknowns', 0)} | {row.get('memory', 0):.2f}"
    return f"| {row['name']} | {row['status'].lower()} | {judged} | {error} | {rest} |"


def run(name: str, limit: float) -> dict[str, Any]:
    """A case in a process of its own."""
    command = [sys.executable, str(HERE / "space.py"), "--one", name]
    began = time.perf_counter()

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))

    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limited, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if lines:
        return json.loads(lines[-1])
    words = (done.stderr.strip().splitlines() or ["no words"])[-1][:90]
    status = "TIME-OUT" if done.returncode < 0 else words
    return {"name": name, "status": status, "seconds": limit if done.returncode < 0 else time.perf_counter() - began}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds of a case")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options.one)))
        return
    every = [*fields(), *lattices()]
    chosen = [name for name in every if not options.names or any(part in name for part in options.names)]
    if options.list:
        print("\n".join(chosen))
        return
    print(
        "| problem | status | judged | error | CPU seconds | unknowns | GB |\n|---|---|---|---|---|---|---|", flush=True
    )
    for name in chosen:
        print(shown(run(name, options.limit)), flush=True)


if __name__ == "__main__":
    main()
