"""Points of the plane where a solution is not smooth: corners, changes of condition, jumps of boundary values.

The judge grades its elements towards them. Exponents are not computed here: a corner counts as smooth only if a simple
argument shows it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from jumpnet.fe.mesh import Mesh
from jumpnet.fe.small import inverse
from jumpnet.geometry.walls.corners import OUTSIDE, Corner, corners_of
from jumpnet.problem import Problem

# The distance from a corner at which conditions are sampled, relative to the domain.
NEAR = 1e-7
# The tolerance for integer exponents, right angles and equal tensors.
SAME = 1e-6
# Boundary values jump if they differ by more than this part of their range over a vanishing distance.
JUMP = 1e-4
# Boundary values that vary by less than this part of the largest count as constant.
CONSTANT = 1e-6
# Samples on a boundary face, and bisections to locate a change of its data.
PLACES, HALVINGS = 33, 40
# A difference between two samples is examined if it exceeds this many times the median on its face (heuristic).
OUTLIER = 4.0
# The distance from the end of a face at which it is sampled, relative to the face.
END = 1e-6

Point = Float[np.ndarray, "2"]


def singular_corners(problem: Problem) -> Iterator[Point]:
    """The corners of a plane partition at which the solution need not be smooth."""
    scale = boundary_range(problem)
    for corner in corners_of(problem.partition):
        if OUTSIDE in corner.pieces:
            if not _smooth_at_boundary(problem, corner, scale):
                yield corner.place
        elif not _same_tensors(problem, corner):
            yield corner.place


def boundary_range(problem: Problem) -> float:
    """The range of the Dirichlet data over the whole boundary; differences are measured by it.

    For data that are constant up to rounding it is a part of their size.
    """
    x, n, piece, number = problem.partition.boundary_survey
    low, high = np.inf, -np.inf
    for k, name in enumerate(problem.partition.boundary_parts):
        mine = number == k
        if mine.any() and problem.boundary[name].kind == "dirichlet":
            g = problem.boundary_data(name, x[mine], n[mine], piece[mine])[2]
            low, high = min(low, float(g.min())), max(high, float(g.max()))
    return max(high - low, CONSTANT * max(abs(low), abs(high))) if high >= low else 0.0


def _tensor(problem: Problem, piece: int, place: Point) -> np.ndarray:
    return problem.A[piece].value(place[None])[0]


def _same_tensors(problem: Problem, corner: Corner) -> bool:
    """Whether all materials around a corner have the same tensor."""
    first, *others = (_tensor(problem, p, corner.place) for p in set(corner.pieces))
    return all(np.allclose(first, other, rtol=SAME, atol=0.0) for other in others)


def _smooth_at_boundary(problem: Problem, corner: Corner, scale: float) -> bool:
    """Whether a corner is one sector with integer exponents, or two right angles, between compatible conditions."""
    outside = corner.pieces.index(OUTSIDE)
    turn = [*range(outside + 1, len(corner.pieces)), *range(outside)]
    pieces, ways = [corner.pieces[k] for k in turn], [corner.ways[k] for k in (*turn, outside)]
    if OUTSIDE in pieces or len(pieces) > 2:
        return False
    d = np.array([way.direction for way in ways])
    (kind, g), (other, h) = (
        _condition(problem, corner, ways[k].direction, pieces[k], side) for k, side in ((0, -1.0), (-1, 1.0))
    )
    wanted = _jump(problem, corner, ways[1].direction, pieces) if len(pieces) == 2 else 0.0
    fits = kind != "dirichlet" or other != "dirichlet" or abs(g - h - wanted) <= JUMP * scale
    if len(pieces) == 1:
        root = np.linalg.cholesky(np.linalg.inv(_tensor(problem, pieces[0], corner.place)))
        angle = _angle(*(d @ root))
        exponent = np.pi / angle if (kind == "dirichlet") == (other == "dirichlet") else np.pi / (2 * angle)
        return fits and (exponent >= 2 - SAME or abs(exponent - round(exponent)) < SAME)
    square = all(abs(d[k] @ d[k + 1]) < SAME for k in (0, 1)) and _angle(d[0], d[2]) > np.pi - SAME
    along = all(
        abs(d[k] @ _tensor(problem, p, corner.place) @ d[k + 1])
        < SAME * np.abs(_tensor(problem, p, corner.place)).max()
        for k, p in enumerate(pieces)
    )
    return fits and kind == other and square and along


def _angle(a: Point, b: Point) -> float:
    """From a to b, anticlockwise, in (0, 2 pi]."""
    turn = float(np.arctan2(a[0] * b[1] - a[1] * b[0], a @ b))
    return turn if turn > 1e-12 else turn + 2 * np.pi


def _condition(problem: Problem, corner: Corner, along: Point, piece: int, side: float) -> tuple[str, float]:
    """The kind of condition on a wall that leads away from a corner, and its datum near there."""
    parts = problem.partition
    x = (corner.place + NEAR * parts.domain.size * along)[None]
    normal = side * np.array([[-along[1], along[0]]])
    label = np.array([piece])
    part = parts.boundary_parts[int(parts.part_numbers(x, normal, label)[0])]
    kind, _, g = problem.boundary_data(part, x, normal, label)
    return kind, float(g[0])


def _jump(problem: Problem, corner: Corner, along: Point, pieces: list[int]) -> float:
    """u of the first piece minus that of the second, which meet at a wall that leads away from a corner."""
    a, b = sorted(pieces)
    sign = 1.0 if pieces[0] == a else -1.0
    # The first piece is the one before the wall, anticlockwise; the normal points to the lower one.
    normal = sign * np.array([[along[1], -along[0]]])
    x = (corner.place + NEAR * problem.partition.domain.size * along)[None]
    return sign * float(problem.jump_data((a, b), x, normal)[0][0])


@dataclass(frozen=True)
class Change:
    """Where data change abruptly inside a boundary face: element, face, share of it.

    u is singular where values jump or begin to be given. Where only fluxes or their coefficients jump it is nearly
    smooth (r log r), but the integrals over a face that is not cut there are not.
    """

    element: int
    face: int
    share: float
    singular: bool


def changes_on_boundary(problem: Problem, mesh: Mesh) -> Iterator[Change]:
    """The largest abrupt change of the conditions inside each face of the boundary that has one."""
    faces = mesh.boundary
    if not len(faces):
        return
    element, local = faces.element[:, 0], faces.local[:, 0]
    scale = _scales(problem)
    t = np.linspace(0.01, 0.99, PLACES)
    data = _sampled(problem, mesh, element, local, np.broadcast_to(t, (len(element), PLACES))) / scale
    step = np.abs(np.diff(data, axis=1))
    usual = np.median(step, axis=1, keepdims=True)
    size = np.where(step > np.maximum(1.0, OUTLIER * usual), step, 0.0).max(axis=2)
    at = np.flatnonzero(size.max(axis=1) > 0)
    if not len(at):
        return
    place = size[at].argmax(axis=1)
    low, high = t[place], t[place + 1]
    first, last = data[at, place], data[at, place + 1]
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        there = _sampled(problem, mesh, element[at], local[at], middle[:, None])[:, 0] / scale
        left = np.abs(there - first).max(axis=1) > np.abs(last - there).max(axis=1)
        low, high = np.where(left, low, middle), np.where(left, middle, high)
        first, last = np.where(left[:, None], first, there), np.where(left[:, None], there, last)
    apart = np.abs(last - first)
    for one in np.flatnonzero(apart.max(axis=1) > 1.0).tolist():
        share = float(low[one] + high[one]) / 2
        yield Change(int(element[at[one]]), int(local[at[one]]), share, bool(apart[one, :2].max() > 1.0))


def changes_at_vertices(problem: Problem, mesh: Mesh) -> Iterator[int]:
    """Vertices of the boundary on whose two sides conditions or boundary values differ."""
    faces = mesh.boundary
    if not len(faces):
        return
    element, local = faces.element[:, 0], faces.local[:, 0]
    ends = np.broadcast_to(np.array([END, 1 - END]), (len(element), 2))
    data = (_sampled(problem, mesh, element, local, ends) / _scales(problem))[..., :2].reshape(-1, 2)
    vertex = np.array([np.delete(mesh.elements[e], k) for e, k in zip(element, local, strict=True)])
    order = np.argsort(vertex.ravel(), kind="stable")
    vertex, data = vertex.ravel()[order], data[order]
    pair = vertex[1:] == vertex[:-1]
    differs = np.abs(data[1:] - data[:-1]).max(axis=1) > 1.0
    yield from vertex[1:][pair & differs].tolist()


def _places(mesh: Mesh, element: np.ndarray, local: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points of faces of triangles at shares t of the way from their first vertex, and outward normals."""
    x, normal = np.empty((*t.shape, 2)), np.empty((*t.shape, 2))
    for k in np.unique(local).tolist():
        mine = local == k
        n, q = t[mine].shape
        xi = np.insert(np.stack([1 - t[mine], t[mine]], axis=2), k, 0.0, axis=2)[..., 1:].reshape(-1, 2)
        nodes = np.repeat(mesh.nodes[element[mine]], q, axis=0)
        x[mine] = np.einsum("nk,nkd->nd", mesh.basis.value(xi), nodes).reshape(n, q, 2)
        J = np.einsum("nkj,nki->nij", mesh.basis.gradient(xi), nodes)
        inward = np.full(2, -1.0) if k == 0 else np.eye(2)[k - 1]
        covector = -inward @ inverse(J)
        normal[mine] = (covector / np.linalg.norm(covector, axis=1)[:, None]).reshape(n, q, 2)
    return x, normal


