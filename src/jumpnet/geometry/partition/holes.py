"""The holes of a piece.

The boundary of a piece falls into closed components: its outline and one for each hole. A component is a hole
if its normals, taken to point into the piece, point away from what the component encloses (a positive signed
volume). Which wall points belong together is known where a shape's boundary is one curve or surface, and
found from distances otherwise. Different shapes are joined only if their pieces touch, so that a narrow gap
is not taken for a contact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jumpnet.geometry.checks import Floats
from jumpnet.geometry.partition.interface_detection import Trace, Walls
from jumpnet.geometry.partition.labels import Labeller
from jumpnet.geometry.partition.validity import probe

LINK = {2: 12.0, 3: 4.0}
"""Wall points closer than this many mean spacings are joined: more than the widest gap among thousands of
random points, which is about log n on a curve and sqrt(log n) on a surface."""
DEEP = 0.5
"""A shape's own centre is kept as a hole's centre if it is at least half as deep as the deepest probe."""


@dataclass(frozen=True, eq=False)
class Hole:
    """A hole of a piece: what is in it, points of its boundary (m, d), and a point deep inside (d,).

    `piece` is the lowest of the `pieces` that touch the hole's boundary; -1 stands for a hole of the domain.
    """

    piece: int
    points: Floats
    center: Floats
    pieces: tuple[int, ...]


def find_holes(piece: int, labeller: Labeller, walls: Walls) -> tuple[Hole, ...]:
    """The holes of one piece, in the order of the pieces in them."""
    if walls.dim == 1:
        return ()
    trace, weights = _boundary(piece, walls)
    if len(trace) == 0:
        return ()
    into = np.where(trace.ahead == piece, 1.0, -1.0)[:, None] * trace.normals
    beyond = np.where(trace.ahead == piece, trace.behind, trace.ahead)
    holes = []
    for group in _components(trace, labeller, walls):
        x = trace.points[group]
        middle = np.average(x, axis=0, weights=weights[group])
        if np.sum(weights[group] * np.sum((x - middle) * into[group], axis=1)) <= 0.0:
            continue  # the outline
        pieces = tuple(int(l) for l in np.unique(beyond[group]))
        holes.append(Hole(pieces[0], x, _deep_point(x, middle, piece, pieces, labeller), pieces))
    return tuple(sorted(holes, key=lambda hole: hole.pieces))


def _boundary(piece: int, walls: Walls) -> tuple[Trace, Floats]:
    """The pilot's points on the boundary of a piece, and the length or area each stands for."""
    traces, weights = [], []
    for k in walls.of_piece.get(piece, range(1)):
        wall, trace = walls.walls[k], walls.pilot[k]
        kept = walls.between(trace) | walls.on_outer_boundary(trace)
        kept &= (trace.ahead == piece) | (trace.behind == piece)
        traces.append(trace[kept])
        weights.append(np.full(int(kept.sum()), wall.patch.measure / len(trace)))
    return Trace.join(traces), np.concatenate(weights)


def _components(trace: Trace, labeller: Labeller, walls: Walls) -> list[np.ndarray]:
    """Index arrays of the connected components."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import KDTree

    sheets = _sheets(trace, labeller, walls)
    edges = [np.empty((0, 2), dtype=int)]
    for k, sheet in enumerate(sheets):
        own = sheet.index
        if sheet.whole:
            edges.append(np.stack([own[:-1], own[1:]], axis=1))
        else:
            edges.append(own[KDTree(trace.points[own]).query_pairs(sheet.reach, output_type="ndarray")])
        for other in sheets[:k]:
            if other.owner != sheet.owner and _touch(other.owner, sheet.owner, walls):
                edges.append(_contacts(trace.points, own, other.index, max(sheet.reach, other.reach)))
    pairs = np.concatenate(edges)
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(trace), len(trace)))
    count, group = connected_components(graph, directed=False)
    return [np.flatnonzero(group == g) for g in range(count)]


@dataclass(frozen=True, eq=False)
class _Sheet:
    """Wall points of one shape: of a closed curve or surface of it (`whole`), or of all the other walls it has."""

    owner: int
    whole: bool
    index: np.ndarray
    reach: float


def _sheets(trace: Trace, labeller: Labeller, walls: Walls) -> list[_Sheet]:
    """The sheets of all shapes, in the order of the shapes."""
    shapes = (labeller.domain, *labeller.pieces)
    link = LINK.get(walls.dim, 4.0)
    groups: dict[tuple[int, int], list[int]] = {}
    for k in np.unique(trace.wall).tolist():
        wall = walls.walls[k]
        alone = wall.patch.closed and not shapes[wall.owner].connected
        groups.setdefault((wall.owner, k if alone else -1), []).append(k)
    sheets = []
    for (owner, alone), members in sorted(groups.items()):
        index = np.flatnonzero(np.isin(trace.wall, members))
        if len(index):
            spacing = max(walls.walls[k].patch.measure / len(walls.pilot[k]) for k in members) ** (1 / (walls.dim - 1))
            sheets.append(_Sheet(owner, alone >= 0 or shapes[owner].connected, index, link * spacing))
    return sheets


def _touch(a: int, b: int, walls: Walls) -> bool:
    """Whether two shapes touch (a < b; a = 0 is the domain)."""
    return b in walls.outer_labels if a == 0 else (a, b) in walls.interfaces


def _contacts(points: Floats, a: np.ndarray, b: np.ndarray, reach: float) -> np.ndarray:
    """Each point of `a` tied to the nearest of `b`, if within reach."""
    from scipy.spatial import KDTree

    distance, found = KDTree(points[b]).query(points[a])
    near = np.flatnonzero(np.asarray(distance) < reach)
    return np.stack([a[near], b[np.asarray(found)[near]]], axis=1)


def _deep_point(boundary: Floats, middle: Floats, piece: int, pieces: tuple[int, ...], labeller: Labeller) -> Floats:
    """The shape's own centre or the centroid if deep inside the hole, else the deepest probe of the hole's box."""
    from scipy.spatial import KDTree

    shape = labeller.pieces[pieces[0] - 1] if len(pieces) == 1 and pieces[0] > 0 else None
    own = getattr(shape, "center", None)
    offered = [middle] if own is None else [np.array(own), middle]
    x = probe((boundary.min(axis=0), boundary.max(axis=0)), 2048)
    x = np.concatenate([np.array(offered), x])
    depth, _ = KDTree(boundary).query(x)
    depth[labeller(x) == piece] = -1.0  # in the piece itself: not in the hole
    depth[: len(offered)] /= DEEP
    best = int(np.argmax(depth > 0.999 * depth[len(offered) :].max())) if depth.max() > 0.0 else 0
    return x[best]
