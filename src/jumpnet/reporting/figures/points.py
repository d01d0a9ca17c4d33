"""Collocation points over the geometry."""

from os import PathLike
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from jumpnet.collocation import Collocation, Points, collocate
from jumpnet.errors import SolutionError
from jumpnet.reporting.figures.canvas import FAINT, INK, LINES, finished, new_figure, styled
from jumpnet.reporting.figures.domain import draw_areas, draw_stretches
from jumpnet.reporting.figures.solution import drawable
from jumpnet.reporting.figures.surfaces import frame_space, space_axes
from jumpnet.solution import Solution

MOST = 6000  # points of a kind that are drawn
MOST_SPREAD = 1_000_000  # that are spread anew, to draw some of them


def solve_points(solution: Solution) -> Collocation:
    """The points of a training; for a Trefftz solve as many, spread as evenly (its own are redrawn at each level)."""
    fit = solution.diagnostics.fit
    if fit is None or fit.points is None:
        raise SolutionError("this solution does not say at how many points it was solved.")
    used = fit.points
    if used.points == "own":
        raise SolutionError("this solution was trained at points of its author's own, which it does not hold.")
    if (total := used.interior + used.boundary + used.interface) > MOST_SPREAD:
        raise SolutionError(f"{total} points are too many to be drawn.")
    partition = drawable(solution)
    if solution.unit == "level":
        shared = max(len(partition.interfaces), 1)
        counts = used.interior, used.boundary, -(-used.interface // shared)
        points = Points(*(max(count, 1) for count in counts), method="even")
    else:
        method: Any = used.points or "random"
        points = Points(used.interior, used.boundary, used.interface, minimum=used.minimum or 0, method=method)
    return collocate(partition, points, seed=solution.seed)


def plot_points(solution: Solution, path: str | PathLike[str] | None = None) -> Figure:
    """The collocation points over the pieces: inside, on the boundary, on the interfaces (up to three dimensions)."""
    partition = drawable(solution)
    if partition.dim > 3:
        raise SolutionError(f"points in {partition.dim} dimensions cannot be drawn.")
    drawn = solve_points(solution)
    interfaces = [x for x, _ in drawn.interfaces.values()]
    kinds = {
        "inside": (drawn.interior, LINES[0], 5.0),
        "boundary": (drawn.boundary, LINES[2], 8.0),
        "interface": (np.concatenate(interfaces) if interfaces else np.zeros((0, partition.dim)), LINES[1], 8.0),
    }
    if partition.dim == 1:
        figure = new_figure(7.0, 1.6)
        axes = styled(figure.subplots(), xlabel="$x$")
        draw_stretches(axes, partition, names=False)
    elif partition.dim == 2:
        figure, axes = draw_areas(partition, names=False)
    else:
        figure = new_figure(6.0, 5.2)
        axes = space_axes(figure, (-0.02, 0.04, 1.0, 1.0))
        frame_space(axes, partition)
    for name, (x, colour, size) in kinds.items():
        shown = x[:: max(1, -(-len(x) // MOST))]
        columns = [*shown.T] if partition.dim > 1 else [shown[:, 0], np.full(len(shown), 0.5)]
        label = f"{name}: {len(x)}"
        axes.scatter(*columns, s=size, color=colour, linewidths=0, label=label, zorder=5, alpha=0.9)
    figure.legend(loc="outside lower center" if partition.dim < 3 else "lower center", fontsize=8, frameon=False,
                  labelcolor=INK, ncols=3, markerscale=1.6)  # fmt: skip
    axes.tick_params(color=FAINT)
    return finished(figure, path)
