"""Pieces cut into cells: every piece and wall is covered, points lie where they should, however small the leaf."""

from functools import cache

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.experiments import problems
from jumpnet.geometry.cells.cells import Cells

BOX = jn.Box((-1, -1), (1, 1))
PARTITIONS = {
    "disk": lambda: jn.Partition(BOX, [jn.Disk((0.2, 0.1), 0.4)]),
    "quadrants": lambda: problems.crossing().partition,
    "heart": lambda: problems.pde2().partition,
    "halves": lambda: jn.Partition(jn.Disk((0, 0), 1.0), [jn.HalfSpace((1.0, 0.3), 0.1)]),
}


@cache
def cells_of(name: str, times: int = 3) -> Cells:
    """Cut everywhere, then towards the origin."""
    cells = Cells.whole(PARTITIONS[name]())
    for _ in range(times):
        cells = cells.split(cells.tree.leaves)
    for _ in range(6):
        cells = cells.split(cells.tree.find(np.zeros((1, 2))))
    return cells


@pytest.mark.parametrize("name", PARTITIONS)
def test_points_are_of_the_piece_and_the_cell_they_are_drawn_for(name: str) -> None:
    cells = cells_of(name)
    parts, counts = cells.partition, np.full(len(cells.members), 6)
    drawn = cells.draw(counts, counts, np.random.default_rng(0), even=True)
    assert np.array_equal(parts.label(drawn.interior), drawn.piece)
    # Every cell has points inside, and its points are in its leaf.
    assert set(cells.map(drawn.interior, drawn.piece)) == set(range(len(cells.members)))
    for (a, b), (x, normal) in drawn.interfaces.items():
        assert np.allclose(np.linalg.norm(normal, axis=1), 1)
        step = 1e-9 * normal
        assert np.mean(parts.label(x + step) == a) > 0.99 and np.mean(parts.label(x - step) == b) > 0.99
    assert np.all(parts.label(drawn.boundary + 1e-6 * drawn.boundary_normal) < 0)
    assert np.array_equal(parts.label(drawn.cuts.x), drawn.cuts.piece)
    assert np.all(drawn.cuts.low != drawn.cuts.high)


@pytest.mark.parametrize("name", PARTITIONS)
def test_runs_integrate_over_all_walls_and_cuts(name: str) -> None:
    cells = cells_of(name)
    counts = np.full(len(cells.members), 12)
    drawn = cells.draw(0 * counts, counts, np.random.default_rng(0), even=True)
    lengths = {interface.pair: interface.measure for interface in cells.partition.interfaces}
    for pair, runs in drawn.interface_runs.items():
        assert runs.length.sum() == pytest.approx(lengths[pair], rel=0.02)
    faces = cells.tree.faces
    middle = np.linspace(0, 1, 200)[1:-1]
    x = faces.start[:, None] + middle[:, None] * (faces.end - faces.start)[:, None]
    inside = (cells.partition.label(x.reshape(-1, 2)) >= 0).reshape(len(faces.low), -1).mean(axis=1)
    total = (inside * np.linalg.norm(faces.end - faces.start, axis=1)).sum()
    assert drawn.cut_runs.length.sum() == pytest.approx(total, rel=0.02)


def test_a_wall_is_followed_into_the_smallest_leaf() -> None:
    """A cut along the wall at every depth: nothing of it may get lost from parent to child."""
    cells = Cells.whole(PARTITIONS["quadrants"]())
    for _ in range(17):
        x = np.array([[0.0, 5e-5], [5e-5, 0.0], [0.0, 0.0]])
        cells = cells.split(np.unique(cells.tree.find(x)))
    t = np.linspace(-2e-4, 2e-4, 401)
    for x in (np.c_[0 * t, t], np.c_[t, 0 * t]):
        for leaf in np.unique(cells.tree.find(x)):
            lower, upper = (end[0] for end in cells.tree.corners(np.array([leaf])))
            if np.any(np.all((x > lower + 0.2 * (upper - lower)) & (x < upper - 0.2 * (upper - lower)), axis=1)):
                assert len(cells.known[int(leaf)].walls.wall)


def test_which_partitions_can_be_cut() -> None:
    assert Cells.possible(PARTITIONS["heart"]())
    assert not Cells.possible(jn.Partition(BOX, [jn.LevelSet("x1**2 + x2**2 - 0.2", dim=2)]))
    assert not Cells.possible(problems.pde3().partition)
    assert not Cells.possible(problems.pde5().partition)
    assert not Cells.possible(jn.Partition.chain([0, 1, 2]))


