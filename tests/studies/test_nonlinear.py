"""Problems whose data depend on u, against closed forms: Kirchhoff's transform, radiation, Gouy and Chapman."""

import numpy as np
import pytest
from scipy.optimize import brentq

import jumpnet as jn
from jumpnet.fe.line import solve_line
from jumpnet.studies.nonlinear import newton
from jumpnet.studies.nonlinear.mixing import Mixing

ROD = jn.Partition(jn.Interval(0, 1))
LAYERS = jn.Partition(jn.Interval(0, 1), [jn.Interval(0.5, 1)])
X = np.linspace(0.001, 0.999, 101)


def ends(left, right):
    """Values at both ends."""
    return {"left": jn.Dirichlet(left), "right": jn.Dirichlet(right)}


def off(problem, exact, x=X, **options):
    """The largest error; its estimate must hold."""
    solution = jn.solve_nonlinear(problem, **options)
    error = np.abs(solution(x) - exact(x))
    assert solution.status.ok, solution.settings
    assert np.sqrt(np.mean(error**2)) <= solution.estimate + 1e-14
    through = (solution.net_flux(end).value for end in ("left", "right"))
    assert sum(through) == pytest.approx(_released(solution), abs=1e-6)
    return error.max()


def _released(solution):
    """What the linearised source amounts to: that of the nonlinear problem."""
    total, problem = 0.0, solution.problem
    for piece in range(solution.pieces):
        total += solution.integral(
            lambda x, u, piece=piece: problem.lam[piece].value(x) * u + problem.f[piece].value(x), over=piece
        ).value
    return total


def test_a_slab_whose_conductivity_depends_on_temperature():
    """(u + u^2/2)' is constant: u = sqrt(1 + 3 x) - 1."""
    problem = jn.NonlinearProblem(ROD, A="1 + u", boundary=ends(0, 1))
    assert off(problem, lambda x: np.sqrt(1 + 3 * x) - 1, tol=1e-9) < 1e-8


def test_two_layers_of_which_one_is_linear():
    q = brentq(lambda q: np.sqrt(1 + q) - 1 + q / 4 - 1, 0, 5)
    problem = jn.NonlinearProblem(LAYERS, A=["1 + u", 2.0], boundary=ends(0, 1))

    def exact(x):
        return np.where(x < 0.5, np.sqrt(1 + 2 * q * np.minimum(x, 0.5)) - 1, 1 - q * (1 - x) / 2)

    assert off(problem, exact, tol=1e-9) < 1e-8


@pytest.mark.parametrize("given", [{"lam": "N*u**3"}, {"f": "N*u**4"}, {"f": lambda x, u: 40 / 9 * u**4}])
def test_a_radiating_fin(given):
    """u'' = N u^4 with N = 10 b^2/9 is met by (1 + b x)^(-2/3)."""
    problem = jn.NonlinearProblem(ROD, boundary=ends(1, 3 ** (-2 / 3)), constants={"N": 40 / 9}, **given)
    assert off(problem, lambda x: (1 + 2 * x) ** (-2 / 3), start=1.0, tol=1e-9) < 1e-8


@pytest.mark.parametrize("end", [jn.Neumann("-3*u**4"), jn.Robin("3*u**3"), jn.Robin("u", "u**2 - 3*u**4")])
def test_a_rod_that_radiates_at_its_end(end):
    q = brentq(lambda q: q - 3 * (1 - q) ** 4, 0, 1)
    problem = jn.NonlinearProblem(ROD, boundary={"left": jn.Dirichlet(1), "right": end})
    assert off(problem, lambda x: 1 - q * x, start=1.0, tol=1e-9) < 1e-8


def test_gouy_and_chapman():
    """u'' = sinh u, the potential of a charged wall in an electrolyte."""
    g = np.tanh(4.0 / 4)

    def exact(x):
        return 2 * np.log((1 + g * np.exp(-x)) / (1 - g * np.exp(-x)))

    problem = jn.NonlinearProblem(jn.Partition(jn.Interval(0, 8)), f="sinh(u)", boundary=ends(4.0, float(exact(8.0))))
    assert off(problem, exact, 8 * X, tol=1e-8) < 1e-6


