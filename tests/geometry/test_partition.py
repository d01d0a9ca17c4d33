"""Labels, interfaces, boundary and sampling of partitions."""

import json

import numpy as np
import pytest
from geometry_cases import CUBE, SQUARE, chessboard, heart, jax_blob, pde4, pde5

from jumpnet.errors import GeometryError
from jumpnet.geometry import (
    Ball,
    Box,
    Curve,
    Disk,
    HalfSpace,
    Interval,
    LevelSet,
    Partition,
    Star,
    Superellipse,
)

PARTITIONS = {
    "chain": Partition.chain([0, 0.2, 0.5, 1.3]),
    "gaps": Partition(Interval(0, 1), [Interval(0.6, 0.8), Interval(0.1, 0.3)]),
    "roots": Partition(Interval(0, 1), [LevelSet("sin(20*x1)", dim=1)]),
    "disk": Partition(SQUARE, [Disk((0.2, 0.1), 0.4)]),
    "pde4": pde4(),
    "chessboard": chessboard(),
    "layers": Partition(SQUARE, [Box((-1, -1), (1, -0.3)), Box((-1, -0.3), (1, 0.3))]),
    "half-plane": Partition(Disk((0, 0), 1), [HalfSpace((1, 1), 0.2)]),
    "wedges": Partition(SQUARE, [HalfSpace((1, 0), 0) & HalfSpace((0, 1), 0), ~HalfSpace((1, 0.5), 0.8)]),
    "nested": Partition(SQUARE, [Disk((0, 0), 0.6) - Disk((0.1, 0), 0.3), Disk((0.1, 0), 0.3)]),
    "holed": Partition(SQUARE - Disk((0.5, 0), 0.2), [Disk((-0.5, 0), 0.3)]),
    "pde5": pde5(),
    "layers-3d": Partition(CUBE, [HalfSpace((0, 0, 1), -0.2), Ball((0, 0, 0.4), 0.3)]),
    "ball-6d": Partition(Box((-1,) * 6, (1,) * 6), [Ball((0,) * 6, 0.7)]),
}


@pytest.fixture(params=PARTITIONS, ids=str)
def parts(request):
    return PARTITIONS[request.param]


def test_interior_points_carry_their_labels(parts):
    minimum = 10
    for method in ("random", "sobol"):
        x, labels = parts.sample_interior(300, seed=1, minimum=minimum, method=method)
        assert x.shape == (300, parts.dim) and labels.shape == (300,)
        np.testing.assert_array_equal(parts.label(x), labels)
        assert np.bincount(labels, minlength=parts.size).min() >= minimum


def test_interface_normals_point_from_the_higher_to_the_lower_piece(parts):
    for interface in parts.interfaces:
        a, b = interface.pair
        assert a < b and interface.measure > 0
        for method in ("random", "sobol"):
            x, normals = parts.sample_interface((a, b), 60, seed=2, method=method)
            assert len(x) == (interface.measure if parts.dim == 1 else 60)
            np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-13)
            assert np.all(parts.label(x + 1e-7 * normals) == a)
            assert np.all(parts.label(x - 1e-7 * normals) == b)


def test_boundary_normals_point_out_of_the_domain(parts):
    for method in ("random", "sobol"):
        x, normals, labels, part = parts.sample_boundary(80, seed=3, method=method)
        assert len(x) == (2 if parts.dim == 1 else 80)
        assert np.all(parts.label(x - 1e-7 * normals) == labels)
        assert np.all(parts.label(x + 1e-7 * normals) == -1)
        assert np.all(parts.label(x) >= 0)  # the boundary belongs to the domain
        assert set(part) <= set(range(len(parts.boundary_parts)))
    for name in parts.boundary_parts:
        x, normals, _, part = parts.sample_boundary(20, seed=4, part=name)
        assert set(part) == {parts.boundary_parts.index(name)}


