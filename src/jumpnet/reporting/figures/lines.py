"""Solutions in one dimension: lines that end where a piece ends, so that a jump is a gap and not a steep slope."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from jumpnet.geometry import Partition
from jumpnet.reporting.figures.canvas import FAINT, INK, LINES, Apart, styled
from jumpnet.reporting.quantities import Quantity

MANY = 20  # with more pieces than this the interfaces are drawn fainter


@dataclass(frozen=True)
class Run:
    """A stretch of the line that belongs to one piece, with both of its ends."""

    piece: int
    x: Float[np.ndarray, " n"]


def runs(partition: Partition, resolution: int) -> tuple[Run, ...]:
    """The stretches between the ends of the domain and the interface points, with about `resolution` points in all."""
    ends = [np.asarray(partition.bounds, float).ravel()]
    ends += [partition.sample_interface(i.pair, 1, seed=0)[0][:, 0] for i in partition.interfaces]
    breaks = np.unique(np.concatenate(ends))
    count = max(resolution // (len(breaks) - 1), 20)
    pieces = partition.label(((breaks[1:] + breaks[:-1]) / 2)[:, None])
    return tuple(
        Run(int(piece), np.linspace(a, b, count))
        for a, b, piece in zip(breaks[:-1], breaks[1:], pieces, strict=True)
        if piece >= 0
    )


def draw_line(axes: Axes, stretches: tuple[Run, ...], quantity: Quantity, colour: str = LINES[0]) -> None:
    """One quantity, broken at the interfaces, which are faint vertical lines."""
    faint = 0.9 if len(stretches) <= MANY else 0.35
    for run in stretches[1:]:
        axes.axvline(run.x[0], color=FAINT, linewidth=0.6, alpha=faint, zorder=0)
    for run in stretches:
        values = quantity.values(run.x[:, None], np.full(len(run.x), run.piece))
        axes.plot(run.x, values, color=colour, linewidth=1.4, solid_capstyle="butt")
    if quantity.logarithmic:
        axes.set_yscale("log")
        _lift_floor(axes)
    else:
        axes.yaxis.set_major_formatter(Apart())
        axes.yaxis.offsetText.set(fontsize=8, color=INK)
    axes.set_xlim(stretches[0].x[0], stretches[-1].x[-1])
    styled(axes, ylabel=quantity.title)


def _lift_floor(axes: Axes) -> None:
    """Sign changes of an error are spikes towards zero; the axis ends three decades below the typical value."""
    drawn = [np.asarray(line.get_ydata(), float) for line in axes.lines]
    values = np.concatenate([y for y in drawn if len(y) > 2])  # those of two points mark interfaces
    axes.set_ylim(max(float(np.median(values)) * 1e-3, 1e-300), 3 * max(float(values.max()), 1e-298))
