"""Meshes of bodies in space that are known by their level functions: tetrahedra cut where the function is zero.

A mesh is refined near the surface until the function is nearly linear in every element there. Vertices that lie close
to the surface are moved onto it along an edge; elements that it still crosses are cut (Labelle and Shewchuk, Isosurface
stuffing, 2007). Faces on the surface are curved afterwards (curving.py).
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import KDTree

from jumpnet.errors import GeometryError
from jumpnet.fe.mesh import Mesh, from_corners, on_faces
from jumpnet.fe.meshing.bisection import EDGES, bisected
from jumpnet.fe.meshing.curving import curved
from jumpnet.fe.meshing.lattice import lattice
from jumpnet.fe.simplex import lagrange
from jumpnet.fe.small import determinant
from jumpnet.geometry import Box, Partition
from jumpnet.geometry.shape import Shape

# Of an edge: vertices nearer to where the surface crosses it are moved there (heuristic; 0.3 leaves fewer thin elements
# than 0.2, and 0.4 folds some).
SNAP = 0.3
# The accepted deviation of the level function from a linear one, as a distance relative to the size of an element
# (heuristic; half of it where elements would fold otherwise).
BENT = 0.1
# Elements within this multiple of their size from a refined surface element are refined too.
NEAR = 0.5
# Halvings of an element, at most (each third one halves its size), and elements, at most.
HALVINGS, MOST_ELEMENTS = 12, 60_000
# Of the largest element: vertices nearer to a surface lie on it.
ON_SURFACE = 1e-10
# Steps to the root of a level function on an edge.
STEPS = 60
# Of a regular tetrahedron: vertices are moved back where elements would come out flatter (volume over size cubed).
FLAT = 0.02

# Elements may be larger than asked for at a place by this factor (heuristic).
LARGER = 1.5
# Of an element: by so much the lattice is larger than a domain that is no box, whose surface touches its bounds.
MARGIN = 0.5
# The piece of elements outside of the domain.
OUTSIDE = -1
# Of the size of an element: boundary faces that are farther from the surface do not follow it (heuristic).
OFF = 0.05

# Refinements where curved elements fold.
ROUNDS = 4

Sizes = Sequence[tuple[Float[np.ndarray, " 3"], float]]
Labels = Int[np.ndarray, " m"]


def implicit_mesh(parts: Partition, size: float, order: int, periodic: Sequence[int], finer: Sizes) -> Mesh:
    """A mesh of a domain and pieces of any smooth shape, curved to an order; elements are smaller at `finer` places."""
    in_box = isinstance(parts.domain, Box)
    lower, upper = parts.bounds
    margin = 0.0 if in_box else MARGIN * size
    base = _fine_at(lattice((lower - margin, upper + margin), size, periodic), finer)
    found, folded = _cut_and_curved(parts, base, order, BENT)
    if len(folded):  # faces that stay straight are far off: a superquadric lacked 1 % of its volume
        with suppress(GeometryError):  # too many elements
            finer_one = _cut_and_curved(parts, base, order, 0.5 * BENT)
            found = finer_one[0] if len(finer_one[1]) < len(folded) else found
    outer = found.piece[found.boundary.element[:, 0]]
    if not in_box and (len(np.unique(outer)) > 1 or _off_surface(parts.domain, found) > OFF):
        raise GeometryError("no mesh is made of domains with edges, or bodies that reach a curved boundary.")
    return found


def _cut_and_curved(parts: Partition, whole: Mesh, order: int, bent: float) -> tuple[Mesh, Labels]:
    """The mesh cut out of one of a box that surfaces bend little in, and the elements that stayed straight there."""
    in_box = isinstance(parts.domain, Box)
    for shape in parts.pieces if in_box else (parts.domain, *parts.pieces):
        whole = fine_enough(whole, shape, bent=bent)
    found, folded = whole, np.empty(0, int)
    for _ in range(ROUNDS):
        mesh, parent = (whole, np.arange(len(whole))) if in_box else _inside(whole, parts.domain)
        for label, shape in enumerate(parts.pieces, start=1):
            mesh, of = cut_out(mesh, shape, label, _sides(parts, mesh))
            parent = parent[of]
        found, folded = curved(parts, mesh, order)
        if not len(folded) or len(whole) > MOST_ELEMENTS:
            break
        marked = np.zeros(len(whole), bool)
        marked[parent[folded]] = True
        whole = bisected(whole, marked)
    return found, folded


def _inside(mesh: Mesh, domain: Shape) -> tuple[Mesh, Labels]:
    """The part of a straight mesh inside a domain, as piece 0, and the elements that its come from."""
    outside = replace(mesh, piece=np.full(len(mesh), OUTSIDE))
    cut, parent = cut_out(outside, domain, 0, np.zeros((len(mesh.same), 1), bool))
    kept = cut.piece != OUTSIDE
    if not kept.any():
        raise GeometryError(f"the mesh has no elements in {domain!r:.60}, which is too small for its bounds.")
    used, elements = np.unique(cut.elements[kept], return_inverse=True)
    return Mesh(elements.reshape(-1, 4), cut.piece[kept], cut.nodes[kept], 1, np.arange(len(used))), parent[kept]


def _off_surface(domain: Shape, mesh: Mesh) -> float:
    """The largest distance of boundary faces from the surface, relative to their elements; zero at the vertices."""
    faces = mesh.boundary
    x = on_faces(mesh, faces.element[:, 0], faces.local[:, 0], mesh.order + 1).x
    off = np.abs(distance(domain, x.reshape(-1, 3))).reshape(x.shape[:2]).max(axis=1)
    return float((off / mesh.size[faces.element[:, 0]]).max(initial=0.0))


def _sides(parts: Partition, mesh: Mesh) -> Bool[np.ndarray, "vertices sides"]:
    """On which sides of the box or on which curved boundary vertices lie, and on which interfaces."""
    near = 1e-9 * parts.domain.size
    x, (lower, upper) = mesh.vertices, parts.bounds
    found = [np.abs(x - lower) < near, np.abs(x - upper) < near]
    if not isinstance(parts.domain, Box):
        found = [np.abs(parts.domain.level(x))[:, None] < near]
    low, high = mesh.piece[mesh.interfaces.element].T
    for pair in np.unique(np.stack([low, high], axis=1)[low != high], axis=0).tolist():
        mine = mesh.interfaces[(low == pair[0]) & (high == pair[1])]
        on = np.zeros((len(x), 1), bool)
        for k in range(4):
            on[np.delete(mesh.elements[mine.element[mine.local[:, 0] == k, 0]], k, axis=1)] = True
        found.append(on)
    return np.concatenate(found, axis=1)


def _fine_at(mesh: Mesh, finer: Sizes) -> Mesh:
    """The mesh with elements around places halved until they are no larger than the sizes there."""
    if not len(finer):
        return mesh
    wanted = np.array([size for _, size in finer])
    tree = KDTree(np.array([place for place, _ in finer]))
    for _ in range(3 * HALVINGS):
        large = np.flatnonzero(mesh.size > LARGER * wanted.min())
        around = tree.query_ball_point(mesh.vertices[mesh.elements[large]].mean(axis=1), mesh.size[large])
        least = np.array([wanted[near].min(initial=np.inf) for near in around])
        marked = np.zeros(len(mesh), bool)
        marked[large] = mesh.size[large] > LARGER * least
        if not marked.any() or len(mesh) > MOST_ELEMENTS:
            break
        mesh = bisected(mesh, marked)
    return mesh


def cut_out(mesh: Mesh, shape: Shape, label: int, fixed: Bool[np.ndarray, "vertices walls"]) -> tuple[Mesh, Labels]:
    """A straight mesh whose elements inside a shape are of the piece `label`, and the elements that its come from.

    Its faces approximate the surface. `fixed` says on which walls vertices lie, which they may not leave.
    """
    phi = shape.level(mesh.vertices)
    # Where a surface is that of an earlier shape too (coatings), its vertices are on it up to rounding.
    phi[np.abs(distance(shape, mesh.vertices)) < ON_SURFACE * mesh.size.max()] = 0.0
    phi, x = _snapped(mesh, shape, phi, fixed)
    return _split(mesh, shape, label, phi, x)


def fine_enough(mesh: Mesh, shape: Shape, size: float = np.inf, bent: float = BENT) -> Mesh:
    """The mesh halved where a shape's surface is bent in an element, or elements at it are larger than `size`."""
    for _ in range(HALVINGS):
        marked = _coarse(mesh, shape, size, bent)
        if not marked.any():
            return mesh
        mesh = bisected(mesh, marked)
        if len(mesh) > MOST_ELEMENTS:
            raise GeometryError(
                f"the surface of {shape!r:.60} needs more than {MOST_ELEMENTS} elements; it is too thin, too rough, or "
                "reaches a curved boundary."
            )
    return mesh


