"""Thin layers that end at the outer boundary: stretches of 1e-3 and less count in integrals over the boundary."""

import pytest

import jumpnet as jn

SQUARE = jn.Box((-1, -1), (1, 1))
SIDES = {"left": jn.Dirichlet(0), "right": jn.Dirichlet(2), "bottom": jn.Neumann(0), "top": jn.Neumann(0)}


@pytest.mark.parametrize("h", [1e-2, 1e-3, 1e-4])
def test_heat_through_a_thin_layer(h: float) -> None:
    """u = x1 + 1: the layer conducts so well that most of the heat goes through it."""
    parts = jn.Partition(SQUARE, [jn.Box((-1, 0), (1, h)), jn.Box((-1, h), (1, 1))])
    problem = jn.Problem(parts, A=[1.0, 1e5, 1.0], boundary=SIDES)
    for method in ("fem", "trefftz"):
        found = jn.solve(problem, tol=1e-5, method=method, verify=False)
        assert found.net_flux("right").value == pytest.approx(2 - h + 1e5 * h, rel=1e-5), method


@pytest.mark.parametrize("h", [1e-2, 1e-3])
def test_boundary_data_that_balance(h: float) -> None:
    parts = jn.Partition(SQUARE, [jn.Box((-1, 0), (1, h)), jn.Box((-1, h), (1, 1))])
    jn.manufactured(parts, ["x1**2", "cos(x1 - x2)", "x1*x2"], boundary=jn.Neumann)