def test_a_resistance_that_depends_on_u():
    q = brentq(
        lambda q: (1 - q / 2) - q / 2 - 0.2 * (1 + ((1 - q / 2) ** 2 + q**2 / 4 + q * (1 - q / 2)) / 4) * q, 0, 5
    )
    problem = jn.NonlinearProblem(LAYERS, jumps=jn.Jump(R="0.2*(1 + u**2)"), boundary=ends(0, 1))
    assert off(problem, lambda x: np.where(x < 0.5, q * x, 1 - q * (1 - x)), tol=1e-9) < 1e-8


@pytest.mark.slow
def test_continuation_goes_where_a_start_from_zero_does_not():
    problem = jn.NonlinearProblem(
        jn.Partition(jn.Interval(0, 4)), f="sinh(load*u)/load", boundary=ends(1, 0), constants={"load": 12.0}
    )
    solution = jn.solve_nonlinear(problem, continuation=("load", [1.0, 4.0, 12.0]), tol=1e-7)
    assert solution.status.ok
    assert np.abs(solution.residual(X)).max() < 1e-2 * np.sinh(12.0) / 12
    assert jn.solve_nonlinear(problem, start=solution, tol=1e-7)(X[:1]) == pytest.approx(solution(X[:1]), abs=1e-6)


@pytest.mark.slow
def test_a_plane_problem_with_lam_u_squared_is_judged():
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0, 0), 0.5)])
    exact = ["exp(x1)", "1 + x1*x2"]
    linear = jn.manufactured(parts, exact, A=[1.0, 10.0])
    problem = jn.NonlinearProblem(
        parts, A=[1.0, 10.0], lam="u**2", f=["exp(x1) - exp(3*x1)", "-(1 + x1*x2)**3"],
        boundary={part: jn.Dirichlet(c.g) for part, c in linear.boundary.items()},
        jumps={pair: jn.Jump(j.v, j.w) for pair, j in linear.jumps.items()}, exact=exact,
    )  # fmt: skip
    solution = jn.solve_nonlinear(problem, tol=1e-5, start=1.0)
    assert solution.status.ok and solution.verdict.decided
    assert solution.errors().l2 <= solution.estimate
    assert solution.errors().l2 < 1e-5


def test_wrong_input_is_one_sentence():
    with pytest.raises(jn.ModelError, match="needs a jn"):
        jn.solve_nonlinear(jn.Problem(ROD))  # pyright: ignore[reportArgumentType]
    with pytest.raises(jn.JumpnetError, match="v2"):
        jn.solve_nonlinear(jn.NonlinearProblem(ROD, A="1 + v2"))
    with pytest.raises(jn.ProblemError, match="positive definite"):
        jn.solve_nonlinear(jn.NonlinearProblem(ROD, A="u", boundary=ends(0, 1)))
    with pytest.raises(jn.ProblemError, match="no constant 'load'"):
        jn.solve_nonlinear(jn.NonlinearProblem(ROD), continuation=("load", [0.5, 1.0]))


@pytest.mark.parametrize("charge", ["point", "surface"])
def test_born_ion(charge):
    """A charge in a sphere, eps 2, in water, eps 80: linear, closed form."""
    q, inner, outer, R = 1.0, 2.0, 80.0, 2.0
    parts = jn.Partition(jn.Ball((0, 0, 0), R), [jn.Ball((0, 0, 0), 1.0)])
    sources = [jn.PointSource((0, 0, 0), q)] if charge == "point" else []
    jumps = jn.Jump(w=0.0 if charge == "point" else -q / (4 * np.pi))
    far = jn.Dirichlet(q / (4 * np.pi * outer * R))
    solution = jn.solve(jn.Problem(parts, A=[outer, inner], boundary=far, jumps=jumps, sources=sources))
    x, _ = parts.sample_interior(500, seed=1)
    r = np.linalg.norm(x, axis=1)
    inside = q / (4 * np.pi * outer) + (q / (4 * np.pi * inner) * (1 / r - 1) if charge == "point" else 0.0)
    exact = np.where(r > 1, q / (4 * np.pi * outer * r), inside)
    assert np.sqrt(np.mean((solution(x) - exact) ** 2)) < 1e-10 * np.std(exact)


