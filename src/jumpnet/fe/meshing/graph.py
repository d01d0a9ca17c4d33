"""The planar straight-line graph of a partition made of paths: drawings, polygons, label images.

The boundaries of all pieces are cut at each other's corners into cubic segments that are the same from both sides, with
a label on each side; no boolean operations are needed. Segments that continue each other smoothly are joined to arcs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import KDTree

from jumpnet.fe.meshing.periodic import mirrored, together
from jumpnet.geometry import Box, Partition, Path
from jumpnet.geometry.curves import bezier
from jumpnet.geometry.shape import Shape

SAME = 1e-9  # of the domain: points nearer to each other are one
STRAIGHT = 1e-10  # of the domain: controls nearer to the chord than that make a straight segment
CORNER = 1e-3  # radians: where segments meet at a larger angle, a curve has a corner
PROBE = 1e-6  # of the domain: the distance at which the piece beside a segment is looked up
MOST_SEGMENTS = 20_000  # beyond, the graph takes longer than boolean operations
FEET = 33  # points of an arc between which those above given points of a chord are looked for
SECANTS = 5  # steps there: from a thirtieth to rounding
OUTSIDE = -1  # the label of what is not in the domain


@dataclass(frozen=True, eq=False)
class Segments:
    """Cubic segments between corners with the labels on their left and right; -1 outside of the domain."""

    control: Float[np.ndarray, "n 4 2"]
    ends: Int[np.ndarray, "n 2"]
    left: Int[np.ndarray, " n"]
    right: Int[np.ndarray, " n"]
    straight: Bool[np.ndarray, " n"]
    corners: Float[np.ndarray, "k 2"]


def planar_graph(partition: Partition, periodic: Sequence[int] = ()) -> Segments | None:
    """The segments of a partition; None where shapes are no paths, or where segments do not fit together."""
    shapes = [partition.domain, *partition.pieces]
    if partition.dim != 2 or any(_loops(shape) is None for shape in shapes):
        return None
    every = [(label, segment) for label, shape in enumerate(shapes) for segment in _loops(shape) or ()]
    control = np.concatenate([segment for _, segment in every])
    owner = np.concatenate([np.full(len(segment), label) for label, segment in every])
    if len(control) > MOST_SEGMENTS:
        return None
    scale = partition.domain.size
    control, moved = together(control, partition, periodic)
    extra = mirrored(control, partition, periodic)
    number, corners = _joined(np.concatenate([control[:, [0, 3]].reshape(-1, 2), extra]), SAME * scale)
    ends = number[: 2 * len(control)].reshape(-1, 2)
    straight = _is_straight(control, STRAIGHT * scale)
    control, ends, owner, straight = _split(control, ends, owner, straight, corners, SAME * scale)
    found = _matched(control, ends, owner, straight, corners)
    return found if _fits(found, partition, moved) else None


def _loops(shape: Shape) -> list[np.ndarray] | None:
    """The segments of each loop of a shape, the shape on their left; None where it is no path."""
    if isinstance(shape, Box):
        (a, b), (c, d) = (np.asarray(end, float) for end in shape.bounds)
        corners = np.array([(a, b), (c, b), (c, d), (a, d)])
        return [bezier.line(corners, np.roll(corners, -1, axis=0))]
    return list(shape.curves.loops) if isinstance(shape, Path) and not shape.clipped else None


def _joined(x: Float[np.ndarray, "n 2"], near: float) -> tuple[Int[np.ndarray, " n"], Float[np.ndarray, "k 2"]]:
    """Numbers of points, equal for coincident ones, and the place of each number."""
    first = np.arange(len(x))
    for a, b in sorted(KDTree(x).query_pairs(near)):
        first[b] = min(first[b], first[a])
    kept, number = np.unique(first[first], return_inverse=True)
    return number.ravel(), x[kept]


def _is_straight(control: np.ndarray, near: float) -> Bool[np.ndarray, " n"]:
    chord = control[:, 3] - control[:, 0]
    length = np.linalg.norm(chord, axis=1, keepdims=True)
    inner = control[:, 1:3] - control[:, :1]
    off = inner[..., 0] * chord[:, None, 1] - inner[..., 1] * chord[:, None, 0]
    return np.all(np.abs(off) <= near * np.maximum(length, 1e-300), axis=1)


def _split(
    control: np.ndarray, ends: np.ndarray, owner: np.ndarray, straight: np.ndarray, corners: np.ndarray, near: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Straight segments cut at all corners that lie on them."""
    tree = KDTree(corners)
    pieces: list[tuple[np.ndarray, tuple[int, int], int, bool]] = []
    for k in range(len(control)):
        a, b = ends[k]
        if not straight[k]:
            pieces.append((control[k], (a, b), owner[k], False))
            continue
        chord = corners[b] - corners[a]
        length = float(np.linalg.norm(chord))
        candidates = np.array(tree.query_ball_point((corners[a] + corners[b]) / 2, length / 2 + near), int)
        gap = corners[candidates] - corners[a]
        along, off = gap @ chord / length, np.abs(gap[:, 0] * chord[1] - gap[:, 1] * chord[0]) / length
        inner = (off <= near) & (along > near) & (along < length - near)
        on = [a, *candidates[inner][np.argsort(along[inner])].tolist(), b]
        for p, q in pairwise(on):
            pieces.append((bezier.line(corners[[p]], corners[[q]])[0], (p, q), owner[k], True))
    kept = [piece for piece in pieces if piece[1][0] != piece[1][1] or not piece[3]]
    return tuple(np.array(column) for column in zip(*kept, strict=True))  # pyright: ignore[reportReturnType]


