"""Finite elements as an engine: adaptive, in time, and behind everything that the Trefftz engine cannot do."""

import time
from pathlib import Path

import numpy as np
import pytest
from scipy.special import iv

import jumpnet as jn
from jumpnet.engines.budget import Budget
from jumpnet.engines.fem import elements
from jumpnet.engines.fem.marking import Indicators
from jumpnet.optim import Status

pytest.importorskip("ngsolve")


def with_layer(lam):
    """u = I_0(sqrt(lam) r) / I_0(sqrt(lam)) in the unit disk: a layer at its boundary."""
    k = np.sqrt(lam)
    disk = jn.Partition(jn.Disk((0, 0), 1.0), [])
    problem = jn.Problem(disk, A=[1.0], lam=[lam], boundary=jn.Dirichlet(1.0))
    return problem, lambda x: iv(0, k * np.linalg.norm(x, axis=1)) / iv(0, k)


def test_elements_are_cut_where_there_is_a_layer():
    problem, exact = with_layer(1e4)
    solution = jn.solve(problem, method="fem", tol=1e-4)
    assert solution.status is Status.CONVERGED
    x, piece = problem.partition.sample_interior(1000, seed=1)
    error = np.sqrt(np.mean((solution(x, piece) - exact(x)) ** 2))
    assert error <= solution.estimate
    mesh = solution.network.of_cell[0].parts[0][1].field.mesh
    middle = mesh.points(np.full((1, 2), 1 / 3))[:, 0]
    rim = np.linalg.norm(middle, axis=1) > 0.9
    assert mesh.size[rim].mean() < 0.5 * mesh.size[~rim].mean()


def test_bulk_is_the_part_of_the_error_that_is_marked():
    indicators = Indicators(np.sqrt([1.0, 4.0, 3.0, 2.0]), np.ones(4))
    assert indicators.marked(0.35).tolist() == [False, True, False, False]
    assert indicators.marked(0.65).tolist() == [False, True, True, False]
    assert indicators.marked(1.0).all()
    with pytest.raises(jn.ModelError, match="bulk is 0"):
        jn.FEM(bulk=0)


def test_a_time_limit_brings_what_there_is():
    problem, _ = with_layer(1e6)
    jn.solve(with_layer(1.0)[0], method="fem", tol=0.1)  # imports and the mesher's start
    began = time.process_time()
    with pytest.warns(jn.JumpnetWarning):
        solution = jn.solve(problem, method="fem", tol=1e-12, time_limit=3.0)
    assert time.process_time() - began < 6.0
    assert solution.status in (Status.TIME_LIMIT, Status.STEP_LIMIT, Status.STALLED)
    with pytest.raises(jn.JumpnetError, match="time_limit is -1"):
        jn.solve(problem, time_limit=-1)


def test_progress_is_told_space_by_space():
    heard = []
    problem, _ = with_layer(10.0)
    jn.solve(problem, method="fem", tol=1e-6, progress=lambda record, best: heard.append(record.step))
    assert heard == list(range(1, len(heard) + 1))
    assert len(heard) >= 2


def test_one_space_does_for_loose_tolerances():
    heard = []
    problem, _ = with_layer(10.0)
    found = jn.solve(problem, method="fem", tol=1e-3, progress=lambda record, best: heard.append(record.step))
    assert found.status is Status.CONVERGED and found.verdict is not None
    assert heard == [1]


def test_a_failing_direct_solver_does_not_end_a_solve(monkeypatch):
    def failing(*_, **__):
        raise KeyError(1)

    monkeypatch.setattr("jumpnet.engines.trefftz.TrefftzEngine.solve", failing)
    problem, _ = with_layer(10.0)
    solution = jn.solve(problem, tol=1e-3)
    assert solution.status is Status.CONVERGED
    assert "KeyError" in solution.diagnostics.tried[0]


