"""pde4 of the paper with lam = u^2, by a network and by Newton's method; a charged sphere in an electrolyte.

    python -m benchmarks.nonlinear [network] [newton] [point] [surface]

pde4 is manufactured: printed are the root mean square error, what the judge says of it, and CPU seconds. The paper's
error for the linear pde4 is 2.3e-9. The sphere (Debye and Hueckel, linear, closed form) has a charge in its centre or
on its surface: printed is the largest error over the variation of u.
"""

import sys
import time

import numpy as np

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


def reaction(name: str) -> None:
    """Solve pde4 with lam = u^2, judge, print."""
    network = jn.Network(jn.models.CategoricalEmbedding(dim=1, neurons=50), points=(324, 72, 72), charts="box")
    began = time.process_time()
    tol = 1e-8 if name == "network" else 1e-6
    found = jn.solve_nonlinear(problem(), tol=tol, start=1.0, method=network if name == "network" else "auto")
    print(
        f"{name}: {found.status.name}, error {found.errors().l2:.2g}, estimate {found.estimate:.2g}, "
        f"{found.steps} steps, {time.process_time() - began:.0f} s CPU",
        flush=True,
    )


def sphere(charge: str) -> None:
    """Solve for the potential of a sphere of permittivity 2 in an electrolyte, kappa a = 1.5, in a cube; print."""
    kappa, inner, outer, q = 1.5, 2.0, 80.0, 1.0
    size = q / (4 * np.pi * outer * (1 + kappa))
    cube = jn.Partition(jn.Box((-2, -2, -2), (2, 2, 2)), [jn.Ball((0, 0, 0), 1.0)])
    stated = jn.Problem(
        cube,
        A=[outer, inner],
        lam=[outer * kappa**2, 0.0],
        boundary=jn.Dirichlet(f"{size}*exp({kappa}*(1 - r))/r"),
        sources=[jn.PointSource((0, 0, 0), q)] if charge == "point" else [],
        jumps=jn.Jump(w=0.0 if charge == "point" else -q / (4 * np.pi)),
    )
    began = time.process_time()
    found = jn.solve(stated, tol=1e-8)
    x, piece = cube.sample_interior(2000, seed=1)
    r = np.linalg.norm(x, axis=1)
    inside = size + (q / (4 * np.pi * inner) * (1 / r - 1) if charge == "point" else 0.0)
    exact = np.where(piece == 0, size * np.exp(kappa * (1 - r)) / r, inside)
    error = np.abs(found(x, piece) - exact).max() / np.std(exact)
    print(
        f"{charge} charge: {found.status.name}, error {error:.1g}, {time.process_time() - began:.1f} s CPU", flush=True
    )


def main(wanted: list[str]) -> None:
    """Run what is wanted, or all of it."""
    for name in wanted or ["network", "newton", "point", "surface"]:
        (reaction if name in ("network", "newton") else sphere)(name)


if __name__ == "__main__":
    main(sys.argv[1:])
