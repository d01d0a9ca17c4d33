"""Nonlinear problems that nothing was tuned on: what is judged is near the truth, and nothing wrong is called right."""

import numpy as np
import pytest
from benchmarks.nonlinear_adversary import CASES

import jumpnet as jn

STRONG = [
    "bratu upper",
    "conductivity rises by 150",
    "conductivity falls by 120",
    "porous medium",
    "layers with strong contrast",
    "conductivity and source depend on u",
    "resistance and conductivity",
]
IN_SPACE = ["disk in a plate", "ball of varying conductivity"]


CRUDE = [(name, 0.03) for name in STRONG] + [(name, 1e-4) for name in STRONG[2:]]
CRUDE += [pytest.param(name, 0.03, marks=pytest.mark.slow) for name in IN_SPACE]


@pytest.mark.parametrize(("name", "tol"), CRUDE)
def test_the_judged_error_is_within_a_factor_of_two(name, tol):
    """Also where A depends on u: that derivative is in the equations of the error."""
    made = CASES[name]()
    found = jn.solve_nonlinear(made.problem, start=made.start, tol=tol)
    x, piece = made.problem.partition.sample_interior(4000, seed=11)
    assert made.exact is not None
    error = np.sqrt(np.mean((found(x, piece) - made.exact(x, piece)) ** 2))
    assert found.status.ok and found.verdict is not None
    assert 0.5 < found.verdict.rms / error < 2
    assert error <= found.estimate


@pytest.mark.parametrize(("A", "ends", "through"), [("exp(5*u)", (0, 1), (np.e**5 - 1) / 5), ("u**2", (1, 0.05), None)])
def test_errors_of_fluxes_hold_the_change_of_A(A, ends, through):
    through = (0.05**3 - 1) / 3 if through is None else through
    sides = {"left": jn.Dirichlet(ends[0]), "right": jn.Dirichlet(ends[1])}
    problem = jn.NonlinearProblem(jn.Partition(jn.Interval(0, 1)), A=A, boundary=sides)
    found = jn.solve_nonlinear(problem, start=f"{ends[0]} + {ends[1] - ends[0]}*x1", tol=0.03)
    for end, sign in (("left", -1), ("right", 1)):
        error = sign * through - found.net_flux(end).value
        assert found.verdict is not None
        assert found.verdict.error_of_net_flux(end) == pytest.approx(error, rel=0.02, abs=1e-6 * abs(through))


@pytest.mark.parametrize(
    "name",
    [
        "conductivity jumps with u",
        "bratu beyond the fold",
        "more flux than can be carried",
        "porous medium degenerate",
        "dead core",
    ],
)
def test_what_has_no_solution_or_cannot_be_judged_is_not_called_right(name):
    made = CASES[name]()
    found = jn.solve_nonlinear(made.problem, start=made.start, time_limit=4)
    assert not found.status.ok and np.isnan(found.estimate) and found.settings["reasons"]
