"""Where walls end at periodic sides of a box: on both sides at the same places, so that meshes match."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.spatial import KDTree

from jumpnet.geometry import Partition

# Of the domain: ends that are nearer to each other are one; up to that, ends on opposite sides are moved together. In a
# label image, whose sides know nothing of each other, they are up to this many pixels.
SAME, CLOSE, PIXELS = 1e-9, 1e-6, 1.0

Controls = Float[np.ndarray, "n 4 2"]


def mirrored(control: Controls, partition: Partition, periodic: Sequence[int]) -> Float[np.ndarray, "k 2"]:
    """The corners on periodic sides as they appear on the opposite ones."""
    lower, upper = (np.asarray(end, float) for end in partition.bounds)
    corners, found = control[:, 0], [np.zeros((0, 2))]
    for axis in periodic:
        for here, there in ((lower, upper), (upper, lower)):
            on = corners[np.abs(corners[:, axis] - here[axis]) <= SAME * partition.domain.size].copy()
            on[:, axis] = there[axis]
            found.append(on)
    return np.concatenate(found)


def together(
    control: Controls, partition: Partition, periodic: Sequence[int]
) -> tuple[Controls, Float[np.ndarray, "k 2"]]:
    """Segments whose ends on opposite periodic sides match where they nearly did, and the ends that were moved."""
    image, size = partition.image, partition.domain.size
    reach = CLOSE * size if image is None else PIXELS * float(np.max(image.cells.size))
    control, moved = control.copy(), [np.zeros((0, 2))]
    for axis in periodic:
        ends = control[:, [0, 3]].reshape(-1, 2)
        low, high = (
            np.unique(ends[np.abs(ends[:, axis] - side[axis]) <= SAME * size, 1 - axis]) for side in partition.bounds
        )
        if not (len(low) and len(high)):
            continue
        gap, match = (np.asarray(a) for a in KDTree(high[:, None]).query(low[:, None]))
        back = np.asarray(KDTree(low[:, None]).query(high[match][:, None])[1])
        near = (gap > SAME * size) & (gap <= reach) & (low[back] == low)
        for a, b in zip(low[near], high[match[near]], strict=True):
            for side, here in zip(partition.bounds, (a, b), strict=True):
                for end, inner in ((0, 1), (3, 2)):
                    at = np.abs(control[:, end] - (side[axis], here)[:: 1 - 2 * axis]).max(axis=1) <= SAME * size
                    control[np.flatnonzero(at)[:, None], [end, inner], 1 - axis] += (a + b) / 2 - here
                    moved.append(control[at, end])
    return control, np.concatenate(moved)
