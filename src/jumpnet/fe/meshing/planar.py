"""Meshes of plane partitions made of paths: drawings, polygons, label images.

The segments of the partition's graph (`graph.py`) go to the mesh generator. Edges of the mesh are then bent onto the
curves they stand for, by blending into the elements, and left straight where elements would fold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import KDTree

from jumpnet.errors import GeometryError
from jumpnet.fe.mesh import FOLDED, Mesh, edge_keys, from_corners
from jumpnet.fe.meshing.fitted import same_vertices
from jumpnet.fe.meshing.frame import Frame
from jumpnet.fe.meshing.graph import SAME, Arcs, joined_arcs, planar_graph
from jumpnet.fe.ngsolve import ngsolve
from jumpnet.fe.simplex import gauss, lagrange, lattice
from jumpnet.geometry import Partition
from jumpnet.geometry.curves import bezier

SAMPLES = 4  # parts of a segment in which its turning is measured
TURN = 0.6  # radians by which a curve turns along one edge at most
GRADING = 0.5  # how fast elements may grow away from short edges
CLOSER, SHORTER = 3, 0.35  # meshes with edges shorter by this where some stayed straight (heuristic)
OFF = 1e-3  # of its length: edges that stay straight nearer to their curves than that do not matter
UNBENT = 8  # rounds of straightening edges of elements that fold
LEAST = 0.05  # of its largest value: a determinant that falls below belongs to an element that nearly folds

SIDES = ((0, 1), (1, 2), (0, 2))  # of a triangle

Generated = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Sizes = list[tuple[Float[np.ndarray, " 2"], float]]


def planar_mesh(
    partition: Partition,
    size: float,
    orders: Sequence[int],
    periodic: Sequence[int] = (),
    finer: Sequence[tuple[Float[np.ndarray, " 2"], float]] = (),
) -> Mesh | None:
    """A mesh with elements of about `size`, curved to the first of `orders` at which none folds.

    None where the partition is not made of paths, or where elements fold at all orders.
    """
    graph = planar_graph(partition, periodic)
    if graph is None:
        return None
    arcs = joined_arcs(graph)
    chords = _chords(arcs, size)
    partners, frame = _partners(arcs, partition, periodic), Frame.of(partition)
    try:
        generated = _generated(arcs, chords, size, partners, finer, frame)
    except Exception:  # netgen's own: very small sizes near periodic sides, which short chords need not have
        if not finer:
            raise
        finer = ()
        generated = _generated(arcs, chords, size, partners, finer, frame)
    made, left = _first_sound(partition, generated, arcs, chords, orders, periodic)
    for _ in range(CLOSER):
        if not left:
            break
        finer = [*finer, *left]
        try:
            generated = _generated(arcs, chords, size, partners, finer, frame)
        except Exception:
            break
        made, left = _first_sound(partition, generated, arcs, chords, orders, periodic)
    return made


# --- the mesh --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Chords:
    """Parts of arcs: the arc, and the parameters of its ends."""

    arc: Int[np.ndarray, " m"]
    start: Float[np.ndarray, " m"]
    end: Float[np.ndarray, " m"]


def _chords(arcs: Arcs, size: float) -> Chords:
    """One chord for a straight arc; others turn by little along each chord, and are no longer than `size`."""
    t = np.linspace(0.0, 1.0, SAMPLES + 1)
    effort = _effort(arcs, t, size)
    of, start, end = [], [], []
    for k in range(len(arcs.first)):
        n = int(arcs.count[k])
        if arcs.straight[k]:
            cuts = np.array([0.0, float(n)])
        else:
            inner = effort[arcs.first[k] : arcs.first[k] + n].ravel()
            total = np.r_[0.0, np.cumsum(inner)]
            closed = arcs.ends[k, 0] == arcs.ends[k, 1]
            parts = max(int(np.ceil(total[-1])), 3 if closed else 1)
            cuts = np.interp(np.linspace(0.0, total[-1], parts + 1), total, np.linspace(0.0, n, len(total)))
        of.append(np.full(len(cuts) - 1, k))
        start.append(cuts[:-1])
        end.append(cuts[1:])
    return Chords(np.concatenate(of), np.concatenate(start), np.concatenate(end))


def _effort(arcs: Arcs, t: Float[np.ndarray, " q"], size: float) -> Float[np.ndarray, "n q"]:
    """How many chords each part of each segment asks for."""
    x = bezier.sampled(arcs.control, t)
    step = np.diff(x, axis=1)
    length = np.linalg.norm(step, axis=2)
    slope = 3.0 * np.diff(arcs.control, axis=1)
    r = 1 - t[:, None]
    v = r**2 * slope[:, None, 0] + 2 * r * t[:, None] * slope[:, None, 1] + t[:, None] ** 2 * slope[:, None, 2]
    cross = v[:, :-1, 0] * v[:, 1:, 1] - v[:, :-1, 1] * v[:, 1:, 0]
    turn = np.abs(np.arctan2(cross, np.sum(v[:, :-1] * v[:, 1:], axis=2)))
    return np.maximum(turn / TURN, length / size)


def _generated(
    arcs: Arcs,
    chords: Chords,
    size: float,
    partners: dict[int, int],
    finer: Sequence[tuple[np.ndarray, float]],
    frame: Frame,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Vertices, triangles, their pieces, and edges on segments as rows (vertex, vertex, chord).

    `partners` are the segments of lower periodic sides by those of upper ones, which get the same vertices.
    """
    from netgen.geom2d import SplineGeometry

    geometry = SplineGeometry()
    points = [geometry.AppendPoint(*x) for x in frame.inward(arcs.corners).tolist()]
    inner, first, made = frame.inward(arcs.at(chords.arc, chords.start)), {}, {}
    for k in np.flatnonzero(chords.start > 0.0).tolist():
        first[k] = geometry.AppendPoint(*inner[k])
    # Lower sides first: upper ones are their copies.
    turn = sorted(range(len(chords.arc)), key=lambda k: int(chords.arc[k]) in partners)
    for place, k in enumerate(turn, start=1):
        n = int(chords.arc[k])
        a, b = arcs.ends[n].tolist()
        start = points[a] if chords.start[k] == 0.0 else first[k]
        stop = points[b] if chords.end[k] == arcs.count[n] else first[k + 1]
        left, right = int(arcs.left[n]) + 1, int(arcs.right[n]) + 1
        more = {}
        if n in partners:
            more["copy"] = made[partners[n]]
            chord, other = (np.diff(arcs.corners[arcs.ends[m]], axis=0)[0] for m in (n, partners[n]))
            if chord @ other < 0:
                start, stop, left, right = stop, start, right, left
        made[n] = geometry.Append(["line", start, stop], leftdomain=left, rightdomain=right, bc=place, **more)
    parameters = ngsolve().meshing.MeshingParameters(maxh=size / frame.unit, grading=GRADING)
    for place, there in finer:
        parameters.RestrictH(*frame.inward(place).tolist(), 0.0, h=there / frame.unit)
    mesh = geometry.GenerateMesh(mp=parameters)
    table, lines = mesh.Elements2D().NumPy(), mesh.Elements1D().NumPy()
    x = frame.outward(np.asarray(mesh.Coordinates())[:, :2])  # a copy: the array goes with the mesh
    chord = np.array(turn)[lines["index"].astype(int) - 1]
    edges = np.column_stack([lines["nodes"][:, :2].astype(int) - 1, chord])
    return x, table["nodes"][:, :3].astype(int) - 1, table["index"].astype(int) - 1, edges


