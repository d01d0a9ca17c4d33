"""Levels, normals, bounds, volumes and descriptions of single shapes."""

import json

import numpy as np
import pytest
from geometry_cases import SHAPES, boundary_points, box_of, heart, jax_blob, notched
from scipy.integrate import quad

from jumpnet.geometry import Ball, Box, Curve, Disk, Ellipse, HalfSpace, LevelSet, Star, Superquadric, shape_from_spec


@pytest.fixture(params=SHAPES, ids=str)
def shape(request):
    return SHAPES[request.param]


def test_boundary_points_have_level_zero(shape):
    x, _ = boundary_points(shape)
    assert np.abs(shape.level(x)).max() < 5e-15


def test_normals_are_those_of_finite_differences_of_the_level(shape):
    x, normals = boundary_points(shape)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-14)
    h = 1e-6  # central differences: error h^2 |third derivative| + eps / h, about 1e-9; notches have large ones
    steps = h * np.eye(shape.dim)
    slope = np.stack([shape.level(x + e) - shape.level(x - e) for e in steps], axis=1) / (2 * h)
    slope /= np.linalg.norm(slope, axis=1, keepdims=True)
    corner = np.zeros(len(x), dtype=bool)  # within h of an edge differences see the other side
    for e in steps:
        corner |= ~np.isclose(shape.level(x + e) + shape.level(x - e), 0.0, atol=1e-8)
    assert corner.mean() < 0.01
    np.testing.assert_allclose(normals[~corner], slope[~corner], atol=1e-6)
    own = shape.normal(x)
    good = np.isfinite(own).all(axis=1)
    assert good.mean() > 0.99
    np.testing.assert_allclose(own[good], normals[good], atol=1e-7)


def test_a_step_along_the_normal_leaves_the_shape(shape):
    x, normals = boundary_points(shape)
    assert np.mean(shape.contains(x - 1e-9 * normals)) == 1.0
    assert np.mean(shape.contains(x + 1e-9 * normals)) == 0.0


def test_contains_is_the_sign_of_the_level(shape):
    lower, upper = box_of(shape)
    x = np.random.default_rng(1).uniform(lower - 0.1, upper + 0.1, (2000, shape.dim))
    np.testing.assert_array_equal(shape.contains(x), shape.level(x) < 0.0)
    np.testing.assert_array_equal(shape.contains(x, 0.05), shape.level(x) < 0.05)
    np.testing.assert_array_equal((~shape).contains(x), shape.level(x) > 0.0)


def test_bounds_hold_the_boundary_and_are_reached(shape):
    x, _ = boundary_points(shape, 5000)
    lower, upper = shape.bounds
    assert np.all(x >= lower - 1e-14) and np.all(x <= upper + 1e-14)
    if shape.volume is not None and shape.dim < 6:
        assert np.all(x.min(axis=0) - lower < 0.05) and np.all(upper - x.max(axis=0) < 0.05)


@pytest.mark.parametrize("name", [name for name, shape in SHAPES.items() if shape.volume is not None])
def test_volume_is_that_of_counted_points(name):
    shape = SHAPES[name]
    lower, upper = shape.bounds
    n = 40_000
    share = shape.contains(np.random.default_rng(2).uniform(lower, upper, (n, shape.dim))).mean()
    box = np.prod(upper - lower)
    assert abs(shape.volume - share * box) < 5 * box * np.sqrt(share * (1 - share) / n) + 1e-12  # five sigma


def test_spec_round_trip(shape):
    again = shape_from_spec(json.loads(json.dumps(shape.spec())))
    assert again == shape
    lower, upper = box_of(shape)
    x = np.random.default_rng(3).uniform(lower, upper, (500, shape.dim))
    np.testing.assert_array_equal(again.level(x), shape.level(x))


def test_callables_have_no_spec():
    blob = LevelSet(jax_blob, bounds=((-1, -1), (1, 1)))
    assert blob.spec() is None
    assert (blob | Disk((0, 0), 0.1)).spec() is None
    assert Star((0, 0), lambda t: 0.3 + 0.0 * t).spec() is None


def test_callables_give_the_same_shape_as_formulas():
    import jax.numpy as jnp

    x = np.random.default_rng(4).uniform(-1, 1, (1000, 2))
    formula = LevelSet("x1**2 + x2**2 - 0.36 + 0.1*x1", dim=2)
    np.testing.assert_allclose(LevelSet(jax_blob, dim=2).level(x), formula.level(x), atol=1e-15)
    star = Star((0.4, 0.4), lambda theta: 0.35 - 0.2 * jnp.sin(4 * theta))
    np.testing.assert_allclose(star.level(x), notched().level(x), atol=1e-14)
    np.testing.assert_allclose(star.normal(x), notched().normal(x), atol=1e-12)
    ring = Curve(lambda t: jnp.stack([0.5 * jnp.cos(t), 0.3 * jnp.sin(t)], axis=1))
    np.testing.assert_array_equal(ring.contains(x), Ellipse((0, 0), (0.5, 0.3)).contains(x))


