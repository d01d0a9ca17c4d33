"""Contact resistance, free constants, periodic boxes, point sources and measurements, against what is known of them."""

from pathlib import Path

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.collocation import Points, collocate
from jumpnet.rows import equations

BOX = jn.Box((-1, -1), (1, 1))
CELL = jn.Box((0, 0), (1, 1))
DISK = jn.Partition(BOX, [jn.Disk((0, 0), 0.4)])
OFF = jn.Partition(BOX, [jn.Disk((0.2, 0.1), 0.4)])


# --- contact resistance ----------------------------------------------------------------------------------------------


def resisting_cylinder(k: float, R: float, radius: float = 0.4) -> jn.Problem:
    """A cylinder with a resistance around it in a uniform field: x + B x/r^2 outside, C x inside."""
    # 1 - B/a^2 = k C and a + B/a - C a = R (1 - B/a^2): flux, and the drop of temperature.
    M = [[-1 / radius**2, -k], [1 / radius + R / radius**2, -radius]]
    B, C = np.linalg.solve(M, [-1.0, R - radius])
    outside = f"x1 + {B}*x1/(x1**2 + x2**2)"
    return jn.Problem(DISK, A=[1.0, k], boundary=jn.Dirichlet(outside), jumps=jn.Jump(R=R), exact=[outside, f"{C}*x1"])


@pytest.mark.parametrize("k", [1e-3, 10.0, 1e3])
@pytest.mark.parametrize("R", [1e-3, 0.3, 100.0])
def test_a_cylinder_with_a_resisting_skin(k: float, R: float) -> None:
    solution = jn.solve(resisting_cylinder(k, R))
    assert solution.status is jn.Status.CONVERGED and solution.errors().relative_l2 <= 1e-8


def test_heat_falls_by_the_resistance_times_what_crosses() -> None:
    """Two slabs from 10 to 0 with a contact between them, in either order: resistances in series."""
    R, (k1, k2) = 0.5, (2.0, 4.0)
    heat = 10.0 / (1 / k1 + R + 1 / k2)
    for parts, A in (
        (jn.Partition(jn.Interval(0, 2), [jn.Interval(1, 2)]), [k1, k2]),
        (jn.Partition(jn.Interval(0, 2), [jn.Interval(0, 1)]), [k2, k1]),
    ):
        sides = {"left": jn.Dirichlet(10.0), "right": jn.Dirichlet(0.0)}
        solution = jn.solve(jn.Problem(parts, A=A, boundary=sides, jumps=jn.Jump(R=R)))
        np.testing.assert_allclose(solution.flux([[0.5], [1.5]])[:, 0], -heat, rtol=1e-10)
        left, right = (int(label) for label in parts.label([[0.5], [1.5]]))
        drop = solution.side([[1.0]], left) - solution.side([[1.0]], right)
        np.testing.assert_allclose(drop, R * heat, rtol=1e-10)