def _coarse(mesh: Mesh, shape: Shape, size: float, bent: float) -> Bool[np.ndarray, " m"]:
    """Which elements at the surface are too large for it."""
    corners = mesh.vertices[mesh.elements]
    at = distance(shape, mesh.vertices)[mesh.elements]
    crossed = np.sign(at).min(axis=1) != np.sign(at).max(axis=1)
    near = np.flatnonzero(crossed | (np.abs(at).min(axis=1) < NEAR * mesh.size))
    found = np.zeros(len(mesh), bool)
    if not len(near):
        return found
    at, crossed = at[near], crossed[near]
    points = np.concatenate([corners[near][:, EDGES].mean(axis=2), corners[near].mean(axis=1, keepdims=True)], axis=1)
    linear = np.concatenate([at[:, EDGES].mean(axis=2), at.mean(axis=1, keepdims=True)], axis=1)
    value = distance(shape, points.reshape(-1, 3)).reshape(linear.shape)
    off = np.abs(value - linear).max(axis=1) / mesh.size[near]
    missed = ~crossed & (np.sign(value) != np.sign(at[:, :1])).any(axis=1)
    found[near] = missed | (crossed & ((off > bent) | (mesh.size[near] > size)))
    return found


def distance(shape: Shape, x: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, " n"]:
    """The distance from the surface with the sign of the level function, to first order."""
    level, step = shape.level(x), 1e-6 * shape_size(shape, x)
    normal = np.nan_to_num(shape.normal(x))
    slope = np.abs(shape.level(x + step * normal) - level) / step
    far = np.sign(level) * shape_size(shape, x)
    return np.divide(level, slope, out=far, where=slope > 1e-9 * np.abs(level))


