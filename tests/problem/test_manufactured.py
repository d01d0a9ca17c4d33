"""Derived data against finite differences, in one, two and three dimensions and for every kind of condition."""

import jax.numpy as jnp
import numpy as np
import pytest

from jumpnet.geometry import Ball, Box, Disk, LevelSet, Partition
from jumpnet.problem import Dirichlet, Neumann, Robin, manufactured

H = 1e-5
SQUARE = Box((-1, -1), (1, 1))
MATRIX = [["2 + x1**2", "0.3*x1*x2"], ["0.3*x1*x2", "1 + x2**2"]]


def callable_u(x):
    return jnp.exp(x[:, 0]) * jnp.sin(2 * x[:, 1])


PROBLEMS = {
    "1-D": lambda: manufactured(
        Partition.chain([0.0, 1.0, 2.0]), ["exp(x)", "sin(3*x)"], ["1 + x", 2.0], [1.0, "x"], Dirichlet
    ),
    "2-D": lambda: manufactured(
        Partition(SQUARE, [Disk((0.2, 0.1), 0.4)]),
        ["exp(x1)*sin(2*x2)", "x1**3 - x2"],
        [MATRIX, "10 + x1"],
        ["1 + x1**2", 0.5],
        {"left": Dirichlet, "right": Neumann, "top": (Robin, "2 + x1*x2"), "bottom": Neumann},
    ),
    "2-D, callable": lambda: manufactured(
        Partition(SQUARE, [Disk((0.2, 0.1), 0.4)]),
        [callable_u, "x1**3 - x2"],
        [lambda x: 2 + x[:, 0] ** 2, 3.0],
        boundary={"left": Dirichlet, "right": Neumann, "top": Dirichlet, "bottom": (Robin, 1.0)},
    ),
    "2-D, boundary with two labels": lambda: manufactured(
        Partition(SQUARE, [LevelSet("x1 + 0.3*x2", bounds=((-1, -1), (1, 1)))]),
        ["x1**2", "x2**2 + 1"],
        [1.0, 100.0],
        boundary={"left": Dirichlet, "right": Neumann, "top": (Robin, 2.0), "bottom": Neumann},
    ),
    "3-D": lambda: manufactured(
        Partition(Box((-1, -1, -1), (1, 1, 1)), [Ball((0, 0, 0.1), 0.5)]),
        ["exp(x1 + x2*x3)", "cos(x1)*x3"],
        [1.0, 1000.0],
        boundary=(Robin, 2.0),
    ),
}


def flux(problem, piece, x):
    """A grad u (n, d), the gradient by central differences."""
    d, u = problem.dim, problem.exact[piece]
    gradient = np.stack([(u.value(x + s) - u.value(x - s)) / (2 * H) for s in H * np.eye(d)], axis=1)
    return np.einsum("nij,nj->ni", problem.A[piece].value(x), gradient)


@pytest.fixture(scope="module", params=PROBLEMS)
def problem(request):
    return PROBLEMS[request.param]()


def test_the_equation_holds_in_every_piece(problem):
    points, labels = problem.partition.sample_interior(60, seed=1, minimum=20)
    step = 1e-4  # a difference of differences: rounding 1e-16/(1e-5*1e-4), truncation 1e-8
    for piece in range(problem.partition.size):
        x = points[labels == piece]
        divergence = sum(
            (flux(problem, piece, x + s) - flux(problem, piece, x - s))[:, i] / (2 * step)
            for i, s in enumerate(step * np.eye(problem.dim))
        )
        A, _, lam, f = problem.pde(piece, x)
        residual = divergence - lam * problem.exact[piece].value(x) - f
        np.testing.assert_allclose(residual / np.abs(A).max(), 0.0, atol=2e-5)


def test_boundary_data_follow_the_solution_of_the_piece_that_is_bounded(problem):
    parts = problem.partition
    for part in parts.boundary_parts:
        x, normals, labels, _ = parts.sample_boundary(20, seed=2, part=part)
        kind, alpha, g = problem.boundary_data(part, x, normals, labels)
        expected = alpha * problem.exact_values(x, labels)
        if kind != "dirichlet":
            fluxes = np.array([flux(problem, k, x[i : i + 1])[0] for i, k in enumerate(labels)])
            expected += np.einsum("ni,ni->n", normals, fluxes)
        np.testing.assert_allclose(g, expected, rtol=1e-7, atol=1e-7)


def test_jumps_are_lower_minus_higher_piece(problem):
    for interface in problem.partition.interfaces:
        a, b = interface.pair
        x, normals = problem.partition.sample_interface((a, b), 20, seed=3)
        v, w = problem.jump_data((a, b), x, normals)
        np.testing.assert_array_equal(v, problem.exact[a].value(x) - problem.exact[b].value(x))
        expected = np.einsum("ni,ni->n", normals, flux(problem, a, x) - flux(problem, b, x))
        np.testing.assert_allclose(w, expected, rtol=1e-6, atol=1e-6)


def test_the_normal_on_an_interface_points_to_the_lower_piece(problem):
    parts = problem.partition
    for interface in parts.interfaces:
        x, normals = parts.sample_interface(interface.pair, 20, seed=3)
        assert (parts.label(x + 1e-6 * normals) == interface.pair[0]).all()
