"""The corners of a plane domain: where two straight sides meet."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jumpnet.geometry.checks import Floats
from jumpnet.geometry.path import Path
from jumpnet.geometry.primitives import Box
from jumpnet.geometry.shape import Shape


class Corner(NamedTuple):
    """A corner between straight sides, and where these lead; the domain lies on the left of `before` and `after`."""

    place: Floats
    before: Floats
    after: Floats


def corners_of(domain: Shape) -> Iterator[Corner]:
    """The corners between straight sides of a plane domain."""
    if isinstance(domain, Box) and domain.dim == 2:
        (x0, y0), (x1, y1) = domain.bounds
        loops = [np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], float)]
        straight = [np.ones(4, bool)]
    elif isinstance(domain, Path):
        segments = [np.asarray(loop) for loop in domain._loops.loops]
        loops = [loop[:, 0] for loop in segments]
        straight = [_straight(loop) for loop in segments]
    else:
        return
    for loop, of_side in zip(loops, straight, strict=True):
        sides = np.roll(loop, -1, axis=0) - loop
        for at in np.flatnonzero(of_side & np.roll(of_side, 1)):
            yield Corner(loop[at], sides[at - 1], sides[at])


def _straight(segments: np.ndarray) -> np.ndarray:
    """Which cubic segments are straight lines."""
    along = segments[:, 3] - segments[:, 0]
    across = np.stack([-along[:, 1], along[:, 0]], axis=1)[:, None]
    off = np.abs(np.sum((segments[:, 1:3] - segments[:, :1]) * across, axis=2)).max(axis=1)
    return off <= 1e-12 * np.sum(along**2, axis=1)