def shape_size(shape: Shape, x: Float[np.ndarray, "n 3"]) -> float:
    """The size of a shape, or of the box of points where it has no end."""
    return shape.size if np.isfinite(shape.size) else float(np.ptp(x, axis=0).max())


def _edges(mesh: Mesh) -> Int[np.ndarray, "edges 2"]:
    return np.unique(mesh.elements[:, EDGES].reshape(-1, 2), axis=0)


def _roots(shape: Shape, a: np.ndarray, b: np.ndarray, at_a: np.ndarray, at_b: np.ndarray) -> Float[np.ndarray, " n"]:
    """Where the level function is zero between points, as a share of the way; it has different signs at both ends.

    By the Illinois variant of regula falsi.
    """
    low, high, f, g = np.zeros(len(a)), np.ones(len(a)), at_a.copy(), at_b.copy()
    t = np.zeros(len(a))
    for _ in range(STEPS):
        t = np.clip(low - f * (high - low) / np.where(g == f, 1.0, g - f), low, high)
        value = shape.level(a + t[:, None] * (b - a))
        left = np.sign(value) == np.sign(f)
        f, g = np.where(left, value, 0.5 * f), np.where(left, 0.5 * g, value)
        low, high = np.where(left, t, low), np.where(left, high, t)
        if np.all((np.abs(value) < 1e-15 * np.maximum(np.abs(at_a), np.abs(at_b))) | (high - low < 1e-14)):
            break
    return t


