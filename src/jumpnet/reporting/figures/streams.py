"""Streamlines of the flux over the map of u."""

from os import PathLike

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from jumpnet.errors import SolutionError
from jumpnet.reporting.figures.canvas import INK, finished
from jumpnet.reporting.figures.maps import colour_scale, draw_bar, draw_map, draw_outlines, frame
from jumpnet.reporting.figures.solution import RESOLUTION, drawable, map_axes, through
from jumpnet.reporting.grid import make_grid, on_grid, planes, whole_resolution
from jumpnet.reporting.quantities import quantities
from jumpnet.solution import Solution

DENSITY = 1.0  # of lines; drawing takes longer with its square
FAINTEST = 1e-3  # of the largest flux: below it no lines are drawn, their direction is noise
# By whether the lines are those of heat flow.
_TITLES = {False: r"$u$ and lines of the flux $A \nabla u$", True: r"$u$ and lines of the heat flow $-A \nabla u$"}
COARSER = 2.5  # the grid of the vectors beside that of the colours


def plot_streamlines(
    solution: Solution,
    path: str | PathLike[str] | None = None,
    *,
    resolution: int | None = None,
    at: ArrayLike | None = None,
    heat: bool = False,
) -> Figure:
    """Streamlines of A grad u over the map of u; in 3-D of its part in each of three planes through `at`.

    With `heat` they are those of -A grad u, from hot to cold.
    """
    partition = drawable(solution)
    if partition.dim == 1:
        raise SolutionError("in one dimension a flux has no streamlines; plot it with solution.plot(what='flux').")
    points = whole_resolution(resolution, RESOLUTION.get(partition.dim, 160))
    cuts = planes(partition, through(partition, at))
    grids = [make_grid(partition, plane, points) for plane in cuts]
    (u,) = quantities(solution, "u")
    figure, (places,) = map_axes(1, grids)
    maps = [on_grid(grid, u.values) for grid in grids]
    scale = colour_scale(u, maps)
    for axes, grid, values in zip(places, grids, maps, strict=True):
        picture = draw_map(axes, grid, values, scale, u.colours)
        picture.set_alpha(0.85)
        draw_outlines(axes, grid, partition, inner=INK)
        coarse = make_grid(partition, grid.plane, max(round(points / COARSER), 20))
        inside = coarse.label >= 0
        flux = np.full((partition.dim, *inside.shape), np.nan)
        flux[:, inside] = (-1.0 if heat else 1.0) * solution.flux(coarse.points(inside), coarse.label[inside]).T
        shown = [np.ma.masked_invalid(flux[k]) for k in grid.plane.axes]
        largest = np.nanmax(np.abs(flux)) if inside.any() else np.inf
        # A flux that only passes through the plane has no lines in it: what is left of it there is rounding.
        if max(float(np.abs(part).max()) for part in shown) > FAINTEST * largest:
            axes.streamplot(
                coarse.x, coarse.y, *shown, color="white", linewidth=0.9, density=DENSITY, arrowsize=0.9
            )  # fmt: skip
        frame(axes, grid, grid.plane.name or _TITLES[heat])
        if axes is places[-1]:
            draw_bar(figure, picture, list(places), scale)
    if len(grids) > 1:
        figure.suptitle(_TITLES[heat], fontsize=10, color=INK)
    return finished(figure, path)