def _scales(problem: Problem) -> Float[np.ndarray, "4"]:
    """Differences of the columns of `_sampled` that count as jumps."""
    x, n, piece, number = problem.partition.boundary_survey
    data = _data(problem, x, n, piece, number)
    ranges = np.ptp(data[:, 2:], axis=0) if len(data) else np.zeros(2)
    return np.maximum([0.5, JUMP * boundary_range(problem), *(JUMP * ranges)], np.finfo(float).tiny)


def _sampled(problem: Problem, mesh: Mesh, element: np.ndarray, local: np.ndarray, t: np.ndarray) -> np.ndarray:
    """The conditions at points of faces: whether values are given, these, and alpha and g where fluxes are."""
    x, n = (one.reshape(-1, 2) for one in _places(mesh, element, local, t))
    piece = np.repeat(mesh.piece[element], t.shape[1])
    number = problem.partition.part_numbers(x, n, piece)
    return _data(problem, x, n, piece, number).reshape(*t.shape, 4)


def _data(problem: Problem, x: np.ndarray, n: np.ndarray, piece: np.ndarray, number: np.ndarray) -> np.ndarray:
    """The same at points with normals, pieces and parts of the boundary."""
    found = np.zeros((len(x), 4))
    for k in np.unique(number).tolist():
        mine, name = number == k, problem.partition.boundary_parts[k]
        kind, alpha, g = problem.boundary_data(name, x[mine], n[mine], piece[mine])
        if kind == "dirichlet":
            found[mine, 0], found[mine, 1] = 1.0, g
        elif kind != "periodic":
            found[mine, 2], found[mine, 3] = alpha, g
    return found
