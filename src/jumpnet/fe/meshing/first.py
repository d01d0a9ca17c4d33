"""The first mesh of a problem, as plain arrays."""

import time
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float
from scipy.spatial import KDTree

from jumpnet.errors import GeometryError
from jumpnet.fe.mesh import Mesh
from jumpnet.fe.meshing.contours import drawn
from jumpnet.fe.meshing.crossings import on_crossings
from jumpnet.fe.meshing.curving import curved as curved_by_levels
from jumpnet.fe.meshing.fitting import fitted
from jumpnet.fe.meshing.implicit import implicit_mesh
from jumpnet.fe.meshing.mesher import PATIENCE, MeshingError, apart
from jumpnet.fe.meshing.proximity import LEAST, narrow
from jumpnet.fe.meshing.shapes import has_solid
from jumpnet.fe.refinement import refined_at
from jumpnet.fe.simplex import gauss
from jumpnet.fe.small import determinant, least_eigenvalue
from jumpnet.geometry import Ball, Ellipsoid, Partition
from jumpnet.geometry.partition.interface_detection import Trace
from jumpnet.problem import Problem
from jumpnet.problem.resolution import survey

# If meshing fails or elements fold, the size is reduced by this factor, then the order.
SMALLER = 0.5
# In space, where no more than the part FEW of all elements fold, the mesh is made again with elements of this part of
# their size there, UNFOLDED meshes at most: halving all elements costs eight times as many (heuristic).
FEW, UNFOLDING, UNFOLDED = 0.02, 0.3, 3
# The volume of a piece in a mesh may be off by a part of itself, and by a part of the domain's: volumes of shapes
# without closed forms are sampled (geometry/partition/sampling.py).
OFF, SAMPLED = 0.02, 1e-3
# Of the largest distance from the boundary: corners of outer faces are on it up to this.
ON_BOUNDARY = 1e-3
# The size of elements over that of the boxes in which data are smooth (heuristic: those have five points across).
LEAVES = 2.0
# The most radians of a wave along an element, and the sample points for lam. Heuristic, chosen on one problem
# (benchmarks/plane.py, waves): order 10 has an error of 3e-7 of the variation there, order 8 one of 1e-5.
RADIANS, SAMPLES = 4.5, 2000
# Of the domain: point sources that are closer to a wall ask for no smaller elements.
NEAREST = 1e-9
# The order of curved elements around level sets: the next one has volumes that are ten times better, and folds more.
BY_LEVELS = 3
# Shapes without edges: where curved elements fold, those alone can be kept straight.
SMOOTH = (Ball, Ellipsoid)
# The number of meshes kept per partition: problems of a sweep or an iteration share them.
KEPT = 4
# Recent meshes of partitions in use, by size, order and local sizes.
_MADE: WeakKeyDictionary[Partition, dict[tuple[Any, ...], Mesh]] = WeakKeyDictionary()


class LateError(GeometryError):
    """The time limit came before there was a mesh."""


def first_mesh(problem: Problem, size: float, order: int, seconds: float = np.inf) -> Mesh:
    """A mesh with elements of about `size`, curved to `order` or half of it; GeometryError where none can be made.

    Each attempt has what is left of some seconds, two minutes at most; LateError where they are a limit, and over.
    """
    until = time.monotonic() + min(seconds, PATIENCE)
    try:
        mesh = _kept(problem, size, order, until)
    except GeometryError:
        if seconds >= PATIENCE or time.monotonic() < until:
            raise
        simpler = "fewer or simpler pieces" if problem.partition.image is None else "an image of fewer pixels"
        raise LateError(
            f"no mesh was made in {seconds:.2g} s, the part of the time limit that was left for it; give a longer "
            f"time limit, or {simpler}."
        ) from None
    return _cut_at_sources(problem, mesh)


def _kept(problem: Problem, size: float, order: int, until: float) -> Mesh:
    """The mesh without regard to point sources in the plane; those of the last calls are kept."""
    kinds = {name: condition.kind for name, condition in problem.boundary.items()}
    axes = [axis for axis in range(problem.dim) if kinds.get(f"x{axis + 1}-") == "periodic"]
    finer = _finer(problem, size) + _of_waves(problem, size) + _of_sources(problem, size)
    made = _MADE.setdefault(problem.partition, {})
    key = size, order, tuple(axes), tuple((np.asarray(place).tobytes(), there) for place, there in finer)
    if key not in made:
        mesh = _made(problem, size, order, axes, finer, until)
        while len(made) >= KEPT:
            made.pop(next(iter(made)))
        made[key] = mesh
    return made[key]


