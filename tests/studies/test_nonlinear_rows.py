"""Nonlinear equations as rows: derivatives against differences; networks trained on them against closed forms."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.rows import Jets
from jumpnet.studies.nonlinear.linearised import linearised
from jumpnet.studies.nonlinear.rows import nonlinear_rows
from jumpnet.studies.nonlinear.state import State

PLATE = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0, 0), 0.5)])
STATED = jn.NonlinearProblem(
    PLATE,
    A=[[["2 + u**2", "x1*u/9"], ["x1*u/9", "3 + x2*u/9"]], "1 + exp(x1*u)"],
    lam=["u**2", 0.0],
    f=["x1*sinh(u)", lambda x, u: x[:, 0] * u**3 if x.ndim == 2 else x[0] * u**3],
    boundary={"x1-": jn.Robin("1 + u**2", "x2*u"), "x1+": jn.Neumann("-(u**4)"), "x2": jn.Robin(1.0, 2.0)},
    jumps=jn.Jump(v="x1", w="x2", R="1 + u**2"),
)


def made(problem):
    """Its rows at a few points, and random jets there."""
    points = jn.collocate(problem.partition, jn.Points(20, 12, 8), seed=0)
    zero = _constant(0.3)
    rows = nonlinear_rows(problem, linearised(problem, zero), points)
    rng, n = np.random.default_rng(1), len(rows.first.sites)
    second = rng.normal(size=(n, 2, 2))
    return rows, Jets(rng.normal(size=n), rng.normal(size=(n, 2)), second + np.swapaxes(second, 1, 2))


def _constant(value):
    from jumpnet.fields import ConstantField

    return State(fields=[ConstantField(value, 2)] * 2)


def applied(rows, jets):
    """What rows make of jets, less their right-hand sides: residuals."""
    s = rows.sites
    of_site = s.a0 * jets.u + np.sum(s.a1 * jets.grad, axis=1) + np.sum(s.a2 * jets.hess, axis=(1, 2))
    return np.bincount(rows.row_of_site, of_site, len(rows)) - rows.rhs


def test_coefficients_are_the_derivatives_of_the_residual():
    rows, jets = made(STATED)
    rng, h = np.random.default_rng(2), 1e-5
    step = Jets(*(rng.normal(size=part.shape) for part in jets))
    step = step._replace(hess=step.hess + np.swapaxes(step.hess, 1, 2))
    ahead, behind = (Jets(*(a + sign * h * b for a, b in zip(jets, step, strict=True))) for sign in (1, -1))
    difference = (applied(rows.about(ahead), ahead) - applied(rows.about(behind), behind)) / (2 * h)
    about = rows.about(jets)
    derivative = applied(about, step) + about.rhs
    # Central differences: h^2 times third derivatives, which are large where exp(x1 u) is.
    np.testing.assert_allclose(derivative, difference, rtol=1e-6, atol=1e-6 * np.abs(difference).max())
    assert rows.layout == about.layout


def test_residuals_are_those_of_the_problem_linearised_about_the_state():
    from jumpnet.fields import scalar_field
    from jumpnet.rows import equations

    formulas = ["sin(x1) + x2**2", "1 + x1*x2"]
    fields = [scalar_field(one, 2, what="u") for one in formulas]
    points = jn.collocate(PLATE, jn.Points(20, 12, 8), seed=0)
    rows = nonlinear_rows(STATED, linearised(STATED, _constant(0.3)), points)
    x, cell = rows.first.sites.x, np.asarray(rows.first.sites.cell)
    u, grad, hess = np.empty(len(x)), np.empty((len(x), 2)), np.empty((len(x), 2, 2))
    for p, one in enumerate(fields):
        mine = cell == p
        u[mine], grad[mine], hess[mine] = one.value(x[mine]), one.gradient(x[mine]), one.hessian(x[mine])
    jets = Jets(u, grad, hess)
    linear = equations(linearised(STATED, State(fields=fields)), points)
    np.testing.assert_allclose(applied(rows.about(jets), jets), applied(linear, jets), atol=1e-11)


def test_a_network_is_trained_on_a_slab_whose_conductivity_depends_on_temperature():
    """(u + u^2/2)' is constant: u = sqrt(1 + 3 x) - 1."""
    ends = {"left": jn.Dirichlet(0), "right": jn.Dirichlet(1)}
    problem = jn.NonlinearProblem(jn.Partition(jn.Interval(0, 1)), A="1 + u", boundary=ends)
    method = jn.Network(jn.models.CategoricalEmbedding(neurons=8), points=(60, 2, 1))
    solution = jn.solve_nonlinear(problem, method=method, start=0.5, tol=1e-7)
    x = np.linspace(0, 1, 21)
    assert solution.status.ok and solution.verdict is not None and "trained" in solution.diagnostics.method
    assert np.abs(solution(x) - np.sqrt(1 + 3 * x) + 1).max() < 1e-7


def test_what_networks_cannot_be_trained_on_is_refused():
    ends = {"left": jn.Dirichlet(0), "right": jn.Dirichlet(1)}
    problem = jn.NonlinearProblem(jn.Partition(jn.Interval(0, 1)), A="1 + u", boundary=ends, constants={"c": 1.0})
    with pytest.raises(jn.ModelError, match="continuation"):
        jn.solve_nonlinear(problem, method="network", continuation=("c", [1.0]))
    with pytest.raises(jn.ModelError, match="Levenberg-Marquardt"):
        method = jn.Network(jn.models.CategoricalEmbedding(neurons=4), points=(40, 2, 1), optimizer=jn.optim.Adam())
        jn.solve_nonlinear(problem, method=method)
