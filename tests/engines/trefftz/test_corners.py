"""Sources and corners: what a solution has there is known, and need not be approximated."""

import jax.numpy as jnp
import numpy as np
import pytest

import jumpnet as jn
from jumpnet.engines.trefftz.enrichments.corners import corner_blocks
from jumpnet.engines.trefftz.functions import ParticularSolution
from jumpnet.engines.trefftz.operator_type import operator_types
from jumpnet.engines.trefftz.spaces import first_space
from jumpnet.models.families.wedges import BranchCutPotential, Wedge

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
    solution = jn.solve(problem, tol=1e-8, method="trefftz")
    assert solution.status is jn.Status.CONVERGED
    assert solution.errors().l2 < 1e-9
    assert len(solution.theta) < 300


def test_powers_follow_the_conditions_and_the_metric() -> None:
    sides = {"left": jn.Neumann(0.0), "x2": jn.Dirichlet(0.0), "right": jn.Dirichlet(0.0)}
    mixed = jn.Problem(jn.Partition(SQUARE), boundary=sides)
    firsts = sorted(block.functions.powers[0] for block in corner_blocks(mixed, {0}))
    np.testing.assert_allclose(firsts, [1, 1, 2, 2])
    turned = jn.Problem(jn.Partition(SQUARE), A=[[[2.0, 1.0], [1.0, 2.0]]])
    # The map that makes A the identity leaves corners of 60 and 120 degrees.
    firsts = sorted(block.functions.powers[0] for block in corner_blocks(turned, {0}))
    np.testing.assert_allclose(firsts, [1.5, 1.5, 3, 3])


def test_a_cut_that_would_meet_the_piece_again_ends_before() -> None:
    horseshoe = jn.Polygon([(-1, -1), (1, -1), (1, 1), (0.9, 1), (0.9, -0.9), (-0.9, -0.9), (-0.9, 1), (-1, 1)])
    problem = jn.Problem(jn.Partition(horseshoe), f=1.0)
    family = {block.place: block.family for block in corner_blocks(problem, {0})}
    assert isinstance(family[-1.0, -1.0], Wedge)
    assert isinstance(family[0.9, -0.9], BranchCutPotential), (
        "from there the cut leads through the hollow into the other leg"
    )


def test_corners_with_an_inclusion_or_a_periodic_side_have_no_powers() -> None:
    filled = jn.Partition(SQUARE, [jn.Disk((-1, -1), 0.3) & SQUARE])
    assert len(list(corner_blocks(jn.Problem(filled), {0}))) == 3
    periodic = jn.Problem(jn.Partition(SQUARE), f="sin(pi*x1)", boundary=jn.Periodic())
    assert not list(corner_blocks(periodic, {0}))


@pytest.mark.parametrize("k", [3.0, 10.0, 1000.0])
def test_a_chessboard_conducts_like_the_geometric_mean(k: float) -> None:
    """Four squares, two of them k times as conductive: Keller's theorem says sqrt(k), whatever k is."""
    lower = [jn.Box((0, 0), (0.5, 0.5)), jn.Box((0.5, 0.5), (1, 1)), jn.Box((0.5, 0), (1, 0.5))]
    parts = jn.Partition(jn.Box((0, 0), (1, 1)), lower)
    ends = {"left": jn.Dirichlet(0.0), "right": jn.Dirichlet(1.0), "x2": jn.Neumann(0.0)}
    problem = jn.Problem(parts, A=[k, 1.0, 1.0, k], boundary=ends)
    solution = jn.solve(problem, tol=1e-8)
    assert solution.status is jn.Status.CONVERGED
    t, weight = np.polynomial.legendre.leggauss(24)
    flux = 0.0
    for A, y in ((1.0, 0.25), (k, 0.75)):
        x = np.stack([np.full(24, 0.25), y + t / 4], axis=1)
        flux += float(weight / 4 @ (A * solution.grad(x)[:, 0]))
    assert abs(flux / np.sqrt(k) - 1) < 1e-6


TRIANGLE = jn.Polygon([(-0.5, -0.5), (0.5, -0.4), (0.0, 0.4)])