def test_the_seed_decides_everything(parts):
    pair = parts.interfaces[0].pair
    for method in ("random", "sobol"):
        draws = [
            (
                parts.sample_interior(50, seed=seed, method=method)[0],
                parts.sample_boundary(50, seed=seed, method=method)[0],
                parts.sample_interface(pair, 50, seed=seed, method=method)[0],
            )
            for seed in (7, 7, 8)
        ]
        for k in range(3):
            np.testing.assert_array_equal(draws[0][k], draws[1][k])
            if parts.dim > 1 or k == 0:
                assert not np.array_equal(draws[0][k], draws[2][k])


def test_spec_round_trip(parts):
    again = Partition.from_spec(json.loads(json.dumps(parts.spec())))
    assert again.names == parts.names and again.interfaces == parts.interfaces
    x, labels = parts.sample_interior(200, seed=5)
    np.testing.assert_array_equal(again.label(x), labels)
    np.testing.assert_array_equal(again.sample_boundary(20, seed=0)[0], parts.sample_boundary(20, seed=0)[0])


def test_measures_add_up_and_boxes_hold_the_pieces(parts):
    total = sum(parts.measure(k) for k in range(parts.size))
    lower, upper = parts.bounds
    x = np.random.default_rng(0).uniform(lower, upper, (20_000, parts.dim))
    labels = parts.label(x)
    box = np.prod(upper - lower)
    assert total == pytest.approx(box * np.mean(labels >= 0), rel=0.03)
    for k in range(parts.size):
        low, high = parts.piece_bounds(k)
        own = x[labels == k]
        assert np.all(own >= low - 0.01) and np.all(own <= high + 0.01)
        if parts.dim < 4:
            assert np.all(own.min(axis=0) - low < 0.1) and np.all(high - own.max(axis=0) < 0.1)


def test_labels_of_the_first_example():
    parts = PARTITIONS["disk"]
    x = [[0.2, 0.1], [0.9, 0.9], [1.0, 1.0], [-1.0, 0.3], [1.01, 0.0], [np.nan, 0.0]]
    assert parts.label(x).tolist() == [1, 0, 0, 0, -1, -1]
    assert parts.names == ("piece 0", "piece 1")


def test_touching_pieces_leave_no_gap_and_count_once():
    parts = PARTITIONS["layers"]
    assert [i.pair for i in parts.interfaces] == [(0, 2), (1, 2)]
    assert [i.measure for i in parts.interfaces] == pytest.approx([2.0, 2.0])
    y = np.linspace(-1, 1, 9)
    shared = parts.label(np.stack([y, np.full(9, -0.3)], axis=1))
    assert set(shared) <= {1, 2}  # on the common face: one of the two, never the rest
    assert set(parts.label(np.stack([y, np.full(9, -1.0)], axis=1))) == {1}  # on the outer boundary too
    x, _, labels, part = parts.sample_boundary(400, seed=0)
    assert set(labels[part == 0]) == {0, 1, 2} and set(labels[part == 2]) == {1} and set(labels[part == 3]) == {0}
    left = x[part == 0, 1]
    np.testing.assert_array_equal(labels[part == 0], np.where(left < -0.3, 1, np.where(left < 0.3, 2, 0)))


def test_pieces_that_share_part_of_a_face():
    parts = Partition(SQUARE, [Box((-0.5, -0.5), (0, 0.5)), Box((0, -0.2), (0.5, 0.8))])
    measures = {i.pair: i.measure for i in parts.interfaces}
    assert measures == pytest.approx({(0, 1): 2.3, (0, 2): 2.3, (1, 2): 0.7}, rel=2e-2)
    x, normals = parts.sample_interface((1, 2), 50, seed=0)
    assert np.all(np.abs(x[:, 0]) < 1e-15) and x[:, 1].min() > -0.2 and x[:, 1].max() < 0.5
    np.testing.assert_array_equal(normals, np.tile([-1.0, 0.0], (50, 1)))


