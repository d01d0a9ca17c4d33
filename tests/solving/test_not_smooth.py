"""Where solutions are not smooth and nothing is known of why: the answer is right, or said not to be."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.engines.trefftz.enrichments import corners
from jumpnet.experiments import problems
from jumpnet.problem.resolution import survey

BOX = jn.Box((-1, -1), (1, 1))


@pytest.fixture
def without_powers(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nothing were known of corners: elements do what powers would."""
    monkeypatch.setattr(corners, "corner_blocks", lambda *_: iter(()))


@pytest.mark.usefixtures("without_powers")
@pytest.mark.parametrize("k", [pytest.param(3.0, marks=pytest.mark.slow), 10.0])
def test_four_materials_at_a_point_with_an_exact_solution(k: float) -> None:
    """u ~ r^(2/3) and r^0.39."""
    solution = jn.solve(problems.crossing(k), tol=1e-5)
    error = solution.errors()
    assert solution.status is jn.Status.CONVERGED and "finite elements" in solution.diagnostics.method
    assert error.relative_l2 <= 1e-5
    assert 1 / 3 <= solution.estimate / error.l2 <= 30


@pytest.mark.usefixtures("without_powers")
def test_a_good_conductor_that_floats() -> None:
    """A square of conductivity 100 that is heated: all of its heat must arrive outside."""
    parts = jn.Partition(BOX, [jn.Box((-0.5, -0.5), (0.5, 0.5))])
    problem = jn.Problem(parts, A=[1.0, 100.0], f=[0.0, -1.0], boundary=jn.Dirichlet(0.0))
    solution = jn.solve(problem, tol=1e-3)
    assert solution.status is jn.Status.CONVERGED
    flux = sum(solution.net_flux(side).value for side in ("left", "right", "bottom", "top"))
    assert flux == pytest.approx(-1.0, abs=2e-3)
    assert solution(np.zeros((1, 2)))[0] == pytest.approx(0.1, abs=0.02)


@pytest.mark.slow
def test_a_cusp_with_constant_coefficients_agrees_with_itself_refined() -> None:
    problem = jn.Problem(problems.pde2().partition, A=[1.0, 10.0], f=1.0, boundary=jn.Dirichlet(0.0))
    loose, tight = (jn.solve(problem, tol=tol) for tol in (1e-2, 1e-4))
    assert loose.status is tight.status is jn.Status.CONVERGED
    x, piece = problem.partition.sample_interior(500, seed=3)
    change = np.sqrt(np.mean((loose(x, piece) - tight(x, piece)) ** 2))
    assert change <= 3 * loose.estimate


@pytest.mark.slow
def test_a_coating_of_a_hundred_thousandth_of_the_domain() -> None:
    """A coated disk in a disk, u = x1 on its edge: in every layer u = (p + q/r^2) x1."""
    outer, inner, k = 0.5, 0.5 - 1e-5, 1e5
    core = jn.Disk((0, 0), inner)
    parts = jn.Partition(jn.Disk((0, 0), 1), [jn.Disk((0, 0), outer) - core, core])
    solution = jn.solve(jn.Problem(parts, A=[1, k, 10], boundary=jn.Dirichlet("x1")), tol=1e-4)
    a, b = outer**-2, inner**-2
    conditions = [[1, 1, 0, 0, 0], [1, a, -1, -a, 0], [1, -a, -k, k * a, 0], [0, 0, 1, b, -1], [0, 0, k, -k * b, -10]]
    p, q, _, _, within = np.linalg.solve(conditions, [1, 0, 0, 0, 0])
    x = np.array([[0.3, 0.2], [0.49, 0.0], [0.6, -0.4], [-0.1, 0.8]])
    exact = np.array([within, within, p + q / 0.52, p + q / 0.65]) * x[:, 0]
    assert solution.status is jn.Status.CONVERGED
    assert np.abs(solution(x) - exact).max() < 1e-4


@pytest.mark.parametrize("dim", [1, 2])
def test_a_problem_without_data_has_the_solution_zero(dim: int) -> None:
    domain = jn.Interval(0, 1) if dim == 1 else BOX
    solution = jn.solve(jn.Problem(jn.Partition(domain), A="1 + x1**2", boundary=jn.Dirichlet(0.0)))
    assert solution.status is jn.Status.CONVERGED and not solution(np.full((3, dim), 0.3)).any()


WIDE = jn.Box((0, 0), (1, 1))
STEP = "where(x1 < 0.3, 1, 100)"
BETWEEN = {"left": jn.Dirichlet(0.0), "right": jn.Dirichlet(0.307), "x2": jn.Neumann(0.0)}


def test_a_jump_of_A_inside_a_piece_is_for_finite_elements():
    """At points the equation knows nothing of it: u = 0.307 x1 meets it everywhere and is wrong by half."""
    ends = {side: BETWEEN[side] for side in ("left", "right")}
    line = jn.Problem(jn.Partition(jn.Interval(0, 1)), A=STEP, boundary=ends)
    solution = jn.solve(line, tol=1e-6)
    assert solution.status is jn.Status.CONVERGED
    assert "jumps inside" in solution.diagnostics.tried[0]
    assert float(solution([[0.3]])[0]) == pytest.approx(0.3, abs=1e-6)
    plane = jn.Problem(jn.Partition(WIDE), A=STEP, boundary=BETWEEN)
    with pytest.warns(jn.JumpnetWarning, match="A of piece 0 jumps near"):
        refused = jn.solve(plane, method="trefftz", tol=1e-3)
    assert refused.status is jn.Status.UNRESOLVED
    verdict = jn.judge(refused)
    assert not verdict.decided and "jumps near" in verdict.reason
    found = jn.solve(plane, tol=3e-2)
    assert found.status is jn.Status.CONVERGED and found.diagnostics.method.startswith("finite elements")
    x = np.random.default_rng(0).uniform(0, 1, (500, 2))
    true = np.where(x[:, 0] < 0.3, x[:, 0], 0.3 + (x[:, 0] - 0.3) / 100)
    error = np.sqrt(np.mean((found(x) - true) ** 2))
    assert error <= found.estimate


@pytest.mark.parametrize("inside", [True, False])
def test_a_jump_of_A_on_a_wall_is_none_inside_a_piece(inside: bool):
    parts = jn.Partition(WIDE, [jn.Box((0, 0), (0.3 if inside else 0.4, 1))])
    problem = jn.Problem(parts, A=STEP, boundary=BETWEEN)
    assert bool(survey(problem).hidden) is not inside
