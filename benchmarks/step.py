"""The cost of one Levenberg-Marquardt step, side by side in one run: ours, LAPACK's, and automatic differentiation.

    .venv/bin/python benchmarks/step.py

For the paper's CE model of pde2, pde4 and pde5: assembling residual and Jacobian in closed form against
vmap(jacrev) of the same rows in JAX; and the whole step (assembly, factorisation, solve) against LAPACK's dgeqrf of the
stacked matrix [J; sqrt(mu) I] plus its triangular solve. Medians, one BLAS thread, compilation excluded on both sides.
Prints a Markdown table; the ratios are what matters.
"""

import statistics
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from scipy.linalg import get_lapack_funcs
from threadpoolctl import threadpool_limits

from jumpnet._precision import float64
from jumpnet.charts import choose_atlases
from jumpnet.collocation import Points, collocate
from jumpnet.experiments import tables
from jumpnet.experiments.problems import pde2, pde4, pde5
from jumpnet.models import CategoricalEmbedding, System
from jumpnet.models.system import sum_over_sites
from jumpnet.optim.levenberg_marquardt import LevenbergMarquardt, qr_step
from jumpnet.rows import equations, weigh


def median(call: Callable[[], object], repeats: int) -> float:
    """Median milliseconds of a call."""
    call()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return 1e3 * statistics.median(times)


def system_of(name: str) -> System:
    """The paper's CE system of a problem."""
    problem = {"pde2": pde2, "pde4": pde4, "pde5": pde5}[name]()
    (row,) = tables.rows([name], ["CE"])
    lower, upper = (np.asarray(end, float) for end in problem.partition.bounds)
    rows = equations(problem, collocate(problem.partition, Points.of(row.points), seed=0))
    (atlas,) = choose_atlases("box", problem.partition)
    network = CategoricalEmbedding(1, row.neurons).network(atlas.inputs, problem.partition.size)
    return System(network, atlas.push_rows(weigh(rows, "equilibrated", (upper - lower) / 2)))


def by_autodiff(system: System) -> Callable[[jax.Array], jax.Array]:
    """Residual rows by differentiating the network twice, and their Jacobian by vmap(jacrev): the afternoon's way."""
    network, sites, layout = system.network, system._sites, system._layout

    def u(theta: jax.Array, x: jax.Array, cell: jax.Array) -> jax.Array:
        p = network.unpack(theta)
        return p.c @ jax.nn.sigmoid(x @ p.w + p.e[:, cell] @ p.v + p.b)

    def functional(theta: jax.Array, site) -> jax.Array:
        value, gradient = jax.value_and_grad(u, 1)(theta, site.x, site.cell)
        return site.a0 * value + site.a1 @ gradient + jnp.sum(site.a2 * jax.hessian(u, 1)(theta, site.x, site.cell))

    jacobian = jax.vmap(jax.jacrev(functional), (None, 0))
    return jax.jit(lambda theta: sum_over_sites(jacobian(theta, sites).T, layout))


def main() -> None:
    """Measure and print."""
    print("| problem | rows x parameters | assembly | vmap(jacrev) | ratio | step | dgeqrf + dtrtrs | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    geqrf, trtrs = get_lapack_funcs(("geqrf", "trtrs"), dtype=np.float64)
    for name, repeats in (("pde2", 40), ("pde4", 30), ("pde5", 12)):
        system = system_of(name)
        theta = system.network.initial(np.random.default_rng(0))
        r, J = system.linearised(theta)
        m, n = J.shape
        stacked = np.asfortranarray(np.vstack([np.c_[J, r], np.c_[np.sqrt(1e-6) * np.eye(n), np.zeros(n)]]))
        work = int(geqrf(stacked, lwork=-1)[2][0])
        optimizer = LevenbergMarquardt(step=qr_step)
        state = optimizer.init(system, theta)

        def lapack(stacked=stacked, work=work, n=n) -> None:
            R = geqrf(stacked, lwork=work)[0]
            trtrs(R[:n, :n], R[:n, n])

        with threadpool_limits(1), float64():
            differentiate, parameters = by_autodiff(system), jnp.asarray(theta)
            np.testing.assert_allclose(np.asarray(differentiate(parameters)).T, J, rtol=1e-9, atol=1e-12)
            assembly = median(lambda s=system, t=theta: s.linearised(t), repeats)
            autodiff = median(lambda d=differentiate, p=parameters: d(p).block_until_ready(), max(repeats // 4, 3))
            step = median(lambda o=optimizer, s=system, a=state: o.advance(s, a, 1), repeats)
            limit = median(lapack, repeats)
        print(
            f"| {name} | {m} x {n} | {assembly:.2f} ms | {autodiff:.1f} ms | {autodiff / assembly:.1f} "
            f"| {step:.2f} ms | {limit:.2f} ms | {step / limit:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