def test_nested_pieces():
    parts = PARTITIONS["nested"]
    measures = {i.pair: i.measure for i in parts.interfaces}
    assert measures == pytest.approx({(0, 1): 1.2 * np.pi, (1, 2): 0.6 * np.pi})
    assert parts.measure(1) == pytest.approx(np.pi * 0.27, rel=1e-3)


def test_chain_is_numbered_from_the_left():
    ends = np.array([0.0, 0.2, 0.5, 1.3])
    parts = Partition.chain(ends)
    assert parts.label([[0.1], [0.3], [1.0], [-0.1], [1.4], [0.0], [1.3]]).tolist() == [0, 1, 2, -1, -1, 0, 2]
    assert [(i.pair, i.measure) for i in parts.interfaces] == [((0, 1), 1.0), ((1, 2), 1.0)]
    for k in (0, 1):
        for n in (0, 1, 50):
            x, normals = parts.sample_interface((k, k + 1), n, seed=0)
            assert x.tolist() == [[ends[k + 1]]] and normals.tolist() == [[-1.0]]  # from the right to the left
    x, normals, labels, part = parts.sample_boundary(9, seed=0)
    assert x.tolist() == [[0.0], [1.3]] and normals.tolist() == [[-1.0], [1.0]]
    assert labels.tolist() == [0, 2] and part.tolist() == [0, 1]
    assert [parts.measure(k) for k in range(3)] == pytest.approx([0.2, 0.3, 0.8])
    low, high = parts.piece_bounds(0)
    assert low[0] == 0.0 and high[0] == pytest.approx(0.2, abs=1e-3)
    assert parts.part_name("right") == "x1+"


def test_every_sign_change_on_a_line_is_found_once():
    parts = PARTITIONS["roots"]
    x, normals = parts.sample_interface((0, 1), 1, seed=0)
    np.testing.assert_allclose(np.sort(x[:, 0]), np.pi * np.arange(1, 7) / 20, atol=1e-15)
    np.testing.assert_array_equal(normals[:, 0], np.where(np.cos(20 * x[:, 0]) > 0, 1.0, -1.0))


def test_heart_never_returns_its_cusp():
    parts = Partition(SQUARE, [heart()])
    for method in ("random", "sobol"):
        x, normals = parts.sample_interface((0, 1), 20_000, seed=0, method=method)
        theta = np.arctan2(x[:, 1], x[:, 0] + 0.25)
        assert np.linalg.norm(x - [-0.25, 0.0], axis=1).min() > 1e-12
        exact = np.stack([np.cos(1.5 * theta), np.sin(1.5 * theta)], axis=1)
        np.testing.assert_allclose(normals, exact, atol=1e-9)  # theta is known to eps / r close to the cusp
    on_axis = np.array([[-0.25 - 1e-3, 0.0], [-0.25, 0.0], [-0.25 + 1e-3, 0.0]])
    assert parts.label(on_axis).tolist()[0::2] == [0, 1]


def test_chessboard():
    parts = chessboard()
    (interface,) = parts.interfaces
    assert interface.measure == pytest.approx(40.376, rel=0.01)
    x, normals = parts.sample_interface((0, 1), 3000, seed=0)
    a, b = np.sin(5 * np.pi * x[:, 0]) - x[:, 1], -np.sin(5 * np.pi * x[:, 1]) - x[:, 0]
    assert np.abs(a * b).max() < 2e-14  # |phi|: rounding of sin(5 pi x) times the other factor
    assert np.hypot(a, b).min() > 1e-7  # both factors vanish at a crossing
    slope_a = np.stack([5 * np.pi * np.cos(5 * np.pi * x[:, 0]), -np.ones(len(x))], axis=1)
    slope_b = np.stack([-np.ones(len(x)), -5 * np.pi * np.cos(5 * np.pi * x[:, 1])], axis=1)
    exact = slope_a * b[:, None] + slope_b * a[:, None]  # phi > 0 is piece 0, so normals follow the gradient
    np.testing.assert_allclose(normals, exact / np.linalg.norm(exact, axis=1, keepdims=True), atol=1e-8)
    _, _, labels, _ = parts.sample_boundary(72, seed=0)
    assert set(labels) == {0, 1}


