"""Modified Bessel functions: they solve their equation, and lam = 1e4 around a disk is solved to rounding."""

from pathlib import Path

import numpy as np
import pytest
from scipy.special import kve

import jumpnet as jn
from jumpnet.engines.trefftz.enrichments.bessel import bessel_blocks
from jumpnet.models.families import family_from_spec, family_spec
from jumpnet.models.families.bessel import Bessel
from jumpnet.models.families.spherical_bessel import SphericalBessel
from jumpnet.rows import Sites

RADIUS, INSIDE = 0.4, 3.0


@pytest.mark.parametrize("decaying", [False, True])
@pytest.mark.parametrize("rate", [0.5, 20.0])
@pytest.mark.parametrize("dim", [2, 3])
def test_the_functions_solve_their_equation_and_have_their_derivatives(dim: int, rate: float, decaying: bool) -> None:
    family = Bessel(5, rate, decaying) if dim == 2 else SphericalBessel(5, rate, decaying)
    x = np.random.default_rng(0).uniform(0.3, 0.8, (40, dim))

    def functional(x: np.ndarray, a0: float, a1: tuple[float, ...], a2: np.ndarray) -> np.ndarray:
        n = len(x)
        sites = Sites(x, np.zeros(n, int), np.full(n, a0), np.tile(a1, (n, 1)), np.tile(a2, (n, 1, 1)))
        return family.functionals(sites)

    none, still, across = np.zeros((dim, dim)), (0.0,) * dim, np.eye(dim)[0]
    size = np.abs(functional(x, 1.0, still, none)).max()
    equation = functional(x, -(rate**2), still, np.eye(dim))
    assert np.abs(equation).max() <= 1e-11 * rate**2 * size
    step = 1e-5
    for along in np.eye(dim):
        slope = functional(x, 0.0, tuple(along), none)
        ends = [functional(x + sign * step * along, 1.0, still, none) for sign in (1, -1)]
        np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=0, atol=1e-6 * (1 + rate) ** 3 * size)
        second = functional(x, 0.0, still, np.outer(across, along) / 2 + np.outer(along, across) / 2)
        sides = [functional(x + sign * step * across, 0.0, tuple(along), none) for sign in (1, -1)]
        bound = 1e-6 * (1 + rate) ** 4 * size
        np.testing.assert_allclose(second, (sides[0] - sides[1]) / (2 * step), rtol=0, atol=bound)
    assert family_from_spec(family_spec(family)) == family


def around_a_disk(domain: jn.Box | jn.Disk, lam: float, order: int, k: float = 1.0) -> tuple[jn.Problem, object]:
    """u = K_n(s r) cos(n t)/K_n(s R) around a disk, s^2 = lam/k, and (r/R)^n cos(n t) in it; the flux jumps."""
    rate = np.sqrt(lam / k)

    def exact(x: np.ndarray, piece: np.ndarray) -> np.ndarray:
        r, angle = np.hypot(*x.T), np.arctan2(x[:, 1], x[:, 0])
        outside = kve(order, rate * r) / kve(order, rate * RADIUS) * np.exp(rate * (RADIUS - r))
        return np.where(piece == 0, outside, (r / RADIUS) ** order) * np.cos(order * angle)

    decay = -rate * (kve(order - 1, rate * RADIUS) + kve(order + 1, rate * RADIUS)) / 2 / kve(order, rate * RADIUS)
    lost = k * decay - INSIDE * order / RADIUS
    problem = jn.Problem(
        jn.Partition(domain, [jn.Disk((0.0, 0.0), RADIUS)]),
        A=[k, INSIDE],
        lam=[lam, 0.0],
        boundary=jn.Dirichlet(lambda x: exact(x, np.zeros(len(x), int))),
        jumps=jn.Jump(w=lambda x: lost * np.cos(order * np.arctan2(x[:, 1], x[:, 0]))),
    )
    return problem, exact


@pytest.mark.parametrize("domain", [jn.Disk((0, 0), 1.0), jn.Box((-1, -1), (1, 1))], ids=["disk", "box"])
@pytest.mark.parametrize("lam, order, k", [(1e4, 1, 1.0), (1e4, 5, 1.0), (400.0, 2, 2.0)])
def test_a_strong_reaction_around_a_disk(domain: jn.Box | jn.Disk, lam: float, order: int, k: float) -> None:
    problem, exact = around_a_disk(domain, lam, order, k)
    solution = jn.solve(problem, tol=1e-10, verify=False)
    assert solution.status is jn.Status.CONVERGED and solution.diagnostics.method.startswith("Trefftz")
    x, piece = problem.partition.sample_interior(500, seed=1)
    assert np.abs(solution(x, piece) - exact(x, piece)).max() <= 1e-10  # type: ignore[operator]


