"""The yardstick: the paper's network trained by Levenberg-Marquardt as one would write it in JAX in an afternoon.

    .venv/bin/python benchmarks/peers/afternoon.py pde4 [--seeds 3] [--target 2.33e-9] [--steps 500] [--limit 300]

Every derivative is automatic: the network is differentiated for the residual of each kind of equation, the residuals
row by row for the Jacobian (vmap of jacrev), and QR of [J; sqrt(mu) I] gives the step, all of it compiled. The rule is
the best simple one: every finite step is accepted, mu is halved or doubled every second step, steps are at most 3
long, rows are divided by the size of their coefficients, inputs lie in [-1, 1], the best parameters are kept.

jumpnet supplies the data only (points, coefficients, right-hand sides), which nobody's clock sees. The clock runs
during steps; compilation is timed apart, and the error at test points is looked at while the clock stands still.
Prints one line of JSON for each seed.
"""

import argparse
import json
import time

import jax
import jax.numpy as jnp
import numpy as np

from jumpnet.collocation import Points, Stream, collocate
from jumpnet.experiments import problems, tables
from jumpnet.fields.piecewise import piecewise_values

jax.config.update("jax_enable_x64", True)


def network(problem, neurons):
    """u(theta, x, piece) with a trained label per piece, and random parameters."""
    lower, upper = (np.asarray(end, float) for end in problem.partition.bounds)
    d, pieces = problem.partition.dim, problem.partition.size
    cuts = np.cumsum([neurons * (d + 1), neurons, neurons])

    def u(theta, x, piece):
        w, b, c, labels = jnp.split(theta, cuts)
        inputs = jnp.append((2 * x - lower - upper) / (upper - lower), labels[piece])
        return c @ jax.nn.sigmoid(w.reshape(neurons, d + 1) @ inputs + b)

    def initial(seed):
        rng = np.random.default_rng(seed)
        return jnp.concatenate([rng.standard_normal(cuts[-1]), rng.uniform(-1, 1, pieces)])

    return u, initial


def equations(problem, u, counts, seed):
    """(residual of one row, its data) for each kind of equation; every residual ends with the row's weight."""
    points = collocate(problem.partition, Points.of(counts), seed=seed)
    x, piece = points.interior, points.piece
    A, div_A, lam, f = zip(*(problem.pde(l, y[None]) for l, y in zip(piece, x, strict=True)), strict=True)
    A, div_A, lam, f = (np.concatenate(part) for part in (A, div_A, lam, f))

    def pde(theta, x, piece, A, div_A, lam, f, weight):
        value, slope = jax.value_and_grad(u, 1)(theta, x, piece)
        return weight * (jnp.sum(A * jax.hessian(u, 1)(theta, x, piece)) + div_A @ slope - lam * value - f)

    def boundary(theta, x, piece, g, weight):
        return weight * (u(theta, x, piece) - g)

    def jump(theta, x, a, b, v, weight):
        return weight * (u(theta, x, a) - u(theta, x, b) - v)

    def flux(theta, x, a, b, An_a, An_b, w, weight):
        slope = jax.grad(u, 1)
        return weight * (An_a @ slope(theta, x, a) - An_b @ slope(theta, x, b) - w)

    yield pde, (x, piece, A, div_A, lam, f, 1 / np.abs(A).max(axis=(1, 2)) / np.sqrt(len(x)))
    x, piece = points.boundary, points.boundary_piece
    g = piecewise_values(problem.exact, x, piece)
    yield boundary, (x, piece, g, np.full(len(x), 1 / np.sqrt(len(x))))
    for (a, b), (x, n) in points.interfaces.items():
        v, w = problem.jump_data((a, b), x, n)
        sides = np.full(len(x), a), np.full(len(x), b)
        An_a, An_b = (np.einsum("nij,nj->ni", problem.A[l].value(x), n) for l in (a, b))
        weight = np.full(len(x), 1 / np.sqrt(len(x)))
        yield jump, (x, *sides, v, weight)
        yield flux, (x, *sides, An_a, An_b, w, weight / np.maximum(np.abs(An_a), np.abs(An_b)).max(axis=1))


def compiled(problem, u, counts, seed):
    """residual(theta) and step(theta, r, mu), ready to be compiled."""
    blocks = [(row, jax.tree.map(jnp.asarray, data)) for row, data in equations(problem, u, counts, seed)]

    def over_rows(row, data, theta):
        return jax.vmap(row, (None,) + (0,) * len(data))(theta, *data)

    @jax.jit
    def residual(theta):
        return jnp.concatenate([over_rows(row, data, theta) for row, data in blocks])

    @jax.jit
    def step(theta, r, mu):
        J = jnp.concatenate([over_rows(jax.jacrev(row), data, theta) for row, data in blocks])
        Q, R = jnp.linalg.qr(jnp.concatenate([J, jnp.sqrt(mu) * jnp.eye(len(theta))]))
        d = jax.scipy.linalg.solve_triangular(R, -Q[: len(r)].T @ r)
        return d * jnp.minimum(1, 3 / jnp.linalg.norm(d))

    return residual, step


def error_measure(problem, u, counts, seed):
    """The root mean square error at ten times as many test points as interior ones."""
    x, piece = problem.partition.sample_interior(10 * counts[0], seed=[seed, int(Stream.TEST)])
    exact = jnp.asarray(piecewise_values(problem.exact, x, piece))
    x, piece = jnp.asarray(x), jnp.asarray(piece)
    return jax.jit(lambda theta: jnp.sqrt(jnp.mean((jax.vmap(u, (None, 0, 0))(theta, x, piece) - exact) ** 2)))


def train(problem, neurons, counts, seed, target, steps, limit):
    """One training until the error is below the target: (clock, error of the best so far) after each step."""
    u, initial = network(problem, neurons)
    residual, step = compiled(problem, u, counts, seed)
    error = error_measure(problem, u, counts, seed)
    theta, mu = initial(seed), 1.0
    began = time.perf_counter()
    r = residual(theta)
    step(theta, r, mu).block_until_ready()
    compiling = time.perf_counter() - began
    loss = best_loss = float(r @ r)
    clock, count, best, curve = 0.0, 0, float(error(theta)), []
    while count < steps and clock < limit and not best <= target:
        began = time.perf_counter()
        theta = theta + step(theta, r, mu)
        r = residual(theta)
        new = float(r @ r)
        count += 1
        if count % 2 == 0:
            mu = max(mu / 2, 1e-16) if new < loss else min(mu * 2, 1e8)
        loss = new
        clock += time.perf_counter() - began
        if not np.isfinite(loss):
            break
        if loss < best_loss:
            best_loss, best = loss, float(error(theta))
        curve.append((clock, best))
    return {"seed": seed, "compiling": compiling, "curve": curve}


def main():
    """Train for each seed and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problem", choices=("pde2", "pde3", "pde4", "pde5"))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--target", type=float, help="the error to reach; the paper's if not given")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--limit", type=float, default=300, help="seconds of steps for each seed")
    given = parser.parse_args()
    row, problem = tables.row(given.problem, "CE"), getattr(problems, given.problem)()
    target = row.l2 if given.target is None else given.target
    for seed in range(given.seeds):
        print(json.dumps(train(problem, row.neurons, row.points, seed, target, given.steps, given.limit)), flush=True)


if __name__ == "__main__":
    main()
