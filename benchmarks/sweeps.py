"""How long a sweep of 1,000 solves of two inclusions takes: `python -m benchmarks.sweeps [PROCESSES]`."""

import sys
import time

import jumpnet as jn


def main() -> None:
    """40 by 25 conductivities of two disks in a square, the mean of u in the first of them."""
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((-0.4, 0), 0.3), jn.Disk((0.4, 0.1), 0.3)])
    constants = {"k": 1.0, "m": 1.0}
    problem = jn.Problem(parts, A=[1.0, "k", "m"], boundary=jn.Dirichlet("x1"), constants=constants)
    began = time.perf_counter()
    vary = {"k": jn.Span(1e-3, 1e3, 40), "m": jn.Span(1e-2, 1e2, 25)}
    table = jn.sweep(problem, vary, {"mean": ("mean", 1)}, workers=workers)
    seconds = time.perf_counter() - began
    print(f"{len(table)} solves, all converged: {table.ok}, {seconds:.0f} s, {workers} processes", flush=True)


if __name__ == "__main__":
    main()
