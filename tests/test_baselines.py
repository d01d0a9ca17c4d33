"""Finite elements: orders of convergence, every kind of condition, answers like those of a solution."""

import sys

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.experiments import problems

pytestmark = pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")
SQUARE = jn.Box((-1, -1), (1, 1))


def fem(problem: jn.Problem, **options) -> jn.Solution:
    pytest.importorskip("ngsolve")
    return jn.baselines.fem(problem, **options)


def test_without_ngsolve_there_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "ngsolve", None)
    monkeypatch.setitem(sys.modules, "netgen.occ", None)
    with pytest.raises(jn.ModelError, match=r"pip install 'jumpnet\[fem\]'"):
        jn.baselines.fem(problems.inclusion())


@pytest.mark.parametrize("boundary", ["dirichlet", "mixed"])
def test_a_disk_converges_with_the_order(boundary):
    problem = problems.inclusion(k=1000.0, center=(0.2, 0.1), boundary=boundary)
    errors = [fem(problem, order=order, size=0.4).errors().l2 for order in (2, 4, 6)]
    # Smooth pieces: each order gains a factor, measured 10 per order; 4e-4, 4e-6, 6e-8.
    assert errors[0] < 2e-3 and errors[1] < errors[0] / 20 and errors[2] < errors[1] / 10


def test_prescribed_jumps_and_a_cusp():
    reference = fem(problems.pde2(), order=4, size=0.3)
    assert reference.errors().l2 < 2e-6  # measured: 1.7e-7
    x, n = problems.pde2().partition.sample_interface((0, 1), 20, seed=0)
    v, w = problems.pde2().jump_data((0, 1), x, n)
    assert (
        np.abs(reference.jump(x) - v).max() < 1e-4
        and np.abs(reference.side(x, 0) - reference.side(x, 1) - v).max() < 1e-4
    )
    assert np.abs(reference.flux_jump(x) - w).max() < 0.02 * np.abs(w).max()


def test_pieces_that_touch_and_reach_the_boundary():
    left, low = jn.HalfSpace((1, 0), 0.1), jn.HalfSpace((0, 1), -0.2)
    parts = jn.Partition(SQUARE, [left & low, left & ~low])
    problem = jn.manufactured(parts, u=["sin(x1)*x2", "exp(x1) + x2", "x1*x2 + 2"], A=[1.0, [[2, 1], [1, 3]], "2 + x1"])
    reference = fem(problem, order=5, size=0.5)
    assert reference.errors().l2 < 1e-6


@pytest.mark.parametrize(
    "shape", [jn.Polygon([(-0.5, -0.5), (0.6, -0.4), (0.1, 0.5)]), jn.Ellipse((0, 0), (0.6, 0.3), 0.4)]
)
def test_other_shapes(shape):
    problem = jn.manufactured(jn.Partition(SQUARE, [shape]), u=["x1**2", "x2**2 + 1"], A=[1.0, 5.0])
    assert fem(problem, order=4, size=0.4).errors().l2 < 1e-6


def test_a_ball_in_a_cube():
    problem = problems.inclusion(dim=3, k=10.0)
    assert fem(problem, order=2, size=0.7).errors().l2 < 2e-2


def test_it_agrees_with_the_direct_solution_where_no_exact_one_is_known():
    problem = jn.Problem(
        jn.Partition(SQUARE, [jn.Disk((0.2, 0.1), 0.4)]), A=[1.0, "10*(1 + x1**2)"], boundary=jn.Dirichlet("x1")
    )
    reference, direct = fem(problem, order=6, size=0.4), jn.solve(problem)
    x = np.random.default_rng(0).uniform(-0.95, 0.95, (50, 2))
    assert np.abs(reference(x) - direct(x)).max() < 1e-6
    assert np.abs(reference.flux(x) - direct.flux(x)).max() < 1e-3


def test_a_star_with_poles_beyond_its_wall_is_as_elements_have_it():
    parts = jn.Partition(SQUARE, [jn.Star((0.07, -0.04), "0.4*(1 + 0.2*cos(3*theta))")])
    problem = jn.Problem(parts, A=[1.0, 10.0], boundary=jn.Dirichlet("x1"))
    direct, elements = jn.solve(problem), fem(problem, order=5, size=0.2)
    x, piece = parts.sample_interior(500, seed=1)
    assert np.abs(direct(x, piece) - elements(x, piece)).max() < 1e-5


def test_as_many_unknowns_as_asked_for(tmp_path):
    reference = fem(problems.inclusion(), order=3, unknowns=3000)
    assert abs(reference.settings["unknowns"] - 3000) <= 300 and "finite elements of order 3" in str(reference.report())
    reference.save(tmp_path / "reference.jumpnet")
    x = np.random.default_rng(0).uniform(-0.9, 0.9, (50, 2))
    assert np.array_equal(jn.load(tmp_path / "reference.jumpnet")(x), reference(x))
    with pytest.raises(jn.SolutionError, match="not in piece"):
        reference([[0.9, 0.9]], piece=1)


def test_what_it_cannot_do_it_says():
    pytest.importorskip("ngsolve")
    for wrong, words in (
        (lambda: jn.baselines.fem(problems.pde3()), "LevelSet"),
        (lambda: jn.baselines.fem(problems.pde1()), "dimensions"),
        (lambda: jn.baselines.fem(problems.pde2(), order=0), "order"),
        (lambda: jn.baselines.fem(problems.pde2(), size=-1.0), "size"),
        (lambda: jn.baselines.fem("pde2"), "Problem"),
    ):
        with pytest.raises(jn.JumpnetError, match=words):
            wrong()


def test_interfaces_that_cross_themselves_cut_the_elements(tmp_path):
    pytest.importorskip("xfem")
    errors = [fem(problems.pde3(), fitted=False, size=size).errors().l2 for size in (0.1, 0.05)]
    assert errors[0] < 5e-3 and errors[1] < errors[0] / 2.5  # of second order
    reference = fem(problems.pde3(), fitted=False, unknowns=3000)
    assert abs(reference.settings["unknowns"] - 3000) < 300
    x, n = problems.pde3().partition.sample_interface((0, 1), 20, seed=0)
    assert np.abs(reference.jump(x) - problems.pde3().jump_data((0, 1), x, n)[0]).max() < 0.02
    with pytest.raises(jn.SolutionError, match="unfitted finite elements cannot be stored"):
        reference.save(tmp_path / "reference.jumpnet")
    with pytest.raises(jn.GeometryError, match="two pieces in a rectangle"):
        fem(problems.pde4(), fitted=False)