@pytest.mark.parametrize(
    ("piece", "A", "f"),
    [
        (jn.Box((-0.3, -0.2), (0.4, 0.5)), [1.0, 1000.0], 0.0),
        (jn.Box((-0.3, -0.2), (0.4, 0.5)), [[[4.0, 1.0], [1.0, 2.0]], 10.0], 0.0),
        (TRIANGLE, [1.0, 0.01], 1.0),
    ],
    ids=["a square, k = 1000", "anisotropic, complex powers", "a heated triangle"],
)
def test_inclusions_with_corners(piece: jn.Polygon, A: list[object], f: float) -> None:
    """Few unknowns do where their powers are known."""
    problem = jn.Problem(jn.Partition(SQUARE, [piece]), A=A, f=f, boundary=jn.Dirichlet("x1"))
    solution, finer = (jn.solve(problem, tol=tol, seed=seed) for tol, seed in ((1e-6, 0), (1e-9, 1)))
    assert solution.status is jn.Status.CONVERGED
    assert len(solution.theta) < 600
    x, label = problem.partition.sample_interior(400, seed=3)
    error = np.sqrt(np.mean((solution(x, label) - finer(x, label)) ** 2))
    assert error < 3 * solution.estimate < 3e-5


@pytest.mark.parametrize(
    "piece",
    [
        jn.Disk((0.8, 0.2), 0.4) & SQUARE,
        jn.Disk((-0.2, 0), 0.4) & jn.Disk((0.2, 0), 0.4),
        jn.Disk((0, 0), 0.5) - jn.HalfSpace((0, 1), 0.1),
        jn.Box((-0.3, -0.95), (0.4, -0.2)),
        jn.Box((-0.3, -1), (0.4, -0.2)),
    ],
    ids=["a disk that a side cuts", "a lens", "a part of a disk", "a square beside a side", "a square on a side"],
)
def test_corners_of_curved_walls_and_beside_sides(piece: object) -> None:
    problem = jn.Problem(jn.Partition(SQUARE, [piece]), A=[1.0, 10.0], boundary=jn.Dirichlet("x1"))
    solution, finer = (jn.solve(problem, tol=tol, seed=seed) for tol, seed in ((1e-6, 0), (1e-9, 1)))
    assert solution.status is finer.status is jn.Status.CONVERGED
    assert len(finer.theta) < 1000
    x, label = problem.partition.sample_interior(400, seed=3)
    error = np.sqrt(np.mean((solution(x, label) - finer(x, label)) ** 2))
    assert error < 3 * solution.estimate < 3e-5


def test_squares_in_rows_are_cut_apart_and_conduct_as_they_must() -> None:
    """Keller's theorem: an array that looks the same from both sides conducts K with contrast k, and 1/K with 1/k."""
    squares = [jn.Box((x - 0.25, y - 0.25), (x + 0.25, y + 0.25)) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    ends = {"left": jn.Dirichlet(0.0), "right": jn.Dirichlet(1.0), "x2": jn.Neumann(0.0)}
    conducts = []
    for k in (10.0, 0.1):
        problem = jn.Problem(jn.Partition(SQUARE, squares), A=[1.0, *[k] * 4], boundary=ends)
        # By name: the automatic choice depends on the clock, and a busy machine takes finite elements.
        solution = jn.solve(problem, tol=1e-6, method="trefftz")
        assert solution.status is jn.Status.CONVERGED
        assert "cells" in solution.diagnostics.method
        conducts.append(solution.net_flux("right").value)
    assert abs(np.prod(conducts) - 1) < 1e-5


@pytest.mark.parametrize("f", [1.0, "sin(3*x1)*cos(2*x2)"])
def test_a_source_is_answered_by_one_function(f: object) -> None:
    parts = jn.Partition(SQUARE, [jn.Disk((0.2, 0.1), 0.4)])
    problem = jn.Problem(parts, A=[1.0, 10.0], f=f)
    answers = [block for block in first_space(problem).blocks if isinstance(block.functions, ParticularSolution)]
    assert [block.piece for block in answers] == [0, 1]
    assert all(block.family.size == 1 and block.grown() == block for block in answers)
    solution = jn.solve(problem, tol=1e-8)
    assert solution.status is jn.Status.CONVERGED
    assert len(solution.theta) < 400


def test_a_narrow_source_is_seen() -> None:
    """A hundred random points would all miss it; so it neither counts as none nor as answered."""
    narrow = jn.Problem(jn.Partition(SQUARE), f="exp(-((x1 + 0.6)**2 + (x2 + 0.5)**2)/0.005**2)")
    (operator,) = operator_types(narrow)
    assert operator.harmonic and not operator.exact and operator.particular is None


def test_a_source_that_is_not_defined_beyond_its_piece_is_no_obstacle() -> None:
    parts = jn.Partition(SQUARE, [jn.Disk((0, 0), 0.5)])
    problem = jn.Problem(parts, A=[1.0, 2.0], f=[0.0, "sqrt(0.26 - x1**2 - x2**2)"])
    assert operator_types(problem)[1].particular is None
