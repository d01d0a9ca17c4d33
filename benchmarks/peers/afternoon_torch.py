"""A yardstick: the paper's network trained by Levenberg-Marquardt as one would write it in torch in an afternoon.

    .venv/bin/python benchmarks/peers/afternoon_torch.py pde4 [--seeds 3] [--target 2.33e-9] [--steps 500] [--limit 300]

torch.func throughout: grad and hessian of the network for the residual of each kind of equation, vmap of jacrev for
the Jacobian, and QR of [J; sqrt(mu) I] for the step, on one thread. Data, rule and clock are in yardstick.py.
"""

import sys

import yardstick

try:
    import torch
    from torch.func import grad, grad_and_value, hessian, jacrev, vmap
except ImportError:
    sys.exit("torch is not installed; pip install 'jumpnet[bench]' adds it.")

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def network(problem, neurons):
    """u(x, theta, piece) with a trained label per piece, and the number of parameters.

    A piece is given by its unit vector, as an integer cannot index under vmap.
    """
    lower, upper = (torch.as_tensor(end, dtype=torch.float64) for end in problem.partition.bounds)
    d, pieces = problem.partition.dim, problem.partition.size
    sizes = [neurons * (d + 1), neurons, neurons, pieces]

    def u(x, theta, piece):
        w, b, c, labels = torch.split(theta, sizes)
        inputs = torch.cat([(2 * x - lower - upper) / (upper - lower), (labels @ piece)[None]])
        return c @ torch.sigmoid(w.reshape(neurons, d + 1) @ inputs + b)

    return u, sum(sizes)


def rows(u):
    """The residual of one row of each kind of equation; every one ends with the row's weight."""

    def pde(theta, x, piece, A, div_A, lam, f, weight):
        slope, value = grad_and_value(u)(x, theta, piece)
        return weight * ((A * hessian(u)(x, theta, piece)).sum() + div_A @ slope - lam * value - f)

    def boundary(theta, x, piece, g, weight):
        return weight * (u(x, theta, piece) - g)

    def jump(theta, x, a, b, v, weight):
        return weight * (u(x, theta, a) - u(x, theta, b) - v)

    def flux(theta, x, a, b, An_a, An_b, w, weight):
        slope = grad(u)
        return weight * (An_a @ slope(x, theta, a) - An_b @ slope(x, theta, b) - w)

    return {"pde": pde, "boundary": boundary, "jump": jump, "flux": flux}


def made(problem, neurons, counts, seed):
    """First parameters, residual(theta), step(theta, r, mu) and error(theta)."""
    u, size = network(problem, neurons)
    of_kind, units = rows(u), torch.eye(problem.partition.size)

    def tensor(part):
        return units[torch.as_tensor(part)] if part.dtype.kind == "i" else torch.as_tensor(part)

    blocks = [
        (of_kind[kind], [tensor(part) for part in data]) for kind, data in yardstick.equations(problem, counts, seed)
    ]

    def over_rows(row, data, theta):
        return vmap(row, (None,) + (0,) * len(data))(theta, *data)

    def residual(theta):
        return torch.cat([over_rows(row, data, theta) for row, data in blocks])

    def step(theta, r, mu):
        J = torch.cat([over_rows(jacrev(row), data, theta) for row, data in blocks])
        Q, R = torch.linalg.qr(torch.cat([J, mu**0.5 * torch.eye(len(theta))]))
        d = torch.linalg.solve_triangular(R, -(Q[: len(r)].T @ r)[:, None], upper=True)[:, 0]
        return d * min(1.0, 3 / float(d.norm()))

    x, piece, exact = map(tensor, yardstick.test_points(problem, counts, seed))

    def error(theta):
        return (vmap(u, (0, None, 0))(x, theta, piece) - exact).square().mean().sqrt()

    return torch.as_tensor(yardstick.initial(size, problem.partition.size, seed)), residual, step, error


if __name__ == "__main__":
    yardstick.main(__doc__ or "", made)
