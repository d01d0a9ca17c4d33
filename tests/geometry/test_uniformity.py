"""Points are uniform in length or area: chi-square tests against exact or independent densities."""

import numpy as np
import pytest
from geometry_cases import CUBE, SHAPES, SQUARE, TURN, chessboard, heart, notched, pde4
from scipy.stats import chi2

from jumpnet.geometry import Ball, Disk, Ellipse, Ellipsoid, LevelSet, Superellipse, Superquadric

N = 6000
LEVEL = 1e-4
"""Chance of a false alarm; the seeds are fixed, so a test that passes keeps passing."""


def chi_square(counts: np.ndarray, expected: np.ndarray) -> float:
    """p-value of the hypothesis that the counts have the expected shares."""
    expected = expected / expected.sum() * counts.sum()
    assert expected.min() > 5
    return float(chi2.sf(np.sum((counts - expected) ** 2 / expected), len(counts) - 1))


def draw(shape, n=N, seed=0):
    (patch,) = shape.patches()
    return patch.sample(n, np.random.default_rng(seed))


def arc_shares(curve, bins: int) -> np.ndarray:
    """Lengths of equal sectors of the parameter, from a fine polygon."""
    t = np.linspace(-np.pi, np.pi, bins * 2000 + 1)
    steps = np.linalg.norm(np.diff(curve(t), axis=0), axis=1)
    return steps.reshape(bins, 2000).sum(axis=1)


def polar(r, centre):
    return lambda t: np.array(centre) + r(t)[:, None] * np.stack([np.cos(t), np.sin(t)], axis=1)


CURVES = {
    "notched": (notched(), (0.4, 0.4), lambda t: 0.35 - 0.2 * np.sin(4 * t)),
    "heart": (heart(), (-0.25, 0.0), lambda t: (1 + np.cos(t)) / 3),
    "circle": (Disk((0.1, 0.2), 0.3), (0.1, 0.2), lambda t: 0.3 + 0 * t),
    "superellipse": (Superellipse(), (0, 0), lambda t: (np.cos(t) ** 4 + np.sin(t) ** 4) ** -0.25),
    "ellipse": (
        Ellipse((0, 0), (0.8, 0.2)),
        (0, 0),
        lambda t: 1 / np.sqrt((np.cos(t) / 0.8) ** 2 + (np.sin(t) / 0.2) ** 2),
    ),
    "level-set": (
        LevelSet("x1**4 + x2**4 - 0.5", bounds=((-1, -1), (1, 1))),
        (0, 0),
        lambda t: (2 * (np.cos(t) ** 4 + np.sin(t) ** 4)) ** -0.25,
    ),
}


@pytest.mark.parametrize("name", CURVES)
def test_curves_are_uniform_in_arc_length(name):
    shape, centre, r = CURVES[name]
    x, _ = draw(shape)
    bins = 40
    theta = np.arctan2(x[:, 1] - centre[1], x[:, 0] - centre[0])
    counts = np.histogram(theta, bins, range=(-np.pi, np.pi))[0]
    shares = arc_shares(polar(r, centre), bins)
    keep = shares > 0.002 * shares.sum()  # the heart's cusp: hardly any length
    assert chi_square(counts[keep], shares[keep]) > LEVEL


def test_curve_is_uniform_in_arc_length():
    shape = SHAPES["curve"]
    x, _ = draw(shape)
    t = np.linspace(-np.pi, np.pi, 80_001)
    c = np.stack([0.6 * np.cos(t) + 0.1 * np.cos(2 * t), 0.5 * np.sin(t)], axis=1)
    steps = np.linalg.norm(np.diff(c, axis=0), axis=1)
    counts = np.histogram(np.arctan2(x[:, 1], x[:, 0]), 30, range=(-np.pi, np.pi))[0]
    middle = 0.5 * (c[1:] + c[:-1])
    shares = np.histogram(np.arctan2(middle[:, 1], middle[:, 0]), 30, range=(-np.pi, np.pi), weights=steps)[0]
    assert chi_square(counts, shares) > LEVEL


