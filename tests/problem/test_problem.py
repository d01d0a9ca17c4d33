"""What a stated problem answers: coefficients, boundary data, jumps, exact values, and storage."""

import json
import warnings

import jax.numpy as jnp
import numpy as np
import pytest

from jumpnet.errors import JumpnetWarning, ProblemError
from jumpnet.geometry import Box, Disk, Interval, LevelSet, Partition
from jumpnet.problem import Convection, Dirichlet, Jump, Neumann, Problem, Robin, manufactured
from jumpnet.problem.ambient import ambient

SQUARE = Box((-1, -1), (1, 1))
PARTS = Partition(SQUARE, [Disk((0.2, 0.1), 0.4)])
TWO = Partition(SQUARE, [Disk((-0.5, 0.0), 0.3), Disk((0.5, 0.0), 0.3)])
X = np.random.default_rng(3).uniform(-1, 1, (30, 2))
NORMALS = np.tile([1.0, 0.0], (30, 1))
LABELS = np.zeros(30, dtype=int)


def test_defaults_are_the_homogeneous_laplace_problem():
    problem = Problem(PARTS)
    for piece in (0, 1):
        A, div_A, lam, f = problem.pde(piece, X)
        np.testing.assert_array_equal(A, np.broadcast_to(np.eye(2), (30, 2, 2)))
        assert not div_A.any() and not lam.any() and not f.any()
        assert div_A.shape == (30, 2) and lam.shape == f.shape == (30,)
    assert problem.dim == 2 and problem.exact is None
    assert repr(problem) == "Problem(2-D, 2 pieces, 1 interface)"
    for values in problem.jump_data((0, 1), X, NORMALS):
        np.testing.assert_array_equal(values, 0.0)


@pytest.mark.parametrize(
    "A",
    [
        [1.0, "1000*(1 + x1**2)"],
        ["1", lambda x: 1000 * (1 + x[:, 0] ** 2)],
        [np.eye(2), [["1000*(1 + x1**2)", 0], [0, "1000*(1 + x**2)"]]],
        [np.eye(2), lambda x: 1000 * (1 + x[:, 0] ** 2)[:, None, None] * jnp.eye(2)],
    ],
)
def test_coefficients_may_be_written_in_many_ways(A):
    problem = Problem(PARTS, A=A)
    np.testing.assert_array_equal(problem.pde(0, X)[0], np.broadcast_to(np.eye(2), (30, 2, 2)))
    matrix, div_A, _, _ = problem.pde(1, X)
    np.testing.assert_allclose(matrix, 1000 * (1 + X[:, 0] ** 2)[:, None, None] * np.eye(2), rtol=1e-15)
    np.testing.assert_allclose(div_A, np.stack([2000 * X[:, 0], 0 * X[:, 0]], axis=1), rtol=1e-14)


def test_rows_of_numbers_are_one_matrix_and_a_flat_list_is_one_value_per_piece():
    one = Problem(PARTS, A=[[4, 1], [1, 2]])
    for piece in (0, 1):
        np.testing.assert_array_equal(one.A[piece].value(X[:1])[0], [[4, 1], [1, 2]])
    each = Problem(PARTS, A=(4, 2))
    assert [a.value(X[:1])[0, 0, 0] for a in each.A] == [4, 2]
    stacked = Problem(PARTS, A=np.stack([np.eye(2), 3 * np.eye(2)]))
    assert [a.value(X[:1])[0, 0, 0] for a in stacked.A] == [1, 3]


def test_constants_reach_every_formula():
    problem = Problem(
        PARTS,
        A=[1.0, "k"],
        lam="s",
        f="k*x1",
        boundary=Robin("s", "k"),
        jumps=Jump("k", "s"),
        exact=["k", "s"],
        constants={"k": 7.0, "s": 0.25},
    )
    assert problem.pde(1, X)[0][0, 0, 0] == 7.0
    kind, alpha, g = problem.boundary_data("left", X, NORMALS, LABELS)
    assert (kind, alpha[0], g[0]) == ("robin", 0.25, 7.0)
    assert [values[0] for values in problem.jump_data((0, 1), X, NORMALS)] == [7.0, 0.25]
    np.testing.assert_array_equal(problem.exact_values(X[:2], np.array([0, 1])), [7.0, 0.25])


def test_the_old_keyword_parts_is_accepted_with_a_warning():
    with pytest.warns(DeprecationWarning, match="write partition=") as told:
        problem = Problem(parts=PARTS, A=2.0)
    assert problem.A[0].value(np.zeros((1, 2)))[0, 0, 0] == 2.0 and told[0].filename == __file__