def _matched(
    control: np.ndarray, ends: np.ndarray, owner: np.ndarray, straight: np.ndarray, corners: np.ndarray
) -> Segments:
    """Each segment once, with the labels on both sides."""
    known: dict[tuple[int, int, int], int] = {}
    left, right, kept = [], [], []
    middles = bezier.sampled(control, np.array([0.5]))[:, 0]
    place, _ = _joined(middles, SAME * float(np.ptp(corners, axis=0).max()))
    for k, (a, b) in enumerate(ends.tolist()):
        key = (min(a, b), max(a, b), int(place[k]))
        if key not in known:
            known[key] = len(kept)
            kept.append(k)
            left.append(OUTSIDE - 1)
            right.append(OUTSIDE - 1)
        n = known[key]
        forward = (a, b) == tuple(ends[kept[n]].tolist())
        side = left if forward else right
        other = right if forward else left
        if owner[k]:
            side[n] = int(owner[k])
        else:  # of the domain
            other[n] = OUTSIDE
    # What no piece claims is piece 0's.
    found = [np.where(np.array(side) == OUTSIDE - 1, 0, side) for side in (left, right)]
    return Segments(control[kept], ends[kept], found[0], found[1], straight[kept], corners)


def _fits(graph: Segments, partition: Partition, moved: Float[np.ndarray, "k 2"]) -> bool:
    """Whether the partition has the same labels on both sides of the middle of every segment whose ends stay there."""
    if np.any(graph.left == graph.right):
        return False
    if len(moved):
        near = np.asarray(KDTree(moved).query(graph.corners)[0]) <= SAME * partition.domain.size
        stay = ~near[graph.ends].any(axis=1)
        graph = replace(graph, control=graph.control[stay], left=graph.left[stay], right=graph.right[stay])
    ends = bezier.sampled(graph.control, np.array([0.49, 0.51]))
    along = ends[:, 1] - ends[:, 0]
    normal = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.linalg.norm(along, axis=1)[:, None]
    middle = bezier.sampled(graph.control, np.array([0.5]))[:, 0]
    step = PROBE * partition.domain.size * normal
    return bool(
        np.array_equal(partition.label(middle + step), graph.left)
        and np.array_equal(partition.label(middle - step), graph.right)
    )