def test_curve_agrees_with_the_star_up_to_rounding():
    r = "(0.35 - 0.2*sin(4*t))"
    curve = Curve(f"0.4 + {r}*cos(t)", f"0.4 + {r}*sin(t)")
    rng = np.random.default_rng(5)
    x = rng.uniform(-0.2, 1.0, (20_000, 2))
    np.testing.assert_array_equal(curve.contains(x), notched().contains(x))
    edge, normals = boundary_points(notched(), 2000)
    for distance in (1e-14, 1e-12, 1e-9, 1e-6, 1e-4):
        assert curve.contains(edge - distance * normals).all()
        assert not curve.contains(edge + distance * normals).any()
        np.testing.assert_allclose(curve.level(edge + distance * normals), distance, rtol=1e-6, atol=1e-15)


def test_curve_with_corners_is_right_next_to_them():
    # a square with rounded sides: |cos|^(1/2) has corners; here the plain diamond |x| + |y| = 1/2
    diamond = Curve("0.5*cos(t)*abs(cos(t))", "0.5*sin(t)*abs(sin(t))")
    rng = np.random.default_rng(6)
    corner = np.array([[0.5, 0], [0, 0.5], [-0.5, 0], [0, -0.5]])[rng.integers(4, size=4000)]
    x = corner + rng.normal(size=(4000, 2)) * 10.0 ** rng.uniform(-9, -2, (4000, 1))
    inside = np.abs(x).sum(axis=1) < 0.5
    clear = np.abs(np.abs(x).sum(axis=1) - 0.5) > 1e-13
    np.testing.assert_array_equal(diamond.contains(x)[clear], inside[clear])


def test_lengths_and_areas():
    def length(shape):
        return sum(patch.measure for patch in shape.patches())

    assert length(Disk((0, 0), 0.5)) == pytest.approx(np.pi, rel=1e-14)
    assert length(heart()) == pytest.approx(8 / 3, rel=1e-9)
    r, dr = lambda t: 0.35 - 0.2 * np.sin(4 * t), lambda t: -0.8 * np.cos(4 * t)
    exact = quad(lambda t: np.hypot(r(t), dr(t)), 0, 2 * np.pi, limit=400)[0]
    assert length(notched()) == pytest.approx(exact, rel=1e-8)
    assert length(Ball((0, 0, 0), 0.5)) == pytest.approx(np.pi, rel=1e-14)
    oblate = Superquadric((0, 0, 0), (1, 1, 0.5), 2)  # an ellipsoid of revolution, closed form
    e = np.sqrt(0.75)
    assert length(oblate) == pytest.approx(2 * np.pi * (1 + 0.25 / e * np.arctanh(e)), rel=1e-10)
    assert length(LevelSet("x1**2+x2**2-0.25", bounds=((-1, -1), (1, 1)))) == pytest.approx(np.pi, rel=3e-3)
    ball = LevelSet("x1**2+x2**2+x3**2-0.25", bounds=((-1, -1, -1), (1, 1, 1)))
    assert length(ball) == pytest.approx(np.pi, rel=1e-2)
    plane = HalfSpace((1, 1, 1), 0.0).patches((np.full(3, -1.0), np.ones(3)))
    assert plane[0].measure == pytest.approx(3 * np.sqrt(3), rel=2e-3)  # a regular hexagon of side sqrt 2


def test_normals_do_not_exist_at_corners_and_centres():
    assert np.isnan(Box((0, 0), (1, 1)).normal([[1.0, 1.0]])).all()
    assert np.isnan(Disk((0, 0), 1).normal([[0.0, 0.0]])).all()
    assert np.isnan(heart().normal([[-0.25, 0.0]])).all()
    assert np.isnan(LevelSet("x1*x2", dim=2).normal([[0.0, 0.0]])).all()
    assert np.isnan((Disk((-0.3, 0), 0.5) | Disk((0.3, 0), 0.5)).normal([[0.0, 0.4]])).all()


def test_ellipse_is_turned_counter_clockwise():
    ellipse = Ellipse((0, 0), (1.0, 0.2), np.pi / 4)
    assert ellipse.contains([[0.6, 0.6]])[0] and not ellipse.contains([[0.6, -0.6]])[0]


def test_large_powers_do_not_overflow():
    box = Superquadric((0, 0), (1, 1), 500)
    assert box.contains([[0.99, 0.99]])[0] and not box.contains([[100.0, 100.0]])[0]