def test_each_boundary_part_has_its_own_condition():
    problem = Problem(
        PARTS,
        boundary={"left": Dirichlet("x2"), "x1+": Neumann(2.0), "bottom": Robin(3.0, "x1"), "top": Neumann()},
    )
    assert list(problem.boundary) == ["x1-", "x1+", "x2-", "x2+"]
    expected = {"x1-": ("dirichlet", 1, X[:, 1]), "right": ("neumann", 0, 2), "x2-": ("robin", 3, X[:, 0])}
    for part, (kind, alpha, g) in expected.items():
        found = problem.boundary_data(part, X, NORMALS, LABELS)
        assert found[0] == kind
        np.testing.assert_array_equal(found[1], np.full(30, alpha))
        np.testing.assert_array_equal(found[2], np.broadcast_to(g, 30))


def test_the_rest_of_the_boundary_is_what_is_not_named():
    problem = Problem(PARTS, boundary={"rest": Neumann(), "left": Dirichlet(1.0)})
    assert [condition.kind for condition in problem.boundary.values()] == ["dirichlet"] + 3 * ["neumann"]


def test_jumps_per_interface_default_to_zero():
    problem = Problem(TWO, jumps={(0, 2): Jump(v="x1", w=1.0)})
    assert set(problem.jumps) == {(0, 1), (0, 2)}
    v, w = problem.jump_data((0, 2), X, NORMALS)
    np.testing.assert_array_equal(v, X[:, 0])
    np.testing.assert_array_equal(w, 1.0)
    assert not any(values.any() for values in problem.jump_data((0, 1), X, NORMALS))


def test_an_untraceable_coefficient_needs_its_divergence():
    def rough(x):
        return 2 + np.sin(np.asarray(x)[:, 0])

    with pytest.raises(ProblemError, match="div_A="):
        Problem(PARTS, A=rough)
    problem = Problem(PARTS, A=[1.0, rough], div_A=[None, ["cos(x1)", 0]])
    np.testing.assert_allclose(problem.pde(1, X)[1][:, 0], np.cos(X[:, 0]), rtol=1e-15)
    assert not problem.pde(0, X)[1].any()
    everywhere = Problem(PARTS, A=rough, div_A=["cos(x1)", 0])
    np.testing.assert_allclose(everywhere.pde(0, X)[1][:, 0], np.cos(X[:, 0]), rtol=1e-15)


def test_data_that_are_not_finite_where_they_are_used_are_named():
    problem = Problem(PARTS, f=[0.0, "1/(x1 - 0.7)"])  # finite in the disk
    problem.pde(1, X)
    with pytest.raises(ProblemError, match=r"f in piece 1 is not finite at 1 of 1 points, e\.g\. x = \(0\.7, 0\)"):
        problem.pde(1, np.array([[0.7, 0.0]]))


def test_negative_lam_and_negative_alpha_are_warnings():
    with pytest.warns(JumpnetWarning, match="lam is negative in 1 of 2 pieces"):
        Problem(PARTS, lam=[0.0, "x1 - 1"])
    with pytest.warns(JumpnetWarning, match="alpha of Robin on 'x1-' is negative"):
        Problem(PARTS, boundary=dict.fromkeys(PARTS.boundary_parts, Dirichlet()) | {"x1-": Robin(-1.0, 0.0)})


