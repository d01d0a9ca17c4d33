"""Figures of a solution in one, two, three and more dimensions."""

from collections.abc import Sequence
from os import PathLike

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from jumpnet.errors import SolutionError
from jumpnet.geometry import Partition
from jumpnet.reporting.figures.canvas import INK, LINES, finished, new_figure
from jumpnet.reporting.figures.lines import draw_line, runs
from jumpnet.reporting.figures.maps import common_scale, draw_quantity
from jumpnet.reporting.grid import Grid, make_grid, planes, whole_resolution
from jumpnet.reporting.quantities import Quantity, quantities
from jumpnet.solution import Solution

# Points along the longer side, by dimension; beyond three a point costs much more.
RESOLUTION = {1: 2000, 2: 400, 3: 320}
PANEL = 4.0  # inches, the longer side of a map
ALONE = 5.6  # the same of a map that is alone in its figure: as wide as a page
TITLE = 0.35  # inches for a title above all


def plot_solution(
    solution: Solution,
    path: str | PathLike[str] | None = None,
    *,
    what: str | Sequence[str] | None = None,
    title: str | None = None,
    resolution: int | None = None,
    at: ArrayLike | None = None,
) -> Figure:
    """A figure of the solution, sharp at the interfaces; written to `path` if given (PNG, PDF, SVG, ...).

    `what` names one or several of u, error, exact, judged, residual, grad, flux (lengths of vectors); by default u, and
    beside it the error where the exact solution is known, or else where it was judged (`solution.verdict`). In 3-D and
    beyond three planes through the point `at` are shown, by default where they cut most pieces. `resolution` is
    the number of points along the longer side.
    """
    partition = drawable(solution)
    chosen = quantities(solution, what)
    points = whole_resolution(resolution, RESOLUTION.get(partition.dim, 160))
    if partition.dim == 1:
        figure = _lines(partition, chosen, points)
    else:
        grids = [make_grid(partition, plane, points) for plane in planes(partition, through(partition, at))]
        figure = _maps(partition, chosen, grids)
    if title:
        figure.suptitle(title, fontsize=12, color=INK)
        figure.set_figheight(figure.get_figheight() + TITLE)  # which the maps would lose otherwise, and their width too
    return finished(figure, path)


def drawable(solution: Solution) -> Partition:
    """The geometry to draw on."""
    if solution.partition is None:
        raise SolutionError(
            "the geometry of this solution was a callable and could not be stored, so there is nothing to draw it on; "
            "give the problem back: solution.with_problem(problem)."
        )
    return solution.partition


def _lines(partition: Partition, chosen: tuple[Quantity, ...], resolution: int) -> Figure:
    """One line plot above the other, with the same axis of x."""
    figure = new_figure(7.0, 2.6 * len(chosen) + 0.3)
    stretches = runs(partition, resolution)
    places = figure.subplots(len(chosen), 1, sharex=True, squeeze=False)[:, 0]
    for index, (axes, quantity) in enumerate(zip(places, chosen, strict=True)):
        draw_line(axes, stretches, quantity, LINES[index % len(LINES)])
    places[-1].set_xlabel("$x$", fontsize=9, color=INK)
    figure.align_ylabels()
    return figure


def _maps(partition: Partition, chosen: tuple[Quantity, ...], grids: list[Grid]) -> Figure:
    figure, places = map_axes(len(chosen), grids)
    errors = [quantity for quantity in chosen if quantity.name in ("error", "judged")]
    common = common_scale(errors, grids)  # the true error and the judged one are there to be compared
    for row, quantity in zip(places, chosen, strict=True):
        draw_quantity(figure, list(row), grids, partition, quantity, common if quantity in errors else None)
    return figure


def map_axes(quantities: int, grids: list[Grid]) -> tuple[Figure, np.ndarray]:
    """A figure with a row of axes for each quantity: side by side in 2-D; in 3-D a row of planes for each."""
    sides = np.array([[g.extent[1] - g.extent[0], g.extent[3] - g.extent[2]] for g in grids])
    if len(grids) == 1:
        width, height = (PANEL if quantities > 1 else ALONE) * sides[0] / sides[0].max()
        figure = new_figure((width + 1.2) * quantities, height + 0.7)
        places = figure.subplots(1, quantities, squeeze=False).T
    else:
        panels = (PANEL - 0.6) * sides / sides.max()
        figure = new_figure(panels[:, 0].sum() + 2.6, (panels[:, 1].max() + 0.7) * quantities)
        ratios = {"width_ratios": panels[:, 0] + 0.5}
        places = figure.subplots(quantities, len(grids), squeeze=False, gridspec_kw=ratios)
    return figure, places


def through(partition: Partition, at: ArrayLike | None) -> tuple[float, ...] | None:
    """The point that the user wants planes to go through."""
    if at is None:
        return None
    try:
        point = np.asarray(at, float)
    except (TypeError, ValueError):
        point = np.array(np.nan)
    if point.shape != (partition.dim,) or not np.isfinite(point).all():
        raise SolutionError(f"at is {at!r}; give the {partition.dim} coordinates of the point the planes go through.")
    return tuple(point.tolist())
