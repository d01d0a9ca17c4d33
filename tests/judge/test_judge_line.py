"""The judge on the line: the error it finds against the true one, for good answers and bad ones."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.fe.line import solve_line
from jumpnet.judge.judging import judge
from jumpnet.judge.line import judge_expansion, judge_line

UNIT = jn.Partition(jn.Interval(0, 1))
RISING = {"x1-": jn.Dirichlet(0), "x1+": jn.Dirichlet(1)}
SMALL = "ignore:.*"  # answers that did not converge are wanted here


def degree(n: int) -> dict[str, object]:
    return {"method": jn.Trefftz(basis=jn.models.Polynomials(degree=n))}


def layers(R: float = 1.0) -> jn.Problem:
    parts = jn.Partition.chain([0, 0.2, 0.55, 1])
    u = ["sin(3*x1)", "exp(x1) + 2", "x1**2 - 1"]
    boundary = {"x1-": jn.Neumann, "x1+": (jn.Robin, 2.0)}
    return jn.manufactured(parts, u, A=[1, 10, 0.1], lam=[0, 1, "1 + x1"], R=R, boundary=boundary)


def waves(k: float) -> jn.Problem:
    return jn.Problem(UNIT, lam=-(k**2), boundary=RISING, exact=f"sin({k!r}*x1)/sin({k!r})")


PROBLEMS = {
    "layers": layers(),
    "tight": layers(0.0),
    "grows": jn.Problem(UNIT, A="exp(50*x1)", boundary=RISING, exact="(1 - exp(-50*x1))/(1 - exp(-50))"),
    "boundary layer": jn.Problem(UNIT, lam=1e8, boundary=RISING, exact="exp(-10000*(1 - x1))"),
    "degenerate": jn.Problem(UNIT, A="x1 + 1e-8", boundary=RISING, exact="log(1 + x1*1e8)/log(1 + 1e8)"),
    "neumann": jn.Problem(UNIT, f="cos(pi*x1)", boundary=jn.Neumann(0), mean=5, exact="5 - cos(pi*x1)/pi**2"),
    "ambient": jn.Problem(
        UNIT, A=2.0, f="-3*sin(pi*x1)", boundary=jn.Robin(10.0, 250.0), exact="25 + 0.3/pi + 1.5*sin(pi*x1)/pi**2"
    ),
    "periodic": jn.Problem(
        UNIT, f="cos(2*pi*x1)", lam=1.0, boundary={"x1": jn.Periodic()}, exact="-cos(2*pi*x1)/(4*pi**2 + 1)"
    ),
    "jumping source": jn.Problem(
        UNIT, f="where(x1 < 0.25, 0, 1)", exact="where(x1 < 0.25, 0, (x1 - 0.25)**2/2) - x1*0.28125"
    ),
}


def ratio(problem: jn.Problem, solution: jn.Solution) -> float:
    """The judged error over the true one."""
    finding = judge_line(solution)
    assert finding.decided, finding.reason
    # Gauss's rule, graded to both ends, where layers are.
    near = np.geomspace(1e-9, 0.01, 40)
    ends = np.unique(np.concatenate([np.arange(101) / 100, near, 1 - near]))
    t, w = np.polynomial.legendre.leggauss(20)
    h = np.diff(ends)
    x = (ends[:-1, None] + 0.5 * h[:, None] * (1 + t)).reshape(-1, 1)
    piece = problem.partition.label(x)
    difference = solution(x, piece) - problem.exact_values(x, piece)
    true = np.sqrt(np.sum((0.5 * h[:, None] * w).ravel() * difference**2))
    assert finding.field is not None
    np.testing.assert_allclose(finding.field.value(x, piece), -difference, atol=0.05 * np.abs(difference).max())
    return finding.rms / float(true)


@pytest.mark.parametrize(("name", "order"), [(name, 2 + 3 * (k % 2)) for k, name in enumerate(PROBLEMS)])
@pytest.mark.filterwarnings(SMALL)
def test_bad_answers(name: str, order: int) -> None:
    problem = PROBLEMS[name]
    assert ratio(problem, jn.solve(problem, **degree(order))) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("name", ["layers", "neumann", "periodic"])
@pytest.mark.parametrize("tol", [1e-3, 1e-7])
def test_good_answers(name: str, tol: float) -> None:
    problem = PROBLEMS[name]
    assert ratio(problem, jn.solve(problem, tol=tol)) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("k", [20.0, 500.0])
@pytest.mark.filterwarnings(SMALL)
def test_waves(k: float) -> None:
    problem = waves(k)
    assert ratio(problem, jn.solve(problem, **degree(12))) == pytest.approx(1, abs=0.02)


@pytest.mark.filterwarnings(SMALL)
def test_a_network_that_was_stopped() -> None:
    problem = layers()
    model = jn.models.CategoricalEmbedding(dim=1, neurons=10)
    solution = jn.solve(problem, method=jn.Network(model, optimizer=jn.optim.LevenbergMarquardt(steps=20)))
    assert ratio(problem, solution) == pytest.approx(1, abs=0.02)


@pytest.mark.filterwarnings(SMALL)
def test_a_narrow_source_that_was_missed() -> None:
    problem = jn.Problem(UNIT, f="exp(-((x1 - 0.3371)/1e-5)**2)")
    solution = jn.solve(problem, **degree(6))
    x = np.linspace(0, 1, 2001)[:, None]
    truth = solve_line(problem, 1e-10).expansion.value(x, np.zeros(len(x), int))
    true = np.sqrt(np.mean((solution(x) - truth) ** 2))
    assert judge_line(solution).rms == pytest.approx(true, rel=0.02)


@pytest.mark.filterwarnings(SMALL)
def test_errors_of_quantities() -> None:
    problem = layers()
    solution = jn.solve(problem, **degree(3))
    verdict = judge(solution)
    better = jn.solve(problem, tol=1e-10)
    for over in ((0, 1), (1, 0), (1, 2), (2, 1), "x1-", "x1+"):
        lacking = better.net_flux(over).value - solution.net_flux(over).value
        assert verdict.error_of_net_flux(over) == pytest.approx(lacking, rel=1e-4, abs=1e-9)
    for piece in (0, 1, 2, None):
        lacking = better.mean(piece).value - solution.mean(piece).value
        assert verdict.error_of_mean(piece) == pytest.approx(lacking, rel=1e-4, abs=1e-9)
    x = np.linspace(0.01, 0.99, 50)[:, None]
    np.testing.assert_allclose(verdict.corrected(x), better(x), atol=1e-5 * verdict.rms)


@pytest.mark.filterwarnings(SMALL)
def test_an_error_of_rounding_is_told_as_one() -> None:
    problem = PROBLEMS["neumann"]
    finding = judge_line(jn.solve(problem, **degree(20)))
    assert finding.decided
    assert 1e-17 < np.hypot(finding.rms, finding.unresolved) < 1e-12


@pytest.mark.filterwarnings(SMALL)
def test_a_resonance_is_not_decided() -> None:
    finding = judge_line(jn.solve(waves(3 * np.pi), **degree(16)))
    assert "resonance" in finding.reason


@pytest.mark.filterwarnings(SMALL)
def test_measured_values_are_not_judged() -> None:
    problem = jn.Problem(UNIT, f=1.0, data=jn.Data([[0.5]], [1.0]))
    finding = judge_line(jn.solve(problem, **degree(4)))
    assert "measured values" in finding.reason
    assert finding.field is None


def test_finite_elements_of_its_own() -> None:
    problem = layers()
    answer = solve_line(problem, 1e-3).expansion
    x, piece = problem.partition.sample_interior(20_000, seed=0)
    true = np.sqrt(np.mean((answer.value(x, piece) - problem.exact_values(x, piece)) ** 2))
    finding = judge_expansion(problem, answer)
    assert finding.decided
    assert finding.rms == pytest.approx(true, rel=0.05)
    slope = 3 * np.cos(0.6) + answer.gradient(np.array([[0.2]]), np.array([0]))[0, 0] * -1
    assert finding.fluxes[0, 1] == pytest.approx(-slope, rel=1e-4)  # n points to the left
    best = judge_expansion(problem, solve_line(problem, 1e-12).expansion)
    assert best.decided
    assert np.hypot(best.rms, best.unresolved) < 1e-11
