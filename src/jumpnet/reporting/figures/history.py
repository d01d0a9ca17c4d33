"""The course of a solve: loss, loss by kind of equation, damping."""

from collections.abc import Mapping
from os import PathLike

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator

from jumpnet.errors import SolutionError
from jumpnet.optim import History
from jumpnet.reporting.figures.canvas import FAINT, INK, LINES, finished, new_figure, styled
from jumpnet.rows import group_of
from jumpnet.solution import Solution

# Groups of conditions, and what they are called in the legend.
KINDS: Mapping[str, str] = {
    "pde": "PDE",
    "boundary": "boundary",
    "jump": "jump of u",
    "flux": "jump of the flux",
    "value": "values",
}

FEW = 30  # steps that are marked one by one


def loss_by_kind(history: History) -> dict[str, Float[np.ndarray, " k"]]:
    """The loss of each kind of equation (pde, boundary, jump, flux, ...), summed over pieces and interfaces."""
    kinds = [group_of(label) for label in history.terms]
    return {
        kind: history.loss_of_term[:, [index for index, mine in enumerate(kinds) if mine == kind]].sum(axis=1)
        for kind in dict.fromkeys(kinds)
    }


def plot_history(
    history: "History | Solution | Mapping[str, History | Solution]",
    path: str | PathLike[str] | None = None,
    *,
    unit: str | None = None,
) -> Figure:
    """Loss and its parts over the steps, and the damping where the method has one; written to `path` if given.

    Takes a solution or its history; of several, {name: solution}, the losses are drawn beside each other. `unit` names
    what the horizontal axis counts, by default `solution.unit`: the history of a Trefftz solve has levels, and its loss
    is that of held-out points.
    """
    if isinstance(history, Mapping):
        return finished(_compared(history, unit), path)
    history, unit = _of(history, unit)
    damped = bool(np.isfinite(history.damping).any())
    figure = new_figure(7.0, 4.6 if damped else 3.2)
    ratios = {"height_ratios": [3, 1]} if damped else {}
    places = figure.subplots(2 if damped else 1, 1, sharex=True, squeeze=False, gridspec_kw=ratios)[:, 0]
    steps = np.arange(1, len(history) + 1)
    axes, marker, edge = places[0], *(("o", 0.15) if len(history) <= FEW else ("", 0.0))
    axes.semilogy(steps, _positive(history.loss), color=INK, linewidth=2.0, marker=marker, label="loss", zorder=1)
    for index, (kind, loss) in enumerate(loss_by_kind(history).items()):
        colour = LINES[index % len(LINES)]
        name = KINDS.get(kind, kind)
        axes.semilogy(steps, _positive(loss), color=colour, linewidth=1.0, marker=marker, ms=4, label=name, zorder=2)
    styled(axes, ylabel="held-out loss" if unit == "level" else "loss")
    axes.yaxis.set_major_locator(LogLocator(numticks=8))
    axes.grid(axis="y", color=FAINT, alpha=0.25, linewidth=0.6)
    figure.legend(loc="outside upper center", fontsize=8, frameon=False, ncols=6, labelcolor=INK)
    if damped:
        places[1].semilogy(steps, _positive(history.damping), color=INK, linewidth=1.2)
        styled(places[1], ylabel="damping")
        places[1].grid(axis="y", color=FAINT, alpha=0.25, linewidth=0.6)
    places[-1].set_xlabel(unit, fontsize=9, color=INK)
    places[-1].set_xlim(1 - edge, max(len(history), 2) + edge)
    places[-1].xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    figure.align_ylabels()
    return finished(figure, path)


def _of(given: History | Solution, unit: str | None) -> tuple[History, str]:
    """The history, and what it counts."""
    history = given.history if isinstance(given, Solution) else given
    if not isinstance(history, History):
        raise SolutionError(f"there is no history in a {type(given).__name__}; give a solution or solution.history.")
    if len(history) == 0:
        raise SolutionError("the history is empty; a training or a Trefftz solve has one.")
    return history, unit or (given.unit if isinstance(given, Solution) else "step")


def _compared(runs: Mapping[str, History | Solution], unit: str | None) -> Figure:
    """The losses of several runs in one figure."""
    if not runs:
        raise SolutionError("there are no histories to compare; give {name: solution}.")
    figure = new_figure(7.0, 3.4)
    axes, counted = figure.subplots(1, 1), ""
    for index, (name, given) in enumerate(runs.items()):
        history, counted = _of(given, unit)
        steps, colour = np.arange(1, len(history) + 1), LINES[index % len(LINES)]
        axes.semilogy(steps, _positive(history.loss), color=colour, linewidth=1.4, label=name)
    styled(axes, xlabel=counted, ylabel="loss")
    axes.yaxis.set_major_locator(LogLocator(numticks=8))
    axes.grid(axis="y", color=FAINT, alpha=0.25, linewidth=0.6)
    figure.legend(loc="outside upper center", fontsize=8, frameon=False, ncols=4, labelcolor=INK)
    return figure


def _positive(values: np.ndarray) -> np.ndarray:
    """Zeros and failures leave gaps on a logarithmic axis."""
    return np.where(np.isfinite(values) & (values > 0), values, np.nan)