def test_a_charged_sphere_in_an_electrolyte_by_its_radius():
    """eps (u'' + 2 u'/r) = eps kappa^2 u outside: with A = eps r^2 a problem on the line."""
    kappa, outer, R = 1.5, 80.0, 6.0
    parts = jn.Partition(jn.Interval(1, R))
    sigma = 1 / (4 * np.pi)

    def exact(r):
        return sigma * np.exp(-kappa * (r - 1)) / (outer * (1 + kappa) * r)

    problem = jn.Problem(
        parts, A=f"{outer}*x1**2", lam=f"{outer}*{kappa}**2*x1**2",
        boundary={"left": jn.Neumann(sigma), "right": jn.Dirichlet(float(exact(R)))},
    )  # fmt: skip
    solution = jn.solve(problem, tol=1e-9)
    r = np.linspace(1, R, 101)
    assert np.abs(solution(r) - exact(r)).max() < 1e-8 * exact(1.0)


def test_a_time_limit_ends_the_iteration():
    parts = jn.Partition(jn.Interval(0, 1))
    problem = jn.NonlinearProblem(parts, A="1 + u", boundary={"left": jn.Dirichlet(0), "right": jn.Dirichlet(1)})
    found = jn.solve_nonlinear(problem, time_limit=1e-3)
    assert found.status is jn.Status.TIME_LIMIT and np.isnan(found.estimate)


def test_mixing_finds_the_limit_of_a_map_whose_steps_grow():
    """u -> M u + b with eigenvalues up to -3: the limit is found once there are as many steps as eigenvalues."""
    M, b = np.diag([-3.0, -1.5, 0.9, 0.2]), np.ones(4)
    limit, mixing, u = np.linalg.solve(np.eye(4) - M, b), Mixing(), np.zeros(4)
    for _ in range(6):
        after = M @ u + b
        mixing.add(object(), u, after)  # pyright: ignore[reportArgumentType]
        u = mixing.shares @ np.array(mixing.after)
    assert u == pytest.approx(limit, abs=1e-8) and mixing.left < 1e-8 and mixing.amplification > 2


@pytest.mark.parametrize(
    ("given", "start", "words"),
    [({"f": "10 + sqrt(u)"}, 1.0, "not finite"), ({"A": "1 - 2*u"}, 0.0, "not positive definite")],
)
def test_an_iteration_that_leaves_what_is_allowed_says_so(given, start, words):
    problem = jn.NonlinearProblem(ROD, boundary=ends(0, 1), **given)
    found = jn.solve_nonlinear(problem, start=start)
    assert found.status is jn.Status.STALLED and words in found.settings["reasons"][0]


@pytest.mark.parametrize(
    "failure", [ZeroDivisionError("x"), np.linalg.LinAlgError("x"), RuntimeError("singular"), jn.SolutionError("x")]
)
def test_whatever_a_linear_solve_raises_ends_the_iteration(failure, monkeypatch):
    calls = []

    def failing(*given, **options):
        calls.append(given)
        if len(calls) == 3:
            raise failure
        return jn.solve(*given, **options)

    monkeypatch.setattr(newton, "solve", failing)
    found = jn.solve_nonlinear(jn.NonlinearProblem(ROD, A="1 + u", boundary=ends(0, 1)), tol=1e-9)
    assert found.status is jn.Status.STALLED and np.isnan(found.estimate)
    assert str(failure) in found.settings["reasons"][-1]
    calls[:] = [(), ()]
    with pytest.raises(jn.ProblemError, match="about the start"):
        jn.solve_nonlinear(jn.NonlinearProblem(ROD, A="1 + u", boundary=ends(0, 1)))


@pytest.mark.filterwarnings("ignore::jumpnet.errors.JumpnetWarning")
def test_elements_whose_equations_overflow_are_refused_in_a_sentence():
    problem = jn.Problem(ROD, lam="-1e300*(1 + x1)", f="1e60*x1")
    with np.errstate(all="ignore"), pytest.raises(jn.SolutionError, match="do not determine"):
        solve_line(problem)
