"""pde4 of the paper with lam = u^2, manufactured: by a network on the nonlinear equations, and by Newton's method.

    python -m benchmarks.nonlinear [network] [newton]

Printed are the root mean square error, what the judge says of it, and CPU seconds. The paper's error for the linear
pde4 is 2.3e-9.
"""

import sys
import time

import jumpnet as jn
from jumpnet.experiments.problems import fa1, pde4


def problem() -> jn.NonlinearProblem:
    """div(A grad u) - u^2 u = f with the pieces, A and u of pde4."""
    parts, u = fa1()
    linear = jn.manufactured(parts, u, A=pde4().A, lam=[f"({one})**2" for one in u])
    return jn.NonlinearProblem(
        parts,
        A=linear.A,
        lam="u**2",
        f=linear.f,
        boundary={part: jn.Dirichlet(c.g) for part, c in linear.boundary.items()},
        jumps={pair: jn.Jump(j.v, j.w) for pair, j in linear.jumps.items()},
        exact=u,
    )


def main(methods: list[str]) -> None:
    """Solve, judge, print."""
    network = jn.Network(jn.models.CategoricalEmbedding(dim=1, neurons=50), points=(324, 72, 72), charts="box")
    for name in methods or ["network", "newton"]:
        began = time.process_time()
        tol = 1e-8 if name == "network" else 1e-6
        found = jn.solve_nonlinear(problem(), tol=tol, start=1.0, method=network if name == "network" else "auto")
        print(
            f"{name}: {found.status.name}, error {found.errors().l2:.2g}, estimate {found.estimate:.2g}, "
            f"{found.steps} steps, {time.process_time() - began:.0f} s CPU",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
