"""Which two pieces meet at a given point of an interface, and the normal there."""

from collections.abc import Callable, Sequence

import numpy as np

from jumpnet.errors import GeometryError
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.shape import Shape


def find_sides(
    x: Floats, pieces: Sequence[Shape], label: Callable[[Floats], np.ndarray], step: float
) -> tuple[np.ndarray, np.ndarray, Floats]:
    """The pieces a < b on either side of each point and the unit normal from b to a.

    A step along a shape's normal and one against it tell: where the shape begins or ends between them and the labels
    differ, that shape's boundary is the interface. (The labels alone would not do: the normals of a shape whose
    boundary is elsewhere cross the interface at some angle too.)
    """
    low, high = np.full(len(x), -1), np.full(len(x), -1)
    normals = np.full_like(x, np.nan)
    for shape in pieces:
        open_ = np.flatnonzero(low < 0)
        if not len(open_):
            break
        n = shape.normal(x[open_])
        sound = np.isfinite(n).all(axis=1)
        open_, n = open_[sound], n[sound]
        front, back = x[open_] + step * n, x[open_] - step * n
        own = shape.contains(front) != shape.contains(back)
        open_, n, front, back = open_[own], n[own], front[own], back[own]
        ahead, behind = label(front), label(back)
        found = (ahead != behind) & (ahead >= 0) & (behind >= 0)
        at, n, ahead, behind = open_[found], n[found], ahead[found], behind[found]
        low[at], high[at] = np.minimum(ahead, behind), np.maximum(ahead, behind)
        normals[at] = np.where(ahead < behind, 1.0, -1.0)[:, None] * n
    lost = np.flatnonzero(low < 0)
    if len(lost):
        raise GeometryError(
            f"{len(lost)} of {len(x)} points do not lie on an interface (to within {step:.0e}), e.g. "
            f"{x[lost[0]].tolist()}; take points from partition.sample_interface(...)."
        )
    return low, high, normals
