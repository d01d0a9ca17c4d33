"""Fluxes of finite elements through parts with a film are those that their equations hold, and judged as such."""

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