def _partners(arcs: Arcs, partition: Partition, periodic: Sequence[int]) -> dict[int, int]:
    """For the segments of upper periodic sides those of the lower ones that they are images of."""
    lower, upper = (np.asarray(end, float) for end in partition.bounds)
    near, ends, found = SAME * partition.domain.size, arcs.corners[arcs.ends], {}
    middle = ends.mean(axis=1)
    for axis in periodic:
        low, high = (
            np.flatnonzero(arcs.straight & (np.abs(ends[:, :, axis] - side[axis]).max(axis=1) <= near))
            for side in (lower, upper)
        )
        moved = middle[high].copy()
        moved[:, axis] = lower[axis]
        gap, match = KDTree(middle[low]).query(moved)
        if len(low) != len(high) or gap.max() > near:
            raise GeometryError(f"the sides x{axis + 1}- and x{axis + 1}+ of the periodic box do not match.")
        found |= dict(zip(high.tolist(), low[match].tolist(), strict=True))
    return found


# --- curved elements -------------------------------------------------------------------------------------------------


def _first_sound(
    partition: Partition,
    generated: Generated,
    arcs: Arcs,
    chords: Chords,
    orders: Sequence[int],
    periodic: Sequence[int],
) -> tuple[Mesh | None, Sizes]:
    """The mesh curved to the first order at which none folds, and where edges had to stay straight: sizes to try."""
    x, triangles, piece, edges = generated
    same = same_vertices(partition, x, periodic) if periodic else None
    for order in orders:
        mesh, left = _bent(x, triangles, piece, edges, arcs, chords, order, same)
        if mesh.sound:
            return mesh, left
    return None, []


