"""Maps of a plane: colours by piece-wise values, crisp lines where pieces meet."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator

from jumpnet.geometry import Partition
from jumpnet.reporting.figures.canvas import INK, Apart, styled
from jumpnet.reporting.grid import Grid, on_grid, outlines, thinned
from jumpnet.reporting.outlines import rings_of
from jumpnet.reporting.quantities import Quantity

FINEST_OUTLINE = 500  # points along the longer side: lines between them are exact to a tenth of a pixel
FEWEST_DECADES, MOST_DECADES = 1.0, 5.0


def colour_scale(quantity: Quantity, maps: list[np.ndarray]) -> Normalize:
    """One scale for all maps of a quantity; errors on a logarithmic one without the spikes where they change sign."""
    values = np.concatenate([m[np.isfinite(m)] for m in maps])
    if values.size == 0:
        return Normalize(0.0, 1.0)
    if not quantity.logarithmic:
        return Normalize(float(values.min()), float(values.max()))
    top = float(values.max())
    # 1 %: the thin lines of zero error would otherwise stretch the scale by decades that hold nothing.
    low = float(np.quantile(values, 0.01))
    # Differences at the level of rounding are often exactly zero: five decades show all that there is.
    return LogNorm(max(min(low, top / 10**FEWEST_DECADES), top / 10**MOST_DECADES, 1e-300), max(top, 1e-298))


def common_scale(quantities: Sequence[Quantity], grids: list[Grid]) -> Normalize | None:
    """One scale for several quantities, such as true and judged error; None for a single quantity."""
    if len(quantities) < 2:
        return None
    return colour_scale(quantities[0], [on_grid(grid, one.values) for one in quantities for grid in grids])


def draw_map(axes: Axes, grid: Grid, values: np.ndarray, scale: Normalize, colours: str) -> AxesImage:
    """The colours of one map."""
    shown = np.clip(values, scale.vmin, scale.vmax) if isinstance(scale, LogNorm) else values
    return axes.imshow(
        np.ma.masked_invalid(shown),
        origin="lower",
        extent=grid.extent,
        cmap=colours,
        norm=scale,
        interpolation="nearest",
        aspect="equal",
    )


def draw_bar(figure: Figure, picture: AxesImage, places: list[Axes], scale: Normalize) -> None:
    """One colour bar for maps that share a scale."""
    numbers = None if isinstance(scale, LogNorm) else Apart()
    bar = figure.colorbar(picture, ax=places, shrink=0.86, aspect=24, pad=0.02, format=numbers)
    bar.ax.yaxis.offsetText.set(fontsize=8, color=INK)
    bar.outline.set_visible(False)  # pyright: ignore[reportCallIssue]
    bar.ax.tick_params(labelsize=8, labelcolor=INK, length=2)
    if isinstance(scale, LogNorm):
        ticks = log_ticks(float(scale.vmin or 0), float(scale.vmax or 1))
        bar.set_ticks(list(ticks), labels=list(ticks.values()), minor=False)
        bar.minorticks_off()


def log_ticks(low: float, high: float) -> dict[float, str]:
    """Powers of ten between two numbers with their labels; 2 and 5 times them too where these are few."""
    decades = np.log10(high / low)
    factors = (1,) if decades > 2.0 else (1, 2, 5)
    every = max(1, int(np.ceil(decades / 8)))
    ticks = {}
    for power in range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1, every):
        for factor in factors:
            if low <= (tick := factor * 10.0**power) <= high:
                ticks[tick] = f"$10^{{{power}}}$" if factor == 1 else f"${factor} \\cdot 10^{{{power}}}$"
    return ticks


def draw_outlines(axes: Axes, grid: Grid, partition: Partition, *, inner: str = "white") -> None:
    """The interfaces, and the edge of the domain in ink."""
    shapes = (*partition.pieces, partition.domain)
    rings = [rings_of(shape, np.inf) for shape in shapes]
    styles = [(inner, 1.1)] * len(partition.pieces) + [(INK, 1.0)]
    for ring, (colour, width) in zip(rings, styles, strict=True):
        if ring is not None:
            axes.add_collection(LineCollection([one.points for one in ring], colors=colour, linewidths=width))
    unknown = [k for k, ring in enumerate(rings) if ring is None]
    if unknown:
        grid = thinned(grid, FINEST_OUTLINE)
        for k, level in zip(unknown, outlines(partition, grid, unknown), strict=True):
            _zero_line(axes, grid, level, *styles[k])


def frame(axes: Axes, grid: Grid, title: str) -> None:
    """Equal scales, few ticks, no box around the map: the domain has its own outline."""
    first, second = grid.plane.axes
    styled(axes, title=title, xlabel=f"$x_{first + 1}$", ylabel=f"$x_{second + 1}$")
    axes.yaxis.label.set(rotation=0, ha="right", va="center")  # beside the numbers of the ticks, not across them
    axes.set_aspect("equal")
    axes.set_xlim(grid.extent[:2])
    axes.set_ylim(grid.extent[2:])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    for spine in axes.spines.values():
        spine.set_visible(False)


def draw_quantity(
    figure: Figure,
    places: list[Axes],
    grids: list[Grid],
    partition: Partition,
    quantity: Quantity,
    scale: Normalize | None = None,
) -> None:
    """One quantity on several planes, with one colour scale: its own, or the one given."""
    maps = [on_grid(grid, quantity.values) for grid in grids]
    scale = scale or colour_scale(quantity, maps)
    for axes, grid, values in zip(places, grids, maps, strict=True):
        picture = draw_map(axes, grid, values, scale, quantity.colours)
        draw_outlines(axes, grid, partition)
        frame(axes, grid, f"{quantity.title}, {grid.plane.name}" if grid.plane.name else quantity.title)
        if axes is places[-1]:
            draw_bar(figure, picture, places, scale)


def _zero_line(axes: Axes, grid: Grid, level: np.ndarray, colour: str, width: float) -> None:
    finite = level[np.isfinite(level)]
    if finite.size and finite.min() < 0 < finite.max():  # else matplotlib warns that there is nothing to draw
        axes.contour(grid.x, grid.y, np.ma.masked_invalid(level), levels=[0.0], colors=colour, linewidths=width)
