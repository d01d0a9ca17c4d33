"""The table of a sweep as a figure: each quantity over the parameters, with error bars."""

from os import PathLike

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from jumpnet.reporting.figures.canvas import FAINT, INK, LINES, finished, new_figure, styled
from jumpnet.studies.sweeping.result import Sweep

# Curves in one picture, for values of the second parameter; more are drawn as points in its colours.
MOST_CURVES = 6


def plot_sweep(table: Sweep, path: str | PathLike[str] | None = None) -> Figure:
    """Each quantity over the first parameter, a curve for each value of the second; written to `path` if given.

    With more than two parameters, or samples, points over each parameter. Solves that did not converge are crosses.
    """
    names, quantities = list(table.parameters), list(table.values)
    curves = _curves(table)
    across = 1 if curves is not None else len(names)
    figure = new_figure(4.6 * across + 1.0, 2.6 * max(len(quantities), 1) + 0.6)
    places = figure.subplots(max(len(quantities), 1), across, squeeze=False)
    for row, quantity in zip(places, quantities, strict=False):
        for axes, name in zip(row, names, strict=False):
            _drawn(axes, table, quantity, name, curves)
            styled(axes, xlabel=name, ylabel=quantity)
            if _is_log(table.parameters[name]):
                axes.set_xscale("log")
            if curves is not None and len(names) == 2:
                axes.legend(fontsize=8, frameon=False, labelcolor=INK, title=names[1], title_fontsize=8)
    return finished(figure, path)


def _curves(table: Sweep) -> dict[float, np.ndarray] | None:
    """The rows of each curve by the value of the second parameter; None where a curve would be none."""
    names = list(table.parameters)
    if len(names) == 1:
        return {np.nan: np.arange(len(table))}
    values = np.unique(table.parameters[names[1]])
    if len(names) > 2 or len(values) > MOST_CURVES:
        return None
    return {float(value): np.flatnonzero(table.parameters[names[1]] == value) for value in values}


def _drawn(axes: Axes, table: Sweep, quantity: str, name: str, curves: dict[float, np.ndarray] | None) -> None:
    x, y, error = table.parameters[name], table.values[quantity], table.errors[quantity]
    good = np.array([status == "converged" for status in table.status])
    if curves is None:
        axes.errorbar(x, y, np.nan_to_num(error), fmt=".", color=LINES[0], ecolor=FAINT, markersize=4)
    for k, (value, rows) in enumerate((curves or {}).items()):
        rows = rows[np.argsort(x[rows])]
        label = "" if np.isnan(value) else f"{value:.4g}"
        bars = np.nan_to_num(error[rows])
        axes.errorbar(
            x[rows], y[rows], bars, fmt=".-", color=LINES[k % len(LINES)], label=label, linewidth=1, markersize=4
        )
    axes.plot(x[~good], y[~good], "x", color="#c0392b", markersize=6)


def _is_log(values: np.ndarray) -> bool:
    return bool((values > 0).all() and values.max() >= 100 * values.min())
