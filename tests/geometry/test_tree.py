"""Trees of boxes: which leaf a point is in, where leaves meet, and files that are not trees."""

from typing import Any

import numpy as np
import pytest

from jumpnet.errors import GeometryError
from jumpnet.geometry.cells.tree import BoxTree, CellMap, Lines

TABLE, NONE = np.array([[0, 1]]), Lines.none(2, 2)


def towards(corner: Any, times: int) -> BoxTree:
    tree = BoxTree.whole((-1.0, -2.0), (1.0, 2.0))
    for _ in range(times):
        tree = tree.split(tree.find(np.array([corner], float)))
    return tree


def test_points_are_in_the_leaves_that_are_found_for_them() -> None:
    tree = towards((0.3, 0.4), 9)
    x = np.random.default_rng(0).uniform((-1, -2), (1, 2), (2000, 2))
    lower, upper = tree.corners(tree.find(x))
    assert np.all((lower <= x) & (x <= upper))
    lower, upper = tree.corners(tree.leaves)
    assert np.prod(upper - lower, axis=1).sum() == pytest.approx(8.0)


def test_neighbours_differ_by_a_factor_of_two_at_most() -> None:
    tree = towards((-0.99, 1.99), 12)
    faces = tree.faces
    assert tree.depth.max() == 12 and np.abs(tree.depth[faces.low] - tree.depth[faces.high]).max() == 1


def test_every_face_is_between_the_two_leaves_it_names_and_none_is_missing() -> None:
    tree = towards((0.1, 0.1), 5)
    faces = tree.faces
    middle, step = (faces.start + faces.end) / 2, 1e-9 * np.eye(2)[faces.axis]
    assert np.array_equal(tree.find(middle - step), faces.low) and np.array_equal(tree.find(middle + step), faces.high)
    # Each leaf's sides, but for those on the box, are covered by faces once.
    length = np.linalg.norm(faces.end - faces.start, axis=1)
    lower, upper = tree.corners(tree.leaves)
    inner = (lower > tree.lower).astype(float) + (upper < tree.upper)
    around = (inner * (upper - lower)[:, ::-1]).sum()
    assert 2 * length.sum() == pytest.approx(around)


def test_a_tree_and_its_cells_are_read_back() -> None:
    tree = towards((0.3, 0.4), 4)
    count = 2 * len(tree.leaves)
    lines = Lines.none(count, 2)
    lines.beyond[0], lines.normal[0], lines.offset[0] = 5, (1.0, 2.0), -1.0
    cells = CellMap(tree, np.arange(count).reshape(-1, 2), lines)
    again = CellMap.from_spec(cells.spec(), count)
    x, piece = np.random.default_rng(0).uniform(-1, 1, (50, 2)), np.arange(50) % 2
    assert np.array_equal(again(x, piece), cells(x, piece))


@pytest.mark.parametrize(
    "damage",
    [
        {"child": [1, -1, -1, -1]},
        {"child": [1, -1, -1, -1, 1]},
        {"child": [-1, 0]},
        {"child": [1.5]},
        {"child": "no"},
        {"lower": [0.0, float("nan")]},
        {"upper": [0.0, 0.0]},
        {"lower": [[0.0]]},
    ],
    ids=str,
)
def test_what_is_no_tree_is_refused(damage: dict[str, Any]) -> None:
    with pytest.raises(GeometryError, match="damaged"):
        BoxTree.from_spec({"lower": [0.0, 0.0], "upper": [1.0, 1.0], "child": [1, -1, -1, -1, -1]} | damage)


def test_a_table_of_other_cells_is_refused() -> None:
    tree = BoxTree.whole((0.0, 0.0), (1.0, 1.0))
    for table in ([[0, 7]], [[-1, 0]], [[0, 1], [1, 0]], [[0.5, 1]]):
        with pytest.raises(GeometryError, match="damaged"):
            CellMap.from_spec(
                {"tree": tree.spec(), "table": table, "lines": CellMap(tree, TABLE, NONE).spec()["lines"]}, 2
            )


@pytest.mark.parametrize(
    "damage",
    [{"beyond": [2, -1]}, {"beyond": [-2, -1]}, {"beyond": [-1]}, {"normal": [[0, float("inf")]] * 2}, {"offset": "x"}],
    ids=str,
)
def test_lines_that_do_not_fit_are_refused(damage: dict[str, Any]) -> None:
    spec = CellMap(BoxTree.whole((0.0, 0.0), (1.0, 1.0)), TABLE, NONE).spec()
    with pytest.raises(GeometryError, match="damaged"):
        CellMap.from_spec(spec | {"lines": spec["lines"] | damage}, 2)
