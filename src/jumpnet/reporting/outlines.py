"""The boundaries of plane shapes as polygons, taken from the shapes themselves where they are curves."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from jumpnet.geometry import Box, Curve, Path, Star
from jumpnet.geometry.shape import Shape

POINTS = 720  # of a closed curve
ANGLES = np.linspace(0.0, 2.0 * np.pi, POINTS + 1)  # of the points of a circle


@dataclass(frozen=True)
class Ring:
    """A closed polygon on the boundary of a shape; the last point repeats the first."""

    points: Float[np.ndarray, "n 2"]


def rings_of(shape: Shape, longest: float) -> tuple[Ring, ...] | None:
    """The boundary of a plane shape, edges no longer than about `longest`; None where only a level function is
    known."""
    if shape.dim != 2 or shape.clipped:
        return None
    if isinstance(shape, Path):
        return tuple(Ring(_of_loop(shape, t, longest)) for t in shape.curves.nodes)
    if isinstance(shape, Box):
        (a, b), (c, d) = shape.bounds
        return (Ring(_along(np.array([(a, b), (c, b), (c, d), (a, d), (a, b)], float), longest)),)
    if isinstance(shape, Star | Curve):
        return (Ring(shape.position(shape.start + ANGLES)),)
    return None


def _of_loop(shape: Path, t: Float[np.ndarray, " n"], longest: float) -> Float[np.ndarray, "m 2"]:
    """A loop of a path, at its nodes and between those that are far apart."""
    loops = shape.curves
    start = loops.position(t[:-1])
    length = np.linalg.norm(np.roll(start, -1, axis=0) - start, axis=1)
    parts = np.maximum(np.ceil(length / longest), 1).astype(int)
    which = np.repeat(np.arange(len(start)), parts)
    share = (np.arange(len(which)) - np.repeat(np.cumsum(parts) - parts, parts)) / parts[which]
    return np.concatenate([loops.position(t[which] + share * np.diff(t)[which]), start[:1]])


def _along(ring: Float[np.ndarray, "n 2"], longest: float) -> Float[np.ndarray, "m 2"]:
    """A polygon with points between its vertices where these are far apart."""
    step = np.diff(ring, axis=0)
    parts = np.maximum(np.ceil(np.linalg.norm(step, axis=1) / longest), 1).astype(int)
    start = np.repeat(np.arange(len(step)), parts)
    share = (np.arange(len(start)) - np.repeat(np.cumsum(parts) - parts, parts)) / parts[start]
    return np.concatenate([ring[start] + share[:, None] * step[start], ring[-1:]])