def test_the_warning_points_at_the_users_line():
    for state in (
        lambda: Problem(PARTS, lam=-1.0, boundary=Dirichlet(0.0)),
        lambda: manufactured(PARTS, u="x1", lam=-1.0),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            state()
        assert len(caught) == 1 and caught[0].filename == __file__


def test_pure_neumann_needs_balanced_data_or_a_value_somewhere():
    for boundary in (Neumann(1.0), Robin(0.0, 1.0)):
        with pytest.raises(ProblemError, match="integrate to 0, the flux g through the boundary to 8"):
            Problem(PARTS, boundary=boundary)
    assert Problem(PARTS, f=2.0, boundary=Neumann(1.0)).mean == 0.0
    assert Problem(PARTS, f=2.0, boundary=Neumann(1.0), mean=3.0).mean == 3.0
    for fixed in (Problem(PARTS, lam=[0.0, 1.0], boundary=Neumann(1.0)), Problem(PARTS, boundary=Robin(1.0, 1.0))):
        assert fixed.mean is None


def test_a_may_vanish_on_the_boundary():
    problem = Problem(Partition(Interval(0.0, 1.0), []), A="x**2", lam=1.0)
    assert problem.pde(0, np.array([[0.0]]))[0][0, 0, 0] == 0.0


def test_a_problem_is_frozen():
    with pytest.raises(AttributeError):
        Problem(PARTS).A = ()  # type: ignore[misc]
    with pytest.raises(TypeError):
        Problem(PARTS).boundary["x1-"] = None  # type: ignore[index]


def full_problem():
    return Problem(
        TWO,
        A=[1.0, "k*(1 + x1**2)", [[2, "0.1*x1"], ["0.1*x1", 3]]],
        lam=[0.0, "exp(x1)", 1 / 3],
        f="sin(x1)",
        boundary={"left": Dirichlet("x2"), "right": Neumann(0.1), "bottom": Robin("2 + x1", "k"), "top": Neumann()},
        jumps={(0, 2): Jump("x1*x2", 0.3)},
        exact=["x1", "x2", 1.0],
        constants={"k": 0.7},
    )


def manufactured_problem():
    kinds = {"left": Dirichlet, "right": Neumann, "bottom": (Robin, "2 + k*x1"), "top": Dirichlet}
    return manufactured(TWO, ["x1", "exp(x2)", "k*x1*x2"], [1.0, 2.0, "3 + x1"], 0.5, kinds, constants={"k": 0.7})


@pytest.mark.parametrize("make", [full_problem, manufactured_problem])
def test_storage_is_exact(make):
    problem = make()
    spec = json.loads(json.dumps(problem.spec()))
    assert spec["missing"] == []
    again = Problem.from_spec(spec)
    for piece in range(3):
        for old, new in zip(problem.pde(piece, X), again.pde(piece, X), strict=True):
            np.testing.assert_array_equal(old, new)
    for part in PARTS.boundary_parts:
        old, new = (p.boundary_data(part, X, NORMALS, LABELS) for p in (problem, again))
        assert old[0] == new[0]
        np.testing.assert_array_equal(old[1:], new[1:])
    for pair in problem.jumps:
        np.testing.assert_array_equal(problem.jump_data(pair, X, NORMALS), again.jump_data(pair, X, NORMALS))
    np.testing.assert_array_equal(problem.exact_values(X, LABELS), again.exact_values(X, LABELS))


def test_what_cannot_be_stored_is_named():
    phi = LevelSet(lambda x: (x**2).sum(axis=1) - 0.1, bounds=((-1, -1), (1, 1)), dim=2)
    problem = Problem(
        Partition(SQUARE, [phi]),
        A=[1.0, lambda x: 2 + x[:, 0]],
        boundary=Dirichlet(lambda x: x[:, 0]),
        jumps=Jump(w=lambda x: x[:, 1]),
    )
    spec = json.loads(json.dumps(problem.spec()))
    boundary = [f"g on {part}" for part in PARTS.boundary_parts]
    assert spec["missing"] == ["partition", "A in piece 1", *boundary, "w on interface (0, 1)"]
    with pytest.raises(ProblemError, match="stored without partition, A in piece 1"):
        Problem.from_spec(spec)


@pytest.mark.parametrize("ambient", [4.0, "4*x1", lambda x: 4 * x[:, 0]], ids=["number", "formula", "callable"])
def test_convection_is_robin_with_the_ambient_temperature(ambient: object) -> None:
    def condition(boundary: object) -> tuple[np.ndarray, np.ndarray]:
        problem = Problem(Partition(Interval(0, 1)), boundary={"x1-": Dirichlet(0), "x1+": boundary})
        x, one = np.array([[1.0]]), np.zeros(1, int)
        found = problem.boundary["x1+"]
        return found.alpha.value(x), found.g.value(x, np.ones((1, 1)), one)

    alpha, g = condition(Convection(2.5, ambient))  # type: ignore[arg-type]
    assert (alpha, g) == condition(Robin(2.5, 10.0)) == (2.5, 10.0)


def test_an_ambient_value_is_looked_for_in_any_number_of_pieces() -> None:
    walls = [Interval(k, k + 1) for k in range(1, 60)]
    problem = Problem(Partition(Interval(0, 60), walls), boundary={"x1-": Dirichlet(300.0), "x1+": Dirichlet(300.5)})
    assert ambient(problem) == pytest.approx(300.25)
