"""Repairs surfaces from files: small holes are closed; surfaces that cross themselves are refused."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from jumpnet.errors import GeometryError, JumpnetWarning
from jumpnet.geometry.bodies.mesh import Mesh
from jumpnet.geometry.checks import Floats

MOST_FACES = 50_000
"""Larger surfaces are not searched for crossings, which takes a second for this many triangles of equal size."""
INSIDE = 1e-6
"""Of an edge and of a triangle: what crosses nearer to their ends only touches."""
FLAT = 0.99
"""The least cosine between the two triangles that close a hole of four edges; with a larger angle the surface is
ambiguous."""
CHUNK = 200_000
"""Pairs of triangles per batch."""


def closed(found: Any, trimesh: Any) -> None:
    """Holes of three edges, or of four in a plane, closed, with a warning that says where; others stay."""
    if found.is_watertight:
        return
    filled = found.copy()
    trimesh.repair.fill_holes(filled)
    before = len(found.faces)
    made = filled.triangles[before:]
    pairs = filled.face_adjacency[(filled.face_adjacency >= before).all(axis=1)]
    cosine = np.sum(filled.face_normals[pairs[:, 0]] * filled.face_normals[pairs[:, 1]], axis=1)
    if len(made) and np.all(cosine > FLAT):
        found.faces = filled.faces
        warnings.warn(
            f"holes of the surface were closed with {len(made)} triangles, near {_place(made[0].mean(axis=0))}.",
            JumpnetWarning,
            stacklevel=2,
        )


def checked(body: Mesh) -> None:
    """GeometryError, with the place, where a surface crosses itself or a cavity the surface around it."""
    of = body._kernel.components
    first, second, at = _crossings(body)
    own = of[first] == of[second]
    if own.any():
        raise GeometryError(f"the surface crosses itself, e.g. near {_place(at[own][0])}; mend the mesh.")
    if len(first) and any(part is None for part in body.components()):
        raise GeometryError(f"a cavity crosses the surface, e.g. near {_place(at[0])}; mend the mesh.")


def _crossings(body: Mesh) -> tuple[np.ndarray, np.ndarray, Floats]:
    """Triangles of which the first has an edge through the second, and where; they have no vertex in common."""
    corners, found = body.vertices[body.faces], []
    if len(corners) <= MOST_FACES:
        found = [_through(corners, pairs) for pairs in _near(body.faces, corners)]
    nothing = np.empty(0, int), np.empty(0, int), np.empty((0, 3))
    first, second, at = (np.concatenate(column) for column in zip(nothing, *found, strict=True))
    return first, second, at


def _near(faces: np.ndarray, corners: Floats) -> Iterator[np.ndarray]:
    """Pairs of triangles whose boxes meet and that share no vertex, both ways round, some at a time (sweep)."""
    order = np.argsort(corners[:, :, 0].min(axis=1))
    lower, upper = corners[order].min(axis=1), corners[order].max(axis=1)
    last = np.searchsorted(lower[:, 0], upper[:, 0], side="right")
    counts = last - np.arange(len(order)) - 1
    for rows in np.split(np.arange(len(order)), np.flatnonzero(np.diff(np.cumsum(counts) // CHUNK)) + 1):
        a = np.repeat(rows, counts[rows])
        start = np.repeat(np.cumsum(counts[rows]) - counts[rows], counts[rows])
        b = a + 1 + np.arange(len(a)) - start
        meet = (lower[b, 1:] <= upper[a, 1:]).all(axis=1) & (lower[a, 1:] <= upper[b, 1:]).all(axis=1)
        one, two = order[a[meet]], order[b[meet]]
        apart = (faces[one][:, :, None] != faces[two][:, None, :]).all(axis=(1, 2))
        pairs = np.stack([one[apart], two[apart]], axis=1)
        yield np.concatenate([pairs, pairs[:, ::-1]])


def _through(corners: Floats, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray, Floats]:
    """Those pairs of which an edge of the first triangle goes through the second one, and where (Moeller, Trumbore)."""
    first, second, places = [], [], []
    a, b, c = corners[pairs[:, 1]].transpose(1, 0, 2)
    for k in range(3):
        start, end = corners[pairs[:, 0], k], corners[pairs[:, 0], (k + 1) % 3]
        along, off = end - start, start - a
        normal = np.cross(b - a, c - a)
        det = -np.sum(along * normal, axis=1)
        size = np.linalg.norm(along, axis=1) * np.linalg.norm(normal, axis=1)
        det = np.where(np.abs(det) > 1e-9 * size, det, np.nan)  # nan: the edge runs along the plane
        turned = np.cross(off, along)
        t = np.sum(off * normal, axis=1) / det
        u, v = np.sum((c - a) * turned, axis=1) / det, -np.sum((b - a) * turned, axis=1) / det
        inside = (np.minimum(t, 1 - t) > INSIDE) & (np.minimum(np.minimum(u, v), 1 - u - v) > INSIDE)
        first.append(pairs[inside, 0])
        second.append(pairs[inside, 1])
        places.append(start[inside] + t[inside, None] * along[inside])
    return np.concatenate(first), np.concatenate(second), np.concatenate(places)


def _place(x: Floats) -> str:
    return f"({x[0]:.4g}, {x[1]:.4g}, {x[2]:.4g})"
