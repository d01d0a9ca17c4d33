"""Fluxes and energies that are infinite: where values given around a point differ."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.problem.steps import steps

SQUARE = jn.Box((-1, -1), (1, 1))
L_SHAPE = jn.Polygon([(-1, -1), (0, -1), (0, 0), (1, 0), (1, 1), (-1, 1)])
HALVES = jn.Partition(SQUARE, [jn.HalfSpace((1, 0), 0.1)])
ANGLE = "(atan2(-x1 - x2, x2 - x1) + 3/4*pi)"
COLD = jn.Dirichlet(0.0)


def hot_lid(**given) -> jn.Problem:  # type: ignore[no-untyped-def]
    boundary = {"top": jn.Dirichlet(1.0), "bottom": COLD, "x1": COLD}
    return jn.Problem(jn.Partition(SQUARE, [jn.Disk((0, 0), 0.4)]), boundary=boundary, **given)


def test_a_hot_lid_has_a_step_at_each_end() -> None:
    found = steps(hot_lid(A=[1.0, 10.0]))
    assert sorted(step.place.tolist() for step in found) == [[-1, 1], [1, 1]]
    assert {wall for step in found for wall in step.walls} == {"x1-", "x1+", "x2+"}


@pytest.mark.parametrize(
    "problem",
    [
        jn.Problem(jn.Partition(SQUARE), boundary=jn.Dirichlet("x1*x2 + 300")),
        jn.Problem(jn.Partition(SQUARE), boundary={"top": jn.Dirichlet(1.0), "bottom": COLD, "x1": jn.Neumann(0.0)}),
        jn.Problem(jn.Partition(SQUARE), boundary={"x1": jn.Dirichlet("tanh(1e3*x2)"), "x2": jn.Robin(1.0, 5.0)}),
        jn.Problem(jn.Partition(L_SHAPE), boundary=jn.Dirichlet(f"(x1**2 + x2**2)**(1/3)*sin(2/3*{ANGLE})")),
        jn.Problem(jn.Partition(L_SHAPE), boundary=jn.Dirichlet("(x1**2 + x2**2)**0.1*x1")),
        jn.Problem(HALVES, K=[2.0, 1.0], boundary=jn.Dirichlet("where(x1 < 0.1, 1, 2)")),
        jn.Problem(HALVES, boundary=jn.Dirichlet("where(x1 < 0.1, 1, 2)"), jumps=jn.Jump(v=1.0)),
        jn.Problem(HALVES, boundary=jn.Dirichlet("where(x1 < 0.1, 1, 2)"), jumps=jn.Jump(R=1.0)),
        jn.Problem(jn.Partition(jn.Box((0, 0, 0), (1, 1, 2))), boundary=jn.Dirichlet("x1 + x2*x3")),
    ],
)  # fmt: skip
def test_values_that_fit_together_have_none(problem: jn.Problem) -> None:
    assert steps(problem) == ()


@pytest.mark.parametrize(
    ("problem", "walls"),
    [
        (jn.Problem(jn.Partition(SQUARE), boundary=jn.Dirichlet("where(x1 > 0.2, 1, 0)")), {"x2-", "x2+"}),
        (jn.Problem(HALVES, boundary=jn.Dirichlet("where(x1 < 0.1, 1, 2)")), {"x2-", "x2+", (0, 1)}),
        (jn.Problem(HALVES, boundary=jn.Dirichlet("x1"), jumps=jn.Jump(v=1.0)), {"x2-", "x2+", (0, 1)}),
        (
            jn.Problem(
                jn.Partition(jn.Box((0, 0, 0), (1, 1, 2))),
                boundary={
                    "x1-": jn.Dirichlet(1.0), "x1+": COLD, "x2": jn.Neumann(0.0), "x3-": COLD, "x3+": jn.Neumann(0.0)
                },
            ),
            {"x1-", "x3-"},
        ),
    ],
)  # fmt: skip
def test_values_that_do_not(problem: jn.Problem, walls: set) -> None:  # type: ignore[type-arg]
    assert {wall for step in steps(problem) for wall in step.walls} == walls


def test_infinite_fluxes_and_energies_are_refused_and_others_are_not() -> None:
    solution = jn.solve(hot_lid(A=[1.0, 10.0]), tol=1e-6)
    with pytest.raises(
        jn.SolutionError, match=r"the flux through 'top' is infinite: the given values jump at x = \(-1, 1\)"
    ):
        solution.net_flux("top")
    with pytest.raises(jn.SolutionError, match="the energy is infinite"):
        solution.energy()
    assert solution.energy(1).quadrature_error < 1e-6
    assert solution.net_flux((0, 1)).value == pytest.approx(0.0, abs=1e-6)
    assert np.isfinite(solution.net_flux("bottom").value)


def test_files_are_told_before_the_solve(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "lid.toml"
    path.write_text("""
        domain = { kind = "box", lower = [-1, -1], upper = [1, 1] }
        [background]
        A = 1
        [boundary]
        top = { kind = "dirichlet", g = 1 }
        x1 = { kind = "dirichlet", g = 0 }
        bottom = { kind = "dirichlet", g = 0 }
        [quantities]
        lid = { kind = "flux", boundary = "top" }
    """)
    with pytest.raises(jn.ProblemError, match=r"quantities.lid is infinite: the given values jump at x = \(-1, 1\)"):
        jn.read_file(path)


def test_elements_reach_a_tolerance_at_steps_of_the_values() -> None:
    """Their energy is infinite there: elements elsewhere must not wait for it."""
    solution = jn.solve(hot_lid(A=["exp(x1 + 0.5*x2)", 10.0]), method="fem")
    assert solution.status is jn.Status.CONVERGED