def _snapped(
    mesh: Mesh, shape: Shape, phi: np.ndarray, fixed: np.ndarray
) -> tuple[Float[np.ndarray, " vertices"], Float[np.ndarray, "vertices 3"]]:
    """The level function (zero on the surface) and the places of vertices once those near the surface lie on it."""
    edges = _edges(mesh)
    crossed = edges[np.sign(phi[edges[:, 0]]) * np.sign(phi[edges[:, 1]]) < 0]
    x0 = mesh.vertices
    t = _roots(shape, *(x0[end] for end in crossed.T), *(phi[end] for end in crossed.T))
    both = np.concatenate([crossed, crossed[:, ::-1]])
    share = np.concatenate([t, 1 - t])
    held = np.any(fixed[both[:, 0]] & ~fixed[both[:, 1]], axis=1)
    wanted = np.flatnonzero((share < SNAP) & ~held)
    order = wanted[np.lexsort((share[wanted], both[wanted, 0]))]
    vertex, first = np.unique(both[order, 0], return_index=True)
    target = x0[vertex] + share[order[first], None] * (x0[both[order[first], 1]] - x0[vertex])
    moved = np.zeros(len(x0), bool)
    moved[vertex] = True
    moved = _together(mesh, moved)
    x, level = x0, phi
    for _ in range(20):
        x, level = x0.copy(), phi.copy()
        mine = moved[vertex]
        x[vertex[mine]], level[vertex[mine]] = target[mine], 0.0
        corners = x[mesh.elements]
        flat = _quality(corners) < np.minimum(FLAT, 0.5 * _quality(x0[mesh.elements]))
        flat |= (level[mesh.elements] == 0).all(axis=1)
        bad = np.unique(mesh.elements[flat][moved[mesh.elements[flat]]])
        if not len(bad):
            break
        moved[bad] = False
        moved = _together(mesh, moved)
    return level, x


def _together(mesh: Mesh, moved: Bool[np.ndarray, " vertices"]) -> Bool[np.ndarray, " vertices"]:
    """Vertices that move only if all of their periodic images do."""
    stay = np.zeros(int(mesh.same.max()) + 1, bool)
    stay[mesh.same[~moved]] = True
    return ~stay[mesh.same]


def _quality(corners: Float[np.ndarray, "m 4 3"]) -> Float[np.ndarray, " m"]:
    """Volume over the cube of the longest edge, one for a regular tetrahedron."""
    volume = np.abs(determinant(corners[:, 1:] - corners[:, :1]))
    longest = np.linalg.norm(corners[:, EDGES[:, 0]] - corners[:, EDGES[:, 1]], axis=2).max(axis=1)
    return np.sqrt(2.0) * volume / longest**3


