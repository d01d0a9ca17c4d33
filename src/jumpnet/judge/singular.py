"""Points of the plane where a solution is not smooth: corners, changes of condition, jumps of boundary values.

The judge grades its elements towards them. Exponents are not computed here: a corner counts as smooth only if a simple
argument shows it.
"""

from collections.abc import Iterator

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
# Boundary data jump if they differ by more than this part of their range over a vanishing distance.
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


def boundary_range(problem: Problem, dirichlet: bool = True) -> float:
    """The range of the data of Dirichlet conditions, or of all others, over the boundary: the unit of differences.

    For data that are constant up to rounding it is a part of their size.
    """
    x, n, piece, number = problem.partition.boundary_survey
    low, high = np.inf, -np.inf
    for k, name in enumerate(problem.partition.boundary_parts):
        mine, kind = number == k, problem.boundary[name].kind
        if mine.any() and kind != "periodic" and (kind == "dirichlet") == dirichlet:
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


def changes_on_boundary(problem: Problem, mesh: Mesh) -> Iterator[tuple[int, int, float, Point]]:
    """Where conditions or their data change abruptly inside faces: element, face, share of it, and the place.

    Other parts of the boundary count as other conditions. Gauss points of a face would miss where one begins.
    """
    faces = mesh.boundary
    if not len(faces):
        return
    element, local = faces.element[:, 0], faces.local[:, 0]
    t = np.linspace(0.01, 0.99, PLACES)
    part, _, g = _sampled(problem, mesh, element, local, np.broadcast_to(t, (len(element), PLACES)))
    step = np.abs(np.diff(g, axis=1))
    unlike = step > np.maximum(JUMP, OUTLIER * np.median(step, axis=1, keepdims=True))
    differs = (part[:, 1:] != part[:, :-1]) | unlike
    if not differs.any():
        return
    at, place = np.nonzero(differs)
    low, high = t[place], t[place + 1]
    (k0, _, g0), (k1, _, g1) = (_sampled(problem, mesh, element[at], local[at], s[:, None]) for s in (low, high))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        k, _, v = _sampled(problem, mesh, element[at], local[at], middle[:, None])
        left = np.where(k0 != k1, k != k0, np.abs(v - g0) > np.abs(g1 - v))[:, 0]
        low, high = np.where(left, low, middle), np.where(left, middle, high)
        k0, g0, k1, g1 = (np.where(left[:, None] == own, one, new) for own, one, new in
                          ((True, k0, k), (True, g0, v), (False, k1, k), (False, g1, v)))  # fmt: skip
    abrupt = (k0 != k1)[:, 0] | (np.abs(g1 - g0)[:, 0] > JUMP)
    for one in np.flatnonzero(abrupt).tolist():
        where = (low[one] + high[one]) / 2
        x = _places(mesh, element[at[one : one + 1]], local[at[one : one + 1]], np.array([[where]]))[0][0, 0]
        yield int(element[at[one]]), int(local[at[one]]), float(where), x


def changes_at_vertices(problem: Problem, mesh: Mesh) -> Iterator[int]:
    """Vertices of the boundary at which Dirichlet conditions end, or their values jump."""
    faces = mesh.boundary
    if not len(faces):
        return
    element, local = faces.element[:, 0], faces.local[:, 0]
    ends = np.broadcast_to(np.array([END, 1 - END]), (len(element), 2))
    _, fixed, g = _sampled(problem, mesh, element, local, ends)
    g = np.where(fixed, g, 0.0)
    vertex = np.array([np.delete(mesh.elements[e], k) for e, k in zip(element, local, strict=True)])
    order = np.argsort(vertex.ravel(), kind="stable")
    vertex, fixed, g = vertex.ravel()[order], fixed.ravel()[order], g.ravel()[order]
    pair = vertex[1:] == vertex[:-1]
    differs = (fixed[1:] != fixed[:-1]) | (np.abs(g[1:] - g[:-1]) > JUMP)
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


def _sampled(
    problem: Problem, mesh: Mesh, element: np.ndarray, local: np.ndarray, t: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """At points of faces: parts of the boundary, whether they are Dirichlet's, and data in units of their range."""
    parts = problem.partition
    x, n = (one.reshape(-1, 2) for one in _places(mesh, element, local, t))
    piece = np.repeat(mesh.piece[element], t.shape[1])
    number = parts.part_numbers(x, n, piece)
    fixed, g = np.zeros(len(x), bool), np.zeros(len(x))
    unit = {dirichlet: boundary_range(problem, dirichlet) or 1.0 for dirichlet in (True, False)}
    for k in np.unique(number).tolist():
        mine, name = number == k, parts.boundary_parts[k]
        fixed[mine] = dirichlet = problem.boundary[name].kind == "dirichlet"
        g[mine] = problem.boundary_data(name, x[mine], n[mine], piece[mine])[2] / unit[dirichlet]
    return number.reshape(t.shape), fixed.reshape(t.shape), g.reshape(t.shape)
