"""Pictures of a domain and its pieces."""

from os import PathLike

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from scipy.ndimage import distance_transform_edt

from jumpnet.errors import GeometryError
from jumpnet.geometry import Partition
from jumpnet.problem import Problem
from jumpnet.reporting.figures.canvas import FAINT, INK, LINES, PIECES, finished, new_figure, styled
from jumpnet.reporting.figures.lines import runs
from jumpnet.reporting.figures.maps import draw_outlines, frame
from jumpnet.reporting.figures.surfaces import draw_surfaces
from jumpnet.reporting.grid import make_grid, planes, whole_resolution

NEARLY = 0.95  # of the largest distance from the edge: as much room for a name
MOST_PARTS = 12  # of the boundary that are drawn apart
BOUNDARY_POINTS = 3000  # a line of dots is drawn with: closer than their size
MOST_LABELS = 40  # more names than this would hide the picture
RESOLUTION = 400  # points along the longer side, as in maps of a solution: the labels are the same
PANEL = 4.4  # inches, the longer side


def plot_domain(
    partition: Partition | Problem,
    path: str | PathLike[str] | None = None,
    *,
    title: str | None = None,
    resolution: int | None = None,
) -> Figure:
    """The pieces, coloured and named in 1-D and 2-D, as surfaces inside the outer one in 3-D; written to `path`.

    Of a problem in the plane the parts of the boundary are drawn too, in colours, with their conditions.
    In 3-D a piece is drawn as seen from its centre, which shows all of it if it is star-shaped (convex ones are).
    """
    problem = partition if isinstance(partition, Problem) else None
    if isinstance(partition, Problem):
        partition = partition.partition
    if not isinstance(partition, Partition):
        raise GeometryError(
            f"plot_domain draws a jn.Partition, not {type(partition).__name__}; give problem.partition."
        )
    if partition.dim > 3:
        raise GeometryError(
            f"a domain in {partition.dim} dimensions cannot be drawn; plot_solution shows planes of it."
        )
    draw = {1: _line, 2: _areas, 3: _surfaces}[partition.dim]
    figure = draw(partition, whole_resolution(resolution, RESOLUTION))
    if problem is not None and partition.dim == 2:
        _draw_conditions(figure, problem)
    if title:
        figure.suptitle(title, fontsize=12, color=INK)
    return finished(figure, path)


def _draw_conditions(figure: Figure, problem: Problem) -> None:
    """The parts of the boundary in colours, and what holds on each below the picture."""
    parts = problem.partition.boundary_parts
    if len(parts) > MOST_PARTS:
        return
    x, _, _, number = problem.partition.sample_boundary(BOUNDARY_POINTS, seed=0, method="sobol")
    for k, part in enumerate(parts):
        mine, colour = x[number == k], LINES[k % len(LINES)]
        label = f"{part}: {problem.boundary[part].kind}" if part in problem.boundary else part
        figure.axes[0].plot(*mine.T, ".", ms=2.5, color=colour, label=label, clip_on=False)
    figure.legend(loc="outside lower center", fontsize=8, frameon=False, ncols=2, labelcolor=INK, markerscale=4)
    figure.set_figheight(figure.get_figheight() + 0.2 * ((len(parts) + 1) // 2 + 1))


def colour_of(piece: int) -> str:
    """The colour of a piece; the first is the background's, the others repeat when there are many."""
    return PIECES[0] if piece == 0 else PIECES[1 + (piece - 1) % (len(PIECES) - 1)]


def _line(partition: Partition, resolution: int) -> Figure:
    figure = new_figure(7.0, 1.3)
    draw_stretches(styled(figure.subplots(), xlabel="$x$"), partition, resolution)
    return figure


def draw_stretches(axes: Axes, partition: Partition, resolution: int = RESOLUTION, *, names: bool = True) -> None:
    """The pieces of a line as coloured bands, named where there is room."""
    stretches = runs(partition, resolution)
    for run in stretches:
        axes.axvspan(run.x[0], run.x[-1], color=colour_of(run.piece), linewidth=0)
        if names and len(stretches) <= MOST_LABELS // 4:
            middle = (run.x[0] + run.x[-1]) / 2
            axes.text(middle, 0.5, partition.names[run.piece], ha="center", va="center", fontsize=8, color=INK)
    for run in stretches[1:]:
        axes.axvline(run.x[0], color=INK, linewidth=0.8)
    axes.set_xlim(stretches[0].x[0], stretches[-1].x[-1])
    axes.set_ylim(0, 1)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def _areas(partition: Partition, resolution: int) -> Figure:
    return draw_areas(partition, resolution)[0]


def draw_areas(partition: Partition, resolution: int = RESOLUTION, *, names: bool = True) -> tuple[Figure, Axes]:
    """The pieces of a plane in their colours, named where there is room."""
    grid = make_grid(partition, planes(partition)[0], resolution)
    sides = np.array([grid.extent[1] - grid.extent[0], grid.extent[3] - grid.extent[2]])
    figure = new_figure(*(PANEL * sides / sides.max() + 0.4))
    axes = figure.subplots()
    colours = ListedColormap([colour_of(piece) for piece in range(partition.size)])
    axes.imshow(
        np.ma.masked_less(grid.label, 0),
        origin="lower",
        extent=grid.extent,
        cmap=colours,
        norm=BoundaryNorm(np.arange(partition.size + 1) - 0.5, partition.size),
        interpolation="nearest",
    )
    draw_outlines(axes, grid, partition, inner=INK)
    if names and partition.size <= MOST_LABELS:
        for piece, name in enumerate(partition.names):
            inside = np.pad(grid.label == piece, 1)
            if inside.any():
                depth = distance_transform_edt(inside)[1:-1, 1:-1]  # pyright: ignore[reportArgumentType, reportCallIssue, reportIndexIssue, reportOptionalSubscript]
                row, column = _deepest(depth)
                axes.text(grid.x[column], grid.y[row], name, ha="center", va="center", fontsize=9, color=INK)
    frame(axes, grid, "")
    axes.tick_params(color=FAINT)
    return figure, axes


def _deepest(depth: np.ndarray) -> tuple[int, int]:
    """The place of a name: the most central of the points farthest from the edge."""
    best = np.argwhere(depth >= NEARLY * depth.max())
    row, column = best[np.argmin(np.sum((best - best.mean(axis=0)) ** 2, axis=1))]
    return int(row), int(column)


def _surfaces(partition: Partition, resolution: int) -> Figure:
    lower, upper = partition.bounds
    flat = float((upper - lower)[2] / (upper - lower).max())
    figure = new_figure(6.0, 2.6 + 2.2 * flat)
    draw_surfaces(figure, partition, [colour_of(piece) for piece in range(partition.size)])
    return figure