def _bent(
    x: Float[np.ndarray, "n 2"],
    triangles: Int[np.ndarray, "m 3"],
    piece: Int[np.ndarray, " m"],
    edges: Int[np.ndarray, "k 3"],
    arcs: Arcs,
    chords: Chords,
    order: int,
    same: Int[np.ndarray, " n"] | None,
) -> tuple[Mesh, Sizes]:
    """The mesh with its edges on the curves; edges of elements that would fold stay straight.

    Also where these are, if they are off their curves by much, and how long edges may be there.
    """
    chord = edges[:, 2]
    arc = chords.arc[chord]
    curved = ~arcs.straight[arc]
    edges, chord, arc = edges[curved], chord[curved], arc[curved]
    start, width = chords.start[chord], (chords.end - chords.start)[chord]
    a, b = arcs.at(arc, start), arcs.at(arc, start + width)
    along = b - a
    # Where on its chord each end of an edge is, and so where on the curve.
    share = [np.sum((x[edges[:, k]] - a) * along, axis=1) / np.sum(along**2, axis=1) for k in (0, 1)]
    t = arcs.above_chords(arc, start, start + width, np.clip(np.stack(share, axis=1), 0.0, 1.0))
    x = x.copy()
    for k in (0, 1):
        x[edges[:, k]] = arcs.at(arc, t[:, k])
    bending, nodes = np.ones(len(edges), bool), np.empty(0)
    for _ in range(UNBENT):
        nodes = _nodes(x, triangles, edges[bending, :2], t[bending], arc[bending], arcs, order)
        folded = ~_unfolded(nodes, order)
        if not folded.any():
            break
        bad = np.concatenate([_keys(triangles[folded][:, [i, j]]) for i, j in SIDES])
        bending &= ~np.isin(_keys(edges[:, :2]), bad)
    ends, kept = x[edges[~bending, :2]], t[~bending]
    length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    middle = arcs.at(arc[~bending], kept.mean(axis=1))
    far = np.linalg.norm(middle - ends.mean(axis=1), axis=1) > OFF * length
    left = [(place, SHORTER * there) for place, there in zip(middle[far], length[far].tolist(), strict=True)]
    return from_corners(triangles, piece, nodes, order, same), left


def _nodes(
    x: np.ndarray,
    triangles: np.ndarray,
    edges: np.ndarray,
    t: np.ndarray,
    arc: np.ndarray,
    arcs: Arcs,
    order: int,
) -> Float[np.ndarray, "m nodes 2"]:
    """The nodes of the elements, those with curved edges blended (Gordon and Hall): polynomials of the same order."""
    bary = lagrange(2, order).barycentric
    nodes = np.einsum("kc,mcd->mkd", bary, x[triangles])
    if not len(edges) or order < 2:
        return nodes
    key = _keys(edges)
    turn = np.argsort(key, kind="stable")
    shares, table = _shares(order)
    above = arcs.above_chords(arc, t[:, 0], t[:, 1], np.tile(shares, (len(arc), 1)))
    on = arcs.at(np.repeat(arc, len(shares)), above.ravel()).reshape(*above.shape, 2)
    off = on - ((1.0 - shares)[:, None] * on[:, :1] + shares[:, None] * on[:, -1:])
    for (i, j), (inner, place, weight) in zip(SIDES, table, strict=True):
        wanted = _keys(triangles[:, [i, j]])
        found = turn[np.minimum(np.searchsorted(key[turn], wanted), len(turn) - 1)]
        mine = np.flatnonzero(key[found] == wanted)
        e = found[mine]
        forward = triangles[mine, i] == edges[e, 0]
        at = np.where(forward[:, None], place, len(shares) - 1 - place)
        nodes[mine[:, None], inner] += weight[:, None] * off[e[:, None], at]
    return nodes


@cache
def _shares(order: int) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray, np.ndarray]]]:
    """Parts of an edge, 0 and 1 included; for each edge of a triangle the nodes that it moves, their parts, weights.

    A node moves with the point of the edge that lies at the same distance from both of its ends (Gordon and Hall).
    """
    bary, each, every = lagrange(2, order).barycentric, [], []
    for i, j in SIDES:
        inner = np.flatnonzero((bary[:, i] > 1e-12) & (bary[:, j] > 1e-12))
        s = (1.0 + bary[inner, j] - bary[inner, i]) / 2.0
        each.append((inner, s, bary[inner, i] * bary[inner, j] / (s * (1.0 - s))))
        every.append(s)
    shares = np.unique(np.round(np.concatenate([[0.0, 1.0], *every]), 12))
    shares = (shares + 1.0 - shares[::-1]) / 2.0  # the same from both ends
    return shares, [(inner, np.abs(shares - s[:, None]).argmin(axis=1), weight) for inner, s, weight in each]


def _keys(pairs: Int[np.ndarray, "n 2"]) -> Int[np.ndarray, " n"]:
    """One number for each pair of vertices, in any order."""
    return edge_keys(np.sort(pairs, axis=1))


def _unfolded(nodes: Float[np.ndarray, "m nodes 2"], order: int) -> Bool[np.ndarray, " m"]:
    """Which elements have a determinant of one sign, also at their vertices, and do not nearly lose it inside."""
    inside, whole = (_determinants(nodes, order, xi) for xi in (gauss(2, order + 1)[0], lattice(2, order)))
    most = inside.max(axis=1)
    return (inside.min(axis=1) > LEAST * most) & (whole.min(axis=1) > -FOLDED * most)


def _determinants(nodes: Float[np.ndarray, "m nodes 2"], order: int, xi: np.ndarray) -> Float[np.ndarray, "m q"]:
    """The determinants of maps at reference points, positive on the average."""
    slope = lagrange(2, order).gradient(xi).transpose(2, 0, 1)
    J = np.matmul(np.ascontiguousarray(slope), nodes[:, None])
    det = J[:, 0, :, 0] * J[:, 1, :, 1] - J[:, 0, :, 1] * J[:, 1, :, 0]
    return det * np.sign(det.mean(axis=1, keepdims=True))
