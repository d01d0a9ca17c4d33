"""Finite elements in the plane where no functions for the problem are known: time, estimate and true error.

    python -m benchmarks.plane [NAME ...] [--limit 120]

Corners with lam or a varying A, a change of condition, a wave of short length (all with closed forms), and the paper's
heart and chessboard with f = 1, whose solutions are not known: there the error is the difference from a solution of a
hundredth of the tolerance. Seconds are those of `jn.solve`, with what it tried before finite elements, and the judge.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import jumpnet as jn
from jumpnet.experiments.problems import pde2, pde3

Exact = Callable[[np.ndarray], np.ndarray]
# The angle from the positive x1 axis; it jumps in the quadrant that the L-shape lacks, far from its sides.
ANGLE = "(atan2(-x1 - x2, x2 - x1) + 3/4*pi)"
L_SHAPE = [(-1, -1), (0, -1), (0, 0), (1, 0), (1, 1), (-1, 1)]


@dataclass(frozen=True)
class Row:
    """A problem, its tolerance and the seconds it may take; its solution, if it is known."""

    build: Callable[[], jn.Problem]
    tol: float
    seconds: float
    exact: Callable[[np.ndarray], np.ndarray] | None = None


def _polar(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.hypot(*x.T), np.arctan2(-x[:, 0] - x[:, 1], x[:, 1] - x[:, 0]) + 0.75 * np.pi


def _bessel(order: float) -> Exact:
    """I_order(r) sin(order theta): a solution of div grad u = u."""
    from scipy.special import iv

    def u(x: np.ndarray) -> np.ndarray:
        r, angle = _polar(x)
        return iv(order, r) * np.sin(order * angle)

    return u


def _power(x: np.ndarray) -> np.ndarray:
    r, angle = _polar(x)
    return r ** (2 / 3) * np.sin(2 * angle / 3)


def corner_lam() -> jn.Problem:
    """An L-shape with lam = 1."""
    return jn.Problem(jn.Partition(jn.Polygon(L_SHAPE)), lam=1.0, boundary=jn.Dirichlet(_bessel(2 / 3)))


def corner_varying() -> jn.Problem:
    """An L-shape with A = 1 + r^2, and the f that makes its first singular function the solution."""
    f = f"4/3*(x1**2 + x2**2)**(1/3)*sin(2/3*{ANGLE})"
    parts = jn.Partition(jn.Polygon(L_SHAPE))
    return jn.Problem(parts, A="1 + x1**2 + x2**2", f=f, boundary=jn.Dirichlet(_power))


def change() -> jn.Problem:
    """The condition changes in the middle of a side: the normal derivative vanishes to the left, u to the right."""
    parts = jn.Partition(
        jn.Box((-1, 0), (1, 1)), boundary={"insulated": "x2 < 1e-9 and x1 < 0", "cold": "x2 < 1e-9 and x1 > 0"}
    )
    rest = dict.fromkeys(name for name in parts.boundary_parts if name not in ("insulated", "cold"))
    wall = {name: jn.Dirichlet(_bessel(1 / 2)) for name in rest}
    return jn.Problem(parts, lam=1.0, boundary={"insulated": jn.Neumann(0), "cold": jn.Dirichlet(0), **wall})


def wave() -> jn.Problem:
    """Helmholtz's equation with k = 60 in a square, A = 2 in its disk, and jumps between two plane waves."""
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.1, 0), 0.4)])
    u = ["cos(36*x1 + 48*x2)", "sin(30*x1 - 30*x2)"]
    return jn.manufactured(parts, u, A=[1.0, 2.0], lam=-3600.0)


def heart() -> jn.Problem:
    """pde2's heart and coefficients with f = 1 and no jumps, u = 0 on the boundary."""
    given = pde2()
    return jn.Problem(given.partition, A=given.A, lam=given.lam, f=1.0, boundary=jn.Dirichlet(0))


def chessboard() -> jn.Problem:
    """pde3's chessboard and coefficients with f = 1 and no jumps, u = 0 on the boundary."""
    given = pde3()
    return jn.Problem(given.partition, A=given.A, f=1.0, boundary=jn.Dirichlet(0))


def _wave_exact(x: np.ndarray) -> np.ndarray:
    inside = np.hypot(x[:, 0] - 0.1, x[:, 1]) < 0.4
    return np.where(inside, np.sin(30 * x[:, 0] - 30 * x[:, 1]), np.cos(36 * x[:, 0] + 48 * x[:, 1]))


ROWS = {
    "corner, lam = 1": Row(corner_lam, 1e-6, 2.0, _bessel(2 / 3)),
    "corner, A = 1 + r^2": Row(corner_varying, 1e-6, 2.0, _power),
    "change of condition, lam = 1": Row(change, 1e-6, 2.0, _bessel(1 / 2)),
    "waves, k = 60": Row(wave, 1e-6, 5.0, _wave_exact),
    "heart, f = 1": Row(heart, 1e-5, 20.0),
    "chessboard, f = 1": Row(chessboard, 1e-4, 60.0),
}


def measured(name: str, row: Row, limit: float) -> str:
    """One line of the table."""
    problem = row.build()
    began, cpu = time.perf_counter(), time.process_time()
    found = jn.solve(problem, tol=row.tol, time_limit=limit)
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    x, piece = problem.partition.sample_interior(20_000, seed=1)
    u = found(x, piece)
    if row.exact is not None:
        true = row.exact(x)
    else:
        finer = jn.solve(problem, tol=row.tol / 100, time_limit=10 * limit)
        true = finer(x, piece)
    spread = float(np.std(true))
    error = float(np.sqrt(np.mean((u - true) ** 2))) / spread
    return (
        f"{name:30} {found.status.name:12} {wall:6.2f} {cpu:6.2f} {row.seconds:6.1f} {row.tol:8.0e} "
        f"{found.estimate / spread:9.1e} {error:9.1e}  {found.diagnostics.method}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of names")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for each solve")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'problem':30} {'status':12} {'wall':>6} {'cpu':>6} {'asked':>6} {'tol':>8} {'estimate':>9} {'error':>9}")
    for name, row in ROWS.items():
        if not given.names or any(part in name for part in given.names):
            print(measured(name, row, given.limit), flush=True)


if __name__ == "__main__":
    main()