def test_resistance_together_with_jumps_of_value_and_flux() -> None:
    """v, w and a varying R at once; v follows from u by the mean of the two fluxes."""
    problem = jn.manufactured(OFF, u=["sin(x1)*exp(x2)", "x1**3 - x2"], A=[2.0, 5.0], R="0.7 + x1**2")
    x, n = OFF.sample_interface((0, 1), 50, seed=1)
    v, w = problem.jump_data((0, 1), x, n)
    exact = problem.exact
    assert exact is not None
    fluxes = [A * np.sum(u.gradient(x) * n, axis=1) for A, u in zip((2.0, 5.0), exact, strict=True)]
    jump = exact[0].value(x) - exact[1].value(x)
    np.testing.assert_allclose(jump, v + (0.7 + x[:, 0] ** 2) * (fluxes[0] + fluxes[1]) / 2, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(fluxes[0] - fluxes[1], w, rtol=1e-12, atol=1e-12)
    solution = jn.solve(problem)
    assert solution.errors().relative_l2 <= 1e-7
    again = jn.Problem.from_spec(problem.spec())
    np.testing.assert_array_equal(again.resistance((0, 1), x), problem.resistance((0, 1), x))


# --- free constants --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("R", [0.0, 0.2])
def test_pure_neumann_problems_have_the_mean_of_the_exact_solution(R: float) -> None:
    problem = jn.manufactured(OFF, u=["sin(x1)*exp(x2) + 3", "x1**3 - x2"], A=[2.0, 5.0], boundary=jn.Neumann, R=R)
    solution = jn.solve(problem)
    assert solution.errors().relative_l2 <= 1e-8
    assert solution.mean().value == pytest.approx(problem.mean, rel=1e-9)


def test_the_mean_may_be_chosen_and_is_saved(tmp_path: Path) -> None:
    square = jn.Partition(CELL)
    problem = jn.Problem(square, f=1.0, boundary={"x1": jn.Neumann(0.5), "x2": jn.Neumann(0.0)}, mean=2.0)
    solution = jn.solve(problem)
    x = np.random.default_rng(0).uniform(size=(20, 2))
    expected = 2.0 + (x[:, 0] - 0.5) ** 2 / 2 - 1 / 24
    np.testing.assert_allclose(solution(x), expected, rtol=1e-9)
    solution.save(tmp_path / "a.jumpnet")
    again = jn.load(tmp_path / "a.jumpnet")
    np.testing.assert_array_equal(again(x), solution(x))
    assert again.problem is not None and again.problem.mean == 2.0


def test_one_row_of_many_sites_fixes_the_constant() -> None:
    rows = equations(jn.Problem(DISK, boundary=jn.Neumann(0.0)), collocate(DISK, Points(10, 10, 10), seed=0))
    mean = rows.labels.index("mean 0")
    assert (rows.term == mean).sum() == 1
    assert rows.counts[rows.term == mean][0] > 100
    of_row = rows.row_of_site == int(np.flatnonzero(rows.term == mean)[0])
    assert np.sum(np.asarray(rows.sites.a0)[of_row]) == pytest.approx(1.0)


# --- periodic boxes --------------------------------------------------------------------------------------------------


def test_a_wave_in_a_periodic_box() -> None:
    u = "sin(2*pi*x1)*cos(2*pi*x2)"
    solution = jn.solve(jn.Problem(jn.Partition(CELL), f=f"-8*pi**2*{u}", boundary=jn.Periodic(), exact=u), tol=1e-8)
    assert solution.errors().relative_l2 <= 1e-8


def test_one_periodic_axis_with_a_prescribed_rise() -> None:
    u = "sin(2*pi*x1)*x2 + 2*x1"
    problem = jn.Problem(
        jn.Partition(CELL),
        f="-4*pi**2*sin(2*pi*x1)*x2",
        boundary={"x1": jn.Periodic(2.0), "x2": jn.Dirichlet(u)},
        exact=u,
    )
    assert problem.mean is None
    assert jn.solve(problem).errors().relative_l2 <= 1e-8


def test_where_the_disk_lies_in_the_cell_does_not_matter() -> None:
    """The same infinite array, cut otherwise, through the disks too: same flux, same field relative to the disk."""
    found = []
    for centers in ([(0.42, 0.55)], [(0.0, 0.5), (1.0, 0.5)], [(0, 0), (1, 0), (0, 1), (1, 1)]):
        disks = [jn.Disk(center, 0.25) for center in centers]
        pieces = disks if len(disks) == 1 else [disk & CELL for disk in disks]
        boundary = {"x1": jn.Periodic(1.0), "x2": jn.Periodic()}
        A = [1.0, *[100.0] * len(pieces)]
        solution = jn.solve(jn.Problem(jn.Partition(CELL, pieces), A=A, boundary=boundary))
        assert solution.status is jn.Status.CONVERGED
        through = [solution.net_flux(side).value for side in ("x1+", "x1-", "x2+")]
        around = np.array(centers[0]) + 0.3 * np.array([[1.0, 0.0], [0.6, 0.8], [0.8, 0.6]])
        found.append(np.concatenate([through, solution.flux(around % 1.0).ravel()]))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-7, atol=1e-7)
    assert found[0][0] == pytest.approx(-found[0][1], rel=1e-8)


def test_a_periodic_line() -> None:
    """A chain of two layers: the flux is the rise divided by the resistance."""
    parts = jn.Partition.chain([0.0, 0.25, 1.0])
    solution = jn.solve(jn.Problem(parts, A=[1.0, 4.0], boundary=jn.Periodic(1.0), mean=0.5))
    np.testing.assert_allclose(solution.flux([[0.1], [0.7]])[:, 0], 1 / (0.25 + 0.75 / 4), rtol=1e-10)
    assert solution.mean().value == pytest.approx(0.5, rel=1e-10)


# --- point sources ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [0.01, 10.0])
def test_a_source_at_the_centre_of_a_cylinder(k: float, tmp_path: Path) -> None:
    q = 2.0
    outside = f"-{q}/(2*pi)*log(r)"
    problem = jn.Problem(
        DISK,
        A=[1.0, k],
        boundary=jn.Dirichlet(outside),
        sources=[jn.PointSource((0, 0), q)],
        exact=[outside, f"-{q}/(2*pi*{k})*log(r/0.4) - {q}/(2*pi)*log(0.4)"],
    )
    solution = jn.solve(problem)
    assert solution.errors().relative_l2 <= 1e-8
    assert solution.net_flux((1, 0)).value == pytest.approx(q, rel=1e-8)  # against the gradient, towards the disk
    assert max(balance.defect for balance in solution.balances()) <= 1e-8
    solution.save(tmp_path / "a.jumpnet")
    x = np.array([[0.1, 0.2], [0.7, -0.3]])
    again = jn.load(tmp_path / "a.jumpnet")
    np.testing.assert_array_equal(again(x), solution(x))
    assert np.isinf(solution([[0.0, 0.0]])[0])


