"""Where solutions are not smooth: pieces are cut into cells, and the answer is right or said not to be."""

from typing import Any

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.engines.trefftz import features, search
from jumpnet.experiments import problems

BOX = jn.Box((-1, -1), (1, 1))


@pytest.fixture
def without_powers(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nothing were known of corners: what is then left to cells has an exact solution."""
    monkeypatch.setattr(features, "corner_parts", lambda *_: iter(()))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.usefixtures("without_powers")
def test_four_materials_at_a_point_with_an_exact_solution(seed: int, tmp_path: Any) -> None:
    """u ~ r^(2/3): whole pieces converge slowly, cells that shrink towards the point reach the tolerance."""
    solution = jn.solve(problems.crossing(3.0), tol=1e-5, seed=seed, optimizer=jn.optim.Direct())
    error = solution.errors()
    assert solution.status is jn.Status.CONVERGED and "cells" in solution.settings["method"]
    assert error.relative_l2 <= 1e-5
    assert 1 / 3 <= solution.estimate / error.l2 <= 30
    solution.save(tmp_path / "cells.jumpnet")
    x = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    loaded = jn.load(tmp_path / "cells.jumpnet")
    assert np.array_equal(loaded(x), solution(x)) and np.array_equal(loaded.grad(x), solution.grad(x))


@pytest.mark.slow
@pytest.mark.usefixtures("without_powers")
@pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")
def test_the_estimate_is_honest_where_the_tolerance_is_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    """u ~ r^0.39 with few unknowns allowed."""
    monkeypatch.setattr(search, "MOST_IN_CELLS", 3000)
    solution = jn.solve(problems.crossing(10.0), tol=1e-7, optimizer=jn.optim.Direct())
    assert not solution.status.ok
    assert solution.estimate >= solution.errors().l2 / 10


@pytest.mark.slow
@pytest.mark.usefixtures("without_powers")
def test_a_good_conductor_that_floats() -> None:
    """A square of conductivity 100 that is heated: all of its heat must arrive outside.

    Without balances of flux the levels agreed with each other, at half the temperature.
    """
    parts = jn.Partition(BOX, [jn.Box((-0.5, -0.5), (0.5, 0.5))])
    problem = jn.Problem(parts, A=[1.0, 100.0], f=[0.0, -1.0], boundary=jn.Dirichlet(0.0))
    solution = jn.solve(problem, tol=1e-3, optimizer=jn.optim.Direct())
    assert solution.status is jn.Status.CONVERGED
    t, w = np.polynomial.legendre.leggauss(200)
    edge = np.c_[np.full(200, 0.999), t]
    flux = [
        w @ solution.flux(edge[:, ::order] * sign, 0)[:, axis] * sign
        for axis, order in ((0, 1), (1, -1))
        for sign in (1.0, -1.0)
    ]
    assert sum(flux) == pytest.approx(-1.0, abs=2e-3)
    assert solution(np.zeros((1, 2)))[0] == pytest.approx(0.1, abs=0.02)


@pytest.mark.slow
def test_a_cusp_with_constant_coefficients_agrees_with_itself_refined() -> None:
    problem = jn.Problem(problems.pde2().partition, A=[1.0, 10.0], f=1.0, boundary=jn.Dirichlet(0.0))
    loose, tight = (jn.solve(problem, tol=tol, optimizer=jn.optim.Direct()) for tol in (1e-2, 1e-4))
    assert loose.status is tight.status is jn.Status.CONVERGED
    x, piece = problem.partition.sample_interior(500, seed=3)
    change = np.sqrt(np.mean((loose(x, piece) - tight(x, piece)) ** 2))
    assert tight.estimate < change <= 3 * loose.estimate


def test_smooth_problems_are_not_cut() -> None:
    solution = jn.solve(problems.pde2())
    assert solution.status is jn.Status.CONVERGED and "cells" not in solution.settings["method"]


@pytest.mark.slow
def test_a_coating_of_a_hundred_thousandth_of_the_domain() -> None:
    """A coated disk in a disk, u = x1 on its edge: in every layer u = (p + q/r^2) x1."""
    outer, inner, k = 0.5, 0.5 - 1e-5, 1e5
    core = jn.Disk((0, 0), inner)
    parts = jn.Partition(jn.Disk((0, 0), 1), [jn.Disk((0, 0), outer) - core, core])
    solution = jn.solve(jn.Problem(parts, A=[1, k, 10], boundary=jn.Dirichlet("x1")), tol=1e-4)
    a, b = outer**-2, inner**-2
    conditions = [[1, 1, 0, 0, 0], [1, a, -1, -a, 0], [1, -a, -k, k * a, 0], [0, 0, 1, b, -1], [0, 0, k, -k * b, -10]]
    p, q, _, _, within = np.linalg.solve(conditions, [1, 0, 0, 0, 0])
    x = np.array([[0.3, 0.2], [0.49, 0.0], [0.6, -0.4], [-0.1, 0.8]])
    exact = np.array([within, within, p + q / 0.52, p + q / 0.65]) * x[:, 0]
    assert solution.status is jn.Status.CONVERGED
    assert np.abs(solution(x) - exact).max() < 1e-4


@pytest.mark.parametrize("dim", [1, 2])
def test_a_problem_without_data_has_the_solution_zero(dim: int) -> None:
    domain = jn.Interval(0, 1) if dim == 1 else BOX
    solution = jn.solve(jn.Problem(jn.Partition(domain), A="1 + x1**2", boundary=jn.Dirichlet(0.0)))
    assert solution.status is jn.Status.CONVERGED and not solution(np.full((3, dim), 0.3)).any()
