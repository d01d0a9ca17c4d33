"""Fluxes of finite elements through parts with a film are those that their equations hold, and judged as such."""

import numpy as np
import pytest

import jumpnet as jn

SIDES = ("left", "right", "bottom", "top")


def heated(order: int, size: float) -> jn.Solution:
    """A heated plate with a corner of another material; a film on three sides, a given flux on one."""
    parts = jn.Partition(jn.Box((0, 0), (1, 1)), [jn.Box((0.5, 0.5), (1, 1))])
    film = jn.Robin(2.0, 0.0)
    boundary = {"left": film, "right": film, "bottom": film, "top": jn.Neumann(0.25)}
    problem = jn.Problem(parts, A=[1.0, 50.0], f=-1.0, boundary=boundary)
    return jn.solve(problem, method=jn.FEM(order=order, size=size), tol=1.0, verify=True)


def test_heat_through_films_balances_and_its_error_is_judged() -> None:
    coarse, fine = heated(2, 0.25), heated(5, 0.1)
    assert abs(sum(coarse.net_flux(side).value for side in SIDES) + 1.0) < 1e-9
    assert abs(coarse.net_flux("top").value - 0.25) < 1e-12
    assert coarse.verdict is not None
    missing = fine.net_flux("right").value - coarse.net_flux("right").value
    assert 0.5 < coarse.verdict.error_of_net_flux("right") / missing < 2.0


def test_a_coefficient_that_steps_in_mid_side():
    """All heat that enters through the top leaves through the bottom, whose flux jumps with its coefficient."""
    sides = {"bottom": jn.Convection("where(x1 < 0.3, 100, 1)"), "top": jn.Dirichlet(1.0), "x1": jn.Neumann(0.0)}
    solution = jn.solve(jn.Problem(jn.Partition(jn.Box((-1, -1), (1, 1))), boundary=sides), tol=1e-5)
    below, above = solution.net_flux("bottom"), solution.net_flux("top")
    assert solution.unit != "step" and below.quadrature_error <= 1e-5
    assert below.value == pytest.approx(-above.value, abs=1e-5)


def test_steps_and_peaks_on_a_circle_and_a_side_are_integrated():
    """Fluxes of cases within a formula, where no corner is, and of a peak of width 1e-4."""
    disk = jn.Partition(jn.Disk((0.1, 0.2), 1.3))
    given = jn.Problem(disk, boundary={"boundary": jn.Robin(1.0, "where(x1 < 0.3, 5, 1)")})
    flux = jn.solve(given, tol=1e-4).integral("where(x1 < 0.3, 5, 1)", "boundary")
    right = 2 * 1.3 * np.arccos(0.2 / 1.3)
    assert flux.value == pytest.approx(5 * (2 * np.pi * 1.3 - right) + right, rel=1e-9)
    peak, box = "exp(-((x1 - 0.2137)/1e-4)**2)/1e-4", jn.Partition(jn.Box((-1, -1), (1, 1)))
    heated = jn.Problem(box, boundary={"bottom": jn.Neumann(peak), "rest": jn.Dirichlet(0.0)})
    with pytest.warns(jn.JumpnetWarning, match="not converged"):
        solution = jn.solve(heated, tol=1e-2, method="trefftz", verify=False)
    assert solution.integral(peak, "bottom").value == pytest.approx(np.sqrt(np.pi), rel=1e-6)