def test_a_source_in_a_ball_and_one_in_an_anisotropic_plane() -> None:
    q, k, a = 3.0, 5.0, 0.5
    outside = f"{q}/(4*pi*r)"
    ball = jn.Problem(
        jn.Partition(jn.Box((-1, -1, -1), (1, 1, 1)), [jn.Ball((0, 0, 0), a)]),
        A=[1.0, k],
        boundary=jn.Dirichlet(outside),
        sources=[jn.PointSource((0, 0, 0), q)],
        exact=[outside, f"{q}/(4*pi*{k})*(1/r - {1 / a}) + {q}/(4*pi*{a})"],
    )
    assert jn.solve(ball, tol=1e-6).errors().relative_l2 <= 1e-6
    A = np.array([[2.0, 0.5], [0.5, 1.0]])
    B = np.linalg.inv(A)
    x, y = "(x1 - 0.3)", "(x2 + 0.2)"
    rho = f"{B[0, 0]}*{x}**2 + {2 * B[0, 1]}*{x}*{y} + {B[1, 1]}*{y}**2"
    u = f"x1 - {q / (4 * np.pi * np.sqrt(np.linalg.det(A)))}*log({rho})"
    plane = jn.Problem(
        jn.Partition(BOX), A=A, boundary=jn.Dirichlet(u), sources=[jn.PointSource((0.3, -0.2), q)], exact=u
    )
    solution = jn.solve(plane)
    assert solution.errors().relative_l2 <= 1e-8
    assert sum(solution.net_flux(part).value for part in plane.boundary) == pytest.approx(-q, rel=1e-8)


def test_two_sources_of_opposite_sign_in_an_insulated_box() -> None:
    """What one releases the other takes: compatible, and antisymmetric."""
    sources = [jn.PointSource((-0.5, 0), 1.0), jn.PointSource((0.5, 0), -1.0)]
    solution = jn.solve(jn.Problem(jn.Partition(BOX), boundary=jn.Neumann(), sources=sources))
    x = np.random.default_rng(1).uniform(-1, 1, (50, 2))
    np.testing.assert_allclose(solution(x), -solution(x * [-1, 1]), atol=1e-7)
    with pytest.raises(jn.ProblemError, match="integrate to -1"):
        jn.Problem(jn.Partition(BOX), boundary=jn.Neumann(), sources=sources[:1])


# --- measurements ----------------------------------------------------------------------------------------------------


def test_a_measurement_fixes_the_constant() -> None:
    problem = jn.Problem(
        DISK, A=[1.0, 10.0], boundary={"x1": jn.Neumann("x1"), "x2": jn.Neumann(0.0)}, data=jn.Data([(0, 0)], 7.0)
    )
    assert problem.mean is None
    with pytest.raises(jn.ProblemError, match="mean"):
        jn.Problem(DISK, boundary=jn.Neumann(), data=jn.Data([(0, 0)], 7.0), mean=1.0)
    solution = jn.solve(problem)
    assert solution([[0.0, 0.0]])[0] == pytest.approx(7.0, abs=1e-8)
    again = jn.Problem.from_spec(problem.spec())
    assert again.data is not None and again.data.u.tolist() == [7.0]


def test_measurements_that_disagree_are_weighed() -> None:
    """Insulated and without sources u is constant, whatever is measured: the weighted mean."""
    data = [jn.Data([(0.1, 0.0)], 1.0, weight=1.0), jn.Data([(-0.5, 0.3)], 2.0, weight=3.0)]
    problem = jn.Problem(jn.Partition(BOX), boundary=jn.Neumann(), data=data)
    with pytest.warns(jn.JumpnetWarning, match="not converged"):
        solution = jn.solve(problem, method=jn.Trefftz(basis=jn.models.Harmonics(0)))
    np.testing.assert_allclose(solution([[0.3, 0.3]]), (1.0 + 9 * 2.0) / 10, rtol=1e-9)


def test_finite_elements_say_what_they_are_without() -> None:
    with pytest.raises(jn.ModelError, match="contact resistances"):
        jn.baselines.fem(resisting_cylinder(10.0, 0.1))
