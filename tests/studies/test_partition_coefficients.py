"""Interface laws: u_a/K_a - u_b/K_b = v + R A grad u . n, against closed forms, by every method, judged."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.files.opening import read_as_file

LAYERS = jn.Partition(jn.Interval(0, 3), [jn.Interval(1, 3)])


def layers(**options):
    """u = q x/2 up to 1, then K (q/2 - v + R q) + 2 q (x - 1); A = 2 and 1/2."""
    return jn.Problem(LAYERS, A=[2.0, 0.5], boundary={"left": jn.Dirichlet(0), "right": jn.Dirichlet(8)}, **options)


@pytest.mark.parametrize("method", ["auto", "trefftz", "fem"])
@pytest.mark.parametrize(("v", "R"), [(0.0, 0.0), (0.3, 0.25)])
def test_two_layers_have_the_closed_form(method, v, R):
    solution = jn.solve(layers(K=[1.0, 4.0], jumps=jn.Jump(v=v, R=R)), method=method, tol=1e-10)
    # On the interface n points to piece 0, to the left: A grad u . n = -q there.
    q = (8 + 4 * v) / (2 + 4 * R + 4)
    x = np.linspace(0.02, 2.98, 60)
    exact = np.where(x < 1, q * x / 2, 4 * (q / 2 - v + R * q) + 2 * q * (x - 1))
    assert solution.status.ok
    assert np.abs(solution(x) - exact).max() < 1e-10
    assert solution.net_flux("right").value == pytest.approx(q, rel=1e-10)
    assert np.abs(solution.residual(x)).max() < 1e-8


def coated(k=(1.0, 5.0, 0.2), K=(1.0, 0.5, 3.0), r1=0.6, r2=0.3):
    """A coated cylinder in a disk whose boundary has the values of a uniform field: u = (a r + b/r) cos t by piece."""
    M = [
        [1 / (r1 * K[0]), -r1 / K[1], -1 / (r1 * K[1]), 0],
        [-k[0] / r1**2, -k[1], k[1] / r1**2, 0],
        [0, r2 / K[1], 1 / (r2 * K[1]), -r2 / K[2]],
        [0, k[1], -k[1] / r2**2, -k[2]],
    ]
    b0, a1, b1, a2 = np.linalg.solve(M, [-r1 / K[0], -k[0], 0, 0]).tolist()
    shell, core = jn.Disk((0, 0), r1) - jn.Disk((0, 0), r2), jn.Disk((0, 0), r2)
    parts = jn.Partition(jn.Disk((0, 0), 1.0), [shell, core])
    problem = jn.Problem(parts, A=list(k), K=list(K), boundary=jn.Dirichlet(f"x1*(1 + ({b0!r})/(x1**2 + x2**2))"))

    def exact(x):
        r = np.hypot(*x.T)
        return x[:, 0] * np.select([r > r1, r > r2], [1 + b0 / r**2, a1 + b1 / r**2], a2)

    return problem, exact


def test_a_coated_cylinder_has_the_closed_form():
    problem, exact = coated()
    solution = jn.solve(problem, tol=1e-10)
    x, _ = problem.partition.sample_interior(800, seed=5)
    assert solution.status.ok
    assert np.abs(solution(x) - exact(x)).max() < 1e-10


def test_finite_elements_have_it_too_and_are_judged():
    problem, exact = coated()
    solution = jn.solve(problem, method="fem", tol=1e-4)
    x, _ = problem.partition.sample_interior(800, seed=5)
    error = np.sqrt(np.mean((solution(x) - exact(x)) ** 2))
    verdict = solution.verdict
    assert solution.status.ok
    assert error <= verdict.estimate
    corrected = np.sqrt(np.mean((verdict.corrected(x) - exact(x)) ** 2))
    assert corrected < 0.5 * error


def test_a_solution_that_is_wrong_is_found_out():
    problem, exact = coated()
    wrong, _ = coated(K=(1.0, 0.51, 3.0))
    answer = jn.solve(wrong, tol=1e-8)
    from dataclasses import replace

    claimed = replace(answer, representation=replace(answer.representation, factors=problem.K)).with_problem(problem)
    verdict = jn.judge(claimed)
    x, _ = problem.partition.sample_interior(800, seed=5)
    true = np.sqrt(np.mean((claimed(x) - exact(x)) ** 2))
    assert verdict.decided
    assert verdict.rms == pytest.approx(true, rel=0.2)


def test_the_mean_is_that_of_u_where_nothing_else_fixes_it():
    parts = jn.Partition(jn.Interval(0, 2), [jn.Interval(1, 2)])
    problem = jn.Problem(parts, K=[1.0, 3.0], boundary={"left": jn.Neumann(-1), "right": jn.Neumann(1)}, mean=2.0)
    solution = jn.solve(problem)
    # u = c + x up to 1, 3 c + 3 + (x - 1) after: the mean is (4 c + 4)/2.
    assert solution([0.5]) == pytest.approx(0.5, abs=1e-12)
    assert solution.mean().value == pytest.approx(2.0, abs=1e-12)
    assert jn.judge(solution).rms < 1e-12


def test_robin_conditions_on_a_part_with_two_coefficients():
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Box((0, -1), (1, 1))])
    exact = ["1 + x1 + x2", "2*(1 + x1/4 + x2)"]
    problem = jn.manufactured(
        parts, exact, A=["two/2", "two"], lam=[1.0, 0.5], K=["two/2", "two"],
        boundary={"x1": jn.Dirichlet, "x2": (jn.Robin, "two + x1")}, constants={"two": 2.0},
    )  # fmt: skip
    for method in ("auto", "fem"):
        assert jn.solve(problem, method=method, tol=1e-8).errors().linf < 1e-7


def test_networks_and_files_have_it_too(tmp_path):
    model = jn.models.CategoricalEmbedding(dim=1, neurons=10)
    solution = jn.solve(layers(K=[1.0, 4.0]), method=jn.Network(model), tol=1e-4)
    q, x = 8 / 6, np.linspace(0.1, 2.9, 30)
    exact = np.where(x < 1, q * x / 2, 2 * q + 2 * q * (x - 1))
    assert np.abs(solution(x) - exact).max() < 1e-3
    solution.save(tmp_path / "film.jumpnet")
    loaded = jn.load(tmp_path / "film.jumpnet")
    np.testing.assert_array_equal(loaded(x), solution(x))
    np.testing.assert_array_equal(loaded.grad(x), solution.grad(x))
    assert loaded.representation.factors == (1.0, 4.0)


FILM = """
[domain]
kind = "interval"
a = 0
b = 3
[constants]
half = 2.0
[materials.oil]
A = 0.5
K = "2*half"
[background]
A = 2.0
[pieces.film]
material = "oil"
shape = { kind = "interval", a = 1, b = 3 }
[boundary]
left = { kind = "dirichlet" }
right = { kind = "dirichlet", g = 8 }
[quantities]
through = { kind = "flux", boundary = "right" }
"""


def test_a_file_may_give_it_by_material():
    read = read_as_file(FILM)
    assert read.problem.K == (1.0, 4.0)
    assert read.quantities(read.solve())["through"].value == pytest.approx(8 / 6, rel=1e-12)
    spec = read.problem.spec()
    assert jn.Problem.from_spec(spec).K == (1.0, 4.0)


@pytest.mark.parametrize(
    ("K", "words"), [([1.0, 0.0], "positive"), ([1.0, "x1"], "one number for each piece"), ([1.0], "1 entries")]
)
def test_what_is_no_coefficient_is_refused(K, words):
    with pytest.raises(jn.ProblemError, match=words):
        layers(K=K)