def test_callable_level_sets_work_in_partitions():
    parts = Partition(SQUARE, [LevelSet(jax_blob, bounds=((-0.9, -0.9), (0.9, 0.9)))])
    x, normals = parts.sample_interface((0, 1), 200, seed=0)
    np.testing.assert_allclose(np.hypot(x[:, 0] + 0.05, x[:, 1]), np.sqrt(0.3625), atol=1e-14)
    np.testing.assert_allclose(normals, (x + [0.05, 0.0]) / np.sqrt(0.3625), atol=1e-13)
    assert parts.spec() is None


def test_bounds_choose_one_of_several_regions():
    dots = LevelSet("0.5 - cos(2*pi*x1)*cos(2*pi*x2)", bounds=((0.25, 0.25), (0.75, 0.75)))
    dot = Partition(Box((-1, -1), (2, 2)), [dots])
    assert dot.label([[0.5, 0.5], [0.0, 0.0], [1.0, 1.0]]).tolist() == [1, 0, 0]
    x, _ = dot.sample_interface((0, 1), 100, seed=0)
    assert np.all(np.abs(x - 0.5) < 0.25)


def test_minimum_takes_only_from_pieces_that_can_spare():
    parts = Partition(SQUARE, [Disk((0.5, 0.5), 0.02), Disk((-0.5, 0), 0.02)])
    x, labels = parts.sample_interior(60, seed=0, minimum=20)
    assert np.bincount(labels).tolist() == [20, 20, 20]
    np.testing.assert_array_equal(parts.label(x), labels)
    for k, shape in enumerate(parts.pieces, start=1):
        assert np.linalg.norm(x[labels == k] - shape.center, axis=1).max() < 0.02


def test_sobol_points_are_more_even_than_random_ones():
    parts = PARTITIONS["disk"]

    def unevenness(method):
        x, _ = parts.sample_interface((0, 1), 256, seed=0, method=method)
        theta = np.sort(np.arctan2(x[:, 1] - 0.1, x[:, 0] - 0.2))
        return np.diff(theta).max()

    assert unevenness("sobol") < 0.5 * unevenness("random")


def test_seeds_of_every_kind():
    parts = PARTITIONS["disk"]
    kinds = (3, [3, 4], np.random.SeedSequence(3), np.random.default_rng(3), np.int64(3))
    for seed in kinds:
        assert len(parts.sample_interior(5, seed=seed)[0]) == 5
    a = parts.sample_interior(5, seed=3)[0]
    np.testing.assert_array_equal(a, parts.sample_interior(5, seed=np.random.SeedSequence(3))[0])


def test_two_interfaces_get_different_angles_from_one_seed():
    parts = Partition(SQUARE, [Disk((-0.5, 0), 0.3), Disk((0.5, 0), 0.3)])
    x, _ = parts.sample_interface((0, 1), 20, seed=0)
    y, _ = parts.sample_interface((0, 2), 20, seed=0)
    assert not np.allclose(x + [1.0, 0.0], y)


def test_many_pieces():
    chain = Partition.chain(np.linspace(0, 1, 101))
    assert len(chain.interfaces) == 99
    x = np.random.default_rng(0).random((1000, 1))
    np.testing.assert_array_equal(chain.label(x), np.floor(x[:, 0] * 100).astype(int))
    disks = [Disk((i * 0.25 - 0.9, j * 0.3 - 0.9), 0.1) for i in range(8) for j in range(6)]
    assert [i.pair for i in Partition(SQUARE, disks).interfaces] == [(0, k) for k in range(1, 49)]