def area_shares(weight, bins: int, heights: np.ndarray) -> np.ndarray:
    """Areas by sector of longitude and by height band of the direction, from a fine grid of directions."""
    z = np.linspace(-1, 1, 401)
    z = 0.5 * (z[1:] + z[:-1])
    angle = -np.pi + 2 * np.pi * (np.arange(40 * bins) + 0.5) / (40 * bins)
    ring = np.sqrt(1 - z**2)[:, None]
    u = np.stack([ring * np.cos(angle), ring * np.sin(angle), z[:, None] + 0 * angle], axis=2).reshape(-1, 3)
    w = weight(u)
    cell = np.searchsorted(heights, u[:, 2]) * bins
    cell = cell + np.floor((np.arctan2(u[:, 1], u[:, 0]) + np.pi) / (2 * np.pi) * bins).astype(int)
    return np.bincount(cell, weights=w, minlength=bins * (len(heights) + 1))


def direction_counts(x: np.ndarray, bins: int, heights: np.ndarray) -> np.ndarray:
    u = x / np.linalg.norm(x, axis=1, keepdims=True)
    cell = np.searchsorted(heights, u[:, 2]) * bins
    cell = cell + np.floor((np.arctan2(u[:, 1], u[:, 0]) + np.pi) / (2 * np.pi) * bins).astype(int)
    return np.bincount(cell, minlength=bins * (len(heights) + 1))


def radial_weight(level_gradient, radius):
    """Area element of a radial surface: r^2 / cos(angle between direction and normal), by its level's
    gradient."""

    def weight(u):
        r = radius(u)
        g = level_gradient(r[:, None] * u)
        return r**2 * np.linalg.norm(g, axis=1) / np.abs(np.sum(g * u, axis=1))

    return weight


AXES = np.array([0.8, 0.5, 0.3])
SURFACES = {
    "ball": (Ball((0, 0, 0), 0.5), radial_weight(lambda x: x, lambda u: 0.5 + 0 * u[:, 0])),
    "ellipsoid": (
        Ellipsoid((0, 0, 0), AXES),
        radial_weight(lambda x: x / AXES**2, lambda u: np.sum((u / AXES) ** 2, axis=1) ** -0.5),
    ),
    "ellipsoid-turned": (
        Ellipsoid((0, 0, 0), AXES, TURN),
        radial_weight(
            lambda x: (x @ TURN / AXES**2) @ TURN.T, lambda u: np.sum((u @ TURN / AXES) ** 2, axis=1) ** -0.5
        ),
    ),
    "superquadric": (
        Superquadric((0, 0, 0), (1, 1, 0.5), 4),
        radial_weight(lambda x: x**3 * [1, 1, 16], lambda u: np.sum(u**4 * [1, 1, 16], axis=1) ** -0.25),
    ),
    "level-set": (
        LevelSet("x1**4 + x2**4 + 16*x3**4 - 0.6", bounds=((-1, -1, -0.5), (1, 1, 0.5))),
        radial_weight(lambda x: x**3 * [1, 1, 16], lambda u: (np.sum(u**4 * [1, 1, 16], axis=1) / 0.6) ** -0.25),
    ),
}


@pytest.mark.parametrize("name", SURFACES)
def test_surfaces_are_uniform_in_area(name):
    shape, weight = SURFACES[name]
    x, _ = draw(shape)
    heights = np.array([-0.5, -0.2, 0.0, 0.2, 0.5])
    shares = area_shares(weight, 8, heights)
    assert chi_square(direction_counts(x, 8, heights), shares) > LEVEL


