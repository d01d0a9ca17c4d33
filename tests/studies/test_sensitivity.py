"""Derivatives of solutions by constants, beside closed forms and differences of solves."""

import numpy as np
import pytest

import jumpnet as jn

SQUARE = jn.Box((-1, -1), (1, 1))
CONSTANTS = {"k": 3.0, "R": 0.2, "h": 2.0, "c": 0.7}


def plate(**changed):
    """A disk of anisotropic material in another one, with a contact, and exchange with the surroundings."""
    given = {
        "A": ["1 + c", [["k", 0.5], [0.5, 2.0]]],
        "f": [0.0, "-c"],
        "boundary": jn.Robin("h", "h*c*x2"),
        "jumps": jn.Jump(w="k/4", R="R"),
        "constants": CONSTANTS,
    }
    return jn.Problem(jn.Partition(jn.Disk((0, 0), 1.0), [jn.Disk((0.1, 0.0), 0.5)]), **(given | changed))


def compared(problem, name, tol=1e-7, **options):
    """The largest difference between the derivative and a difference of solves, over the size of the derivative."""
    x, _ = problem.partition.sample_interior(200, seed=5)
    at = problem.given["constants"][name]
    found = jn.solve(problem, tol=1e-9, **options).sensitivity(name, tol=tol, **options)
    step = 1e-3 * at  # the error of a central difference is its square
    sides = [jn.solve(problem.with_constants({name: at + s}), tol=1e-9, **options)(x) for s in (-step, step)]
    expected = (sides[1] - sides[0]) / (2 * step)
    assert found.status is jn.Status.CONVERGED, found.report()
    return float(np.abs(found(x) - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize("name", CONSTANTS)
def test_every_datum_of_a_line(name):
    parts = jn.Partition(jn.Interval(0, 2), [jn.Interval(1, 2)])
    problem = jn.Problem(
        parts,
        A=["k*(1 + x1)", "2 + c"],
        lam=["c", 0.5],
        f=["-k*x1", "c"],
        boundary={"left": jn.Dirichlet("c"), "right": jn.Robin("h", "h*k")},
        jumps=jn.Jump(v="c/5", w="k/4", R="R"),
        constants=CONSTANTS,
    )
    assert compared(problem, name) < 1e-5


@pytest.mark.parametrize("name", ["k", *(pytest.param(name, marks=pytest.mark.slow) for name in ("R", "h", "c"))])
def test_every_datum_of_a_plate(name):
    assert compared(plate(), name, tol=1e-6) < 1e-5


@pytest.mark.slow
def test_a_disk_by_functions_and_by_elements():
    """u' of a disk with conductivity k in a plate: both engines, judged."""
    parts = jn.Partition(SQUARE, [jn.Disk((0, 0), 0.5)])
    problem = jn.Problem(parts, A=[1.0, "k"], boundary=jn.Dirichlet("x1"), constants={"k": 3.0})
    found = jn.solve(problem, tol=1e-9).sensitivity("k", tol=1e-7)
    elements = jn.solve(problem, tol=1e-7, method="fem").sensitivity("k", tol=1e-4, method="fem")
    x, piece = parts.sample_interior(200, seed=5)
    sides = [jn.solve(problem.with_constants({"k": k}), tol=1e-10)(x, piece) for k in (2.999, 3.001)]
    expected = (sides[1] - sides[0]) / 0.002
    size = np.abs(expected).max()
    assert found.status.ok and elements.status.ok
    assert np.abs(found(x, piece) - expected).max() < 1e-6 * size
    assert np.abs(elements(x, piece) - expected).max() < 1e-3 * size


def test_a_point_source_in_a_piece_whose_conductivity_is_the_parameter():
    problem = jn.Problem(jn.Partition(SQUARE), A="k", sources=[jn.PointSource((0.2, 0.1), 1.0)], constants={"k": 2.0})
    solution = jn.solve(problem)
    x = [[0.5, 0.5], [-0.3, 0.2]]
    np.testing.assert_allclose(solution.sensitivity("k")(x), -solution(x) / 2, rtol=1e-5)  # u is 1/k times a function


def test_an_inexact_solution_is_no_ground_for_an_exact_derivative():
    problem = jn.Problem(jn.Partition(jn.Interval(0, 1)), A="k", f="-exp(x1)", constants={"k": 1.0})
    rough = jn.solve(problem).with_diagnostics(estimate=1e-3)
    found = rough.sensitivity("k")
    assert found.status is jn.Status.UNDECIDED and found.estimate >= 1e-3
    assert "smaller tol" in found.diagnostics.reasons[-1]


def test_what_cannot_be_differentiated_is_one_sentence():
    solution = jn.solve(plate(A=[1.0, 2.0], constants=CONSTANTS | {"unused": 1.0}), verify=False, tol=1e-3)
    with pytest.raises(jn.ProblemError, match="its constants are: 'k', 'R', 'h', 'c', 'unused'"):
        solution.sensitivity("q")
    with pytest.raises(jn.ProblemError, match="no datum of the problem uses the constant 'unused'"):
        solution.sensitivity("unused")
    slab = jn.Partition(jn.Interval(0, 1))
    nonlinear = jn.NonlinearProblem(slab, A="k + u", boundary=jn.Dirichlet("x1"), constants={"k": 1.0})
    with pytest.raises(jn.ModelError, match="nonlinear"):
        jn.solve_nonlinear(nonlinear).sensitivity("k")
    cell = jn.Problem(
        jn.Partition(SQUARE, [jn.Disk((0, 0), 0.5)]),
        A=["k", 1.0],
        boundary={"x1": jn.Periodic(1.0), "x2": jn.Periodic(0.0)},
        constants={"k": 2.0},
    )
    with pytest.raises(jn.ModelError, match="periodic side"):
        jn.solve(cell).sensitivity("k")