def test_names_of_parts():
    parts = PARTITIONS["layers-3d"]
    assert parts.boundary_parts == ("x1-", "x1+", "x2-", "x2+", "x3-", "x3+")
    for name in ("left", "right", "bottom", "top", "front", "back"):  # in space nobody agrees on which axis points up
        with pytest.raises(GeometryError, match=rf"'{name}' has a meaning in the plane only; .*x1-, x1\+, .*, x3\+"):
            parts.part_name(name)
    square = Partition(SQUARE, [])
    assert tuple(square.part_name(a) for a in ("left", "right", "bottom", "top")) == square.boundary_parts
    assert pde4().boundary_parts == ("boundary",)
    with pytest.raises(GeometryError, match="no boundary part 'left'; the parts are boundary"):
        pde4().part_name("left")


def test_a_curve_and_a_star_of_the_same_outline_fill_each_other():
    ring = Star((0, 0), "0.3 + 0.05*cos(3*theta)")
    curve = Curve("(0.3 + 0.05*cos(3*t))*cos(t)", "(0.3 + 0.05*cos(3*t))*sin(t)")
    parts = Partition(Superellipse(), [ring, Disk((0, 0), 0.6) - curve])
    assert [i.pair for i in parts.interfaces] == [(0, 2), (1, 2)]


@pytest.mark.parametrize("dim", [2, 3])
def test_many_pieces_are_labelled_as_if_each_were_asked(dim: int) -> None:
    places = np.stack(np.meshgrid(*[np.arange(4.0)] * dim), axis=-1).reshape(-1, dim)
    balls = [Ball(tuple(place), 0.3 + 0.15 * (k % 2)) for k, place in enumerate(places)]
    parts = Partition(Box([-0.5] * dim, [3.5] * dim), balls)
    x = np.random.default_rng(0).uniform(-0.6, 3.6, (2000, dim))
    expected = np.where(np.all(np.abs(x - 1.5) <= 2.0, axis=1), 0, -1)
    for k, ball in enumerate(balls, start=1):
        expected[(expected == 0) & ball.contains(x)] = k
    np.testing.assert_array_equal(parts.label(x), expected)
    np.testing.assert_array_equal(parts.label(x[:3]), expected[:3])
    assert len(parts.label(x[:0])) == 0


@pytest.mark.parametrize("distance", [1e-7, 1e-6, 1e-5, 1e-4, 1e-2])
def test_both_sides_of_a_needle_are_told_apart(distance):
    """Points about the cusp of a cardioid, where the background is a needle that is thinner than nodes are apart."""
    rng, n = np.random.default_rng(0), 2000
    radius = distance * rng.uniform(0.3, 1.0, n)
    wall = 2 * np.arcsin(np.sqrt(1.5 * radius))  # the angle of the walls from the needle's axis
    angle = np.where(rng.random(n) < 0.5, rng.uniform(-np.pi, np.pi, n), wall * rng.uniform(-3, 3, n))
    x = np.array([-0.25, 0.0]) + np.stack([-radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    clear = np.abs(np.abs(angle) / wall - 1) > 2e-3  # coordinates are rounded to 6e-17, a needle of 1e-7 is 1e-10 wide
    found = Partition(SQUARE, [Curve("(1 + cos(t))/3*cos(t) - 0.25", "(1 + cos(t))/3*sin(t)")]).label(x)
    np.testing.assert_array_equal(found[clear], (np.abs(angle) > wall)[clear])


def test_points_drawn_twice_are_the_same_and_the_users_own():
    parts = Partition(SQUARE, [Disk((0, 0), 0.5)])
    for draw in (
        lambda seed: parts.sample_interior(20, seed=seed),
        lambda seed: parts.sample_boundary(20, seed=seed),
        lambda seed: parts.sample_interface((0, 1), 20, seed=seed),
    ):
        first = draw(3)
        kept = [part.copy() for part in first]
        first[0][:] = 0.0  # what was handed out belongs to the user
        for one, other in zip(draw(3), kept, strict=True):
            np.testing.assert_array_equal(one, other)
        rng = np.random.default_rng(3)
        assert not np.array_equal(draw(rng)[0], draw(rng)[0])
        assert not np.array_equal(draw(4)[0], kept[0])
