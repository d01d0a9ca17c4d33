"""Bodies from files of surface meshes: STL, OBJ, PLY."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from jumpnet.errors import GeometryError
from jumpnet.fields import GridField, spline_coefficients
from jumpnet.geometry import checks
from jumpnet.geometry.bodies.boolean import Union
from jumpnet.geometry.bodies.levelset import LevelSet
from jumpnet.geometry.bodies.mesh import Mesh
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.data.files import Source, checked_path, optional, reading
from jumpnet.geometry.data.repair import checked, closed
from jumpnet.geometry.shape import Shape
from jumpnet.guard.budget import within_budget

MOST_BYTES = 256_000_000
"""Larger files are refused before they are read."""
SUFFIXES = (".stl", ".obj", ".ply")
"""The formats that are read."""
MOST_BODIES = 64
"""The most closed surfaces that may touch others: a partition is found by testing their combinations (heuristic)."""
POINTS = 500
"""Sample points of each closed surface, beside its vertices, at which contact with others is tested."""
TOUCHING = 1e-7
"""Of the size: surfaces nearer than this touch; STL has coordinates of seven digits."""
SHARP = np.radians(45.0)
"""Triangles that meet at a larger angle meet at an edge that is meant."""
MOST_CELLS = 64
"""Cells of the grid of a smooth surface along its longest side."""
FINER = 1.5
"""Cells to an edge; balls and ellipsoids come out best with 1.5 of them and a blur of one edge."""
MARGIN = 8
"""Cells around the surface."""
REACH = 8.0
"""Widths of the blur, twice over, beyond which nothing changes the surface (the filter ends at four widths)."""


@within_budget("a surface mesh")
def from_mesh(
    source: Source, *, scale: float = 1.0, offset: ArrayLike = (0.0, 0.0, 0.0), smooth: bool | None = None
) -> Shape:
    """The body inside the surface of an STL, OBJ or PLY file, which must be closed (watertight).

    Triangles that run the wrong way round are turned, holes of three edges, or of four in a plane, are closed (with a
    warning); a surface that crosses itself is refused, with the place.

    With `smooth` the surface is rounded: interfaces are then smooth, as the Trefftz engine wants them, and details
    smaller than 1/64 of the body are lost. Without it the triangles stay as they are. By default the surface is smooth
    unless triangles meet at more than 45 degrees somewhere: at edges that are meant. Coordinates are those of the file
    times `scale`, plus `offset`. Closed surfaces that touch or overlap one another are united.
    """
    trimesh = optional("trimesh", "meshes", "reading surface meshes")
    factor, shift = checks.positive(scale, "scale"), checks.vector(offset, "offset")
    if len(shift) != 3:
        raise GeometryError(f"the offset of a mesh must hold 3 numbers, not {len(shift)}.")
    path = checked_path(source, MOST_BYTES, SUFFIXES, "a surface mesh")
    with reading(path, "a surface mesh"), path.open("rb") as file:
        kind = path.suffix.lower()[1:]
        # An open file has no directory: materials and textures that an OBJ names are not looked for.
        found = trimesh.load(file, file_type=kind, force="mesh", process=False, skip_materials=True)
        if len(found.faces) == 0:
            raise GeometryError("there are no triangles in it.")
        if not np.isfinite(found.vertices).all():
            raise GeometryError("some coordinates are not finite numbers; mend the mesh.")
        found.process()
        found.merge_vertices(merge_tex=True, merge_norm=True)
        found.update_faces(found.nondegenerate_faces())
        if not found.is_winding_consistent:
            trimesh.repair.fix_winding(found)
        closed(found, trimesh)
        body = Mesh(np.array(shift) + factor * np.asarray(found.vertices, float), np.asarray(found.faces))
        checked(body)
        wanted = _largest_angle(body) < SHARP if smooth is None else bool(smooth)
        made = [smooth_surface(part) if wanted else part for part in disjoint(body)]
        return made[0] if len(made) == 1 else Union(tuple(made))


def disjoint(body: Mesh) -> list[Mesh]:
    """The bodies to unite: closed surfaces that touch or overlap are bodies of their own, all others stay together.

    A file of several solids that stand on one another has faces inside the body, which are no interface. Where surfaces
    are turned inwards, as those of cavities, nothing is taken apart.
    """
    parts = body.components()
    if len(parts) == 1 or any(part is None for part in parts):
        return [body]
    found = [part for part in parts if part is not None]
    looked, slack = [_points_on(part) for part in found], TOUCHING * float(np.ptp(body.vertices, axis=0).max())
    meets: set[int] = set()
    for k, part in enumerate(found):
        lower, upper = part.bounds
        for j, points in enumerate(looked):
            near = points[np.all((points >= lower - slack) & (points <= upper + slack), axis=1)]
            if j != k and len(near) and np.any(part.level(near) <= slack):
                meets |= {j, k}
    if len(meets) > MOST_BODIES:
        raise GeometryError(
            f"more than {MOST_BODIES} of its closed surfaces touch or overlap; unite them where they were made."
        )
    alone = [part for k, part in enumerate(found) if k not in meets]
    return [found[k] for k in sorted(meets)] + ([Mesh.together(alone)] if alone else [])


def _points_on(part: Mesh) -> Floats:
    """Vertices and random points of a surface."""
    (patch,) = part.patches()
    return np.concatenate([part.vertices, patch.sample(POINTS, np.random.default_rng(0))[0]])


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
    width = max(0.5, edge / h)
    distance = _far(body.level_near(nodes, (REACH * width + 4.0) * h).reshape(counts), h)
    once = gaussian_filter(distance, width, mode="nearest")
    sharp = 2.0 * once - gaussian_filter(once, width, mode="nearest")
    where = tuple(origin.tolist()), (h, h, h)
    # Vertices lie on the surface, triangles cut off its roundness: on the average, the vertices are to be met.
    shift = float(np.mean(GridField(spline_coefficients([sharp]), *where).value(body.vertices)))
    field = GridField(spline_coefficients([sharp - shift]), *where)
    bounds = lower - 2.0 * h, upper + 2.0 * h
    return LevelSet(field, bounds=(bounds[0].tolist(), bounds[1].tolist()))


def _far(distance: Floats, h: float) -> Floats:
    """Distances on a grid, with those that are nan continued: only their signs matter."""
    from scipy.ndimage import distance_transform_edt

    missing = np.isnan(distance)
    if not missing.any():
        return distance
    away, nearest = distance_transform_edt(missing, sampling=h, return_indices=True)  # pyright: ignore[reportGeneralTypeIssues]
    known = distance[tuple(nearest)]
    return known + np.sign(known) * np.asarray(away)


def _largest_angle(body: Mesh) -> float:
    """The largest angle between the normals of two triangles that share an edge."""
    edges: Floats = body._kernel._feature_normals[:, 1:4]
    cosine = np.clip(np.einsum("mki,mi->mk", edges, body._kernel.normals), -1.0, 1.0)
    return 2.0 * float(np.arccos(cosine.min()))
