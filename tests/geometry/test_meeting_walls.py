"""Corners of a partition: where they are, which walls end there, and which pieces lie between."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.geometry.corners import corners_of

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


def test_sides_lead_anticlockwise_to_where_they_end() -> None:
    for place, sides, pieces in corners_of(jn.Partition(SQUARE, [jn.Box((-0.3, -0.2), (0.4, 0.5))])):
        angle = np.arctan2(sides[:, 1], sides[:, 0])
        assert np.all(np.diff(np.append(angle, angle[0] + 2 * np.pi)) > 0)
        assert len(pieces) == len(sides)
        assert np.all(np.abs(place + sides) <= 1 + 1e-12)


def test_curved_walls_make_no_straight_corners() -> None:
    bitten = jn.Partition(SQUARE, [jn.Box((-0.3, -0.2), (0.4, 0.5)) - jn.Disk((0.4, 0.5), 0.1)])
    assert (0.4, 0.5) not in around(bitten)
    assert not around(jn.Partition(jn.Disk((0, 0), 1.0), [jn.Disk((0.2, 0), 0.3)]))


def test_no_corners_in_space() -> None:
    assert not list(corners_of(jn.Partition(jn.Box((0, 0, 0), (1, 1, 1)))))


@pytest.mark.parametrize("turn", [0.0, 0.3, 1.1])
def test_corners_are_found_however_they_are_turned(turn: float) -> None:
    angles = turn + np.arange(6) * np.pi / 3
    hexagon = jn.Polygon(np.stack([0.5 * np.cos(angles), 0.5 * np.sin(angles)], axis=1))
    assert len(around(jn.Partition(SQUARE, [hexagon]))) == 10