@dataclass(frozen=True, eq=False)
class Arcs:
    """Runs of segments that go on smoothly, in order: their first segments and how many; ends, labels on both sides."""

    control: Float[np.ndarray, "n 4 2"]
    first: Int[np.ndarray, " m"]
    count: Int[np.ndarray, " m"]
    ends: Int[np.ndarray, "m 2"]
    left: Int[np.ndarray, " m"]
    right: Int[np.ndarray, " m"]
    straight: Bool[np.ndarray, " m"]
    corners: Float[np.ndarray, "k 2"]

    def at(self, arc: np.ndarray, t: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n 2"]:
        """Points of arcs; t counts segments."""
        k = np.clip(np.floor(t).astype(int), 0, self.count[arc] - 1)
        c, s = self.control[self.first[arc] + k], (t - k)[:, None]
        r = 1 - s
        return r**3 * c[:, 0] + 3 * r**2 * s * c[:, 1] + 3 * r * s**2 * c[:, 2] + s**3 * c[:, 3]

    def above_chords(
        self,
        arc: Int[np.ndarray, " n"],
        start: Float[np.ndarray, " n"],
        stop: Float[np.ndarray, " n"],
        share: Float[np.ndarray, "n k"],
    ) -> Float[np.ndarray, "n k"]:
        """Parameters of an arc, between two, of the points whose feet divide the chord between these in given parts.

        As a function of its chord, an arc is as smooth as it looks; in its parameter it is not, since that counts
        segments, which are of different lengths.
        """
        a, b = self.at(arc, start), self.at(arc, stop)
        chord = (b - a) / np.sum((b - a) ** 2, axis=1, keepdims=True)

        def foot(t: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "n m"]:
            x = self.at(np.repeat(arc, t.shape[1]), t.ravel()).reshape(*t.shape, 2)
            return np.matmul(x - a[:, None], chord[:, :, None])[:, :, 0]

        samples = start[:, None] + (stop - start)[:, None] * np.linspace(0.0, 1.0, FEET)
        there = np.maximum.accumulate(foot(samples), axis=1)
        below = np.clip((there[:, None] <= share[:, :, None]).sum(axis=2) - 1, 0, FEET - 2)
        (t0, t), (s0, s) = (
            (np.take_along_axis(table, below, 1), np.take_along_axis(table, below + 1, 1)) for table in (samples, there)
        )
        low, high = np.minimum(t0, t), np.maximum(t0, t)
        for _ in range(SECANTS):
            step = np.divide((share - s) * (t - t0), s - s0, out=np.zeros_like(t), where=np.abs(s - s0) > 1e-15)
            t0, s0, t = t, s, np.clip(t + step, low, high)
            s = foot(t)
        return np.where(share <= 0.0, start[:, None], np.where(share >= 1.0, stop[:, None], t))


def joined_arcs(graph: Segments) -> Arcs:
    """The segments in runs between joints; where two segments meet smoothly there is no joint."""
    at_corner: dict[int, list[tuple[int, int]]] = {}
    for k, pair in enumerate(graph.ends.tolist()):
        for end, corner in enumerate(pair):
            at_corner.setdefault(corner, []).append((k, end))
    free, runs = set(range(len(graph.ends))), []

    def onward(k: int, end: int) -> tuple[int, int] | None:
        """The segment that continues another beyond an end, and which of its ends is there."""
        others = [one for one in at_corner[int(graph.ends[k, end])] if one != (k, end)]
        if len(others) != 1 or others[0][0] not in free or not _smooth(graph, (k, end), others[0]):
            return None
        return others[0]

    for k in range(len(graph.ends)):
        if k not in free:
            continue
        free.remove(k)
        run = [(k, True)]
        for end in (1, 0):
            here = (k, end)
            while (found := onward(*here)) is not None:
                free.remove(found[0])
                forward = (found[1] == 0) == (end == 1)
                run.insert(len(run) if end else 0, (found[0], forward))
                here = (found[0], 1 - found[1])
        runs.append(run)
    return _as_arcs(graph, runs)


def _smooth(graph: Segments, one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two segments meet smoothly at their ends, with the same pieces beside them."""
    (k, end), (m, start) = one, other
    if graph.straight[k] or graph.straight[m]:
        return False
    turned = end == start
    sides = (graph.right[m], graph.left[m]) if turned else (graph.left[m], graph.right[m])
    if sides != (graph.left[k], graph.right[k]):
        return False
    c, d = graph.control[k], graph.control[m]
    out = c[3] - c[2] if end else c[0] - c[1]
    into = d[1] - d[0] if start == 0 else d[2] - d[3]
    cosine = out @ into / max(float(np.linalg.norm(out) * np.linalg.norm(into)), 1e-300)
    return bool(cosine > np.cos(CORNER))


def _as_arcs(graph: Segments, runs: list[list[tuple[int, bool]]]) -> Arcs:
    control = np.array([graph.control[k] if forward else graph.control[k][::-1] for run in runs for k, forward in run])
    count = np.array([len(run) for run in runs])
    lead = np.array([run[0] for run in runs], int)
    last = np.array([run[-1] for run in runs], int)
    k, forward = lead[:, 0], lead[:, 1].astype(bool)
    ends = np.stack(
        [
            np.where(forward, graph.ends[k, 0], graph.ends[k, 1]),
            np.where(last[:, 1].astype(bool), graph.ends[last[:, 0], 1], graph.ends[last[:, 0], 0]),
        ],
        axis=1,
    )
    left, right = np.where(forward, graph.left[k], graph.right[k]), np.where(forward, graph.right[k], graph.left[k])
    return Arcs(control, np.cumsum(count) - count, count, ends, left, right, graph.straight[k], graph.corners)
