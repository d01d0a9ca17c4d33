"""The problems that ship with the package: the paper's, and real inclusions whose closed forms are checked here."""

import math
import warnings

import numpy as np
import pytest

from jumpnet.errors import JumpnetWarning, ProblemError
from jumpnet.experiments import problems
from jumpnet.problem import Problem, manufactured

H = 1e-5  # of a central difference of the exact gradient: rounding 1e-11, truncation 1e-8 here


def residuals(problem: Problem) -> dict[str, float]:
    """How far the exact solution is from meeting each equation, relative to the flux it is about."""
    parts, d = problem.partition, problem.dim
    assert problem.exact is not None

    def flux(piece, x):
        return np.einsum("nij,nj->ni", problem.A[piece].value(x), problem.exact[piece].gradient(x))

    worst = {"pde": 0.0, "gradient": 0.0, "v": 0.0, "w": 0.0, "boundary": 0.0}
    points, labels = parts.sample_interior(40 * parts.size, seed=1, minimum=20)
    for piece, u in enumerate(problem.exact):
        x = points[labels == piece]
        A, _, lam, f = problem.pde(piece, x)
        steps = H * np.eye(d)
        divergence = sum((flux(piece, x + s) - flux(piece, x - s))[:, i] for i, s in enumerate(steps)) / (2 * H)
        slopes = np.stack([u.value(x + s) - u.value(x - s) for s in steps], axis=1) / (2 * H)
        pde = np.abs(divergence - lam * u.value(x) - f).max() / np.abs(A).max()
        worst["pde"] = max(worst["pde"], pde)
        worst["gradient"] = max(worst["gradient"], np.abs(slopes - u.gradient(x)).max())
    for interface in parts.interfaces:
        a, b = interface.pair
        x, normals = parts.sample_interface((a, b), 40, seed=2)
        v, w = problem.jump_data((a, b), x, normals)
        sides = [np.einsum("ni,ni->n", normals, flux(piece, x)) for piece in (a, b)]
        worst["v"] = max(worst["v"], np.abs(problem.exact[a].value(x) - problem.exact[b].value(x) - v).max())
        size = max(1.0, *(np.abs(side).max() for side in sides))
        worst["w"] = max(worst["w"], np.abs(sides[0] - sides[1] - w).max() / size)
    for part in parts.boundary_parts:
        x, normals, on, _ = parts.sample_boundary(20, seed=3, part=part)
        kind, alpha, g = problem.boundary_data(part, x, normals, on)
        left = alpha * problem.exact_values(x, on)
        if kind != "dirichlet":
            left += [normals[i] @ flux(k, x[i : i + 1])[0] for i, k in enumerate(on)]
        worst["boundary"] = max(worst["boundary"], np.abs(left - g).max())
    return worst


PAPER = {
    "pde1": problems.pde1,
    "pde1, 100 pieces": lambda: problems.pde1(100),
    "pde2": problems.pde2,
    "pde3": problems.pde3,
    "pde4": problems.pde4,
    "pde5": problems.pde5,
    "ellipsoid3d": problems.ellipsoid3d,
    "sphere6d": problems.sphere6d,
}


@pytest.mark.parametrize("name", PAPER)
def test_the_manufactured_problems_are_consistent(name):
    assert max(residuals(PAPER[name]()).values()) < 1e-6


@pytest.mark.parametrize("k", [1e-3, 10.0, 1000.0])
@pytest.mark.parametrize("center", [(0.0, 0.0), (0.2, 0.1), (0.0, 0.0, 0.0), (0.1, -0.2, 0.15)])
@pytest.mark.parametrize("boundary", ["dirichlet", "mixed"])
def test_the_dipole_solves_the_inclusion(k, center, boundary):
    problem = problems.inclusion(len(center), k, center, boundary=boundary)
    assert max(residuals(problem).values()) < 1e-6
    kinds = [c.kind for c in problem.boundary.values()]
    wanted = (2, 1) if boundary == "mixed" else (0, 0)
    assert (kinds.count("neumann"), kinds.count("robin")) == wanted


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"k": 1e-3},
        {"k": 1000.0, "angle": 1.3},
        {"background": (1.0, 1.0), "angle": 0.3},
        {"axes": (0.3, 0.5), "background": (0.5, 3.0)},
        {"axes": (0.3, 0.3), "background": (1.0, 1.0)},
    ],
)
def test_the_closed_form_solves_the_ellipse(arguments):
    found = residuals(problems.ellipse_inclusion(**arguments))
    assert max(found[key] for key in ("v", "w", "boundary")) < 1e-12
    assert max(found.values()) < 1e-6


