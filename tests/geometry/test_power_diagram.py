"""Cells between many holes: whose they are, where the cuts run, and what is read back from a file."""

from typing import Any

import numpy as np
import pytest

from jumpnet.errors import GeometryError
from jumpnet.geometry import Box, Disk, Ellipse, Partition
from jumpnet.geometry.cells.power_diagram import PowerDiagram, PowerMap


def many_disks(seed: int, domain: Any = None) -> Partition:
    """25 disks of different sizes on a shaken lattice."""
    rng = np.random.default_rng(seed)
    places = np.stack(np.meshgrid(np.arange(5.0), np.arange(5.0)), axis=-1).reshape(-1, 2)
    disks = [Disk(place + rng.uniform(-0.1, 0.1, 2), float(rng.uniform(0.15, 0.38))) for place in places]
    return Partition(domain or Box((-0.6, -0.6), (4.6, 4.6)), disks)


def cells_of(parts: Partition) -> PowerDiagram:
    found = PowerDiagram.of(parts, 0)
    assert found is not None
    return found


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_point_belongs_to_the_hole_of_smallest_power(seed: int) -> None:
    parts = many_disks(seed)
    cells = cells_of(parts)
    x = np.random.default_rng(seed).uniform(-0.6, 4.6, (3000, 2))
    power = ((x[:, None] - cells.map.center) ** 2).sum(axis=2) - cells.map.radius**2
    expected = cells.map.cell[np.argmin(power, axis=1)]
    np.testing.assert_array_equal(cells.map(x, np.zeros(len(x), int)), expected)
    # Other pieces are cells of their own, and a hole lies in its cell.
    np.testing.assert_array_equal(cells.map(x, np.full(len(x), 7)), 7)
    for cell, (hole, beside) in cells.cells.items():
        rim = parts.holes(0)[hole].points
        assert (cells.map(rim, np.zeros(len(rim), int)) == cell).all()
        assert hole not in beside and len(beside) >= 2
        mine = x[(expected == cell) & (parts.label(x) == 0)]
        lower, upper = cells.boxes[cell]
        assert (np.concatenate([rim, mine]) >= lower - 1e-9).all()
        assert (np.concatenate([rim, mine]) <= upper + 1e-9).all()


@pytest.mark.parametrize("domain", [None, Ellipse((2.0, 2.0), (3.9, 3.7))])
@pytest.mark.parametrize("even", [True, False])
def test_cuts_are_all_that_is_between_cells(domain: Any, even: bool) -> None:
    parts = many_disks(3, domain)
    cells = cells_of(parts)
    drawn, line = cells.cuts(np.full(len(cells.lines.rate), 20), np.random.default_rng(0), even)
    np.testing.assert_array_equal(np.stack([drawn.low, drawn.high], axis=1), cells.lines.cells[line])
    np.testing.assert_array_equal(parts.label(drawn.x), 0)
    np.testing.assert_allclose(np.linalg.norm(drawn.normal, axis=1), 1.0)
    nought = np.zeros(len(drawn.x), int)
    beside = np.stack([cells.map(drawn.x + step * drawn.normal, nought) for step in (1e-7, -1e-7)])
    np.testing.assert_array_equal(np.sort(beside, axis=0), np.sort([drawn.low, drawn.high], axis=0))
    # A walk through the domain meets a cut wherever the cell changes.
    from scipy.spatial import KDTree

    ends = np.random.default_rng(1).uniform(-0.5, 4.5, (2, 40, 2))
    walk = np.linspace(ends[0], ends[1], 4000)
    cell = cells.map(walk.reshape(-1, 2), np.zeros(160_000, int)).reshape(4000, 40)
    changed = (np.diff(cell, axis=0) != 0) & (parts.label(walk.reshape(-1, 2)).reshape(4000, 40)[1:] == 0)
    assert KDTree(drawn.x).query(walk[1:][changed])[0].max() < 0.25


def test_fields_along_a_cut_converge_at_its_rate() -> None:
    """A source at a limit point of two circles, where all their images in each other go, by polynomials on the cut."""
    from numpy.polynomial import chebyshev

    parts = many_disks(0)
    cells = cells_of(parts)
    pairs, start, end, rate = cells._edges
    for (a, b), begin, stop, found in list(zip(pairs, start, end, rate, strict=True))[::7]:
        (p, q), (r, s) = cells.map.center[[a, b]], cells.map.radius[[a, b]]
        distance = np.linalg.norm(q - p)
        axis = (distance**2 + r**2 - s**2) / (2 * distance)
        limit = p + (axis - np.sqrt(axis**2 - r**2)) * (q - p) / distance

        def field(t, begin=begin, stop=stop, limit=limit):
            x = (begin + stop) / 2 + np.outer(t, stop - begin) / 2
            return np.log(np.linalg.norm(x - limit, axis=1))

        n = int(8 / found) + 2
        size = np.abs(chebyshev.chebinterpolate(field, 2 * n))
        assert size[n:].max() < 3 * np.exp(-8) / n
        assert n < 6 or size[n - 3 : n].max() > np.exp(-8) / n / 30


def test_a_regular_lattice() -> None:
    places = np.stack(np.meshgrid(np.arange(5.0), np.arange(5.0)), axis=-1).reshape(-1, 2)
    parts = Partition(Box((-0.5, -0.5), (4.5, 4.5)), [Disk(place, 0.3) for place in places])
    cells = cells_of(parts)
    drawn, _ = cells.cuts(np.full(len(cells.lines.cells), 10), np.random.default_rng(0), True)
    # The lines of equal power run half-way between the disks, as far as points of their rims tell where these are.
    off = np.abs(drawn.x - np.floor(drawn.x) - 0.5).min(axis=1)
    assert off.max() < 1e-4


def test_no_straight_cut_between_circles_that_overlap() -> None:
    slanted = [Ellipse((k, 0.0), (0.45, 0.1), angle=0.0) for k in range(3)] + [Ellipse((1.0, 0.25), (0.45, 0.1))]
    assert PowerDiagram.of(Partition(Box((-1.0, -1.0), (3.0, 1.0)), slanted), 0) is None


def test_read_back() -> None:
    kept = cells_of(many_disks(4)).map
    again = PowerMap.from_spec(kept.spec(), 60)
    x = np.random.default_rng(0).uniform(0, 4, (100, 2))
    np.testing.assert_array_equal(again(x, np.zeros(100, int)), kept(x, np.zeros(100, int)))


@pytest.mark.parametrize(
    "changed",
    [
        {"piece": 26},
        {"piece": 0.0},
        {"pieces": 61},
        {"center": [[0.0, float("nan")]]},
        {"center": "here"},
        {"radius": [1.0]},
        {"radius": [-1.0] * 25},
        {"cell": [60] * 25},
        {"cell": [0.5] * 25},
        {"cell": [], "center": [], "radius": []},
    ],
)
def test_a_damaged_file(changed: dict[str, Any]) -> None:
    spec = cells_of(many_disks(4)).map.spec()
    with pytest.raises(GeometryError, match="damaged"):
        PowerMap.from_spec(spec | changed, 60)


def test_two_holes_are_next_to_each_other() -> None:
    parts = Partition(Box((-1, -1), (1, 1)), [Disk((-0.5, 0), 0.2), Disk((0.5, 0.1), 0.3)])
    cells = cells_of(parts)
    assert len(cells.lines.length) == 1
