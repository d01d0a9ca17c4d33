"""Where boundary data jump or the kind of condition changes: what a solution has there is known, and need not be
approximated."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.engines.trefftz.enrichments.corners import corner_blocks
from jumpnet.problem.changes import changes, singular_points

SQUARE, HALF = jn.Box((-1, -1), (1, 1)), jn.Box((-1, 0), (1, 1))
COLD = {side: jn.Dirichlet(0.0) for side in ("left", "right", "bottom", "top")}
LEFT_OF_ORIGIN = {"base": "x2 < 1e-9 and x1 < 0"}
# A positive definite matrix that is no multiple of the identity, and the root of its inverse.
STRETCHED = np.array([[4.0, 1.0], [1.0, 1.0]])


def of_z(function, A=None):  # type: ignore[no-untyped-def]
    """The real part of a function of z = y1 + i y2, in coordinates y that make A the identity and keep x1 > 0."""
    root = np.eye(2) if A is None else np.linalg.cholesky(np.linalg.inv(A)).T

    def value(x):  # type: ignore[no-untyped-def]
        y = np.asarray(x) @ root.T
        return np.real(function(y[:, 0] + 1j * y[:, 1]))

    return value


def lid(x: np.ndarray, low: float = -1.0, high: float = 1.0) -> np.ndarray:
    """u = 1 on a stretch of the top of the square, 0 on the rest of its sides, by its Fourier series."""
    k = np.arange(1, 900)[:, None] * np.pi / 2
    up = np.exp(k * (x[:, 1] - 1)) * (1 - np.exp(-2 * k * (x[:, 1] + 1))) / (1 - np.exp(-4 * k))
    return np.sum((np.cos(k * (low + 1)) - np.cos(k * (high + 1))) / k * np.sin(k * (x[:, 0] + 1)) * up, axis=0)


def solved(problem: jn.Problem, seed: int = 0) -> jn.Solution:
    solution = jn.solve(problem, tol=1e-8, seed=seed)
    assert solution.status is jn.Status.CONVERGED
    assert len(solution.theta) < 400
    return solution


def check(problem: jn.Problem, exact) -> None:  # type: ignore[no-untyped-def]
    solution = solved(problem)
    x, piece = problem.partition.sample_interior(400, seed=3)
    x *= 0.95  # where the series of the lid has converged
    u = exact(x)
    error = np.sqrt(np.mean((solution(x, piece) - u) ** 2))
    assert error < 1e-8 * np.std(u)
    assert error < 3 * solution.estimate < 3e-8 * np.std(u)


def test_a_hot_lid() -> None:
    check(jn.Problem(jn.Partition(SQUARE), boundary=COLD | {"top": jn.Dirichlet(1.0)}), lid)


@pytest.mark.parametrize("seed", range(5))
def test_a_hot_lid_over_a_disk_has_a_quarter_in_its_centre(seed: int) -> None:
    """Four of them, turned, add up to one."""
    parts = jn.Partition(SQUARE, [jn.Disk((0, 0), 0.4)])
    solution = solved(jn.Problem(parts, A=[1, 10], boundary=COLD | {"top": jn.Dirichlet(1.0)}), seed)
    assert abs(solution([[0.0, 0.0]])[0] - 0.25) < 2e-9


def test_an_electrode_on_a_side() -> None:
    parts = jn.Partition(SQUARE, boundary={"electrode": "x2 > 1 - 1e-9 and x1 > -0.3 and x1 < 0.2"})
    problem = jn.Problem(parts, boundary=COLD | {"electrode": jn.Dirichlet(1.0)})
    assert np.allclose(sorted(corner.place[0] for corner in changes(problem)), [-0.3, 0.2], rtol=0, atol=1e-14)
    check(problem, lambda x: lid(x, -0.3, 0.2))


@pytest.mark.parametrize("A", [None, STRETCHED], ids=["isotropic", "anisotropic"])
def test_values_that_jump_on_a_side(A) -> None:  # type: ignore[no-untyped-def]
    exact = of_z(lambda z: np.angle(z) / np.pi + z.real**2 - z.imag**2, A)
    edge = of_z(lambda z: z**2, A)
    given = {side: jn.Dirichlet(exact) for side in ("left", "right", "top")}
    given["bottom"] = jn.Dirichlet(lambda x: np.where(np.asarray(x)[:, 0] < 0, 1.0, 0.0) + edge(x))
    check(jn.Problem(jn.Partition(HALF), A=1.0 if A is None else [A.tolist()], boundary=given), exact)


@pytest.mark.parametrize("A", [None, STRETCHED], ids=["isotropic", "anisotropic"])
def test_values_beside_a_flux_on_a_side(A) -> None:  # type: ignore[no-untyped-def]
    exact = of_z(np.sqrt, A)
    given = {side: jn.Dirichlet(exact) for side in ("left", "right", "top")}
    given |= {"base": jn.Dirichlet(0.0), "bottom": jn.Neumann(0.0)}
    parts = jn.Partition(HALF, boundary=LEFT_OF_ORIGIN)
    check(jn.Problem(parts, A=1.0 if A is None else [A.tolist()], boundary=given), exact)


def test_a_flux_that_jumps_on_a_side() -> None:
    exact = of_z(lambda z: z * np.log(z))
    given = {side: jn.Dirichlet(exact) for side in ("left", "right", "top")}
    given["bottom"] = jn.Neumann("where(x1 < 0, pi, 0)")
    check(jn.Problem(jn.Partition(HALF), boundary=given), exact)


def test_values_with_a_kink_on_a_side() -> None:
    exact = of_z(lambda z: -1j * z * np.log(z))
    given = {side: jn.Dirichlet(exact) for side in ("left", "right", "top")}
    given["bottom"] = jn.Dirichlet("where(x1 < 0, pi*x1, 0)")
    problem = jn.Problem(jn.Partition(HALF), boundary=given)
    assert [corner.place.tolist() for corner in changes(problem)] == [[0.0, 0.0]]
    check(problem, exact)


def test_the_problem_of_motz() -> None:
    """The first coefficient of u = sum a_k r^(k + 1/2) cos((k + 1/2) angle) is known to many digits."""
    given = {"base": jn.Dirichlet(0.0), "bottom": jn.Neumann(0.0), "right": jn.Dirichlet(500.0)}
    given |= {"left": jn.Neumann(0.0), "top": jn.Neumann(0.0)}
    solution = solved(jn.Problem(jn.Partition(HALF, boundary=LEFT_OF_ORIGIN), boundary=given))
    t, weight = np.polynomial.legendre.leggauss(60)
    angle, radius = np.pi / 2 * (t + 1), 0.5
    u = solution(radius * np.stack([np.cos(angle), np.sin(angle)], axis=1))
    assert np.sum(weight * u * np.cos(angle / 2)) / np.sqrt(radius) == pytest.approx(401.1624537452, rel=1e-9)


def test_a_disk_with_two_temperatures() -> None:
    parts = jn.Partition(jn.Disk((0, 0), 1.0), boundary={"upper": "x2 > 0"})
    problem = jn.Problem(parts, boundary={"upper": jn.Dirichlet(1.0), "boundary": jn.Dirichlet(0.0)})
    check(problem, lambda x: 0.5 + np.arctan2(2 * x[:, 1], 1 - x[:, 0] ** 2 - x[:, 1] ** 2) / np.pi)


def test_values_that_jump_where_an_interface_ends() -> None:
    """In each of two quarters u is linear in the angle, with slopes that their conductivities ask for."""
    k, right = 5.0, jn.Box((0, 0), (1, 1))

    def exact(x):  # type: ignore[no-untyped-def]
        x = np.asarray(x)
        angle = np.arctan2(x[:, 1], x[:, 0]) / (np.pi / 2)
        return np.maximum(angle, 1 + k * (angle - 1)) / (1 + k)

    given = {side: jn.Dirichlet(exact) for side in ("left", "right", "top")}
    given["bottom"] = jn.Dirichlet("where(x1 < 0, 1, 0)")
    check(jn.Problem(jn.Partition(HALF, [right]), A=[1.0, k], boundary=given), exact)


@pytest.mark.parametrize(
    "condition", [jn.Dirichlet(0.0), jn.Neumann(0.0), jn.Robin(5.0, 2.0)], ids=["values", "flux", "another Robin"]
)
def test_robins_condition_beside_another(condition: jn.Dirichlet | jn.Neumann | jn.Robin) -> None:
    """Powers of logarithms come with it; two seeds agree."""
    given = {"base": condition, "bottom": jn.Robin(1.0, 1.0), "left": jn.Neumann(0.0), "right": jn.Neumann(0.0)}
    problem = jn.Problem(jn.Partition(HALF, boundary=LEFT_OF_ORIGIN), boundary=given | {"top": jn.Dirichlet("x1")})
    check(problem, jn.solve(problem, tol=1e-10, seed=7))


def test_smooth_data_have_no_such_places() -> None:
    for g in ("x1", "sin(9*x1)*exp(x2)", "tanh(30*x1)", "exp(-(x1/0.01)**2)", 1.0):
        problem = jn.Problem(jn.Partition(SQUARE, [jn.Disk((0, 0), 0.4)]), A=[1, 10], boundary=jn.Dirichlet(g))
        assert not changes(problem) and not list(corner_blocks(problem, {0, 1}, "sudden"))
        assert len(singular_points(problem)) == 4
    # A jump that the interface asks for is none of the boundary's.
    halves = jn.Partition(SQUARE, [jn.Box((0, -1), (1, 1))])
    given = jn.Dirichlet("where(x1 < 0, 1, 0)")
    assert list(corner_blocks(jn.Problem(halves, boundary=given), {0, 1}, "sudden"))
    asked = jn.Problem(halves, boundary=given, jumps=jn.Jump(v=1.0))
    assert not list(corner_blocks(asked, {0, 1}, "sudden"))


def test_data_that_are_not_finite_somewhere_are_no_concern_here() -> None:
    problem = jn.Problem(jn.Partition(SQUARE), boundary=jn.Dirichlet("1/(x1 - 0.001953125)"))
    assert not changes(problem)
