"""Shaded surfaces of pieces in 3-D, found by walking from a centre in every direction until the piece ends."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from mpl_toolkits.mplot3d.axes3d import Axes3D

from jumpnet.geometry import Box, Partition
from jumpnet.geometry.shape import Shape
from jumpnet.reporting.figures.canvas import FAINT, INK

RINGS, SPOKES = 48, 96  # of the grid of directions
WALK, HALVINGS = 80, 40  # samples along a ray outward, and bisections at its end
ELEVATION, AZIMUTH = 24.0, -58.0
LIGHT = np.array([0.25, -0.75, 0.9])  # the direction of the light: from above, left of the viewer
MOST_NAMES = 12  # a legend of more does not fit beside the picture


@dataclass(frozen=True)
class Surface:
    """Quadrilaterals with their outward unit normals."""

    faces: Float[np.ndarray, "n 4 3"]
    normals: Float[np.ndarray, "n 3"]


def surface(shape: Shape, domain: Shape, center: np.ndarray) -> Surface:
    """The part of the shape's boundary, cut off at the domain, that is visible from a centre inside it."""
    polar, around = np.linspace(0, np.pi, RINGS + 1), np.linspace(0, 2 * np.pi, SPOKES + 1)
    T, P = np.meshgrid(polar, around, indexing="ij")
    rays = np.stack([np.sin(T) * np.cos(P), np.sin(T) * np.sin(P), np.cos(T)], axis=-1)
    radius = _first_exit(shape, domain, center, rays.reshape(-1, 3)).reshape(T.shape)
    points = center + radius[..., None] * rays
    corners = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    faces = np.stack(corners, axis=2).reshape(-1, 4, 3)
    # The diagonals' product: right for the triangles at the poles too, where two corners coincide.
    normals = np.cross(faces[:, 2] - faces[:, 0], faces[:, 3] - faces[:, 1])
    outward = np.einsum("ni,ni->n", normals, faces.mean(axis=1) - center) >= 0
    normals *= np.where(outward, 1.0, -1.0)[:, None]
    return Surface(faces, normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None])


def _box(box: Box) -> Surface:
    """The six faces of a box."""
    signs = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    faces, normals = [], []
    for axis in range(3):
        for side in (-1, 1):
            faces.append(np.insert(signs, axis, side, axis=1))
            normals.append(side * np.eye(3)[axis])
    lower, upper = box.bounds
    return Surface((lower + upper) / 2 + np.array(faces) * (upper - lower) / 2, np.array(normals))


def center_of(shape: Shape, domain: Shape, inside: np.ndarray) -> Float[np.ndarray, " 3"]:
    """The shape's own centre if that lies in it, else the deepest of some points inside."""
    center = getattr(shape, "center", None)
    if center is not None and shape.level(np.array([center], float))[0] < 0:
        return np.array(center, float)
    return inside[np.argmin(_level(shape, domain, inside))]


def space_axes(figure: Figure, place: tuple[float, float, float, float]) -> Axes3D:
    """Axes in perspective that fill a part of the figure; what is drawn later lies before what was drawn before."""
    figure.set_layout_engine("none")  # constrained layout ignores the size of 3-D axes
    axes: Axes3D = figure.add_axes(place, projection="3d", computed_zorder=False)  # pyright: ignore[reportAssignmentType]
    axes.view_init(elev=ELEVATION, azim=AZIMUTH)
    axes.set_proj_type("persp", focal_length=1.6)
    return axes


def eye_direction() -> Float[np.ndarray, " 3"]:
    """The unit vector towards the eye."""
    e, a = np.radians([ELEVATION, AZIMUTH])
    return np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])


