"""Bodies from files of surface meshes: STL, OBJ, PLY."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from jumpnet.errors import GeometryError
from jumpnet.fields import GridField, spline_coefficients
from jumpnet.geometry import checks
from jumpnet.geometry.bodies.levelset import LevelSet
from jumpnet.geometry.bodies.mesh import Mesh
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.data.files import Source, checked_path, optional, reading
from jumpnet.geometry.data.repair import closed, disentangled
from jumpnet.geometry.shape import Shape
from jumpnet.guard.budget import within_budget

MOST_BYTES = 256_000_000
SUFFIXES = (".stl", ".obj", ".ply")
SHARP = np.radians(45.0)
"""Triangles that meet at a larger angle meet at an edge that is meant."""
MOST_CELLS = 64
"""Cells of the grid of a smooth surface along its longest side."""
FINER = 1.5
"""Cells to an edge; balls and ellipsoids come out best with 1.5 of them and a blur of one edge."""
MARGIN = 8
"""Cells around the surface."""


@within_budget("a surface mesh")
def from_mesh(
    source: Source, *, scale: float = 1.0, offset: ArrayLike = (0.0, 0.0, 0.0), smooth: bool | None = None
) -> Shape:
    """The body inside the surface of an STL, OBJ or PLY file, which must be closed (watertight).

    Triangles that run the wrong way round are turned, holes of three edges, or of four in a plane, are closed (with a
    warning), and bodies that cross or lie within each other are united; a surface that crosses itself is refused.

    With `smooth` the surface is rounded: interfaces are then smooth, as the direct solver wants them, and details
    smaller than 1/64 of the body are lost. Without it the triangles stay as they are. By default the surface is smooth
    unless triangles meet at more than 45 degrees somewhere: at edges that are meant. Coordinates are those of the file
    times `scale`, plus `offset`.
    """
    trimesh = optional("trimesh", "meshes", "reading surface meshes")
    factor, shift = checks.positive(scale, "scale"), checks.vector(offset, "offset")
    if len(shift) != 3:
        raise GeometryError(f"the offset of a mesh must hold 3 numbers, not {len(shift)}.")
    path = checked_path(source, MOST_BYTES, SUFFIXES, "a surface mesh")
    with reading(path, "a surface mesh"), path.open("rb") as file:
        kind = path.suffix.lower()[1:]
        # An open file has no directory: materials and textures that an OBJ names are not looked for.
        found = trimesh.load(file, file_type=kind, force="mesh", process=True, skip_materials=True)
        if len(found.faces) == 0:
            raise GeometryError("there are no triangles in it.")
        found.merge_vertices(merge_tex=True, merge_norm=True)
        found.update_faces(found.nondegenerate_faces())
        if not found.is_winding_consistent:
            trimesh.repair.fix_winding(found)
        closed(found, trimesh)
        body = Mesh(np.array(shift) + factor * np.asarray(found.vertices, float), np.asarray(found.faces))
        whole = disentangled(body)
        if not isinstance(whole, Mesh):
            if smooth:
                raise GeometryError("bodies that cross or lie within each other cannot be made smooth; unite them.")
            return whole
        wanted = _largest_angle(body) < SHARP if smooth is None else bool(smooth)
        return smooth_surface(body) if wanted else body


def smooth_surface(body: Mesh) -> LevelSet:
    """The body inside a smooth surface close to a triangulated one: its signed distance, blurred over about a triangle.

    Blurring a distance by s moves a surface of mean curvature H by s^2 H; taking twice the blurred one less the one
    blurred twice undoes that.
    """
    from scipy.ndimage import gaussian_filter

    corners = body.vertices[body.faces]
    edge = float(np.median(np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)))
    lower, upper = body.bounds
    h = max(edge / FINER, float((upper - lower).max()) / MOST_CELLS)
    counts = np.ceil((upper - lower) / h).astype(int) + 1 + 2 * MARGIN
    origin = 0.5 * (lower + upper) - 0.5 * h * (counts - 1)
    axes = [o + h * np.arange(n) for o, n in zip(origin, counts, strict=True)]
    nodes = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)
    distance = body.level(nodes).reshape(counts)
    width = max(0.5, edge / h)
    once = gaussian_filter(distance, width, mode="nearest")
    sharp = 2.0 * once - gaussian_filter(once, width, mode="nearest")
    where = tuple(origin.tolist()), (h, h, h)
    # Vertices lie on the surface, triangles cut off its roundness: on the average, the vertices are to be met.
    shift = float(np.mean(GridField(spline_coefficients([sharp]), *where).value(body.vertices)))
    field = GridField(spline_coefficients([sharp - shift]), *where)
    bounds = lower - 2.0 * h, upper + 2.0 * h
    return LevelSet(field, bounds=(bounds[0].tolist(), bounds[1].tolist()))


def _largest_angle(body: Mesh) -> float:
    """The largest angle between the normals of two triangles that share an edge."""
    edges: Floats = body._kernel._feature_normals[:, 1:4]
    cosine = np.clip(np.einsum("mki,mi->mk", edges, body._kernel.normals), -1.0, 1.0)
    return 2.0 * float(np.arccos(cosine.min()))
