"""The regions of a label image in space, inside smooth surfaces.

The indicator function of each label is blurred, and a point belongs to the label that is the largest there: surfaces
between two labels are smooth, and labels fill the space also where three or four of them meet. Plain blurring with a
Gaussian of width s would move a surface of mean curvature H by s^2 H; the kernel 2 G(s) - G(2 s), whose
second moment vanishes in the tangent plane, does not. The width is the largest whose surfaces keep as close to the
voxels as the true ones would.
"""

from __future__ import annotations

import numpy as np

from jumpnet.errors import GeometryError
from jumpnet.fields import GridField, spline_coefficients
from jumpnet.fields.grid import MOST_NUMBERS
from jumpnet.geometry.bodies.levelset import LevelSet
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.data.smoothing import plausible
from jumpnet.geometry.shape import Shape

WIDTHS = (11.3, 8.0, 5.6, 4.0, 2.8, 2.0, 1.4, 1.0, 0.7)
"""Widths of the blur in voxels, the largest first; the last is taken if none is plausible."""
PAD = 4
"""Voxels added on all sides, so that splines are smooth at the border."""


def regions(cells: np.ndarray, size: Floats, origin: Floats) -> list[Shape]:
    """The shapes of labels 1, 2, ... of an image (nx, ny, nz) with labels from 0."""
    count = int(cells.max()) + 1
    padded = np.pad(cells, PAD, mode="edge")
    if (count if count > 2 else 1) * padded.size > MOST_NUMBERS:
        raise GeometryError(f"{count} labels in {cells.size} voxels are too many; coarsen or crop the image.")
    fields = _fields(padded, cells, size, origin + (0.5 - PAD) * size, count)
    shapes: list[Shape] = []
    for label in range(1, count):
        inside = np.argwhere(cells == label)
        margin = 3.0 * size
        lower, upper = origin + inside.min(axis=0) * size - margin, origin + (inside.max(axis=0) + 1) * size + margin
        shapes.append(LevelSet(fields[label], bounds=(lower, upper)))
    return shapes


def _fields(padded: np.ndarray, cells: np.ndarray, size: Floats, origin: Floats, count: int) -> list[GridField]:
    """For each label, a field that is negative in its region."""
    middles, axes = _cracks(cells)
    fields: list[GridField] = []
    for width in WIDTHS:
        # Two labels need one field, 1/2 - indicator of label 1; for the other it changes its sign.
        labels = range(count) if count > 2 else (1,)
        blurred = (_blurred(padded == label, width) for label in labels)
        values = blurred if count > 2 else (0.5 - b for b in blurred)
        coefficients = spline_coefficients(values)
        whole = tuple(origin.tolist()), tuple(size.tolist())
        fields = [GridField(coefficients, *whole, of=label if count > 2 else 0) for label in range(count)]
        if all(_keeps_close(fields[label], middles[label], axes[label], size, origin) for label in range(1, count)):
            break
    return fields


def _blurred(mask: np.ndarray, width: float) -> np.ndarray:
    from scipy.ndimage import gaussian_filter

    indicator = mask.astype(np.float32)
    return 2.0 * gaussian_filter(indicator, width, mode="nearest") - gaussian_filter(
        indicator, 2.0 * width, mode="nearest"
    )


def _cracks(cells: np.ndarray) -> tuple[list[Floats], list[np.ndarray]]:
    """For each label: the middles of faces between it and others, in voxels from the first centre, and their axes."""
    middles: list[list[Floats]] = [[] for _ in range(int(cells.max()) + 1)]
    axes: list[list[np.ndarray]] = [[] for _ in middles]
    for axis in range(3):
        a, b = np.moveaxis(cells, axis, 0)[:-1], np.moveaxis(cells, axis, 0)[1:]
        index = np.argwhere(a != b)
        place = np.insert(index[:, 1:], axis, index[:, 0], axis=1).astype(float)
        place[:, axis] += 0.5
        for side in (a, b):
            label = side[tuple(index.T)]
            for k in range(len(middles)):
                middles[k].append(place[label == k])
                axes[k].append(np.full(int((label == k).sum()), axis))
    return [np.concatenate(m) for m in middles], [np.concatenate(a) for a in axes]


def _keeps_close(field: GridField, middles: Floats, axes: np.ndarray, size: Floats, origin: Floats) -> bool:
    """Whether the distance of a label's surface from the faces of its voxels is plausible."""
    step = max(1, len(middles) // 20_000)
    x = origin + (middles[::step] + PAD) * size
    slope = field.gradient(x) * size  # per voxel
    length = np.linalg.norm(slope, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        off, normal = field.value(x) / length, slope / length[:, None]
    return bool(np.all(np.isfinite(off))) and plausible(off, normal)
