"""Union, intersection, difference and complement obey the laws of sets."""

import numpy as np
from geometry_cases import SHAPES, SQUARE
from hypothesis import given, settings
from hypothesis import strategies as st

from jumpnet.geometry import Box, Disk, Ellipse, HalfSpace, Partition, Shape

X = np.random.default_rng(0).uniform(-1.5, 1.5, (400, 2))
coordinates = st.floats(-1, 1)
lengths = st.floats(0.05, 1)


@st.composite
def shapes(draw, depth: int = 2) -> Shape:
    """Random trees of operators over simple plane shapes."""
    kind = draw(st.integers(0, 7 if depth else 3))
    x, y, a, b = draw(coordinates), draw(coordinates), draw(lengths), draw(lengths)
    if kind == 0:
        return Disk((x, y), a)
    if kind == 1:
        return Box((x, y), (x + a, y + b))
    if kind == 2:
        return Ellipse((x, y), (a, b), draw(st.floats(0, 3)))
    if kind == 3:
        return HalfSpace((x, a), y)
    first, second = draw(shapes(depth - 1)), draw(shapes(depth - 1))
    return (first | second, first & second, first - second, ~first)[kind - 4]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(shapes(), shapes())
def test_operators_are_those_of_sets(a, b):
    in_a, in_b = a.contains(X), b.contains(X)
    np.testing.assert_array_equal((a | b).contains(X), in_a | in_b)
    np.testing.assert_array_equal((a & b).contains(X), in_a & in_b)
    np.testing.assert_array_equal((a - b).contains(X), in_a & ~in_b)
    np.testing.assert_array_equal((~(a | b)).contains(X), (~a & ~b).contains(X))
    np.testing.assert_array_equal((~~a).level(X), a.level(X))
    for shape in (a | b, a & b, a - b):
        np.testing.assert_array_equal(shape.contains(X), shape.level(X) < 0.0)
        lower, upper = shape.bounds
        inside = X[shape.contains(X)]
        assert np.all(inside >= lower) and np.all(inside <= upper)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(shapes(1), shapes(1))
def test_boundaries_of_combined_shapes(a, b):
    box = (np.full(2, -1.5), np.full(2, 1.5))
    for shape in (a | b, a & b, a - b):
        for patch in shape.patches(box):
            if patch.measure < 0.02:
                continue
            x, normals = patch.sample(40, np.random.default_rng(0))
            assert np.all(shape.contains(x - 1e-7 * normals))
            assert not np.any(shape.contains(x + 1e-7 * normals))
            own = shape.normal(x)
            good = np.isfinite(own).all(axis=1)
            np.testing.assert_allclose(own[good], normals[good], atol=1e-6)


def test_shared_boundaries_count_once():
    left, right = Box((-0.5, 0), (0, 0.5)), Box((0, 0), (0.5, 0.5))
    assert sum(p.measure for p in (left | right).patches()) == 3.0  # the common face is gone
    assert sum(p.measure for p in (left & Box((-0.5, -1), (1, 1))).patches()) == 2.0
    assert sum(p.measure for p in (Disk((0, 0), 1) | Disk((0, 0), 1)).patches()) == 2 * np.pi


def test_flat_and_double_operators():
    a, b, c = Disk((0, 0), 1), Disk((1, 0), 1), Disk((2, 0), 1)
    assert len(((a | b) | c).parts) == 3 and len(((a & b) & c).parts) == 3  # type: ignore[attr-defined]
    assert ~~a is a


def test_intervals_combine_too():
    from jumpnet.geometry import Interval

    parts = Partition(Interval(0, 1), [(Interval(0.1, 0.4) | Interval(0.3, 0.6)) - Interval(0.45, 0.5)])
    x, normals = parts.sample_interface((0, 1), 1, seed=0)
    order = np.argsort(x[:, 0])
    np.testing.assert_array_equal(x[order, 0], [0.1, 0.45, 0.5, 0.6])
    np.testing.assert_array_equal(normals[order, 0], [-1, 1, -1, 1])


def test_three_dimensional_differences():
    shape = SHAPES["ball"] - SHAPES["box-3d"]
    for patch in shape.patches():
        x, normals = patch.sample(100, np.random.default_rng(1))
        assert np.all(shape.contains(x - 1e-7 * normals)) and not np.any(shape.contains(x + 1e-7 * normals))


def test_a_piece_clipped_by_hand():
    parts = Partition(SQUARE, [Disk((1, 0), 0.5) & SQUARE])
    assert set(parts.sample_boundary(200, seed=0, part="right")[2]) == {0, 1}
    (interface,) = parts.interfaces
    assert abs(interface.measure - 0.5 * np.pi) < 0.01