def test_drawings_with_many_corners_go_to_elements():
    comb = [(0.0, 0.0)]
    for k in range(12):
        x = k / 12
        comb += [(x, 1.0), (x + 1 / 24, 1.0), (x + 1 / 24, 0.2), (x + 1 / 12, 0.2)]
    comb += [(1.0, 0.0)]
    parts = jn.Partition(jn.Polygon(comb), [])
    solution = jn.solve(jn.Problem(parts, A=[1.0], f=[-1.0], boundary=jn.Dirichlet(0.0)), tol=1e-2)
    assert "corners" in solution.diagnostics.tried[0]
    assert solution.diagnostics.method.startswith("finite elements")


def test_budgets():
    assert not Budget().too_late(1e9) and not Budget().too_much(1e30, 1e30, False)
    assert Budget(limit=1.0).too_late(1.1)
    assert Budget(spend=10.0).too_much(6.0, 3.0, False)
    assert not Budget(spend=10.0).too_much(6.0, 3.0, True)


@pytest.mark.parametrize("spend", [2e7, 1e12])
def test_a_slow_clock_does_not_change_the_answer(spend: float, monkeypatch: pytest.MonkeyPatch):
    """Where the Trefftz engine ends in favour of finite elements, and where it does not."""
    monkeypatch.setattr("jumpnet.engines.trefftz.engine.SPEND", spend)
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((x, 0.0), 0.48) for x in (-0.5, 0.5)])
    problem = jn.Problem(parts, A=[1.0, 100.0, 100.0], boundary=jn.Dirichlet("x1"))
    x = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    found = jn.solve(problem, tol=1e-4)
    for name in ("perf_counter", "thread_time", "process_time"):
        monkeypatch.setattr(time, name, lambda clock=getattr(time, name): 1e5 * clock())
    slow = jn.solve(problem, tol=1e-4)
    assert slow.diagnostics.method == found.diagnostics.method
    assert slow.diagnostics.method.startswith("Trefftz" if spend > 1e9 else "finite elements")
    np.testing.assert_array_equal(slow(x), found(x))


def test_a_point_source_beside_a_disk():
    """By images: one in the disk with (1 - k)/(1 + k) of the source, the opposite at its centre."""
    k, R, at = 100.0, 0.3, np.array([0.36, 0.0])
    part, image = (1 - k) / (1 + k), R**2 / (at @ at) * at

    def log(x, center):
        return -np.log(np.linalg.norm(x - center, axis=1)) / (2 * np.pi)

    def outside(x):
        return log(x, at) + part * (log(x, image) - log(x, np.zeros(2)))

    def inside(x):
        return (1 + part) * log(x, at) + part * (np.log(R) - np.log(R / at[0])) / (2 * np.pi)

    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0, 0), R)])
    sources = [jn.PointSource(at.tolist(), 1.0)]
    problem = jn.Problem(parts, A=[1.0, k], boundary=jn.Dirichlet(outside), sources=sources)
    solution = jn.solve(problem, method="fem", tol=1e-5)
    x, piece = parts.sample_interior(2000, seed=1)
    error = np.sqrt(np.mean((solution(x, piece) - np.where(piece == 0, outside(x), inside(x))) ** 2))
    assert solution.status is Status.CONVERGED
    assert error <= solution.estimate and 0.5 < solution.verdict.rms / error < 2


def test_an_ambient_temperature_is_taken_out_of_the_equations():
    """The penalty that holds boundary values would lose a variation of 1 about 1e6."""
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.2, 0.1), 0.4)])
    plain, raised = (
        jn.solve(jn.Problem(parts, A=[1.0, 100.0], boundary=jn.Dirichlet(f"{c} + x1")), method="fem", tol=1e-5)
        for c in (0.0, 1e6)
    )
    x, piece = parts.sample_interior(500, seed=2)
    off = np.sqrt(np.mean((raised(x, piece) - 1e6 - plain(x, piece)) ** 2))
    assert raised.status is Status.CONVERGED and off <= raised.estimate + plain.estimate
    assert abs(jn.judge(raised).rms - jn.judge(plain).rms) < 0.1 * jn.judge(plain).rms + 1e-9