def test_uniform_directions_would_not_pass():
    """The tests above can fail: a superquadric sampled by scaled directions is refused."""
    _, weight = SURFACES["superquadric"]
    u = np.random.default_rng(0).normal(size=(N, 3))
    heights = np.array([-0.5, -0.2, 0.0, 0.2, 0.5])
    assert chi_square(direction_counts(u, 8, heights), area_shares(weight, 8, heights)) < 1e-10
    theta = np.random.default_rng(0).uniform(-np.pi, np.pi, N)
    shares = arc_shares(polar(CURVES["notched"][2], (0, 0)), 40)
    assert chi_square(np.histogram(theta, 40, range=(-np.pi, np.pi))[0], shares) < 1e-10


def test_chessboard_points_are_uniform_along_both_curves():
    x, _ = chessboard().sample_interface((0, 1), N, seed=0)
    first = np.abs(np.sin(5 * np.pi * x[:, 0]) - x[:, 1])
    second = np.abs(np.sin(5 * np.pi * x[:, 1]) + x[:, 0])
    assert np.minimum(first, second).max() < 1e-13
    on_first = first < second
    # along each curve the position is the abscissa a with ds = sqrt(1 + (5 pi cos 5 pi a)^2) da
    a = np.linspace(-1, 1, 40_001)
    ds = np.sqrt(1 + (5 * np.pi * np.cos(5 * np.pi * a)) ** 2)
    shares = (0.5 * (ds[1:] + ds[:-1])).reshape(20, 2000).sum(axis=1)
    counts = np.concatenate(
        [np.histogram(x[on_first, 0], 20, (-1, 1))[0], np.histogram(x[~on_first, 1], 20, (-1, 1))[0]]
    )
    assert chi_square(counts, np.concatenate([shares, shares])) > LEVEL


def test_interior_points_are_uniform():
    parts = pde4()
    _, labels = parts.sample_interior(N, seed=3)
    assert chi_square(np.bincount(labels), np.array([parts.measure(k) for k in range(5)])) > LEVEL


def test_boundary_of_a_box_is_uniform_over_its_faces():
    from jumpnet.geometry import Box, Partition

    _, _, _, part = Partition(Box((0, 0), (3, 1))).sample_boundary(N, seed=0)
    assert chi_square(np.bincount(part), np.array([1.0, 1.0, 3.0, 3.0])) > LEVEL


@pytest.mark.parametrize("method", ["random", "sobol"])
def test_trimmed_boundaries_are_uniform(method):
    from jumpnet.geometry import Partition

    parts = Partition(SQUARE, [Disk((-0.3, 0), 0.5) | Disk((0.3, 0), 0.5)])
    x, _ = parts.sample_interface((0, 1), N, seed=1, method=method)
    angle = np.arctan2(x[:, 1], np.abs(x[:, 0]) - 0.3)  # both arcs, folded: |angle| < pi - arccos(0.6)
    edge = np.pi - np.arccos(0.6)
    assert np.abs(angle).max() <= edge + 1e-6
    counts = np.histogram(angle, 20, range=(-edge, edge))[0]
    assert chi_square(counts, np.ones(20)) > LEVEL
    assert chi_square(np.bincount((x[:, 0] > 0).astype(int)), np.ones(2)) > LEVEL


def test_plane_in_a_cube_is_uniform():
    from jumpnet.geometry import HalfSpace, Partition

    parts = Partition(CUBE, [HalfSpace((1, 2, 0.5), 0.2)])
    x, normals = parts.sample_interface((0, 1), N, seed=0)
    np.testing.assert_allclose(x @ [1, 2, 0.5], 0.2, atol=1e-13)
    np.testing.assert_allclose(normals, np.tile(np.array([1, 2, 0.5]) / np.sqrt(5.25), (N, 1)), atol=1e-14)
    # x1, x3 are uniform where x2 stays in the box: |0.2 - x1 - x3/2| <= 2 always holds
    counts = np.histogram2d(x[:, 0], x[:, 2], 5, range=[[-1, 1], [-1, 1]])[0].ravel()
    assert chi_square(counts, np.ones(25)) > LEVEL
