"""Small holes: evenly spread points miss them, and the functions about them must not be left to chance."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.collocation import Points
from jumpnet.engines.trefftz.small_walls import BOUNDARY, on_small_walls, walls_of_holes

PLACE = np.array([0.3, 0.2])
BOX = jn.Box((-1, -1), (1, 1))


def hole(kind: str, r: float):
    x, y = PLACE
    made = {
        "disk": jn.Disk((x, y), r),
        "square": jn.Box((x - r, y - r), (x + r, y + r)),
        "star": jn.Star((x, y), f"{r}*(1 + 0.2*cos(5*theta))"),
    }
    return made[kind]


def field(x: np.ndarray) -> np.ndarray:
    x = np.asarray(x)
    return 0.1 * np.log(np.hypot(*(x - PLACE).T)) + x[:, 0]


@pytest.mark.parametrize("kind", ["disk", "square", "star"])
@pytest.mark.parametrize("radius", [1e-2, 1e-5])
def test_a_small_hole_in_the_domain_is_right_beside_it_too(kind: str, radius: float) -> None:
    """They were called converged with errors of 1e14 beside them."""
    parts = jn.Partition(BOX - hole(kind, radius) - jn.Disk((-0.5, -0.4), 0.2))
    solution = jn.solve(jn.Problem(parts, boundary=jn.Dirichlet(field)), verify=False)
    near = np.random.default_rng(0).uniform(PLACE - 5 * radius, PLACE + 5 * radius, (500, 2))
    near = near[parts.label(near) == 0]
    assert solution.status.ok
    assert np.abs(solution(near) - field(near)).max() < 1e-10


@pytest.mark.parametrize("radius", [1e-2, 1e-4])
def test_a_small_part_of_a_piece(radius: float) -> None:
    """A piece of two disks, heated alike: fields of disks in one material add up."""
    disks = [(PLACE, radius), (np.array([-0.5, -0.4]), 0.2)]

    def u(x: np.ndarray) -> np.ndarray:
        t = [np.maximum(np.hypot(*(np.asarray(x) - c).T), 1e-300) for c, _ in disks]
        inside = [0.5 * (d**2 - r**2) for d, (_, r) in zip(t, disks, strict=True)]
        outside = [r**2 * np.log(np.maximum(d, r) / r) for d, (_, r) in zip(t, disks, strict=True)]
        return -sum(np.where(d < r, i, o) for d, i, o, (_, r) in zip(t, inside, outside, disks, strict=True))

    both = jn.Disk(tuple(PLACE), radius) | jn.Disk((-0.5, -0.4), 0.2)
    parts = jn.Partition(BOX, [both])
    solution = jn.solve(jn.Problem(parts, A=1.0, f=[0.0, -2.0], boundary=jn.Dirichlet(u)), verify=False)
    x, piece = parts.sample_interior(2000, seed=3)
    assert solution.status.ok and "Trefftz" in solution.diagnostics.method
    assert np.sqrt(np.mean((solution(x, piece) - u(x)) ** 2)) < 1e-6 * np.std(u(x))


def test_holes_get_what_even_points_do_not_give_them() -> None:
    parts = jn.Partition(BOX - hole("square", 1e-3) - jn.Disk((-0.5, -0.4), 0.2), [jn.Disk((0.6, -0.6), 0.1)])
    problem, holes = jn.Problem(parts, boundary=jn.Dirichlet(0.0)), walls_of_holes(parts)
    assert sorted(one.pair for one in holes) == [BOUNDARY] * 5 + [(0, 1)]
    found = on_small_walls(problem, holes, Points(100, 300, 40), 28, np.random.default_rng(0))
    assert found is not None and not found.interfaces  # 300 points are 40 on the larger hole, and 40 are enough for it
    assert 28 <= len(found.boundary) <= 32
    assert np.allclose(np.abs(found.boundary - PLACE).max(axis=1), 1e-3)
    assert on_small_walls(problem, holes, Points(100, 10**6, 40), 28, np.random.default_rng(0)) is None