def test_faces_are_cut_where_fluxes_begin_in_mid_side() -> None:
    """A wall's corner between air inside and outside, insulated at its cuts; the warm part begins inside a face."""
    corner = jn.Polygon([(0, 0), (1, 0), (1, 0.3), (0.3, 0.3), (0.3, 1), (0, 1)])
    layer = jn.Polygon([(0.1, 0.1), (1, 0.1), (1, 0.15), (0.15, 0.15), (0.15, 1), (0.1, 1)])
    named = {"in": "x1 > 0.29 and x2 > 0.29", "cut": "x1 > 0.999 or x2 > 0.999"}
    boundary = {"in": jn.Convection(8, 20), "cut": jn.Neumann(0), "boundary": jn.Convection(25, -10)}
    problem = jn.Problem(jn.Partition(corner, [layer], boundary=named), A=[1.0, 0.03], boundary=boundary)
    solution = jn.solve(problem, tol=1e-5, method="fem")
    assert solution.status is jn.Status.CONVERGED
    assert solution.diagnostics.mesh.unknowns < 60_000


def test_several_heaters_on_one_face() -> None:
    """Given fluxes that jump four times within an element of the first mesh; the heat is the balance."""
    heaters = "where(abs(x1 - 0.5) < 0.01, 3, where(abs(x1 - 0.53) < 0.005, 7, 0))"
    boundary = {"bottom": jn.Neumann(heaters), "top": jn.Dirichlet(0.0), "x1": jn.Neumann(0.0)}
    problem = jn.Problem(jn.Partition(jn.Box((0, 0), (1, 1))), A="1 + x1", boundary=boundary)
    solution = jn.solve(problem, tol=1e-5, method="fem")
    assert solution.status is jn.Status.CONVERGED
    top = solution.net_flux("top").value + solution.verdict.error_of_net_flux("top")
    assert top == pytest.approx(-(0.02 * 3 + 0.01 * 7), rel=1e-6)


def test_a_fin_in_air_keeps_its_heat() -> None:
    """k = 200 cooled by h = 0.01: rounding of the penalties drove a constant, which grew with refinement."""
    parts = jn.Partition(jn.Box((0, 0), (3, 6)), [jn.Box((1, 1), (1.5, 6)), jn.Box((0, 0), (3, 1))])
    boundary = {"bottom": jn.Neumann(5.0), "top": jn.Convection(0.01, 25.0), "x1": jn.Neumann(0.0)}
    problem = jn.Problem(parts, A=[0.026, 200.0, 200.0], boundary=boundary)
    solution = jn.solve(problem, method="fem")
    assert solution.status is jn.Status.CONVERGED
    top = solution.net_flux("top").value + solution.verdict.error_of_net_flux("top")
    assert top == pytest.approx(-15.0, rel=1e-9)


def test_waves_beyond_reach_are_refused_before_a_mesh_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mesh for k = 400 takes seconds, which a time limit may not have."""
    monkeypatch.setattr(elements, "first_mesh", lambda *_: pytest.fail("a mesh was made"))
    with pytest.warns(jn.JumpnetWarning, match="lam is negative"):
        problem = jn.Problem(jn.Partition(jn.Box((0, 0), (2, 2))), lam=-(400.0**2), f=1.0, boundary=jn.Dirichlet(0))
    with pytest.raises(jn.JumpnetError, match="resolves waves"):
        jn.solve(problem, method="fem")


def test_a_drawing_of_sixty_corners_is_decided_at_a_tolerance_between() -> None:
    """The judge's second space has five times the unknowns of an answer of order 4, and was refused: no error known."""
    read = jn.read_file(Path(__file__).parents[3] / "benchmarks/users/board.toml").with_settings(tol=1e-4)
    solution = read.solve()
    package = read.quantities(solution)["temperature of the package"]
    assert solution.status is jn.Status.CONVERGED
    assert abs(package.value - 4.0653538) < package.error < 1e-3  # by the same program at 1e-5
