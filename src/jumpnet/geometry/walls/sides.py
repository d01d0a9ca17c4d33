"""Walls of a plane partition as curves, and the pieces on either side of them."""

import numpy as np

from jumpnet.geometry.checks import Floats
from jumpnet.geometry.partition import Partition
from jumpnet.geometry.partition.interface_detection import Wall
from jumpnet.geometry.partition.labels import INSIDE
from jumpnet.geometry.patches import Flipped, Trimmed
from jumpnet.geometry.quadrature.curve_quadrature import Path, path_of

# Where both sides of a wall have the same label, labels are taken nearer to it by this factor, but not nearer than this
# part of the domain: labels are exact to 1e-14 of it.
FINER, FINEST = 0.1, 1e-13


def path_of_wall(wall: Wall) -> Path | None:
    """A wall as a curve; labels tell which stretches are kept, and which side is outside."""
    patch = wall.patch
    while isinstance(patch, Flipped | Trimmed):
        patch = patch.patch
    return path_of(patch)


def beside(partition: Partition, x: Floats, normal: Floats, step: Floats) -> tuple[np.ndarray, np.ndarray]:
    """The pieces along the normals of walls and against them, a step away or, in a needle, as near as it must be."""
    # The outer boundary is known less well.
    step = np.maximum(step, 4 * INSIDE * partition.domain.size)
    ahead, behind = partition.label(np.concatenate([x + step * normal, x - step * normal])).reshape(2, -1)
    while True:
        step = FINER * step
        alike = np.flatnonzero((ahead == behind) & (step[:, 0] > FINEST * partition.domain.size))
        if not len(alike):
            return ahead, behind
        away = (step * normal)[alike]
        sides = partition.label(np.concatenate([x[alike] + away, x[alike] - away])).reshape(2, -1)
        ahead[alike], behind[alike] = sides
