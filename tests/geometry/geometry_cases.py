"""Shapes and partitions that several geometry tests share."""

from functools import cache

import numpy as np

from jumpnet.geometry import (
    Ball,
    Box,
    Curve,
    Disk,
    Ellipse,
    Ellipsoid,
    HalfSpace,
    Interval,
    LevelSet,
    Partition,
    Path,
    Polygon,
    Star,
    Superellipse,
    Superquadric,
)

SQUARE = Box((-1, -1), (1, 1))
CUBE = Box((-1, -1, -1), (1, 1, 1))
CHESS = "(sin(5*pi*x1)-x2)*(-sin(5*pi*x2)-x1)"
ROUND = 0.2 * np.stack([np.cos(np.arange(60) * np.pi / 30), np.sin(np.arange(60) * np.pi / 30)], axis=1)
TURN = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]


def notched() -> Star:
    return Star((0.4, 0.4), "0.35 - 0.2*sin(4*theta)")


def heart() -> Star:
    return Star((-0.25, 0.0), "(1 + cos(theta))/3")


@cache
def pde4() -> Partition:
    stars = [
        Star((-0.5, 0.5), "0.3 - 0.1*cos(5*theta)"),
        notched(),
        Star((-0.5, -0.4), "0.45 - 0.05*sin(2*theta)"),
        Star((0.5, -0.5), "0.35 - 0.05*cos(3*theta)"),
    ]
    return Partition(Superellipse(), stars)


@cache
def pde5() -> Partition:
    balls = [Ball((a, b, 0.0), 0.4) for b in (0.45, -0.45) for a in (-0.45, 0.45)]
    return Partition(Superquadric((0, 0, 0), (1, 1, 0.5), 4), balls)


@cache
def chessboard() -> Partition:
    return Partition(SQUARE, [LevelSet(CHESS, dim=2)])


def jax_blob(x):
    import jax.numpy as jnp

    return jnp.sum(x**2, axis=1) - 0.36 + 0.1 * x[:, 0]


SHAPES = {
    "interval": Interval(-0.3, 0.8),
    "ball-1d": Ball((0.2,), 0.5),
    "level-set-1d": LevelSet("x1**2 - 0.25", bounds=((-1,), (1,))),
    "box": Box((-0.5, -0.2), (0.3, 0.7)),
    "disk": Disk((0.1, -0.2), 0.6),
    "ellipse": Ellipse((0.1, 0.2), (0.7, 0.3), np.pi / 6),
    "superellipse": Superellipse((0.1, 0.0), (0.8, 0.5), 4),
    "superellipse-3": Superellipse((0.0, 0.1), (0.8, 0.5), 3),
    "star": notched(),
    "curve": Curve("0.6*cos(t) + 0.1*cos(2*t)", "0.5*sin(t)"),
    "curve-clockwise": Curve("0.6*cos(t)", "-0.5*sin(t)"),
    "polygon": Polygon([(-0.6, -0.5), (0.7, -0.4), (0.1, 0.1), (0.5, 0.8), (-0.5, 0.4)]),
    "polygon-holed": Polygon(
        [(-0.7, -0.7), (0.7, -0.6), (0.6, 0.7), (-0.6, 0.6)], [[(0, 0), (0.3, 0.1), (0.1, 0.4)], ROUND - 0.3]
    ),
    "path": Path([[(0.4, 0), (0.4, 0.5), (-0.4, 0.5), (-0.4, 0), (-0.6, -0.4), (0.2, -0.6)]]),
    "half-plane": HalfSpace((1, 2), 0.3),
    "level-set": LevelSet("x1**4 + x2**2 - 0.4", bounds=((-1, -1), (1, 1))),
    "union": Disk((-0.2, 0), 0.5) | Box((0, -0.3), (0.8, 0.3)),
    "difference": Disk((0, 0), 0.8) - Disk((0.3, 0), 0.3),
    "box-3d": Box((-0.5, -0.2, 0), (0.3, 0.7, 0.4)),
    "ball": Ball((0.1, -0.2, 0), 0.6),
    "ellipsoid": Ellipsoid((0, 0.1, 0), (0.8, 0.5, 0.3), TURN),
    "superquadric": Superquadric((0, 0, 0), (1, 1, 0.5), 4),
    "half-space": HalfSpace((1, 2, -1), 0.3),
    "level-set-3d": LevelSet("x1**2 + 2*x2**2 + x3**4 - 0.4", bounds=((-1, -1, -1), (1, 1, 1))),
    "ball-6d": Ball((0.0,) * 6, 0.7),
}


def box_of(shape) -> tuple[np.ndarray, np.ndarray]:
    """A finite box around a shape."""
    return np.maximum(shape.bounds[0], -1.0), np.minimum(shape.bounds[1], 1.0)


def boundary_points(shape, n: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points and normals of all its patches."""
    rng = np.random.default_rng(seed)
    drawn = [patch.sample(n, rng) for patch in shape.patches(box_of(shape))]
    return np.concatenate([x for x, _ in drawn]), np.concatenate([normal for _, normal in drawn])
