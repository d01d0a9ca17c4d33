"""Parts of the outer boundary by conditions and by pieces: points, integrals, conditions, storage."""

import json

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.geometry.quadrature.integrals import over_boundary
from jumpnet.geometry.quadrature.rules import total

DISK = jn.Partition(
    jn.Disk((0, 0), 1.0), [jn.Disk((0.2, 0.1), 0.3)], boundary={"upper": "x2 > 0.5", "dot": "x1 < -0.99"}
)
STACK = jn.Partition(jn.Box((0, 0), (2, 1)), [jn.Box((1, 0), (2, 1))], boundary={"die": 1, "slot": "x2 < 1/4"})


def length(parts: jn.Partition, part: str) -> float:
    return total(over_boundary(parts, part), lambda x, n: np.ones(len(x))).value


def test_a_point_belongs_to_the_first_part_that_it_meets() -> None:
    assert DISK.boundary_parts == ("upper", "dot", "boundary")
    x, _, _, number = DISK.sample_boundary(2000, seed=0)
    expected = np.where(x[:, 1] > 0.5, 0, np.where(x[:, 0] < -0.99, 1, 2))
    assert np.array_equal(number, expected)
    x, _, piece, number = DISK.sample_boundary(100, seed=0, part="upper", method="sobol")
    assert (x[:, 1] > 0.5).all() and (number == 0).all() and (piece == 0).all()


def test_sides_of_a_box_keep_what_is_left_of_them() -> None:
    """The right half belongs to the die, the lowest quarter to the slot: nothing is left of x1+ and of x2-."""
    assert STACK.boundary_parts == ("die", "slot", "x1-", "x2+")
    assert [length(STACK, part) for part in STACK.boundary_parts] == pytest.approx([3.0, 1.25, 0.75, 1.0], rel=1e-8)
    x, _, piece, _ = STACK.sample_boundary(200, seed=1, part="die")
    assert (x[:, 0] >= 1).all() and (piece == 1).all()
    with pytest.raises(jn.GeometryError, match="no boundary part 'right'; the parts are die, slot, x1-, x2"):
        STACK.part_name("right")


def test_parts_follow_from_points_and_normals_alone() -> None:
    for parts in (DISK, STACK, jn.Partition(jn.Box((0, 0, 0), (1, 2, 3)), [jn.Ball((0.5, 0.5, 0.5), 0.2)])):
        x, normals, piece, number = parts.sample_boundary(300, seed=2)
        assert np.array_equal(parts.part_numbers(x, normals, piece), number)


def test_lengths_of_arcs() -> None:
    assert length(DISK, "upper") == pytest.approx(2 * np.pi / 3, rel=1e-8)
    assert sum(length(DISK, part) for part in DISK.boundary_parts) == pytest.approx(2 * np.pi, rel=1e-8)


def test_conditions_change_where_parts_do() -> None:
    """A disk, held above and insulated or cooled below: the manufactured solution, and the same from storage."""
    u = "exp(x1)*cos(x2)"
    kinds = {"upper": jn.Dirichlet, "dot": (jn.Robin, 2.0), "boundary": jn.Neumann}
    solution = jn.solve(jn.manufactured(DISK, u=[u, u], A=[1.0, 1.0], boundary=kinds), tol=1e-8)
    assert solution.errors().relative_l2 <= 1e-8
    flux = [solution.net_flux(part) for part in DISK.boundary_parts]
    assert sum(one.value for one in flux) == pytest.approx(0.0, abs=1e-7)
    again = jn.Problem.from_spec(json.loads(json.dumps(solution.problem.spec())))  # type: ignore[union-attr]
    assert again.partition.boundary_parts == DISK.boundary_parts
    once, twice = (parts.sample_boundary(50, seed=3)[3] for parts in (DISK, again.partition))
    assert np.array_equal(once, twice)


def test_sides_by_pieces_in_a_solve_with_cells() -> None:
    u = ["x1**2 + x2", "x1*x2 + 1"]
    problem = jn.manufactured(
        STACK,
        u=u,
        A=[1.0, 3.0],
        boundary={"die": jn.Neumann, "slot": jn.Dirichlet, "x1-": jn.Dirichlet, "top": jn.Neumann},
    )
    assert jn.solve(problem).errors().relative_l2 <= 1e-8


WRONG = {
    "name of a side": ({"left": "x1 < 0"}, "cannot be called 'left'"),
    "name of an axis": ({"x1": "x1 < 0"}, "cannot be called 'x1'"),
    "formula": ({"a": "x1 + 1"}, "the boundary part 'a'"),
    "unknown name": ({"a": "x7 < 0"}, "x7"),
    "code": ({"a": "__import__('os') < 1"}, "the boundary part 'a'"),
    "piece": ({"a": 5}, "the pieces are 0 to 1"),
    "number": ({"a": 0.5}, "a condition such as"),
    "list": ([("a", "x1 < 0")], "a mapping"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_parts_are_refused_in_one_sentence(kind: str) -> None:
    given, words = WRONG[kind]
    with pytest.raises(jn.JumpnetError) as caught:
        jn.Partition(jn.Box((0, 0), (1, 1)), [jn.Disk((0.5, 0.5), 0.2)], boundary=given)  # type: ignore[arg-type]
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_named_parts_are_not_periodic() -> None:
    with pytest.raises(jn.ProblemError, match="only whole opposite sides of a Box"):
        jn.Problem(STACK, boundary=dict.fromkeys(STACK.boundary_parts, jn.Periodic()))


def test_a_part_too_small_to_be_found_is_named() -> None:
    partition = jn.Partition(jn.Box((-1, 0), (1, 1)), boundary={"hot": "x2 < 1e-12 and abs(x1) < 1e-5"})
    with pytest.raises(jn.GeometryError, match=r"part 'hot' of the boundary .* too small"):
        jn.Problem(partition, boundary={"hot": jn.Dirichlet(1.0), "x1": jn.Dirichlet(0.0), "x2": jn.Dirichlet(0.0)})


@pytest.mark.parametrize("domain", [jn.Box((0, 0), (1, 1)), jn.Disk((0.5, 0.0), 1.0)])
def test_integrals_over_short_parts(domain: jn.Box | jn.Disk) -> None:
    """A part that a survey of the boundary finds has a length; a flux through it was zero."""
    for at in (0.3, 0.61, 0.77):
        parts = jn.Partition(domain, boundary={"slit": f"x2 > 0.5 and x1 > {at} and x1 < {at + 1e-3}"})
        angles = np.arcsin(np.array([at, at + 1e-3]) - 0.5)
        true = 1e-3 if isinstance(domain, jn.Box) else float(np.diff(angles)[0])
        assert parts.reached(parts.named[0])
        assert length(parts, "slit") == pytest.approx(true, rel=1e-6)


def test_the_judge_does_not_know_the_flux_through_a_part_that_its_mesh_does_not_show() -> None:
    u = jn.Dirichlet("exp(2*x1)*sin(2*x2)")
    parts = jn.Partition(jn.Box((0, 0), (1, 1)), boundary={"slit": "x2 > 1 - 1e-9 and x1 > 0.3 and x1 < 0.301"})
    solution = jn.solve(jn.Problem(parts, boundary={"slit": u, "rest": u}), tol=1e-6, verify=True)
    assert solution.net_flux("slit").value == pytest.approx((np.exp(0.602) - np.exp(0.6)) * np.cos(2), rel=1e-6)
    assert solution.verdict is not None
    with pytest.raises(jn.JumpnetError, match="not known"):
        solution.verdict.error_of_net_flux("slit")