def draw_surfaces(figure: Figure, partition: Partition, colours: list[str]) -> None:
    """The pieces inside the outer surface, of which the far half is drawn behind them and the near half before."""
    axes = space_axes(figure, (-0.04, -0.02, 0.86, 1.04))  # the legend keeps the right edge
    eye = eye_direction()
    x, label = partition.sample_interior(4000, seed=0, minimum=20)
    domain = partition.domain
    outer = _box(domain) if isinstance(domain, Box) else surface(domain, domain, center_of(domain, domain, x))
    near = outer.normals @ eye > 0
    _add(axes, Surface(outer.faces[~near], outer.normals[~near]), "#b9c4d0", 0.30, 0)
    _add(axes, Surface(outer.faces[near], outer.normals[near]), "#b9c4d0", 0.16, 2 + partition.size)
    centers = [center_of(piece, domain, x[label == k]) for k, piece in enumerate(partition.pieces, start=1)]
    for order, k in enumerate(np.argsort([center @ eye for center in centers]), start=1):
        found = surface(partition.pieces[k], domain, centers[k])
        facing = found.normals @ eye > 0
        _add(axes, Surface(found.faces[facing], found.normals[facing]), colours[k + 1], 1.0, order)
    frame_space(axes, partition)
    if partition.size <= MOST_NAMES:
        patches = [Patch(facecolor=colours[k], edgecolor=FAINT, label=n) for k, n in enumerate(partition.names)]
        figure.legend(handles=patches, loc="center right", fontsize=8, frameon=False, labelcolor=INK)


def _level(shape: Shape, domain: Shape, x: np.ndarray) -> np.ndarray:
    return shape.level(x) if shape is domain else np.maximum(shape.level(x), domain.level(x))


def _first_exit(shape: Shape, domain: Shape, center: np.ndarray, rays: np.ndarray) -> Float[np.ndarray, " n"]:
    """The distance along each ray to the boundary of the shape."""
    low, high = np.zeros(len(rays)), np.full(len(rays), np.nan)
    walking = np.ones(len(rays), bool)
    for radius in np.linspace(0, domain.size, WALK + 1)[1:]:
        left = walking.copy()
        left[walking] = _level(shape, domain, center + radius * rays[walking]) >= 0
        high[left] = radius
        walking &= ~left
        low[walking] = radius
    high = np.where(np.isnan(high), domain.size, high)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        inside = _level(shape, domain, center + middle[:, None] * rays) < 0
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return (low + high) / 2


def _add(axes: Axes3D, found: Surface, colour: str, alpha: float, order: int) -> None:
    """Faces in a colour that darkens away from the light."""
    if len(found.faces) == 0:
        return
    bright = found.normals @ (LIGHT / np.linalg.norm(LIGHT))
    shade = 0.62 + 0.38 * np.clip(bright, -0.6, 1.0)
    rgb = np.clip(np.array(to_rgb(colour)) * shade[:, None] + 0.12 * np.clip(bright, 0, 1)[:, None] ** 8, 0, 1)
    rgba = np.column_stack([rgb, np.full(len(rgb), alpha)])
    # Opaque faces are edged in their own colour, or hairlines of the background show between them.
    edges = rgba if alpha == 1.0 else "none"
    axes.add_collection3d(
        Poly3DCollection(list(found.faces), facecolors=rgba, edgecolors=edges, linewidths=0.3, zorder=order)
    )


def frame_space(axes: Axes3D, partition: Partition) -> None:
    """Equal scales, few ticks, no panes, and the edges of the domain's box."""
    lower, upper = (np.asarray(end, float) for end in partition.bounds)
    axes.set(xlim=(lower[0], upper[0]), ylim=(lower[1], upper[1]), zlim=(lower[2], upper[2]))
    flat = (upper - lower)[2] / (upper - lower).max()
    axes.set_box_aspect(tuple(upper - lower), zoom=1.25 - 0.3 * flat)
    sides: list[Any] = [axes.xaxis, axes.yaxis, axes.zaxis]
    for k, axis in enumerate(sides):
        axis.set_ticks(
            [round(float(lower[k]), 3), round(float((lower[k] + upper[k]) / 2), 3), round(float(upper[k]), 3)]
        )
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        axis.line.set_color(FAINT)
    axes.tick_params(labelsize=7, colors=INK, pad=-2)
    axes.grid(False)
    for name, setter in (("$x_1$", axes.set_xlabel), ("$x_2$", axes.set_ylabel), ("$x_3$", axes.set_zlabel)):
        setter(name, fontsize=9, color=INK, labelpad=-6)
