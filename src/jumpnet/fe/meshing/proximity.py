"""Where walls come close to each other: how large elements may be there.

A curved wall lies off the chord of an element of length h by h^2 curvature/8. Between two walls that has to be a part
of the distance: chords must not cross the other wall, and curved elements must not fold.
"""

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import KDTree

from jumpnet.geometry import Partition
from jumpnet.geometry.partition.interface_detection import Trace
from jumpnet.geometry.walls.corners import corners_of

# Walls whose normals turn by less over the whole domain are straight.
STRAIGHT = 1e-6
# A wall may be off its chord by this part of the distance to the next wall.
PART = 0.08
# Normals of neighbouring points that differ by more are at a corner, which has no curvature.
CORNER = 0.5
# Of the usual size of elements: none is asked to be smaller (touching walls have no distance).
LEAST = {2: 1e-3, 3: 0.2}
# In space walls count that face each other: the cosine between normals. Where they meet at an angle, nothing is narrow.
FACING = 0.7
ONE = 1e-6  # of the domain: closer walls in space are the same
# Nearest neighbours of a point among which one on another wall is searched.
AROUND = 24
# A point on another wall counts if the way to it is along the normal by this part, or no longer than this many spacings
# of the points.
ALONG, SPACINGS = 0.7, 1.5


def narrow(parts: Partition, size: float) -> list[tuple[Float[np.ndarray, " d"], float]]:
    """Places between close walls of a partition, and the sizes of elements there, below `size`."""
    trace = Trace.join(parts.walls.pilot)
    trace = trace[trace.ahead != trace.behind]
    if len(trace.points) < 2:
        return []
    gap, other = _gaps(trace)
    if parts.dim == 3:
        facing = np.abs(np.sum(trace.normals * trace.normals[other], axis=1)) > FACING
        # Walls without any distance are one, which a piece and the domain share.
        gap = np.where(facing & (other >= 0) & (gap > ONE * parts.domain.size), gap, np.inf)
    curvature = _curvatures(trace.points, trace.normals, trace.wall)
    both = np.maximum(curvature, np.where(other >= 0, curvature[other], 0.0))
    bent = both * parts.domain.size > STRAIGHT
    wanted = np.sqrt(8 * PART * np.divide(gap, both, out=np.full(len(gap), np.inf), where=bent))
    wanted = _at_corners(parts, trace.points, wanted) if parts.dim == 2 else wanted
    wanted = np.maximum(wanted, LEAST[parts.dim] * size)
    return [(trace.points[k], float(wanted[k])) for k in np.flatnonzero(wanted < size)]


def _at_corners(
    parts: Partition, x: Float[np.ndarray, "n d"], wanted: Float[np.ndarray, " n"]
) -> Float[np.ndarray, " n"]:
    """The sizes without the decrease towards corners where walls meet at an angle.

    At the distance s from such a corner the gap is proportional to s, and the size that it asks for to sqrt(s): nearer
    than s0 = size^2/s, an element as long as s is short enough, and the size at s0 suffices. Where walls touch, gap and
    size are proportional to s^2 and s, and the size is below s.
    """
    places = np.array([corner.place for corner in corners_of(parts)])
    if not len(places):
        return wanted
    away = np.asarray(KDTree(places).query(x)[0])
    # Below the diameter of the domain, for points on corners.
    further = np.divide(wanted**2, away, out=np.full(len(x), parts.domain.size), where=away > 0)
    return np.where(wanted > away, np.minimum(further, parts.domain.size), wanted)


def _gaps(trace: Trace) -> tuple[Float[np.ndarray, " n"], Int[np.ndarray, " n"]]:
    """The distance of each point to the nearest other wall, and the point there; infinite and -1 if none is near.

    Walls that have the same pieces on the same sides are one, which two shapes share.
    """
    x, normal, wall = trace.points, trace.normals, trace.wall
    low, high = np.minimum(trace.ahead, trace.behind), np.maximum(trace.ahead, trace.behind)
    towards = np.where(trace.ahead == low, 1.0, -1.0)[:, None] * normal
    away, index = (np.asarray(part) for part in KDTree(x).query(x, k=min(AROUND, len(x))))
    index = index[:, 1:]
    between = x[index] - x[:, None]
    length = np.maximum(away[:, 1:], 1e-300)
    across = np.abs(np.einsum("nkd,nkd->nk", between, normal[index]))
    alike = (low[index] == low[:, None]) & (high[index] == high[:, None])
    alike &= np.einsum("nkd,nd->nk", towards[index], towards) > 0
    foreign = (wall[index] != wall[:, None]) & ~alike
    same = np.where(foreign, np.inf, length)
    spacing = np.where(np.isfinite(same).any(axis=1), same.min(axis=1), length.min(axis=1))
    counts = foreign & ((across > ALONG * length) | (length < SPACINGS * spacing[:, None] + across))
    gap = np.where(counts, across, np.inf)
    best = np.argmin(gap, axis=1)
    found = gap[np.arange(len(x)), best]
    return found, np.where(np.isfinite(found), index[np.arange(len(x)), best], -1)


def _curvatures(
    x: Float[np.ndarray, "n d"], normal: Float[np.ndarray, "n d"], wall: Int[np.ndarray, " n"]
) -> Float[np.ndarray, " n"]:
    """How fast the normal turns, from each point to the nearest of the same wall."""
    found = np.zeros(len(x))
    for one in np.unique(wall).tolist():
        mine = np.flatnonzero(wall == one)
        if len(mine) < 2:
            continue
        away, index = (np.asarray(part) for part in KDTree(x[mine]).query(x[mine], k=2))
        turn = np.linalg.norm(normal[mine] - normal[mine][index[:, 1]], axis=1)
        found[mine] = np.where(turn > CORNER, 0.0, turn / np.maximum(away[:, 1], 1e-300))
    return found