def _made(
    problem: Problem, size: float, order: int, axes: list[int], finer: list[tuple[np.ndarray, float]], until: float
) -> Mesh:
    """A new mesh."""
    parts, why = problem.partition, ""
    if problem.dim == 3 and not all(has_solid(shape) for shape in (parts.domain, *parts.pieces)):
        return _of_levels(parts, size, axes, finer)
    paths = drawn(parts)
    planar = _of_paths(paths, size, order, axes, finer, until - time.monotonic())
    if planar is not None:
        return planar if paths is parts else fitted(parts, planar)
    for part, curved in ((1.0, order), (SMALLER, order), (SMALLER, max(order // 2, 2)), (SMALLER**2, 2)):
        if time.monotonic() >= until:
            raise GeometryError(why or "no mesh could be made (there was no time for it).")
        try:
            closer = [(place, part * there) for place, there in finer]
            mesh = _of_solids(paths, part * size, curved, axes, closer, until)
        except MeshingError as error:
            why = f"no mesh could be made ({error})."
            continue
        if not mesh.sound and problem.dim == 3 and all(isinstance(shape, SMOOTH) for shape in parts.pieces):
            mesh = curved_by_levels(parts, mesh, BY_LEVELS)[0]
        if not mesh.sound:
            why = "the curved elements of the mesh fold."
        elif why := _lacking(parts, mesh):
            continue
        else:
            return fitted(parts, on_crossings(parts, mesh) if problem.dim == 2 else mesh)
    raise GeometryError(why)


def _of_solids(
    parts: Partition, size: float, order: int, axes: list[int], finer: list[tuple[np.ndarray, float]], until: float
) -> Mesh:
    """The mesh of solids; in space with smaller elements where some fold, if these are few."""
    finer, left = list(finer), UNFOLDED
    while True:
        mesh, left = apart("of_solids", parts, size, order, axes, finer, seconds=until - time.monotonic()), left - 1
        few = 0 < len(mesh.folded) <= FEW * len(mesh)
        if parts.dim == 2 or not few or not left or time.monotonic() >= until:
            return mesh
        middle = mesh.vertices[mesh.elements[mesh.folded]].mean(axis=1)
        finer += zip(middle, (UNFOLDING * mesh.size[mesh.folded]).tolist(), strict=True)


def _of_levels(parts: Partition, size: float, axes: list[int], finer: list[tuple[np.ndarray, float]]) -> Mesh:
    """The mesh of bodies that are known by level functions; GeometryError where it lacks a piece."""
    mesh = implicit_mesh(parts, size, BY_LEVELS, axes, finer)
    if why := _lacking(parts, mesh):
        raise GeometryError(why)
    return mesh


def _of_paths(
    parts: Partition,
    size: float,
    order: int,
    axes: list[int],
    finer: list[tuple[np.ndarray, float]],
    seconds: float,
) -> Mesh | None:
    """The mesh of pieces that are paths, without boolean operations; None where that fails."""
    try:
        mesh = apart("of_paths", parts, size, (order, max(order // 2, 2), 2), axes, finer, seconds=seconds)
    except MeshingError:  # OpenCASCADE may know better
        return None
    return None if mesh is None or _lacking(parts, mesh) else mesh


def _finer(problem: Problem, size: float) -> list[tuple[np.ndarray, float]]:
    """Where elements must be smaller for the data that were found there, and how large they may be."""
    looked = survey(problem)
    found = narrow(problem.partition, size)
    for places in (*looked.pieces.values(), *looked.boundary.values(), *looked.interfaces.values()):
        small = np.flatnonzero(LEAVES * places.size < size)
        found += [(places.x[0, k], LEAVES * float(places.size[k])) for k in small]
    return found


def _of_waves(problem: Problem, size: float) -> list[tuple[np.ndarray, float]]:
    """Where elements must be smaller for waves (lam < 0), and how large they may be."""
    x, allowed = waves_at(problem)
    small = np.flatnonzero(allowed < size)
    return list(zip(x[small], allowed[small].tolist(), strict=True))


def waves_at(problem: Problem) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
    """Points spread evenly over the domain, and how large elements may be there for waves (lam < 0); inf for others."""
    x, piece = problem.partition.sample_interior(SAMPLES, seed=[0, 11], method="even")
    allowed = np.full(len(x), np.inf)
    for l in np.unique(piece).tolist():
        mine = np.flatnonzero(piece == l)
        A, _, lam, _ = problem.pde(l, x[mine])
        waves = lam < 0
        allowed[mine[waves]] = RADIANS / np.sqrt(-lam[waves] / least_eigenvalue(A[waves]))
    return x, allowed


def _of_sources(problem: Problem, size: float) -> list[tuple[np.ndarray, float]]:
    """The walls next to point sources in space, and how large elements may be there."""
    if not problem.sources or problem.dim == 2:
        return []
    walls = Trace.join(problem.partition.walls.pilot).points
    at = np.array([source.x for source in problem.sources], float)
    away, nearest = (np.asarray(found) for found in KDTree(walls).query(at))
    least = LEAST[problem.dim] * size
    return [(walls[k], max(d, least)) for k, d in zip(nearest.tolist(), away.tolist(), strict=True) if d < size]


def _cut_at_sources(problem: Problem, mesh: Mesh) -> Mesh:
    """The mesh with faces along walls of the plane that are no longer than their distance to the next point source.

    The field of a source is subtracted in closed form. What it leaves on a wall changes over the distance to it.
    """
    if not problem.sources or problem.dim == 3:
        return mesh
    at = np.array([source.x for source in problem.sources], float)
    least = NEAREST * problem.partition.domain.size
    while True:
        faces = (mesh.interfaces, mesh.boundary)
        element, local = (np.concatenate([getattr(f, name)[:, 0] for f in faces]) for name in ("element", "local"))
        ends = mesh.vertices[mesh.elements[element][np.arange(3) != local[:, None]].reshape(-1, 2)]
        along = ends[:, 1] - ends[:, 0]
        length = np.linalg.norm(along, axis=1)
        share = np.einsum("skd,kd->sk", at[:, None] - ends[:, 0], along) / length**2
        foot = ends[:, 0] + np.clip(share, 0.0, 1.0)[..., None] * along
        away = np.linalg.norm(at[:, None] - foot, axis=2).min(axis=0)
        marked = np.zeros(len(mesh), bool)
        marked[element[length > np.maximum(away, least)]] = True
        if not marked.any():
            return mesh
        mesh = fitted(problem.partition, refined_at(mesh, marked))


def _lacking(parts: Partition, mesh: Mesh) -> str:
    """A sentence about a piece whose volume in the mesh is wrong, or about gaps; empty if the mesh is complete."""
    if _gaps(parts, mesh):
        return "elements of the mesh have faces without a neighbour inside the domain."
    xi, w = gauss(mesh.dim, mesh.order + 1)
    volume = np.bincount(mesh.piece, np.abs(determinant(mesh.jacobians(xi))) @ w, parts.size)
    for piece, name in enumerate(parts.names):
        if volume[piece] == 0.0:
            return f"the mesh has no elements in piece {name!r}, which is too thin or too small."
        wanted = parts.measure(piece)
        if abs(volume[piece] - wanted) > OFF * wanted + SAMPLED * sum(volume):
            return f"the mesh has a volume of {volume[piece]:.4g} in piece {name!r}, which has {wanted:.4g}."
    return ""


def _gaps(parts: Partition, mesh: Mesh) -> bool:
    """Whether faces that have an element on one side only are off the boundary: the mesh has a gap there."""
    element, local = mesh.boundary.element[:, 0], mesh.boundary.local[:, 0]
    corners = mesh.elements[element][np.arange(mesh.dim + 1) != local[:, None]]  # of a face: all but the opposite one
    if not len(corners):
        return False
    used = np.unique(corners)
    level = np.abs(parts.domain.level(mesh.vertices[np.unique(mesh.elements)]))
    return bool(np.abs(parts.domain.level(mesh.vertices[used])).max() > ON_BOUNDARY * level.max())
