"""hp elements on the line against closed forms: layers, contrasts, waves, degenerate and narrow data, conditions."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import erf

import jumpnet as jn
from jumpnet.errors import ProblemError
from jumpnet.fe.line import LineResult, solve_line
from jumpnet.fe.line.elements import gauss, shapes
from jumpnet.geometry.partition.intervals import intervals

Exact = Callable[[np.ndarray], np.ndarray]
UNIT = jn.Partition(jn.Interval(0, 1))
RISING = {"x1-": jn.Dirichlet(0), "x1+": jn.Dirichlet(1)}


def error(problem: jn.Problem, result: LineResult, exact: Exact | None = None) -> float:
    """The root mean square error relative to the variation, on points graded to both ends of the domain too."""
    x, piece = problem.partition.sample_interior(4000, seed=1)
    near = np.geomspace(1e-10, 0.4, 200)[:, None]
    x = np.concatenate([x, near, 1 - near])
    piece = np.concatenate([piece, problem.partition.label(near), problem.partition.label(1 - near)])
    truth = problem.exact_values(x, piece) if exact is None else exact(x[:, 0])
    return float(np.sqrt(np.mean((result.expansion.value(x, piece) - truth) ** 2)) / truth.std())


def check(problem: jn.Problem, exact: Exact | None = None, tol: float = 1e-8) -> LineResult:
    result = solve_line(problem, tol)
    assert result.converged, result.reason
    assert error(problem, result, exact) <= tol
    return result


def gaussian(center: float, width: float) -> Exact:
    """u'' = exp(-((x - center)/width)^2), u = 0 at both ends."""

    def twice(x: np.ndarray) -> np.ndarray:
        z = x - center
        return (
            0.5 * np.sqrt(np.pi) * width * (z * erf(z / width) + width / np.sqrt(np.pi) * np.exp(-((z / width) ** 2)))
        )

    ends = twice(np.array([0.0, 1.0]))
    return lambda x: twice(x) - ends[0] - x * (ends[1] - ends[0])


def test_shape_functions_are_orthonormal_in_the_derivative() -> None:
    xi, w = gauss(20)
    _, D, D2 = shapes(xi, 9)
    gram = (D[:, 2:] * w[:, None]).T @ D[:, 2:]
    np.testing.assert_allclose(gram, np.eye(8), atol=1e-13)
    step = 1e-6
    np.testing.assert_allclose((shapes(xi + step, 9)[0] - shapes(xi - step, 9)[0]) / (2 * step), D, atol=1e-8)
    np.testing.assert_allclose((shapes(xi + step, 9)[1] - shapes(xi - step, 9)[1]) / (2 * step), D2, atol=1e-6)
    assert np.abs(shapes(np.array([-1.0, 1.0]), 9)[0][:, 2:]).max() < 1e-14


@pytest.mark.parametrize("rate", [50, 100])
def test_a_conductivity_that_grows_by_43_orders(rate: int) -> None:
    problem = jn.Problem(UNIT, A=f"exp({rate}*x1)", boundary=RISING)
    check(problem, lambda x: np.expm1(-rate * x) / np.expm1(-rate), tol=1e-10)


def test_boundary_layers_of_a_hundredth_of_a_percent() -> None:
    problem = jn.Problem(UNIT, lam=1e8, boundary={"x1-": jn.Dirichlet(1), "x1+": jn.Dirichlet(2)})
    check(problem, lambda x: np.exp(-1e4 * x) + 2 * np.exp(-1e4 * (1 - x)))


def test_a_conductivity_that_nearly_vanishes() -> None:
    problem = jn.Problem(UNIT, A="x1 + 1e-8", boundary=RISING)
    check(problem, lambda x: np.log1p(1e8 * x) / np.log1p(1e8))


def test_a_conductivity_that_nearly_vanishes_twice_over() -> None:
    s = 1e-5
    problem = jn.Problem(UNIT, A="x1**2 + 1e-10", f=1.0, boundary=RISING)
    c = (1 - 0.5 * np.log1p(1 / s**2)) / np.arctan(1 / s)
    check(problem, lambda x: 0.5 * np.log1p((x / s) ** 2) + c * np.arctan(x / s))


@pytest.mark.filterwarnings("ignore:lam is negative")
def test_eighty_waves() -> None:
    k = 500.0
    problem = jn.Problem(UNIT, lam=-(k**2), boundary={"x1-": jn.Dirichlet(1), "x1+": jn.Dirichlet(0)})
    result = check(problem, lambda x: np.sin(k * (1 - x)) / np.sin(k))
    nearest = np.abs(np.pi**2 * np.arange(1, 300) ** 2 - k**2).min()
    assert result.eigenvalue == pytest.approx(nearest, rel=1e-2)


@pytest.mark.filterwarnings("ignore:lam is negative")
def test_near_a_resonance_the_estimate_knows_of_rounding() -> None:
    k = np.pi * 10 * np.sqrt(1 + 1e-9)
    problem = jn.Problem(UNIT, lam=-(k**2), boundary=RISING)
    result = solve_line(problem, 1e-8)
    assert result.eigenvalue == pytest.approx(1e-9 * 100 * np.pi**2, rel=1e-2)
    truth = error(problem, result, lambda x: np.sin(k * x) / np.sin(k))
    assert truth <= 3 * result.estimate / result.variation < 1e-5


def test_many_pieces_with_contrasts_of_a_million_millions() -> None:
    rng = np.random.default_rng(0)
    n = 200
    b = np.sort(np.concatenate([[0, 1], rng.uniform(0, 1, n - 1)]))
    A = 10.0 ** rng.uniform(-6, 6, n)
    A[:2] = 1e-6, 1e6
    problem = jn.Problem(jn.Partition.chain(b), A=A.tolist(), f=1.0, boundary=RISING)
    h, mid = np.diff(b), 0.5 * (b[1:] + b[:-1])
    q0 = (1 - np.sum(h * mid / A)) / np.sum(h / A)  # q = q0 + x
    u = np.concatenate([[0], np.cumsum(h * (q0 + mid) / A)])

    def exact(x: np.ndarray) -> np.ndarray:
        i = np.clip(np.searchsorted(b, x, side="right") - 1, 0, n - 1)
        return u[i] + (x - b[i]) * (q0 + 0.5 * (x + b[i])) / A[i]

    result = check(problem, exact, tol=1e-11)
    x, piece = mid[:, None], np.arange(n)
    flux = A * result.expansion.gradient(x, piece)[:, 0]
    np.testing.assert_allclose(flux, q0 + mid, rtol=1e-9)  # in every piece, however conducting


@pytest.mark.parametrize("width", [1e-3, 1e-5, 1e-8])
def test_narrow_sources(width: float) -> None:
    problem = jn.Problem(UNIT, f=f"exp(-((x1 - 0.3371)/{width})**2)")
    check(problem, gaussian(0.3371, width))


def test_a_narrow_source_in_a_callable() -> None:
    problem = jn.Problem(UNIT, f=lambda x: np.exp(-(((x[:, 0] - 0.3371) / 1e-5) ** 2)))
    check(problem, gaussian(0.3371, 1e-5))


@pytest.mark.parametrize("source", ["where(x1 < 0.3371, 0, 1)", lambda x: np.where(x[:, 0] < 0.3371, 0.0, 1.0)])
def test_a_source_that_jumps(source: object) -> None:
    problem = jn.Problem(UNIT, f=source)
    rest = 0.5 * (1 - 0.3371) ** 2
    result = check(problem, lambda x: 0.5 * np.maximum(x - 0.3371, 0) ** 2 - x * rest, tol=1e-10)
    if isinstance(source, str):
        assert len(result.expansion.start) == 2  # the formula names the point, which is a vertex


@pytest.mark.parametrize("R", [0.0, 1e-8, 1.0])
@pytest.mark.parametrize("order", ["chain", "shapes"])
def test_layers_with_jumps_and_contact_resistance(R: float, order: str) -> None:
    if order == "chain":
        parts = jn.Partition.chain([0, 0.2, 0.55, 1])
    else:  # numbers that do not rise from the left
        parts = jn.Partition(jn.Interval(0, 1), [jn.Interval(0.55, 1), jn.Interval(0, 0.2)])
    u = ["sin(3*x1)", "exp(x1) + 2", "x1**2 - 1"]
    boundary = {"x1-": jn.Neumann, "x1+": (jn.Robin, 2.0)}
    check(jn.manufactured(parts, u, A=[1, 100, "0.1 + x1"], lam=[0, 1, "1 + x1"], R=R, boundary=boundary), tol=1e-10)


def test_an_insulating_contact() -> None:
    problem = jn.Problem(jn.Partition.chain([0, 0.5, 1]), boundary=RISING, jumps=jn.Jump(R=1e8))
    q = 1 / (1 + 1e8)
    check(problem, lambda x: q * x + (x > 0.5) * 1e8 * q)


def test_a_piece_in_two_parts() -> None:
    parts = jn.Partition(jn.Interval(0, 1), [jn.Interval(0.3, 0.4) | jn.Interval(0.6, 0.7)])
    start, end, piece = intervals(parts)
    np.testing.assert_allclose(start, [0, 0.3, 0.4, 0.6, 0.7])
    np.testing.assert_allclose(end, [0.3, 0.4, 0.6, 0.7, 1])
    assert piece.tolist() == [0, 1, 0, 1, 0]
    check(jn.manufactured(parts, ["sin(3*x1)", "exp(x1) + 2"], A=["1 + x1", 5], R=1.0), tol=1e-10)


def test_periodic_ends_with_a_difference_and_a_mean() -> None:
    parts = jn.Partition(jn.Interval(0, 1), [jn.Interval(0.3, 0.6)])
    problem = jn.Problem(parts, A=[1, 1e4], boundary={"x1": jn.Periodic(1.0)}, mean=2.0)
    q = 1 / (0.7 + 0.3e-4)
    ends = np.array([0, 0.3, 0.6, 1])
    u = np.concatenate([[0], np.cumsum(q * np.diff(ends) / [1, 1e4, 1])])
    shift = 2 - np.sum(0.5 * (u[1:] + u[:-1]) * np.diff(ends))
    check(problem, lambda x: np.interp(x, ends, u) + shift, tol=1e-11)
    problem = jn.Problem(UNIT, f="cos(2*pi*x1)", lam=1.0, boundary={"x1": jn.Periodic()})
    check(problem, lambda x: -np.cos(2 * np.pi * x) / (4 * np.pi**2 + 1))


def test_pure_neumann_with_a_mean() -> None:
    problem = jn.Problem(UNIT, f="cos(pi*x1)", boundary=jn.Neumann(0), mean=5.0)
    check(problem, lambda x: 5 - np.cos(np.pi * x) / np.pi**2, tol=1e-10)


def test_cooling_to_an_ambient_temperature() -> None:
    problem = jn.Problem(UNIT, A=2.0, f=-3.0, boundary=jn.Robin(10.0, 250.0))
    check(problem, lambda x: 25.15 + 0.75 * x * (1 - x), tol=1e-11)


def test_point_sources() -> None:
    problem = jn.Problem(UNIT, A=2.0, sources=[jn.PointSource([0.3], 4.0), jn.PointSource([0.7], -1.0)])

    def green(x: np.ndarray, s: float) -> np.ndarray:
        return np.minimum(x, s) * (1 - np.maximum(x, s))

    check(problem, lambda x: (4 * green(x, 0.3) - green(x, 0.7)) / 2, tol=1e-12)


def test_derivatives_and_sides() -> None:
    parts = jn.Partition.chain([0, 0.4, 1])
    problem = jn.manufactured(parts, ["sin(3*x1)", "exp(x1) + 2"])
    field = solve_line(problem, 1e-12).expansion
    at = np.array([[0.4], [0.4]])
    sides = np.array([0, 1])
    np.testing.assert_allclose(field.value(at, sides), [np.sin(1.2), np.exp(0.4) + 2], rtol=1e-11)
    np.testing.assert_allclose(field.gradient(at, sides)[:, 0], [3 * np.cos(1.2), np.exp(0.4)], rtol=1e-9)
    np.testing.assert_allclose(field.hessian(at, sides)[:, 0, 0], [-9 * np.sin(1.2), np.exp(0.4)], rtol=1e-6)
    # Beyond its piece a side is the extension of the nearest element.
    assert field.value(np.array([[0.41]]), np.array([0]))[0] == pytest.approx(np.sin(1.23), abs=1e-8)


def test_what_is_refused() -> None:
    with pytest.raises(ProblemError, match="2 dimensions"):
        solve_line(jn.Problem(jn.Partition(jn.Box([0, 0], [1, 1]))))
    with pytest.raises(ProblemError, match="measured values"):
        solve_line(jn.Problem(UNIT, data=jn.Data([[0.5]], [1.0])))
