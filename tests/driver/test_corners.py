"""Sources and corners: what a solution has there is known, and need not be approximated."""

import jax.numpy as jnp
import numpy as np
import pytest

import jumpnet as jn
from jumpnet.driver.corners import corner_parts
from jumpnet.driver.features import first_plan
from jumpnet.driver.natures import natures_of

SQUARE = jn.Box((-1, -1), (1, 1))
L_SHAPE = jn.Polygon([(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)])


def heated_square(x: np.ndarray) -> np.ndarray:
    """u with laplace u = 1 on the square and u = 0 on its sides, by its Fourier series across."""
    u = (x[:, 0] ** 2 - 1) / 2
    for k in range(1, 400, 2):
        a = k * np.pi / 2
        sign = 1 if k % 4 == 1 else -1
        across = np.exp(a * (np.abs(x[:, 1]) - 1)) * (1 + np.exp(-2 * a * np.abs(x[:, 1]))) / (1 + np.exp(-2 * a))
        u += sign * 2 / a**3 * np.cos(a * x[:, 0]) * across
    return u


def test_a_heated_square_is_known_to_rounding_with_few_functions() -> None:
    problem = jn.Problem(jn.Partition(SQUARE), f=1.0)
    solution = jn.solve(problem, tol=1e-8)
    assert solution.status is jn.Status.CONVERGED
    assert len(solution.theta) < 100
    x, piece = problem.partition.sample_interior(500, seed=3)
    x *= 0.9  # where the series has converged
    error = np.sqrt(np.mean((solution(x, piece) - heated_square(x)) ** 2))
    assert error < 1e-9
    assert error < solution.estimate or error < 1e-12


@pytest.mark.parametrize("angle", [1.5 * np.pi, 0.5 * np.pi])
def test_a_power_at_a_corner_is_found(angle: float) -> None:
    """z^(pi/angle), whose values on the sides are given: no polynomial comes near it at a re-entrant corner."""
    power = np.pi / angle
    domain, corner = (L_SHAPE, (0.0, 0.0)) if angle > np.pi else (SQUARE, (-1.0, -1.0))

    def exact(x: jnp.ndarray) -> jnp.ndarray:
        # Turned so that the cut of the power lies outside.
        middle = np.exp(-1j * (1.25 if angle > np.pi else 0.25) * np.pi)
        z = ((x[:, 0] - corner[0]) + 1j * (x[:, 1] - corner[1])) * middle
        return jnp.real(z**power)

    problem = jn.Problem(jn.Partition(domain), boundary=jn.Dirichlet(exact), exact=exact)
    solution = jn.solve(problem, tol=1e-8, optimizer=jn.optim.Direct())
    assert solution.status is jn.Status.CONVERGED
    assert solution.errors().l2 < 1e-9
    assert len(solution.theta) < 300


def test_powers_follow_the_conditions_and_the_metric() -> None:
    sides = {"left": jn.Neumann(0.0), "x2": jn.Dirichlet(0.0), "right": jn.Dirichlet(0.0)}
    mixed = jn.Problem(jn.Partition(SQUARE), boundary=sides)
    firsts = sorted(part.powers[0] for part in corner_parts(mixed, 0))
    np.testing.assert_allclose(firsts, [1, 1, 2, 2])
    turned = jn.Problem(jn.Partition(SQUARE), A=[[[2.0, 1.0], [1.0, 2.0]]])
    # The map that makes A the identity leaves corners of 60 and 120 degrees.
    np.testing.assert_allclose(sorted(part.powers[0] for part in corner_parts(turned, 0)), [1.5, 1.5, 3, 3])


def test_a_corner_whose_cut_would_meet_the_domain_again_is_left_alone() -> None:
    horseshoe = jn.Polygon([(-1, -1), (1, -1), (1, 1), (0.9, 1), (0.9, -0.9), (-0.9, -0.9), (-0.9, 1), (-1, 1)])
    problem = jn.Problem(jn.Partition(horseshoe), f=1.0)
    places = {tuple(np.round(np.asarray(part.chart.center), 3)) for part in corner_parts(problem, 0)}
    assert (-1.0, -1.0) in places
    assert (0.9, -0.9) not in places, "from there the cut leads through the hollow into the other leg"


def test_corners_with_an_inclusion_or_a_periodic_side_have_no_powers() -> None:
    filled = jn.Partition(SQUARE, [jn.Disk((-1, -1), 0.3) & SQUARE])
    assert len(list(corner_parts(jn.Problem(filled), 0))) == 3
    periodic = jn.Problem(jn.Partition(SQUARE), f="sin(pi*x1)", boundary=jn.Periodic())
    assert not list(corner_parts(periodic, 0))


@pytest.mark.parametrize("f", [1.0, "sin(3*x1)*cos(2*x2)"])
def test_a_source_is_answered_by_one_function(f: object) -> None:
    parts = jn.Partition(SQUARE, [jn.Disk((0.2, 0.1), 0.4)])
    problem = jn.Problem(parts, A=[1.0, 10.0], f=f)
    answers = [part for part in first_plan(problem).parts if part.kind == "answer"]
    assert [part.piece for part in answers] == [0, 1]
    assert all(part.family.size == 1 and part.grown() == part for part in answers)
    solution = jn.solve(problem, tol=1e-8)
    assert solution.status is jn.Status.CONVERGED
    assert len(solution.theta) < 400


def test_a_narrow_source_is_seen() -> None:
    """A hundred random points would all miss it; so it neither counts as none nor as answered."""
    narrow = jn.Problem(jn.Partition(SQUARE), f="exp(-((x1 + 0.6)**2 + (x2 + 0.5)**2)/0.005**2)")
    (nature,) = natures_of(narrow)
    assert nature.harmonic and not nature.exact and nature.answer is None


def test_a_source_that_is_not_defined_beyond_its_piece_is_no_obstacle() -> None:
    parts = jn.Partition(SQUARE, [jn.Disk((0, 0), 0.5)])
    problem = jn.Problem(parts, A=[1.0, 2.0], f=[0.0, "sqrt(0.26 - x1**2 - x2**2)"])
    assert natures_of(problem)[1].answer is None
