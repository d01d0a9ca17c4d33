"""Fourier-Bessel functions: they solve Helmholtz's equation, and waves across and around a disk are solved by them."""

import numpy as np
import pytest
from scipy.special import jv, jvp, yv, yvp

import jumpnet as jn
from jumpnet.models.families import family_from_spec, family_spec
from jumpnet.models.families.waves import Waves
from jumpnet.rows import Sites


def functional(family: Waves, x: np.ndarray, a0: float, a1: np.ndarray, a2: np.ndarray) -> np.ndarray:
    n = len(x)
    sites = Sites(x, np.zeros(n, int), np.full(n, a0), np.tile(a1, (n, 1)), np.tile(a2, (n, 1, 1)))
    return family.functionals(sites)


@pytest.mark.parametrize("singular", [False, True])
@pytest.mark.parametrize("rate, degree", [(0.5, 5), (20.0, 30), (85.0, 110)])
def test_the_functions_solve_their_equation_and_have_their_derivatives(
    rate: float, degree: int, singular: bool
) -> None:
    family = Waves(degree, rate, singular)
    inner, outer = (1.0, 1.4) if singular else (0.05, 0.95)
    rng = np.random.default_rng(0)
    r, angle = rng.uniform(inner, outer, 40), rng.uniform(0, 2 * np.pi, 40)
    x = np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1)
    none, still = np.zeros((2, 2)), np.zeros(2)
    values = functional(family, x, 1.0, still, none)
    bessel, n = (yv if singular else jv), np.arange(degree + 1)
    size = np.where(n > rate, np.abs(bessel(n, rate)), 1.0)
    wanted = bessel(n, rate * r[:, None]) / size
    np.testing.assert_allclose(
        values,
        np.hstack([wanted * np.cos(n * angle[:, None]), (wanted * np.sin(n * angle[:, None]))[:, 1:]]),
        rtol=0,
        atol=1e-11 * np.abs(wanted).max(),
    )
    scale = (1 + max(rate, degree)) * np.abs(values).max()
    assert np.abs(functional(family, x, rate**2, still, np.eye(2))).max() <= 1e-12 * scale * (1 + max(rate, degree))
    step = 1e-6
    for along in np.eye(2):
        slope = functional(family, x, 0.0, along, none)
        ends = [functional(family, x + sign * step * along, 1.0, still, none) for sign in (1, -1)]
        np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=0, atol=1e-5 * scale)
        second = functional(family, x, 0.0, still, np.outer(along, along))
        sides = [functional(family, x + sign * step * along, 0.0, along, none) for sign in (1, -1)]
        bound = 1e-5 * scale * (1 + max(rate, degree))
        np.testing.assert_allclose(second, (sides[0] - sides[1]) / (2 * step), rtol=0, atol=bound)
    assert family_from_spec(family_spec(family)) == family


def test_values_near_the_centre_are_those_of_the_functions() -> None:
    x = np.array([[1e-12, 0.0], [1e-3, 0.0], [0.0, 0.02]])
    values = functional(Waves(150, 85.0), x, 1.0, np.zeros(2), np.zeros((2, 2)))
    assert values[0, 0] == pytest.approx(1.0) and np.isfinite(values).all()
    n = np.arange(5)
    np.testing.assert_allclose(values[1, :5], jv(n, 0.085), rtol=1e-12)


def scattered(k: float, order: int, domain: jn.Box | jn.Disk) -> tuple[jn.Problem, object]:
    """(J_n + b Y_n)(k r) cos(n t) around a disk and c J_n(2 k r) cos(n t) in it: values and slopes are continuous."""
    radius, inner = 0.3, 2 * k
    values = [jv(order, k * radius), yv(order, k * radius), jv(order, inner * radius)]
    slopes = [k * jvp(order, k * radius), k * yvp(order, k * radius), inner * jvp(order, inner * radius)]
    system = np.array([[values[1], -values[2]], [slopes[1], -slopes[2]]])
    b, c = np.linalg.solve(system, [-values[0], -slopes[0]])

    def exact(x: np.ndarray, piece: np.ndarray) -> np.ndarray:
        r, t = np.hypot(*x.T), np.arctan2(x[:, 1], x[:, 0])
        outside = jv(order, k * r) + b * yv(order, k * np.maximum(r, radius / 2))
        return np.where(piece == 0, outside, c * jv(order, inner * r)) * np.cos(order * t)

    problem = jn.Problem(
        jn.Partition(domain, [jn.Disk((0.0, 0.0), radius)]),
        lam=[-(k**2), -(inner**2)],
        boundary=jn.Dirichlet(lambda x: exact(x, np.zeros(len(x), int))),
    )
    return problem, exact


@pytest.mark.parametrize("k, order", [(20.0, 3), (40.0, 8)])
@pytest.mark.filterwarnings("ignore:lam is negative")
def test_waves_scattered_by_a_disk(k: float, order: int) -> None:
    problem, exact = scattered(k, order, jn.Box((-1, -1), (1, 1)))
    solution = jn.solve(problem, tol=1e-8, verify=False)
    assert solution.status is jn.Status.CONVERGED and solution.diagnostics.method.startswith("Trefftz")
    x, piece = problem.partition.sample_interior(500, seed=1)
    wanted = exact(x, piece)  # type: ignore[operator]
    error = np.sqrt(np.mean((solution(x, piece) - wanted) ** 2))
    assert error <= 1e-8 * np.std(wanted) and error <= solution.estimate
