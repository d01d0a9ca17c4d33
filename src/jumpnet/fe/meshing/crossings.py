"""Vertices of the plane where two walls cross, on both of them exactly.

OpenCASCADE finds crossings of splines to 1e-7. Where fluxes jump by 100 there, that is an error of 1e-6 in what flows
between pieces, which no judge on the same mesh can see.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from jumpnet.fe.mesh import Mesh
from jumpnet.geometry import Partition
from jumpnet.geometry.bodies.boolean import Complement, Intersection, Union
from jumpnet.geometry.shape import Shape

# Of the domain: vertices nearer to a wall are meant to be on it; they are moved no farther than ten times that.
NEAR, FARTHEST = 3e-6, 10.0
# Of the sine of the angle between two walls: where they cross more flatly, they touch.
FLAT = 1e-2
STEPS = 6  # of Newton's method to a crossing


def on_crossings(parts: Partition, mesh: Mesh) -> Mesh:
    """The mesh with vertices near crossings of two walls moved there; elements around follow linearly."""
    faces = (mesh.interfaces, mesh.boundary)
    element, local = (np.concatenate([getattr(one, name)[:, 0] for one in faces]) for name in ("element", "local"))
    vertex = np.unique(mesh.elements[element][np.arange(3) != local[:, None]])
    walls = list(dict.fromkeys(wall for shape in (parts.domain, *parts.pieces) for wall in _walls(shape)))
    x, near = mesh.vertices[vertex], NEAR * parts.domain.size
    close = np.stack([np.abs(wall.level(x)) <= near for wall in walls], axis=1)
    shift = np.zeros((len(mesh.same), 2))
    for k in np.flatnonzero(close.sum(axis=1) > 1):
        found = _crossing([walls[j] for j in np.flatnonzero(close[k])], x[k], near)
        if found is not None:
            shift[vertex[k]] = found - x[k]
    hit = np.flatnonzero(np.any(shift[mesh.elements] != 0, axis=(1, 2)))
    nodes = mesh.nodes.copy()
    nodes[hit] += np.matmul(mesh.basis.barycentric, shift[mesh.elements[hit]])
    made = replace(mesh, nodes=nodes)
    return made if made.sound else mesh


def _walls(shape: Shape) -> Iterator[Shape]:
    """The shapes that a combination is made of."""
    if isinstance(shape, Union | Intersection):
        for part in shape.parts:
            yield from _walls(part)
    elif isinstance(shape, Complement):
        yield from _walls(shape.shape)
    else:
        yield shape


def _crossing(walls: list[Shape], x: np.ndarray, near: float) -> np.ndarray | None:
    """The crossing of the two walls that differ most in direction, by Newton's method; None where they only touch."""
    normal = np.stack([wall.normal(x[None])[0] for wall in walls])
    if not np.isfinite(normal).all():
        return None
    sine = np.abs(normal[:, None, 0] * normal[None, :, 1] - normal[:, None, 1] * normal[None, :, 0])
    a, b = np.unravel_index(np.argmax(sine), sine.shape)
    if sine[a, b] < FLAT:
        return None
    at, step = x.copy(), 0.1 * near * np.eye(2)
    for _ in range(STEPS):
        level = np.array([walls[j].level(at[None])[0] for j in (a, b)])
        slope = [(walls[j].level(at + step) - walls[j].level(at - step)) / (0.2 * near) for j in (a, b)]
        try:
            at = at - np.linalg.solve(np.array(slope), level)
        except np.linalg.LinAlgError:
            return None
    return at if np.linalg.norm(at - x) <= FARTHEST * near else None