def test_named_parts_of_the_boundary_are_those_of_the_partition() -> None:
    named = {"hot": "x1 > 0.99 and x2 > 0", "foot": 1}
    parts = jn.Partition(BOX, [jn.Box((-1, -1), (0, 0))], boundary=named)
    cells = Cells.whole(parts)
    cells = cells.split(cells.tree.leaves)
    counts = np.full(len(cells.members), 9)
    drawn = cells.draw(counts, counts, np.random.default_rng(0), even=True)
    name = np.array(parts.boundary_parts)[drawn.boundary_part]
    x, y = drawn.boundary.T
    assert np.array_equal(name == "hot", (x > 0.99) & (y > 0)) and np.array_equal(
        name == "foot", drawn.boundary_piece == 1
    )
    assert set(name) == {"hot", "foot", "x1-", "x1+", "x2-", "x2+"}


@pytest.mark.slow
def test_nothing_of_a_needle_is_missed() -> None:
    """Cells towards the cusp of the heart: the needle is a hundredth of a leaf there, and narrower at its tip."""
    cells, tip = Cells.whole(PARTITIONS["heart"]()), np.array([[-0.25, 0.0]])
    for _ in range(20):
        cells = cells.split(cells.tree.find(tip))
    count = np.full(len(cells.members), 24)
    drawn = cells.draw(4 * count, count, np.random.default_rng(0), even=True)
    # The walls are all there, as rules between the two pieces: a cardioid is 8 times as long as its parameter, 1/3.
    run, length = drawn.interface_runs[0, 1]
    assert np.all(run >= 0) and length.sum() == pytest.approx(8 / 3, rel=1e-9)
    # So is every cut through the needle, over all of its width.
    faces = cells.tree.faces
    through = (faces.axis == 0) & (faces.start[:, 1] < 0) & (faces.end[:, 1] > 0) & (faces.start[:, 0] < -0.25)
    for x in faces.start[through & (faces.start[:, 0] > -0.251), 0]:
        mine = (drawn.cuts.normal[:, 0] == 1) & (drawn.cuts.piece == 0) & (drawn.cuts.x[:, 0] == x)
        half = 2 * np.arcsin(np.sqrt(1.5 * (-0.25 - x)))  # the walls' angle from the axis, at about this distance
        width = 2 * (-0.25 - x) * np.tan(half)
        assert drawn.cut_runs.length[mine].sum() == pytest.approx(width, rel=0.01)
    # And its cells have points inside.
    small = np.all(np.abs(drawn.interior - tip) < 1e-4, axis=1) & (drawn.piece == 0)
    assert small.sum() > 500 and np.all(cells.partition.label(drawn.interior) == drawn.piece)


def test_walls_that_touch_in_a_point_are_no_interface() -> None:
    touching = jn.Partition(BOX, [jn.Disk((-0.4, 0), 0.4), jn.Disk((0.2, 0), 0.2)])
    cells = Cells.whole(touching)
    for _ in range(16):
        cells = cells.split(cells.tree.find(np.array([[0.0, 1e-7]])))
    counts = np.full(len(cells.members), 20)
    drawn = cells.draw(0 * counts, counts, np.random.default_rng(0), even=True)
    assert set(drawn.interfaces) == {(0, 1), (0, 2)}


@pytest.mark.parametrize("gap", [0.0, 1e-6, 1e-4])
def test_leaves_that_hold_hardly_more_than_a_wall(gap: float) -> None:
    cells = Cells.whole(jn.Partition(jn.Disk((0, 0), 1.0), [jn.Disk((0.5 - gap, 0), 0.5)]))
    for _ in range(14):
        cells = cells.split(cells.tree.find(np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])))
    counts = np.full(len(cells.members), 8)
    drawn = cells.draw(0 * counts, counts, np.random.default_rng(0), even=True)
    assert np.isfinite(drawn.boundary).all() and set(drawn.interfaces) == {(0, 1)}


@pytest.mark.parametrize("thickness", [1e-3, 1e-5])
def test_a_thin_coating_has_cells_and_both_of_its_interfaces(thickness: float) -> None:
    core = jn.Disk((0, 0), 0.5 - thickness)
    cells = Cells.whole(jn.Partition(BOX, [jn.Disk((0, 0), 0.5) - core, core]))
    cells = cells.split(cells.tree.leaves)
    counts = np.full(len(cells.members), 30)
    drawn = cells.draw(counts, counts, np.random.default_rng(0), even=True)
    assert set(drawn.interfaces) == {(0, 1), (1, 2)}
    assert np.count_nonzero(drawn.piece == 1) > 50
