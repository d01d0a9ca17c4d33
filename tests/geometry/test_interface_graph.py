"""Beyond inclusions in a background: every pair of pieces that touch has an interface with jumps of its own."""

from dataclasses import dataclass

import numpy as np
import pytest
from geometry_cases import CUBE, SQUARE

import jumpnet as jn
from jumpnet.geometry import Ball, Box, Disk, HalfSpace, Partition

LEFT, LOWER = HalfSpace((1, 0), 0), HalfSpace((0, 1), 0)
INNER, OUTER = Disk((0.1, 0), 0.3), Disk((0, 0), 0.6)
RIGHT_DISK = Disk((0.2, 0), 0.5)
FLOOR = HalfSpace((0.1, 1), -0.4), HalfSpace((0.1, 1), 0.1)
SEAT = Ball((0, 0, -0.3), 0.4)
ARC = 2 * np.arccos(0.4)
"""The angle of the arc of one of two circles of radius 0.5, 0.4 apart, that lies inside the other."""


@dataclass(frozen=True)
class Case:
    """A partition, the measures of its interfaces, and what is in the holes of each piece that has any."""

    parts: Partition
    interfaces: dict[tuple[int, int], float]
    holes: dict[int, list[tuple[int, ...]]]


CASES = {
    "chain": Case(Partition.chain([0, 0.1, 0.3, 0.8, 1]), {(0, 1): 1, (1, 2): 1, (2, 3): 1}, {}),
    "nested": Case(
        Partition(SQUARE, [Disk((0, 0), 0.8) - OUTER, OUTER - INNER, INNER]),
        {(0, 1): 1.6 * np.pi, (1, 2): 1.2 * np.pi, (2, 3): 0.6 * np.pi},
        {0: [(1,)], 1: [(2,)], 2: [(3,)]},
    ),
    "touching": Case(
        Partition(SQUARE, [Disk((-0.2, 0), 0.5) - RIGHT_DISK, RIGHT_DISK]),
        {(0, 1): np.pi - 0.5 * ARC, (0, 2): np.pi - 0.5 * ARC, (1, 2): 0.5 * ARC},
        {0: [(1, 2)]},
    ),
    "halves of a disk": Case(
        Partition(SQUARE, [OUTER & LEFT, OUTER - LEFT]),
        {(0, 1): 0.6 * np.pi, (0, 2): 0.6 * np.pi, (1, 2): 1.2},
        {0: [(1, 2)]},
    ),
    "layers": Case(
        Partition(SQUARE, [Box((-1, -1), (1, -0.5)), Box((-1, -0.5), (1, 0)), Box((-1, 0), (1, 0.4))]),
        {(0, 3): 2, (1, 2): 2, (2, 3): 2},
        {},
    ),
    "tilted layers": Case(
        Partition(SQUARE, [FLOOR[0], FLOOR[1] - FLOOR[0]]), {(0, 2): np.sqrt(4.04), (1, 2): np.sqrt(4.04)}, {}
    ),
    "bump on a layer": Case(
        Partition(SQUARE, [Box((-1, -1), (1, 0)), Disk((0, 0), 0.3) - LOWER]),
        {(0, 1): 1.4, (0, 2): 0.3 * np.pi, (1, 2): 0.6},
        {},
    ),
    "triple point": Case(Partition(SQUARE, [LEFT & LOWER, LEFT - LOWER]), {(0, 1): 1, (0, 2): 1, (1, 2): 1}, {}),
    "triple point in a disk": Case(
        Partition(Disk((0, 0), 1), [LOWER - LEFT, LOWER & LEFT]), {(0, 1): 1, (0, 2): 1, (1, 2): 1}, {}
    ),
    "quadruple point": Case(
        Partition(SQUARE, [Box((0, 0), (1, 1)), Box((-1, 0), (0, 1)), Box((-1, -1), (0, 0))]),
        {(0, 1): 1, (0, 3): 1, (1, 2): 1, (2, 3): 1},
        {},
    ),
    "ball in a layer": Case(
        Partition(CUBE, [Box((-1, -1, -1), (1, 1, -0.3)) - SEAT, SEAT]),
        {(0, 1): 4 - 0.16 * np.pi, (0, 2): 0.32 * np.pi, (1, 2): 0.32 * np.pi},
        {},
    ),
    "eight cubes": Case(
        Partition(CUBE, [Box(c, np.add(c, 1)) for c in np.ndindex(2, 2, 2) for c in [np.subtract(c, 1)]][1:]),
        {(a, b): 1.0 for a in range(8) for b in range(a + 1, 8) if (a ^ b).bit_count() == 1},
        {},
    ),
}


@pytest.fixture(params=CASES, ids=str)
def case(request):
    return CASES[request.param]


def test_each_pair_that_touches_has_its_interface(case):
    # Measures of trimmed walls come from 2048 evenly spread points: a thousandth, times the share trimmed away.
    assert {i.pair: i.measure for i in case.parts.interfaces} == pytest.approx(case.interfaces, rel=4e-3, abs=4e-3)


def test_each_interface_lies_between_its_two_pieces(case):
    parts = case.parts
    for a, b in case.interfaces:
        x, normals = parts.sample_interface((a, b), 300, seed=1)
        assert np.all(parts.label(x + 1e-7 * normals) == a) and np.all(parts.label(x - 1e-7 * normals) == b)
        low, high, again = parts.sides(x)
        assert set(low) == {a} and set(high) == {b}
        np.testing.assert_allclose(again, normals, atol=1e-9)


def test_holes_hold_what_touches_together(case):
    found = {k: [hole.pieces for hole in case.parts.holes(k)] for k in range(case.parts.size)}
    assert {k: pieces for k, pieces in found.items() if pieces} == case.holes


@pytest.mark.parametrize("name", ["chain", "nested", "touching", "bump on a layer", "quadruple point"])
def test_each_interface_has_its_own_jumps(name):
    parts = CASES[name].parts
    u = ["1 + x1", "2 - x1", "exp(x1/3)", "3 + x1/2"][: parts.size]
    problem = jn.manufactured(parts, u=u, A=[1.0, 2.0, 5.0, 0.1][: parts.size])
    solution = jn.solve(problem, tol=1e-8, method="trefftz")
    assert solution.status is jn.Status.CONVERGED and solution.errors().linf < 1e-7
    values = [lambda t: 1 + t, lambda t: 2 - t, lambda t: np.exp(t / 3), lambda t: 3 + t / 2]
    for interface in parts.interfaces:
        a, b = interface.pair
        x, _ = parts.sample_interface((a, b), 20, seed=3)
        np.testing.assert_allclose(solution.jump(x), values[a](x[:, 0]) - values[b](x[:, 0]), atol=1e-7)
