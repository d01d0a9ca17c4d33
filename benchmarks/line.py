"""Finite elements on the line: time and true error on problems whose solution is known.

    python benchmarks/line.py

Each row: seconds of one core (importing and stating the problem excluded), elements, unknowns, the estimate and the
true root mean square error, both relative to the variation of u.
"""

import time
import warnings
from collections.abc import Callable

import numpy as np

import jumpnet as jn
from jumpnet.fe.line import solve_line

UNIT = jn.Partition(jn.Interval(0, 1))
RISING = {"x1-": jn.Dirichlet(0), "x1+": jn.Dirichlet(1)}
Exact = Callable[[np.ndarray], np.ndarray]


def many_pieces(n: int) -> tuple[jn.Problem, Exact]:
    """n pieces at random, conductivities of 1e-6 to 1e6 at random, f = 1: q = q0 + x."""
    rng = np.random.default_rng(0)
    b = np.sort(np.concatenate([[0, 1], rng.uniform(0, 1, n - 1)]))
    A = 10.0 ** rng.uniform(-6, 6, n)
    h, mid = np.diff(b), 0.5 * (b[1:] + b[:-1])
    q0 = (1 - np.sum(h * mid / A)) / np.sum(h / A)
    u = np.concatenate([[0], np.cumsum(h * (q0 + mid) / A)])

    def exact(x: np.ndarray) -> np.ndarray:
        i = np.clip(np.searchsorted(b, x, side="right") - 1, 0, n - 1)
        return u[i] + (x - b[i]) * (q0 + 0.5 * (x + b[i])) / A[i]

    return jn.Problem(jn.Partition.chain(b), A=A.tolist(), f=1.0, boundary=RISING), exact


def problems() -> dict[str, tuple[jn.Problem, Exact]]:
    k = 500.0
    return {
        "lam = 1e8": (jn.Problem(UNIT, lam=1e8, boundary=RISING), lambda x: np.exp(-1e4 * (1 - x))),
        "A = x + 1e-8": (jn.Problem(UNIT, A="x1 + 1e-8", boundary=RISING), lambda x: np.log1p(1e8 * x) / np.log1p(1e8)),
        "Helmholtz, k = 500": (jn.Problem(UNIT, lam=-(k**2), boundary=RISING), lambda x: np.sin(k * x) / np.sin(k)),
        "A = exp(100 x)": (
            jn.Problem(UNIT, A="exp(100*x1)", boundary=RISING),
            lambda x: np.expm1(-100 * x) / np.expm1(-100),
        ),
        "1,000 pieces, contrasts 1e12": many_pieces(1000),
    }


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'problem':30s} {'seconds':>8s} {'elements':>8s} {'unknowns':>8s} {'estimate':>9s} {'error':>9s}")
    for name, (problem, exact) in problems().items():
        began = time.process_time()
        result = solve_line(problem, 1e-8)
        seconds = time.process_time() - began
        x, piece = problem.partition.sample_interior(20_000, seed=0)
        near = np.geomspace(1e-9, 0.1, 1000)[:, None]
        x = np.concatenate([x, near, 1 - near])
        piece = np.concatenate([piece, problem.partition.label(near), problem.partition.label(1 - near)])
        truth = exact(x[:, 0])
        error = np.sqrt(np.mean((result.expansion.value(x, piece) - truth) ** 2)) / truth.std()
        counts = f"{len(result.expansion.start):8d} {result.expansion.unknowns:8d}"
        print(f"{name:30s} {seconds:8.3f} {counts} {result.estimate / result.variation:9.1e} {error:9.1e}")


if __name__ == "__main__":
    main()
