"""Cut views of a solution in space: three planes in perspective, each coloured by the values of its own pieces."""

from os import PathLike

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.axes3d import Axes3D
from numpy.typing import ArrayLike

from jumpnet.errors import SolutionError
from jumpnet.reporting.curves import Curve, interface_curves
from jumpnet.reporting.figures.canvas import INK, finished, new_figure
from jumpnet.reporting.figures.maps import colour_scale, draw_bar
from jumpnet.reporting.figures.solution import drawable, through
from jumpnet.reporting.figures.surfaces import eye_direction, frame_space, space_axes
from jumpnet.reporting.grid import Grid, make_grid, on_grid, planes, whole_resolution
from jumpnet.reporting.quantities import quantities
from jumpnet.solution import Solution

RESOLUTION = 120  # grid points along the longer side of a plane


def plot_cuts(
    solution: Solution,
    path: str | PathLike[str] | None = None,
    *,
    what: str = "u",
    resolution: int | None = None,
    at: ArrayLike | None = None,
) -> Figure:
    """Three planes through the point `at` in perspective, coloured by u (or `what`), with the interfaces in white."""
    partition = drawable(solution)
    if partition.dim != 3:
        raise SolutionError(f"cut views are for three dimensions, not {partition.dim}; use solution.plot().")
    (quantity,) = quantities(solution, what)
    points = whole_resolution(resolution, RESOLUTION)
    grids = [make_grid(partition, plane, points) for plane in planes(partition, through(partition, at))]
    maps = [on_grid(grid, quantity.values) for grid in grids]
    scale = colour_scale(quantity, maps)
    figure = new_figure(6.6, 5.2)
    axes = space_axes(figure, (-0.02, -0.02, 0.9, 1.04))
    eye = eye_direction()
    quarters = [part for grid, values in zip(grids, maps, strict=True) for part in _quarters(grid, values)]
    quarters.sort(key=lambda part: float(part[0].reshape(-1, 3).mean(axis=0) @ eye))
    curves = [curve for grid in grids for curve in interface_curves(partition, grid)]
    for order, (x, values) in enumerate(quarters):
        shown = np.clip(values, scale.vmin, scale.vmax)
        colours = colormaps[quantity.colours](scale(np.nan_to_num(shown, nan=float(scale.vmin or 0.0))))
        colours[~np.isfinite(values), 3] = 0.0
        axes.plot_surface(*np.moveaxis(x, -1, 0), facecolors=colours, rcount=len(x), ccount=x.shape[1], shade=False,
                          antialiased=False, linewidth=0, zorder=2 * order)  # fmt: skip
        for curve in curves:
            _draw_within(axes, curve, x, 2 * order + 1)
    frame_space(axes, partition)
    mappable = ScalarMappable(scale, quantity.colours)
    draw_bar(figure, mappable, [axes], scale)  # pyright: ignore[reportArgumentType]
    figure.suptitle(quantity.title, fontsize=10, color=INK, y=0.97)
    return finished(figure, path)


def _draw_within(axes: Axes3D, curve: Curve, x: np.ndarray, order: int) -> None:
    """The part of a curve that lies in a quarter of a plane."""
    lower, upper = x.min(axis=(0, 1)), x.max(axis=(0, 1))
    line = np.r_[curve.points, curve.points[:1]] if curve.closed else curve.points
    slack = 1e-9 * (upper - lower).max()
    here = np.all((line >= lower - slack) & (line <= upper + slack), axis=1)
    if here.any():
        axes.plot(*np.where(here[:, None], line, np.nan).T, color="white", linewidth=1.0, zorder=order)


def _quarters(grid: Grid, values: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """A plane in four parts that meet where the planes cross: parts do not cut each other, so they can be sorted."""
    X, Y = np.meshgrid(grid.x, grid.y)
    points = grid.plane.lifted(np.column_stack([X.ravel(), Y.ravel()])).reshape(*X.shape, 3)
    column, row = (
        int(np.clip(np.searchsorted(axis, grid.plane.fixed[k]), 1, len(axis) - 2))
        for axis, k in zip((grid.x, grid.y), grid.plane.axes, strict=True)
    )
    parts = []
    for rows in (slice(None, row + 1), slice(row, None)):
        for columns in (slice(None, column + 1), slice(column, None)):
            parts.append((points[rows, columns], values[rows, columns]))
    return parts
