"""The exponents of singular functions at edges in space: how fast errors fall with layers of elements.

Near an edge u is a sum of powers r^s of the distance, as in the plane across it. Elements that shrink by a factor q
have an error in energy that shrinks by q^(2s), and so has what they add to the root mean square error (the duality
argument of Aubin and Nitsche).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from jumpnet.charts import inverse_root
from jumpnet.fe.mesh import Mesh, edge_keys
from jumpnet.fe.meshing.bisection import EDGES
from jumpnet.fe.meshing.edges import ACROSS, FACTOR
from jumpnet.fields import is_zero
from jumpnet.geometry.walls.singular_exponents import Sector, exponents
from jumpnet.judge.edges import kinds_of_faces
from jumpnet.problem import Problem

# Digits to which the angles of sectors are told apart: meshes have thousands of edges, of few kinds. Ratios of scales
# must have the product one where they cancel.
DIGITS, EXACT = 4, 13
# Sectors that are this close are neighbours (radians).
TOUCHING = 1e-6
# Larger exponents are of smooth functions, or nearly so.
SMOOTH = 1.0
CORNERS = np.concatenate([np.zeros((1, 3)), np.eye(3)])  # of the reference tetrahedron


class Wedge(NamedTuple):
    """What an element fills around an edge: its piece, the angles where it begins and ends, the faces there."""

    piece: int
    begin: float
    end: float
    faces: tuple[tuple[int, int], tuple[int, int]]


def further_layers(exponent: float) -> float:
    """What all further layers of elements towards an edge change, over what the last one has changed.

    At corners, where edges meet, errors in energy fall by at least q: exponents there are positive, and balls have one
    dimension more than tubes.
    """
    return 1.0 / (FACTOR ** -min(2.0 * exponent, 1.0) - 1.0)


def least_exponent(problem: Problem, mesh: Mesh, edges: Int[np.ndarray, "k 2"]) -> float:
    """The least exponent of singular functions at edges of a mesh (pairs of vertices), 1 at most; 0 if not known."""
    if not len(edges):
        return SMOOTH
    named = edge_keys(np.sort(mesh.same[mesh.elements[:, EDGES]], axis=2).reshape(-1, 2))
    element, local = np.divmod(np.flatnonzero(np.isin(named, edge_keys(np.sort(mesh.same[edges], axis=1)))), 6)
    names = named[6 * element + local]
    middle = CORNERS[EDGES].mean(axis=1)
    used, row = np.unique(element, return_inverse=True)
    J = mesh.jacobians(middle, used)[row, local]
    along = np.einsum("kij,kj->ki", J, CORNERS[EDGES[local, 1]] - CORNERS[EDGES[local, 0]])
    beside = np.einsum("kij,kcj->kci", J, CORNERS[ACROSS[local]] - middle[local][:, None])
    place = mesh.points(middle, used)[row, local]
    faces = zip(mesh.boundary.element[:, 0].tolist(), mesh.boundary.local[:, 0].tolist(), strict=True)
    kinds = dict(zip(faces, kinds_of_faces(problem, mesh) if len(mesh.boundary) else (), strict=True))
    order = np.argsort(names, kind="stable")
    least, known = SMOOTH, {}
    for mine in np.split(order, np.flatnonzero(np.diff(names[order])) + 1):
        frame = _frame(along[mine[0]], beside[mine[0], 0])
        wedges = [_wedge(mesh, int(element[k]), int(local[k]), beside[k] @ frame.T) for k in mine.tolist()]
        turn = _in_turn(wedges)
        if turn is None:
            return 0.0
        for sectors, ends in _cases(problem, turn, frame, place[mine[0]], kinds):
            if (sectors, ends) not in known:
                found = np.real(exponents(sectors, ends, SMOOTH))
                known[sectors, ends] = float(found.min(initial=SMOOTH))
            least = min(least, known[sectors, ends])
    return least


def _frame(along: Float[np.ndarray, " 3"], first: Float[np.ndarray, " 3"]) -> Float[np.ndarray, "2 3"]:
    """Two unit vectors across an edge, the first towards a point beside it."""
    t = along / np.linalg.norm(along)
    e = first - (first @ t) * t
    e /= np.linalg.norm(e)
    return np.array([e, np.cross(t, e)])


def _wedge(mesh: Mesh, element: int, local: int, beside: Float[np.ndarray, "2 2"]) -> Wedge:
    """The wedge of an element at an edge; each of its faces there lies opposite to the other vertex."""
    one, other = np.arctan2(beside[:, 1], beside[:, 0]).tolist()
    c, d = ACROSS[local].tolist()
    if (other - one) % (2 * np.pi) > np.pi:
        one, other, c, d = other, one, d, c
    faces = (element, int(d)), (element, int(c))
    return Wedge(int(mesh.piece[element]), one, one + (other - one) % (2 * np.pi), faces)


def _in_turn(wedges: Sequence[Wedge]) -> list[Wedge] | None:
    """Wedges in turn around an edge, those of the same piece as one, from the gap if there is one; None for two gaps.

    Around a full circle they begin where a piece does.
    """
    rest, turn = sorted(wedges, key=lambda wedge: wedge.begin), []
    gaps = [k for k in range(len(rest)) if not _touch(rest[k - 1], rest[k])]
    if len(gaps) > 1:
        return None
    starts = gaps or [k for k in range(len(rest)) if rest[k - 1].piece != rest[k].piece] or [0]
    for wedge in (*rest[starts[0] :], *rest[: starts[0]]):
        if turn and turn[-1].piece == wedge.piece:
            last = turn.pop()
            end = last.end + wedge.end - wedge.begin
            turn.append(Wedge(last.piece, last.begin, end, (last.faces[0], wedge.faces[1])))
        else:
            turn.append(wedge)
    return turn


def _touch(first: Wedge, second: Wedge) -> bool:
    gap = (second.begin - first.end) % (2 * np.pi)
    return min(gap, 2 * np.pi - gap) < TOUCHING


def _cases(
    problem: Problem,
    turn: Sequence[Wedge],
    frame: Float[np.ndarray, "2 3"],
    place: Float[np.ndarray, " 3"],
    kinds: dict[tuple[int, int], str],
) -> list[tuple[tuple[Sector, ...], tuple[bool, bool] | None]]:
    """The sectors at an edge with their conditions, as `exponents` takes them.

    Contact resistances and transfer at the boundary insulate very near to an edge. Farther away they need not, so that
    both extremes are cases.
    """
    sectors = tuple(_sector(problem, wedge, frame, place) for wedge in turn)
    at_ends = [kinds.get(face) for face in (turn[0].faces[0], turn[-1].faces[1])]
    found: list[tuple[tuple[Sector, ...], tuple[bool, bool] | None]] = []
    if None in at_ends:  # a full circle
        found.append((sectors, None))
    else:
        first, last = ([True, False] if kind == "robin" else [kind == "dirichlet"] for kind in at_ends)
        found += [(sectors, (a, b)) for a in first for b in last]
    pairs = [(min(a.piece, b.piece), max(a.piece, b.piece)) for a, b in zip(turn, (*turn[1:], turn[0]), strict=True)]
    if any(pair in problem.jumps and not is_zero(problem.jumps[pair].R) for pair in pairs):
        found += [((sector,), (a, b)) for sector in sectors for a in (True, False) for b in (True, False)]
    return found


def _sector(problem: Problem, wedge: Wedge, frame: Float[np.ndarray, "2 3"], place: Float[np.ndarray, " 3"]) -> Sector:
    """The sector of a wedge in the plane across the edge, in the metric of its material."""
    A = frame @ problem.A[wedge.piece].value(place[None])[0] @ frame.T
    angle = np.array([wedge.begin, wedge.end])
    walls = np.stack([np.cos(angle), np.sin(angle)], axis=1) @ inverse_root(A).T
    turned = (walls[1] @ (1, 1j)) / (walls[0] @ (1, 1j))
    turn = float(np.angle(turned) % (2 * np.pi)) or 2 * np.pi
    return Sector(round(turn, DIGITS), round(float(abs(turned)), EXACT), float(np.sqrt(np.linalg.det(A))))