def test_a_saved_solution_has_its_functions(tmp_path: Path) -> None:
    problem, _ = around_a_disk(jn.Disk((0, 0), 1.0), 1e4, 1)
    solution = jn.solve(problem, tol=1e-8, verify=False)
    assert "modified Bessel functions in 1 of 2 pieces" in solution.diagnostics.method
    solution.save(tmp_path / "bessel.jumpnet")
    x = np.random.default_rng(0).uniform(-0.6, 0.6, (30, 2))
    piece = problem.partition.label(x)
    assert np.array_equal(jn.load(tmp_path / "bessel.jumpnet")(x, piece), solution(x, piece))


def test_an_anisotropic_medium_has_them_in_its_own_coordinates() -> None:
    A = np.array([[2.0, 0.5], [0.5, 1.0]])
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.1, 0.0), 0.3)])
    problem = jn.Problem(parts, A=[A.tolist(), 1.0], lam=[900.0, 0.0])
    own, about = bessel_blocks(problem)
    for block in (own, about):
        x = np.random.default_rng(0).uniform(0.5, 0.9, (30, 2))
        sites = Sites(x, np.zeros(30, int), np.full(30, -900.0), np.zeros((30, 2)), np.tile(A, (30, 1, 1)))
        values = Sites(x, np.zeros(30, int), np.ones(30), np.zeros((30, 2)), np.zeros((30, 2, 2)))
        size = np.abs(block.family.functionals(block.chart.push(values)))  # type: ignore[attr-defined]
        equation = np.abs(block.family.functionals(block.chart.push(sites)))  # type: ignore[attr-defined]
        assert (equation <= 1e-9 * 900 * size.max(axis=0)).all()


@pytest.mark.parametrize("charge", ["point", "surface"])
def test_a_charged_sphere_in_an_electrolyte(charge: str) -> None:
    """Debye and Hueckel: u = q exp(-kappa (r - 1))/(4 pi eps (1 + kappa) r) around a sphere."""
    kappa, inner, outer, q = 1.5, 2.0, 80.0, 1.0
    size = q / (4 * np.pi * outer * (1 + kappa))
    problem = jn.Problem(
        jn.Partition(jn.Box((-2, -2, -1.5), (2, 1.8, 2)), [jn.Ball((0, 0, 0), 1.0)]),
        A=[outer, inner],
        lam=[outer * kappa**2, 0.0],
        boundary=jn.Dirichlet(f"{size}*exp({kappa}*(1 - r))/r"),
        sources=[jn.PointSource((0, 0, 0), q)] if charge == "point" else [],
        jumps=jn.Jump(w=0.0 if charge == "point" else -q / (4 * np.pi)),
    )
    solution = jn.solve(problem, tol=1e-8)
    x, piece = problem.partition.sample_interior(500, seed=1)
    r = np.linalg.norm(x, axis=1)
    inside = size + (q / (4 * np.pi * inner) * (1 / r - 1) if charge == "point" else 0.0)
    exact = np.where(piece == 0, size * np.exp(kappa * (1 - r)) / r, inside)
    assert solution.status is jn.Status.CONVERGED
    assert np.abs(solution(x, piece) - exact).max() <= 1e-10 * np.std(exact)


def test_a_charge_off_the_centre_of_a_sphere() -> None:
    """Of a source within the hole but not in its centre all degrees are needed."""
    p, kappa = np.array([0.2, 0.1, -0.2]), 2.0

    def outside(x: np.ndarray) -> np.ndarray:
        r = np.linalg.norm(x - p, axis=1)
        return np.exp(-kappa * r) / r

    def through(x: np.ndarray) -> np.ndarray:
        r = np.linalg.norm(x - p, axis=1)
        return -outside(x) * (kappa / r + 1 / r**2) * np.sum((x - p) * x, axis=1)  # |x| = 1

    problem = jn.Problem(
        jn.Partition(jn.Ball((0, 0, 0), 3.0), [jn.Ball((0, 0, 0), 1.0)]),
        lam=[kappa**2, 0.0],
        boundary=jn.Dirichlet(outside),
        jumps=jn.Jump(v=lambda x: outside(x) - 1 - x[:, 0], w=lambda x: through(x) - x[:, 0]),
    )
    solution = jn.solve(problem, tol=1e-4, method="trefftz")
    assert solution.status is jn.Status.CONVERGED
    x, piece = problem.partition.sample_interior(500, seed=1)
    error = solution(x, piece) - np.where(piece == 0, outside(x), 1 + x[:, 0])
    assert np.sqrt(np.mean(error**2)) <= 2 * solution.estimate <= 2e-4


def test_slow_and_varying_have_none() -> None:
    plane = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0, 0), 0.4)])
    space = jn.Partition(jn.Box((-1, -1, -1), (1, 1, 1)), [jn.Ball((0, 0, 0), 0.4)])
    for parts, lam in ((plane, 1.0), (plane, "400 + x1"), (plane, 0.0), (space, 0.01), (space, 1e7)):
        assert list(bessel_blocks(jn.Problem(parts, lam=[lam, 0.0]))) == []
