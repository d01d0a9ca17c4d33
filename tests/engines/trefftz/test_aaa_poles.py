"""Stars and other smooth shapes: poles beyond their walls, found from the shape."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.engines.trefftz.enrichments.aaa_poles import near_poles, poles_beyond
from jumpnet.engines.trefftz.enrichments.multipoles import _outside_piece
from jumpnet.engines.trefftz.spaces import first_space
from jumpnet.geometry.shape import Shape
from jumpnet.geometry.walls.rings import rings_of

SQUARE = jn.Box((-1, -1), (1, 1))
STAR = jn.Star((0.07, -0.04), "0.35*(1 + 0.3*cos(5*theta + 0.3))")

SMALL = jn.Star((0.07, -0.04), "0.4*(1 + 0.2*cos(3*theta))")


def in_a_field(shape: Shape, k: float = 10.0, **others: object) -> jn.Problem:
    given: dict = {"A": [1.0, k], "boundary": jn.Dirichlet("x1"), **others}
    return jn.Problem(jn.Partition(SQUARE, [shape]), **given)


def difference(one: jn.Solution, other: jn.Solution) -> float:
    assert one.partition is not None
    x, piece = one.partition.sample_interior(1000, seed=5)
    return float(np.linalg.norm(one(x, piece) - other(x, piece)) / np.linalg.norm(other(x, piece)))


@pytest.mark.parametrize(
    ("problem", "most"),
    [
        (in_a_field(SMALL, 0.01), 400),
        (in_a_field(STAR, 1000.0), 800),
        (in_a_field(SMALL, A=[[[4.0, 0.0], [0.0, 1.0]], 10.0]), 400),
        (in_a_field(SMALL, f=1.0), 400),
        (in_a_field(jn.Superellipse((0.1, 0.0), (0.5, 0.4), 4)), 300),
        (in_a_field(jn.Curve("0.5*cos(t) + 0.2*cos(2*t)", "0.4*sin(t) + 0.1*sin(2*t)")), 300),
    ],
    ids=["three lobes", "five lobes", "anisotropic", "source", "superellipse", "curve"],
)
def test_smooth_shapes_are_solved_with_few_functions(problem: jn.Problem, most: int) -> None:
    solution = jn.solve(problem, tol=1e-8, method="trefftz")
    assert solution.status is jn.Status.CONVERGED
    assert len(solution.theta) < most
    fine = jn.solve(problem, tol=1e-11, seed=8, method="trefftz")
    assert fine.status is jn.Status.CONVERGED
    x, piece = problem.partition.sample_interior(1000, seed=5)
    size = np.sqrt(np.mean(fine(x, piece) ** 2))
    assert difference(solution, fine) < min(3e-9, 3 * solution.estimate / size)


def test_a_domain_may_be_a_star() -> None:
    parts = jn.Partition(jn.Star((0.0, 0.0), "1 + 0.3*cos(5*theta)"), [jn.Disk((0.1, 0.0), 0.3)])
    solution = jn.solve(jn.Problem(parts, A=[1.0, 10.0], f=1.0), tol=1e-8, method="trefftz")
    assert solution.status is jn.Status.CONVERGED
    assert len(solution.theta) < 600


def test_a_solution_with_poles_is_stored(tmp_path: object) -> None:
    problem = in_a_field(jn.Superellipse((0.1, 0.0), (0.5, 0.4), 4))
    solution = jn.solve(problem, tol=1e-6, method="trefftz")
    assert "poles" in solution.diagnostics.method
    solution.save(f"{tmp_path}/star")
    x = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    assert np.array_equal(jn.load(f"{tmp_path}/star")(x), solution(x))


@pytest.mark.parametrize(
    "shape", [jn.Disk((0.1, 0.0), 0.3), jn.Box((-0.3, -0.3), (0.3, 0.3)), jn.Polygon([(0, 0), (0.5, 0), (0, 0.5)])]
)
def test_round_and_angular_shapes_have_no_rings(shape: Shape) -> None:
    problem = in_a_field(shape)
    assert not list(rings_of(problem.partition))
    assert poles_beyond(first_space(problem), problem) == []


def test_rings_know_their_sides_and_normals() -> None:
    """A star in a star in a star: normals lead to the lower piece, or outside."""
    outer, inner = jn.Star((0.0, 0.0), "2 + 0.3*cos(5*theta)"), jn.Star((0.0, 0.1), "1 + 0.2*cos(3*theta)")
    parts = jn.Partition(outer, [inner - STAR, STAR])
    rings = {(ring.inside, ring.outside): ring for ring in rings_of(parts)}
    assert set(rings) == {(0, -1), (1, 0), (2, 1)}
    for (inside, outside), ring in rings.items():
        x, normal = ring.at(ring.t[::100])
        toward, away = sorted((inside, outside))
        assert np.all(parts.label(x + 1e-6 * normal) == toward)
        assert np.all(parts.label(x - 1e-6 * normal) == away)


def test_points_are_added_where_poles_are_near() -> None:
    problem = in_a_field(STAR)
    space = first_space(problem).with_blocks(poles_beyond(first_space(problem), problem))
    assert space is not None
    x, _ = near_poles(problem, space, jn.Points(1, 100, 100), np.random.default_rng(0)).interfaces[0, 1]  # type: ignore[union-attr]
    depth = np.linalg.norm(x - np.array(STAR.center), axis=1)
    assert np.mean(depth < 0.35) > 0.6  # in the bays, outside of which poles are nearest
    assert near_poles(problem, first_space(problem), jn.Points(1, 100, 100), np.random.default_rng(0)) is None


def test_images_in_a_star_lie_in_it_or_are_left_out() -> None:
    """The circle through a star's lobes and bays is not the star: what it mirrors may land in a bay."""
    stars = [jn.Star((0.4, 0.4), "0.35 - 0.2*sin(4*theta)"), jn.Star((-0.5, -0.4), "0.45 - 0.05*sin(2*theta)")]
    problem = jn.Problem(jn.Partition(SQUARE, [*stars, jn.Disk((-0.4, 0.4), 0.3)]), A=[1.0, 10.0, 10.0, 10.0])
    for block in first_space(problem).blocks:
        if block.pole and block.pieces != (-1,):
            assert _outside_piece(problem.partition, block)