def _split(mesh: Mesh, shape: Shape, label: int, phi: np.ndarray, x: np.ndarray) -> tuple[Mesh, Labels]:
    """Elements that the surface crosses, cut along it; those inside the shape get the label. And their parents."""
    edges = _edges(mesh)
    crossed = edges[np.sign(phi[edges[:, 0]]) * np.sign(phi[edges[:, 1]]) < 0]
    t = _roots(shape, *(x[end] for end in crossed.T), *(phi[end] for end in crossed.T))
    places = x[crossed[:, 0]] + t[:, None] * (x[crossed[:, 1]] - x[crossed[:, 0]])
    number = {(a, b): len(x) + k for k, (a, b) in enumerate(crossed.tolist())}
    shared: dict[tuple[int, int], int] = {}
    ends = np.sort(mesh.same[crossed], axis=1).tolist()
    same = [shared.setdefault((a, b), len(x) + k) for k, (a, b) in enumerate(ends)]
    sign = np.sign(phi)[mesh.elements]
    whole = (sign.min(axis=1) >= 0) | (sign.max(axis=1) <= 0)
    inside = sign.min(axis=1) < 0
    flat = (sign == 0).all(axis=1)
    if flat.any():
        inside[flat] = shape.level(x[mesh.elements[flat]].mean(axis=1)) < 0
    kept = mesh.elements[whole]
    labels = np.where(inside[whole], label, mesh.piece[whole])
    made, of, parents = [], [], [np.flatnonzero(whole)]
    for k in np.flatnonzero(~whole).tolist():
        parts = _parts(mesh.elements[k].tolist(), sign[k].tolist(), number)
        made += [part for _, part in parts]
        of += [label if negative else int(mesh.piece[k]) for negative, _ in parts]
        parents.append(np.full(len(parts), k))
    elements = np.concatenate([kept, np.array(made, int).reshape(-1, 4)])
    vertices = np.concatenate([x, places])
    nodes = np.matmul(lagrange(3, 1).barycentric, vertices[elements])
    identified = np.concatenate([mesh.same, np.array(same, int)])
    pieces = np.concatenate([labels, np.array(of, int)])
    return from_corners(elements, pieces, nodes, 1, identified), np.concatenate(parents)


def _parts(element: list[int], signs: list[float], number: dict[tuple[int, int], int]) -> list[tuple[bool, list[int]]]:
    """The tetrahedra of an element that is cut, each with whether it lies on the negative side."""
    found = []
    for side in (-1.0, 1.0):
        own = [v for v, s in zip(element, signs, strict=True) if s == side]
        zero = [v for v, s in zip(element, signs, strict=True) if s == 0]
        other = [v for v, s in zip(element, signs, strict=True) if s == -side]

        def between(v: int, w: int) -> int:
            return number[(v, w) if v < w else (w, v)]

        if len(own) == 1:  # the corner, with what is cut off its edges
            found.append((side < 0, [*own, *zero, *(between(own[0], w) for w in other)]))
        elif len(own) == 2 and len(other) == 2:
            (a, b), (c, d) = own, other
            first, second = (a, between(a, c), between(a, d)), (b, between(b, c), between(b, d))
            found += [(side < 0, p) for p in prism(first, second)]
        elif len(own) == 2:  # one other, one zero: a pyramid
            (a, b), c = own, other[0]
            found += [(side < 0, p) for p in pyramid((a, b, between(b, c), between(a, c)), zero[0])]
        else:
            low = tuple(between(v, other[0]) for v in own)
            found += [(side < 0, p) for p in prism((own[0], own[1], own[2]), (low[0], low[1], low[2]))]
    return found


def pyramid(base: tuple[int, int, int, int], top: int) -> list[list[int]]:
    """Two tetrahedra, the diagonal of the base starting at its lowest vertex."""
    k = base.index(min(base))
    a, b, c, d = base[k:] + base[:k]
    return [[a, b, c, top], [a, c, d, top]]


def prism(first: tuple[int, int, int], second: tuple[int, int, int]) -> list[list[int]]:
    """Three tetrahedra of the prism between two triangles, whose sides are cut from their lowest vertices.

    Two prisms that share a side cut it in the same way (Dompierre et al., How to subdivide pyramids, prisms and
    hexahedra into tetrahedra, 1999).
    """
    if min(second) < min(first):
        first, second = second, first
    k = first.index(min(first))
    (a, b, c), (d, e, f) = first[k:] + first[:k], second[k:] + second[:k]
    if min(b, f) < min(c, e):  # the diagonal of the side across from a
        return [[a, b, c, f], [a, b, f, e], [a, e, f, d]]
    return [[a, b, c, e], [a, e, c, f], [a, e, f, d]]
