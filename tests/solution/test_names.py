"""Pieces by name: everywhere a piece or a pair of pieces is given, its name does as well as its number."""

import numpy as np
import pytest

import jumpnet as jn


@pytest.fixture(scope="module")
def parts() -> jn.Partition:
    return jn.Partition(
        jn.Interval(0, 3),
        [jn.Interval(1, 2), jn.Interval(2, 3)],
        names=["air", "wall", "room"],
        boundary={"in": "room"},
    )


@pytest.fixture(scope="module")
def solution(parts: jn.Partition) -> jn.Solution:
    jumps = {("air", "wall"): jn.Jump(v=1.0), ("wall", "room"): jn.Jump(R=0.5)}
    boundary = {"in": jn.Dirichlet(4.0), "x1-": jn.Dirichlet(0.0)}
    return jn.solve(jn.Problem(parts, A={"air": 1.0, "wall": 2.0, "room": 4.0}, jumps=jumps, boundary=boundary))


def test_jumps_and_boundary_parts(parts: jn.Partition, solution: jn.Solution) -> None:
    pairs = {(0, 1): jn.Jump(v=1.0), (1, 2): jn.Jump(R=0.5)}
    sides = {"in": jn.Dirichlet(4.0), "x1-": jn.Dirichlet(0.0)}
    same = jn.solve(jn.Problem(parts, A=[1.0, 2.0, 4.0], jumps=pairs, boundary=sides))
    x = np.linspace(0.1, 2.9, 8)
    np.testing.assert_allclose(solution(x), same(x), rtol=1e-12)
    with pytest.raises(jn.ProblemError, match="smaller number first"):
        jn.Problem(parts, jumps={("wall", "air"): jn.Jump()})
    with pytest.raises(jn.ProblemError, match="or their names"):
        jn.Problem(parts, jumps={("wall", "roof"): jn.Jump()})


def test_values_and_integrals(parts: jn.Partition, solution: jn.Solution) -> None:
    x = [[1.0]]
    assert solution.side(x, "air") == solution.side(x, 0) and solution(x, "wall") == solution(x, 1)
    np.testing.assert_array_equal(solution([[1.0], [2.0]], ["wall", "room"]), solution([[1.0], [2.0]], [1, 2]))
    assert solution.grad(x, "wall") == solution.grad(x, 1) and solution.flux(x, "air") == solution.flux(x, 0)
    assert solution.mean("wall").value == solution.mean(1).value
    assert solution.integral(over="room").value == solution.integral(over=2).value
    assert solution.integral("u", over=("air", "wall")).value == solution.integral("u", over=(0, 1)).value
    assert solution.net_flux(("wall", "air")).value == solution.net_flux((1, 0)).value
    assert solution.as_function(piece="wall")(1.0) == solution.side(x, 1)
    with pytest.raises(jn.GeometryError, match="no piece 'roof'"):
        solution.side(x, "roof")


def test_geometry_and_data(parts: jn.Partition) -> None:
    assert parts.measure("wall") == parts.measure(1) and parts.holes("wall") == ()
    assert parts.piece_bounds("room") == parts.piece_bounds(2)
    assert parts.sample_interface(("air", "wall"), 1, seed=0)[0] == [[1.0]]
    problem = jn.Problem(parts, data=jn.Data([[1.0]], [2.0], piece="wall"))
    assert problem.data is not None and problem.data.piece.tolist() == [1]
