"""A yardstick: the paper's network trained by Levenberg-Marquardt as one would write it in JAX in an afternoon.

    .venv/bin/python benchmarks/peers/afternoon.py pde4 [--seeds 3] [--target 2.33e-9] [--steps 500] [--limit 300]

Every derivative is automatic: the network is differentiated for the residual of each kind of equation, the residuals
row by row for the Jacobian (vmap of jacrev), and QR of [J; sqrt(mu) I] gives the step, all of it compiled. Data, rule
and clock are in yardstick.py.
"""

import jax
import jax.numpy as jnp
import numpy as np
import yardstick

jax.config.update("jax_enable_x64", True)


def network(problem, neurons):
    """u(theta, x, piece) with a trained label per piece, and the number of parameters."""
    lower, upper = (np.asarray(end, float) for end in problem.partition.bounds)
    d, pieces = problem.partition.dim, problem.partition.size
    cuts = np.cumsum([neurons * (d + 1), neurons, neurons])

    def u(theta, x, piece):
        w, b, c, labels = jnp.split(theta, cuts)
        inputs = jnp.append((2 * x - lower - upper) / (upper - lower), labels[piece])
        return c @ jax.nn.sigmoid(w.reshape(neurons, d + 1) @ inputs + b)

    return u, int(cuts[-1]) + pieces


def rows(u):
    """The residual of one row of each kind of equation; every one ends with the row's weight."""

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

    return {"pde": pde, "boundary": boundary, "jump": jump, "flux": flux}


def made(problem, neurons, counts, seed):
    """First parameters, residual(theta), step(theta, r, mu) and error(theta), ready to be compiled."""
    u, size = network(problem, neurons)
    of_kind = rows(u)
    blocks = [
        (of_kind[kind], jax.tree.map(jnp.asarray, data)) for kind, data in yardstick.equations(problem, counts, seed)
    ]

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

    x, piece, exact = map(jnp.asarray, yardstick.test_points(problem, counts, seed))

    @jax.jit
    def error(theta):
        return jnp.sqrt(jnp.mean((jax.vmap(u, (None, 0, 0))(theta, x, piece) - exact) ** 2))

    return jnp.asarray(yardstick.initial(size, problem.partition.size, seed)), residual, step, error


if __name__ == "__main__":
    yardstick.main(__doc__ or "", made)