def test_a_round_ellipse_is_a_disk():
    disk = problems.inclusion(2, 10.0, (0.0, 0.0), radius=0.3)
    ellipse = problems.ellipse_inclusion(10.0, (0.3, 0.3), 0.0, (1.0, 1.0))
    x, labels = disk.partition.sample_interior(100, seed=0, minimum=30)
    np.testing.assert_allclose(ellipse.exact_values(x, labels), disk.exact_values(x, labels), rtol=1e-13)


def test_the_inclusions_are_not_manufactured():
    for problem in (problems.inclusion(), problems.ellipse_inclusion()):
        x, labels = problem.partition.sample_interior(50, seed=0, minimum=20)
        for piece in (0, 1):
            assert not problem.pde(piece, x[labels == piece])[3].any()
        points, normals = problem.partition.sample_interface((0, 1), 20, seed=0)
        assert not any(values.any() for values in problem.jump_data((0, 1), points, normals))


def test_the_chain_draws_a_b_c_d_e_in_this_order():
    rng = np.random.default_rng(2025)
    a, b, c, d, e = (rng.uniform(0.5, 1.5, 10) for _ in range(5))
    parts, u = problems.fa2(10)
    problem = problems.pde1(10)
    assert parts.size == len(u) == 10
    x = np.linspace(0.01, 2 * math.pi - 0.01, 200)[:, None]
    k = parts.label(x)
    np.testing.assert_array_equal(k, np.floor(x[:, 0] / (2 * math.pi / 10)))
    expected = a[k] * np.exp(np.sin(b[k] * x[:, 0]) + np.cos(c[k] * x[:, 0]))
    np.testing.assert_allclose(problem.exact_values(x, k), expected, rtol=1e-14)
    for piece in range(10):
        y = x[k == piece]
        A, _, lam, _ = problem.pde(piece, y)
        np.testing.assert_allclose(A[:, 0, 0], (d[piece] * y[:, 0]) ** 2, rtol=1e-14)
        np.testing.assert_allclose(lam, np.sin(e[piece] * y[:, 0]) ** 2, rtol=1e-13)


def test_the_matrix_of_pde5_is_the_rotated_diagonal():
    problem = problems.pde5()
    R = np.array([[2, 1, 2], [-2, 2, 1], [1, 2, -2]]) / 3
    x = np.random.default_rng(0).uniform(-0.4, 0.4, (5, 3))
    for piece, scale in enumerate([1, 0.1, 0.05, 10, 50]):
        for point, matrix in zip(x, problem.pde(piece, x)[0], strict=True):
            diagonal = np.diag(point @ point + np.array([1.0, 2.0, 3.0]))
            np.testing.assert_allclose(matrix, scale * R @ diagonal @ R.T, rtol=0, atol=1e-14 * scale)


def test_the_negative_lam_of_pde2_is_known():
    problem = problems.pde2()  # silent: warnings are errors here
    with pytest.warns(JumpnetWarning, match="lam is negative"):
        manufactured(problem.partition, list(problem.exact or ()), list(problem.A), list(problem.lam))


def test_both_labels_meet_the_boundary_of_pde3():
    problem = problems.pde3()
    _, _, labels, _ = problem.partition.sample_boundary(100, seed=0)
    assert set(labels) == {0, 1}


def test_fa1_is_pde4_without_the_equation():
    _, u = problems.fa1()
    assert u[4] == "log(x1 + x2 + 3)" and len(u) == problems.pde4().partition.size == 5


@pytest.mark.parametrize(
    "state",
    [
        lambda: problems.pde1(0),
        lambda: problems.fa2(2.5),  # type: ignore[arg-type]
        lambda: problems.inclusion(4),  # type: ignore[arg-type]
        lambda: problems.inclusion(2, center=(0, 0, 0)),
        lambda: problems.inclusion(boundary="periodic"),  # type: ignore[arg-type]
    ],
)
def test_wrong_arguments(state):
    with pytest.raises(ProblemError) as caught:
        state()
    assert "\n" not in str(caught.value)


def test_building_them_all_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for build in PAPER.values():
            build()
