"""The judge against errors that are known: answers to one problem, handed in as answers to another."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.experiments import problems
from jumpnet.judge import JudgeOptions, Verdict
from jumpnet.judge.singular import singular_corners

pytest.importorskip("ngsolve")
pytestmark = pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")
SQUARE, UNIT = jn.Box((-1, -1), (1, 1)), jn.Box((0, 0), (1, 1))
DISK = jn.Partition(SQUARE, [jn.Disk((0.2, 0.1), 0.4)])
CELL = jn.Partition(UNIT, [jn.Disk((0.5, 0.5), 0.3)])


def solved(problem: jn.Problem, tol: float = 1e-10) -> jn.Solution:
    return jn.solve(problem, tol=tol, method="trefftz")


def rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def test_an_answer_to_another_conductivity():
    """Both answers are known in closed form, and so is the error with all that follows from it."""
    problem = problems.inclusion(2, 12.0, (0.2, 0.1))
    answer, right = solved(problems.inclusion(2, 10.0, (0.2, 0.1))).with_problem(problem), solved(problem)
    verdict = jn.judge(answer)
    x, piece = DISK.sample_interior(500, seed=0)
    error = right(x, piece) - answer(x, piece)
    assert isinstance(verdict, Verdict) and verdict.decided and not verdict.singular and not verdict.reason
    assert np.abs(verdict.error(x, piece) - error).max() < 0.02 * np.abs(error).max()
    slope = right.grad(x, piece) - answer.grad(x, piece)
    assert rms(verdict.gradient(x, piece) - slope) < 0.05 * rms(slope)
    assert abs(verdict.rms / rms(error) - 1) < 0.1  # the points are random
    assert np.allclose(verdict.by_piece, [rms(error[piece == p]) for p in (0, 1)], rtol=0.15)
    assert verdict.estimate == pytest.approx(2 * verdict.rms + verdict.unresolved)
    assert verdict.corrected.gain > 5
    assert rms(right(x, piece) - verdict.corrected(x, piece)) < 1.5 * rms(error) / verdict.corrected.gain
    for over in ("x1-", "right", (0, 1), (1, 0)):
        wanted = right.net_flux(over).value - answer.net_flux(over).value
        assert verdict.error_of_net_flux(over) == pytest.approx(wanted, abs=1e-3 * 0.05)
    for of in (None, 0, 1):
        wanted = right.mean(of).value - answer.mean(of).value
        assert verdict.error_of_mean(of) == pytest.approx(wanted, rel=0.01, abs=1e-6)
    assert verdict.error_of_integral(1) == pytest.approx(verdict.error_of_mean(1) * np.pi * 0.16, rel=1e-4)
    assert "root mean square" in str(verdict) and "piece 1" in str(verdict)


def another(**given: object) -> jn.Problem:
    """A disk in a square of which something is given."""
    return jn.Problem(CELL, **{"A": [1.0, 10.0], "boundary": jn.Dirichlet("exp(x1)*sin(3*x2)"), **given})


# Two problems each: what was solved, and what it is handed in for.
CHANGED = {
    "contrast 1e6": [another(A=[1.0, 1e6 * s]) for s in (1, 3)],  # which changes u by 1e-6
    "contrast 1e-6": [another(A=[1.0, 1e-6], jumps=jn.Jump(w=s)) for s in (0.0, 1e-2)],
    "weak contact": [another(jumps=jn.Jump(R=1e4, v=s)) for s in ("x1", "1.2*x1")],
    "periodic": [another(A=[1.0, s], boundary={"x1": jn.Periodic(1.0), "x2": jn.Periodic()}) for s in (10, 12)],
    "point source": [another(sources=[jn.PointSource((0.1, 0.2), 1.0)], A=[1.0, s]) for s in (5.0, 6.0)],
}


@pytest.mark.parametrize("name", CHANGED)
def test_changed_problems(name):
    given, meant = CHANGED[name]
    answer, right = solved(given, 1e-6).with_problem(meant), solved(meant, 1e-6)
    if name == "contrast 1e6":
        answer, right = solved(given).with_problem(meant), solved(meant)
    verdict = jn.judge(answer)
    x, piece = CELL.sample_interior(300, seed=0)
    error = right(x, piece) - answer(x, piece)
    assert verdict.decided, verdict.reason
    assert rms(verdict.error(x, piece) - error) < 0.05 * rms(error)


# Conditions, and what the judge is allowed to miss: data of a penalty are off by 1e-5 or so.
SIDES = {"x1-": jn.Dirichlet, "x1+": jn.Neumann, "x2-": (jn.Robin, "2 + x1"), "x2+": (jn.Robin, 0.5)}
TENSOR = [["3 + x1", "x2"], ["x2", "2 + x2**2"]]


@pytest.mark.parametrize(
    "given",
    [
        {"boundary": SIDES, "lam": ["1 + x1", 3.0], "A": [TENSOR, 5.0], "R": 0.2},
        {"boundary": jn.Neumann, "A": [1.0, "3 + x1*x2"], "R": {(0, 1): "x1**2"}},
    ],
    ids=["all kinds", "flux only"],
)
def test_all_data_at_once(given):
    """Polynomials for polynomials: every right-hand side changes, and the error is a polynomial too."""
    answer = solved(jn.manufactured(CELL, u=["x1*x2 + 1", "x1**2 - x2"], **given), 1e-6)
    problem = jn.manufactured(CELL, u=["x1*x2 - x1**3", "x2**3 - x1"], **given)
    verdict = jn.judge(answer.with_problem(problem))
    x, piece = CELL.sample_interior(300, seed=0)
    error = problem.exact_values(x, piece) - answer(x, piece)
    assert verdict.decided and verdict.change < 1e-4
    assert rms(verdict.error(x, piece) - error) < 1e-4 * rms(error)


def test_elements_are_judged_on_their_own_mesh():
    problem = problems.inclusion(2, 10.0, (0.2, 0.1))
    for order in (2, 3):
        answer = jn.baselines.fem(problem, order=order, size=0.4)
        assert 0.8 < jn.judge(answer).rms / answer.errors().l2 < 1.25


def test_rounding_is_told_as_such():
    problem = problems.inclusion(2, 10.0)
    verdict = jn.judge(solved(problem))
    assert verdict.decided and verdict.rms < 1e-14


def test_cells_and_a_jump_of_the_boundary_values():
    """The centre is at 1/4 by symmetry; an answer of cells jumps where they meet, and fails in the corners."""
    sides = {"x1-": jn.Dirichlet(0.0), "x1+": jn.Dirichlet(0.0), "x2-": jn.Dirichlet(0.0), "x2+": jn.Dirichlet(1.0)}
    problem = jn.Problem(jn.Partition(SQUARE, [jn.Disk((0, 0), 0.4)]), A=[1.0, 10.0], boundary=sides)
    smooth = another(boundary=jn.Dirichlet("x2"))
    assert not list(singular_corners(smooth)) and len(list(singular_corners(problem))) == 2
    answer = solved(jn.Problem(problem.partition, A=problem.A, boundary=jn.Dirichlet("(1 + x2)/2"))).with_problem(
        problem
    )
    verdict = jn.judge(answer)
    assert verdict.decided and verdict.singular and verdict.safety == 5
    assert verdict.corrected([[0.0, 0.0]])[0] == pytest.approx(0.25, abs=2e-3)


def test_a_condition_that_changes_in_mid_side():
    """u = Re sqrt(z) in the upper half plane, insulated on one side of the origin; an answer without it."""
    parts = jn.Partition(jn.Box((-1, 0), (1, 1)), boundary={"cold": "x2 < 1e-6 and x1 < 0"})
    exact = "sqrt((x1 + sqrt(x1**2 + x2**2))/2)"
    sides = {side: jn.Dirichlet(exact) for side in ("x1-", "x1+", "x2+")}
    problem = jn.Problem(parts, boundary={"cold": jn.Dirichlet(0.0), "x2-": jn.Neumann(0.0), **sides})
    other = jn.Problem(parts, boundary={name: jn.Dirichlet("x1*x2") for name in ("cold", "x2-", *sides)})
    answer = solved(other).with_problem(problem)
    verdict = jn.judge(answer)
    x, piece = parts.sample_interior(500, seed=0)
    error = np.sqrt((x[:, 0] + np.linalg.norm(x, axis=1)) / 2) - x[:, 0] * x[:, 1]
    assert verdict.singular and rms(verdict.error(x, piece) - error) < 1e-2 * rms(error)


def test_negative_lam():
    """Clear of the spectrum (2 pi^2, 5 pi^2, ...) an answer is judged, at an eigenvalue it is not."""
    whole = jn.Partition(UNIT)
    exact = ["sin(3*x1)*sin(4*x2)"]
    answer = solved(jn.manufactured(whole, u=["x1*x2"], lam=-30.0), 1e-6)
    problem = jn.manufactured(whole, u=exact, lam=-30.0)
    x, piece = whole.sample_interior(300, seed=0)
    verdict = jn.judge(answer.with_problem(problem))
    error = problem.exact_values(x, piece) - answer(x)
    assert verdict.decided and rms(verdict.error(x) - error) < 0.05 * rms(error)
    near = jn.judge(answer.with_problem(jn.manufactured(whole, u=exact, lam=-2 * np.pi**2 * (1 + 1e-9))))
    assert not near.decided and "eigenvalue" in near.reason


def test_a_tolerance_and_a_budget(tmp_path):
    problem = problems.inclusion(2, 12.0)
    answer = solved(problems.inclusion(2, 10.0)).with_problem(problem)
    whole, quick = jn.judge(answer), jn.judge(answer, tol=1e-9)
    assert quick.decided and quick.finding.unknowns <= whole.finding.unknowns and quick.rms > 1e-8
    none = jn.judge(answer, seconds=0.0)
    assert not none.decided and "time limit" in none.reason
    answer.save(tmp_path / "answer.jumpnet")
    loaded = jn.load(tmp_path / "answer.jumpnet")
    assert jn.judge(loaded).rms == pytest.approx(whole.rms, rel=1e-9)


def test_what_is_not_judged_it_says():
    measured = jn.Problem(DISK, A=[1.0, 2.0], data=jn.Data([[0.9, 0.9]], [1.0]))
    answer = solved(another(boundary=jn.Dirichlet("x1")), 1e-2)
    ball, bounds = jn.Ball((0, 0, 0), 1), ((-1, -1, -1), (1, 1, 1))
    inner = jn.Partition(ball, [jn.Ball((0, 0, 0), 0.5)])
    in_space = solved(jn.Problem(inner, A=[1.0, 2.0], boundary=jn.Dirichlet("x1")), 1e-2)
    level = jn.Partition(ball, [jn.LevelSet("x1 - 0.3 + 0.1*x2**2", bounds=bounds)])  # it reaches the sphere
    unmeshed = jn.Problem(level, A=[1.0, 2.0])
    for found, problem, words in ((answer, measured, "measured"), (in_space, unmeshed, "reaches a curved boundary")):
        verdict = jn.judge(found.with_problem(problem))
        assert not verdict.decided and words in verdict.reason and words in str(verdict) and np.isnan(verdict.rms)
        with pytest.raises(jn.SolutionError, match="not known"):
            verdict.error(np.zeros((1, problem.dim)))
    with pytest.raises(jn.SolutionError, match="needs a solution"):
        jn.judge("pde2")


def test_a_ball():
    problem = problems.inclusion(3, 12.0)
    answer = solved(problems.inclusion(3, 10.0)).with_problem(problem)
    verdict = jn.judge(answer, options=JudgeOptions(across={3: 3}))
    x, piece = problem.partition.sample_interior(300, seed=0)
    error = problem.exact_values(x, piece) - answer(x, piece)
    assert verdict.decided and rms(verdict.error(x, piece) - error) < 0.1 * rms(error)


@pytest.mark.parametrize(("offset", "size"), [(1e9, 1.0), (1e6, 1e-6)])
def test_an_estimate_holds_the_rounding_errors_of_a_large_constant(offset, size):
    """u = offset + size (harmonic): the data are rounded to more than what is left of the error."""
    exact = f"{offset} + {size}*(x1**2 - x2**2)"
    problem = jn.Problem(DISK, boundary=jn.Dirichlet(exact))
    answer = jn.solve(problem, tol=1e-3, verify=True)
    x, piece = DISK.sample_interior(2000, seed=3)
    error = answer(x, piece) - offset - size * (x[:, 0] ** 2 - x[:, 1] ** 2)
    assert answer.verdict is not None and answer.verdict.decided
    assert rms(error) <= answer.verdict.estimate <= 1e-15 * offset


def test_a_mean_is_not_judged_by_the_rule_that_fixed_it():
    """Cut pieces of disks have areas to 1e-9; the constant that a mean fixes is as far off."""
    rings = jn.Partition(jn.Disk((0, 0), 1.0), [jn.Disk((0, 0), 0.5)])
    problem = jn.Problem(rings, A=[1.0, 10.0], f=[0.0, -1.0], boundary=jn.Neumann(-1 / 8), mean=-3.0)
    answer = jn.solve(problem, tol=1e-8, verify=True)
    x, piece = rings.sample_interior(2000, seed=3)
    r = np.linalg.norm(x, axis=1)
    # The mean of u - c is 2 times the integral of r (u - c) from 0 to 1.
    mean = (1 / 40) * (0.25**2 / 2) - (1 / 16) * (np.log(4.0) - 0.75)
    exact = np.where(piece == 0, -np.log(4 * r**2) / 16, (0.25 - r**2) / 40) - mean - 3.0
    error = rms(answer(x, piece) - exact)
    assert answer.verdict is not None
    assert error <= answer.verdict.estimate <= max(10 * error, 1e-13)


def test_a_mean_over_sampled_bodies_is_as_uncertain_as_it_says():
    """In space the box without its ball is sampled: such a constant does not reach 1e-6, and is not said to."""
    parts = jn.Partition(jn.Box((-1, -1, -1), (1, 1, 1)), [jn.Ball((0.2, 0, 0), 0.5)])
    sides = {"x1-": jn.Neumann(-1.0), "x1+": jn.Neumann(1.0), "x2": jn.Neumann(0.0), "x3": jn.Neumann(0.0)}
    jump = jn.Jump(v=-5.0)  # u = x1 outside and x1 + 5 in the ball
    problem = jn.Problem(parts, boundary=sides, jumps=jump, mean=5 * (np.pi / 6) / 8)
    x, piece = parts.sample_interior(2000, seed=3)
    for verify in (False, True):
        answer = jn.solve(problem, tol=1e-6, method="trefftz", verify=verify)
        error = rms(answer(x, piece) - x[:, 0] - 5 * (piece == 1))
        assert error <= answer.estimate
        assert not answer.status.ok


def test_nothing_is_decided_where_A_nearly_vanishes_on_the_boundary() -> None:
    """u changes within 1e-8 of the side there: finite elements and their judge do not see it, and say so."""
    problem = jn.Problem(
        jn.Partition(jn.Box((0, 0), (1, 1))),
        A="x1 + 1e-8",
        boundary={"left": jn.Dirichlet(1.0), "right": jn.Dirichlet(0.0), "x2": jn.Neumann(0.0)},
    )
    solution = jn.solve(problem, tol=1e-3, method=jn.FEM(order=3, size=0.2), verify=True)
    assert not solution.status.ok
    assert np.isnan(solution.estimate)
    assert "A falls by a factor" in solution.verdict.reason
