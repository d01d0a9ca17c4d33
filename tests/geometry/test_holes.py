"""What a piece surrounds."""

import numpy as np
import pytest
from geometry_cases import CUBE, SQUARE, chessboard, heart, pde4, pde5

from jumpnet.geometry import Ball, Box, Disk, HalfSpace, LevelSet, Partition, Path, Polygon


def found(parts, piece):
    return [(hole.pieces, np.round(hole.center, 2).tolist()) for hole in parts.holes(piece)]


def test_inclusions_are_holes_of_the_rest():
    parts = pde4()
    assert found(parts, 0) == [((k,), list(parts.pieces[k - 1].center)) for k in range(1, 5)]
    for k in range(1, 5):
        assert parts.holes(k) == ()
    for hole in parts.holes(0):
        shape = parts.pieces[hole.piece - 1]
        assert len(hole.points) >= 500 and np.abs(shape.level(hole.points)).max() < 1e-14
    assert [hole.piece for hole in pde5().holes(0)] == [1, 2, 3, 4]


def test_the_centre_is_never_on_the_boundary():
    (hole,) = Partition(SQUARE, [heart()]).holes(0)
    assert heart().level(hole.center[None])[0] < -0.2
    (hole,) = Partition(SQUARE, [Disk((0, 0), 0.5) - Disk((0.2, 0), 0.4)]).holes(0)  # a crescent: outside its centroid
    assert hole.pieces == (1,)


def test_core_and_shell():
    parts = Partition(SQUARE, [Disk((0, 0), 0.5) - Disk((0, 0), 0.3), Disk((0, 0), 0.3)])
    assert found(parts, 0) == [((1,), [0, 0])]
    assert found(parts, 1) == [((2,), [0, 0])]
    assert found(parts, 2) == []


def test_a_ring_of_one_material_surrounds_the_rest():
    parts = Partition(SQUARE, [Disk((0, 0), 0.5) - Disk((0, 0), 0.3)])
    assert found(parts, 1) == [((0,), [0, 0])]
    (hole,) = parts.holes(0)
    assert hole.pieces == (1,) and parts.label(hole.center[None])[0] == 1


def test_touching_pieces_are_one_hole():
    parts = Partition(SQUARE, [Box((-0.5, -0.5), (0, 0.5)), Box((0, -0.5), (0.5, 0.5)), Disk((0.8, 0.8), 0.1)])
    assert found(parts, 0) == [((1, 2), [0, 0]), ((3,), [0.8, 0.8])]


def test_pieces_that_reach_the_boundary_are_no_holes():
    assert Partition(SQUARE, [HalfSpace((0, 1), 0)]).holes(0) == ()
    assert Partition(SQUARE, [Box((-1, -0.5), (0, 0.5))]).holes(0) == ()
    assert chessboard().holes(0) == () and chessboard().holes(1) == ()


def test_two_regions_under_one_label_are_two_holes():
    parts = Partition(SQUARE, [Disk((-0.5, 0), 0.3) | Disk((0.5, 0), 0.2)])
    assert found(parts, 0) == [((1,), [-0.5, 0]), ((1,), [0.5, 0])]
    parts = Partition(SQUARE, [LevelSet("(x1**2+x2**2-0.25)*((x1-0.8)**2+x2**2-0.01)", dim=2)])
    centres = sorted(centre for _, centre in found(parts, 0))
    np.testing.assert_allclose(centres, [[0, 0], [0.8, 0]], atol=0.05)


def test_holes_of_the_domain_count():
    parts = Partition(SQUARE - Disk((0.5, 0), 0.2), [Disk((-0.5, 0), 0.3)])
    assert found(parts, 0) == [((-1,), [0.5, 0]), ((1,), [-0.5, 0])]


def test_narrow_gaps_are_no_contacts():
    parts = Partition(SQUARE, [Disk((-0.3, 0), 0.299), Disk((0.3, 0), 0.3), Disk((0, 0.9), 0.0999)])
    assert [hole.pieces for hole in parts.holes(0)] == [(1,), (2,), (3,)]
    boxes = Partition(CUBE, [Box((-0.99, -0.99, -0.99), (0, 0, 0)), Ball((0.5, 0.5, 0.5), 0.49)])
    assert [hole.pieces for hole in boxes.holes(0)] == [(1,), (2,)]


@pytest.mark.parametrize("dim", [3, 6])
def test_balls_in_boxes(dim):
    centre = (0.1,) * dim
    (hole,) = Partition(Box((-1,) * dim, (1,) * dim), [Ball(centre, 0.6)]).holes(0)
    assert hole.piece == 1 and tuple(hole.center) == centre


def test_there_are_no_holes_on_a_line():
    assert Partition.chain([0, 1, 2, 3]).holes(0) == ()


def test_loops_of_one_piece_are_holes_of_their_own_however_close():
    teeth = [Box((-0.9 + 0.2 * k, -0.5), (-0.701 + 0.2 * k, 0.5)) for k in range(9)]
    corners = [[(*b.lower,), (b.upper[0], b.lower[1]), (*b.upper,), (b.lower[0], b.upper[1])] for b in teeth]
    comb = Path([loop for tooth in corners for loop in Polygon(tooth).loops])
    holes = Partition(SQUARE, [comb]).holes(0)
    assert [hole.pieces for hole in holes] == [(1,)] * 9
    assert sorted(round(float(hole.center[0]), 1) for hole in holes) == [round(-0.8 + 0.2 * k, 1) for k in range(9)]
    ring = Polygon([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)], [[(0, 0), (0.3, 0), (0, 0.3)]])
    parts = Partition(SQUARE, [ring])
    assert [hole.pieces for hole in parts.holes(0)] == [(1,)] and [hole.pieces for hole in parts.holes(1)] == [(0,)]
