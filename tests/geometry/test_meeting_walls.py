"""Corners of a partition: where they are, which walls end there, and which pieces lie between."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.experiments import problems
from jumpnet.geometry.walls.corners import corners_of

SQUARE = jn.Box((-1, -1), (1, 1))


def around(partition: jn.Partition) -> dict[tuple[float, ...], tuple[int, ...]]:
    """The pieces around each corner."""
    return {tuple(np.round(corner.place, 9).tolist()): corner.pieces for corner in corners_of(partition)}


def test_corners_of_the_domain_and_of_pieces() -> None:
    triangle = jn.Polygon([(-0.9, -0.9), (-0.5, -0.9), (-0.7, -0.5)])
    found = around(jn.Partition(SQUARE, [jn.Box((-0.3, -0.2), (0.4, 0.5)), triangle, jn.Disk((0.7, 0.7), 0.1)]))
    assert len(found) == 4 + 4 + 3
    assert set(found[-0.3, -0.2]) == {0, 1}
    assert set(found[-0.7, -0.5]) == {0, 2}
    assert set(found[1.0, 1.0]) == {-1, 0}


def test_points_where_pieces_meet() -> None:
    quarters = [jn.Box((-1, -1), (0, 0)), jn.Box((0, -1), (1, 0)), jn.Box((-1, 0), (0, 1))]
    found = around(jn.Partition(SQUARE, quarters))
    assert found[0.0, 0.0] == (2, 0, 3, 1)
    assert found[1.0, 0.0] == (-1, 0, 2)
    layered = around(jn.Partition(SQUARE, [jn.HalfSpace((0.3, 1), 0.1)]))
    assert set(layered[-1.0, 0.4]) == {-1, 0, 1}


def test_ways_lead_anticlockwise_along_the_walls() -> None:
    bitten = jn.Partition(SQUARE, [jn.Box((-0.3, -0.2), (0.4, 0.5)) - jn.Disk((0.4, 0.5), 0.1)])
    for corner in corners_of(bitten):
        angle = np.arctan2(corner.directions[:, 1], corner.directions[:, 0])
        assert np.all(np.diff(np.append(angle, angle[0] + 2 * np.pi)) > 0)
        assert len(corner.pieces) == len(corner.ways)
        for at, way in enumerate(corner.ways):
            x, along = way.points(np.array([1e-3, 1e-2]))
            np.testing.assert_allclose(np.linalg.norm(x - corner.place, axis=1), [1e-3, 1e-2], rtol=1e-2)
            np.testing.assert_allclose(along, np.tile(way.direction, (2, 1)), atol=0.12)
            left = np.stack([-along[:, 1], along[:, 0]], axis=1)
            assert np.all(bitten.label(x + 1e-6 * left) == corner.pieces[at])
            assert np.all(bitten.label(x - 1e-6 * left) == corner.pieces[at - 1])


def test_curved_walls_meet_too() -> None:
    bitten = around(jn.Partition(SQUARE, [jn.Box((-0.3, -0.2), (0.4, 0.5)) - jn.Disk((0.4, 0.5), 0.1)]))
    assert (0.4, 0.5) not in bitten
    assert {(0.3, 0.5), (0.4, 0.4)} < set(bitten)
    cut = around(jn.Partition(SQUARE, [jn.Disk((1.0, 0.2), 0.4) & SQUARE]))
    assert set(cut[1.0, 0.6]) == set(cut[1.0, -0.2]) == {-1, 0, 1}
    lens = around(jn.Partition(jn.Disk((0, 0), 1.0), [jn.Disk((-0.2, 0), 0.25) & jn.Disk((0.2, 0), 0.25)]))
    assert set(lens) == {(0.0, 0.15), (0.0, -0.15)}


def test_a_corner_on_the_side_of_another_piece() -> None:
    bar, block = jn.Polygon([(-0.8, -0.5), (0.8, -0.5), (0.8, 0), (-0.8, 0)]), jn.Box((-0.2, 0), (0.3, 0.4))
    found = around(jn.Partition(SQUARE, [bar, block]))
    assert set(found[-0.2, 0.0]) == set(found[0.3, 0.0]) == {0, 1, 2}


def test_smooth_walls_have_no_corners() -> None:
    smooth = [jn.Disk((0.5, 0), 0.2), jn.Star((-0.4, 0), "0.3 + 0.05*cos(3*theta)"), jn.Ellipse((0.3, 0.5), (0.2, 0.1))]
    assert not around(jn.Partition(jn.Disk((0, 0), 1.0), smooth))


def test_walls_that_touch_without_an_angle_are_left_alone() -> None:
    heart = problems.pde2().partition
    assert all(-1 in pieces for pieces in around(heart).values())


def test_no_corners_in_space() -> None:
    assert not list(corners_of(jn.Partition(jn.Box((0, 0, 0), (1, 1, 1)))))


@pytest.mark.parametrize("turn", [0.0, 0.3, 1.1])
def test_corners_are_found_however_they_are_turned(turn: float) -> None:
    angles = turn + np.arange(6) * np.pi / 3
    hexagon = jn.Polygon(np.stack([0.5 * np.cos(angles), 0.5 * np.sin(angles)], axis=1))
    assert len(around(jn.Partition(SQUARE, [hexagon]))) == 10
