"""What happens along an interface: u on either side, its jump and the jump of the flux, against the arc length."""

from collections.abc import Sequence
from os import PathLike

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from jumpnet.errors import SolutionError
from jumpnet.reporting.curves import Curve, interface_curves
from jumpnet.reporting.figures.canvas import FAINT, INK, LINES, Apart, finished, new_figure, styled
from jumpnet.reporting.figures.solution import drawable, through
from jumpnet.reporting.grid import make_grid, planes, whole_resolution
from jumpnet.solution import Solution

RESOLUTION = 320
MOST_PAIRS = 4  # interfaces shown if none are named: the longest


def plot_jumps(
    solution: Solution,
    path: str | PathLike[str] | None = None,
    *,
    pair: tuple[int, int] | None = None,
    resolution: int | None = None,
    at: ArrayLike | None = None,
) -> Figure:
    """u on both sides of interfaces and the jumps [u] and [A grad u . n], along the arc length.

    The data v and w are dashed where they are known. `pair` names one interface, by default the longest ones are
    shown; in 3-D the curve is that in which the first plane through `at` cuts the interface.
    """
    partition = drawable(solution)
    if partition.dim == 1:
        raise SolutionError("in one dimension an interface is a point; solution.jump(x) gives the number.")
    plane = planes(partition, through(partition, at))[0]
    grid = make_grid(partition, plane, whole_resolution(resolution, RESOLUTION))
    found = _by_pair(interface_curves(partition, grid))
    chosen = _chosen(found, pair)
    flux = all(tensor is not None for tensor in solution.tensors) and bool(solution.tensors)
    across, down = min(len(chosen), 2), -(-len(chosen) // 2)
    figure = new_figure((6.6 if across == 1 else 4.6 * across) + 0.4, (5.6 if flux else 4.0) * down)
    rows = 3 if flux else 2
    blocks = np.atleast_2d(figure.subfigures(down, across, squeeze=False)).ravel()
    for block, key in zip(blocks, chosen, strict=False):
        places = block.subplots(rows, 1, sharex=True, height_ratios=[1.5, 1, 1][:rows])
        _draw(solution, places, key, found[key])
        names = (partition.names[k] for k in key)
        places[0].set_title(" | ".join(names), fontsize=10, color=INK)
        block.align_ylabels()
    return finished(figure, path)


def _by_pair(curves: Sequence[Curve]) -> dict[tuple[int, int], list[Curve]]:
    found: dict[tuple[int, int], list[Curve]] = {}
    for curve in curves:
        found.setdefault(curve.pair, []).append(curve)
    return found


def _chosen(found: dict[tuple[int, int], list[Curve]], pair: tuple[int, int] | None) -> list[tuple[int, int]]:
    if not found:
        raise SolutionError("no interface is cut by this plane; choose another point with at=.")
    if pair is None:
        longest = sorted(found, key=lambda key: -sum(curve.arc[-1] for curve in found[key]))[:MOST_PAIRS]
        return sorted(longest)
    a, b = pair if isinstance(pair, Sequence) and len(pair) == 2 else (-1, -1)
    key = (min(a, b), max(a, b))
    if key not in found:
        raise SolutionError(f"pair is {pair!r}; the interfaces here are {', '.join(map(str, list(found)[:10]))}.")
    return [key]


def _draw(solution: Solution, places: Sequence[Axes], pair: tuple[int, int], curves: list[Curve]) -> None:
    a, b = pair
    names = [solution.partition.names[k] if solution.partition is not None else str(k) for k in pair]
    start = 0.0
    for index, curve in enumerate(curves):
        s, x = start + curve.arc, curve.points
        sides = solution(x, a), solution(x, b)
        for k, u in enumerate(sides):
            label = f"{names[k]} side" if index == 0 else None
            places[0].plot(s, u, color=LINES[k], linewidth=1.5, label=label)
        lines = [(places[1], sides[0] - sides[1])]
        if len(places) > 2:
            fluxes = [np.einsum("ni,ni->n", solution.flux(x, k), curve.normals) for k in pair]
            lines.append((places[2], fluxes[0] - fluxes[1]))
        given = _given(solution, curve)
        for k, (axes, jump) in enumerate(lines):
            axes.plot(s, jump, color=LINES[2], linewidth=1.5, label="computed" if index == 0 else None)
            if given is not None:
                axes.plot(s, given[k], "--", color=INK, linewidth=0.9, label="given" if index == 0 else None)
        start = s[-1] * 1.02
        if index + 1 < len(curves):
            for axes in places:
                axes.axvline(start, color=FAINT, linewidth=0.5)
    words = ("$u$", "$[u]$", r"$[A \nabla u \cdot n]$")
    for axes, label in zip(places, words, strict=False):
        styled(axes, ylabel=label)
        axes.legend(loc="upper right", fontsize=8, frameon=False, labelcolor=INK, ncols=2)  # above the lines: _calm
        _calm(axes)
        axes.yaxis.set_major_formatter(Apart())
        axes.yaxis.offsetText.set(fontsize=8, color=INK)
    places[-1].set_xlabel("arc length", fontsize=9, color=INK)


def _given(solution: Solution, curve: Curve) -> tuple[np.ndarray, np.ndarray] | None:
    """What the data ask for: v with the fall at a contact resistance, and w; None where the problem is not known."""
    problem, x, n = solution.problem, curve.points, curve.normals
    if problem is None:
        return None
    v, w = problem.jump_data(curve.pair, x, n)
    crossing = np.mean([np.einsum("ni,ni->n", solution.flux(x, k), n) for k in curve.pair], axis=0)
    return v + problem.resistance(curve.pair, x) * crossing, w


def _calm(axes: Axes) -> None:
    """Rounding does not fill the picture: the axis spans at least a millionth of the values' size."""
    low, high = axes.get_ylim()
    lines = [np.asarray(line.get_ydata(), float) for line in axes.lines]
    drawn = np.concatenate([values for values in lines if len(values) > 2])
    least = max(1e-6 * float(np.abs(drawn).max()), 1e-9)
    room = 0.35 * max(high - low, least)  # for the legend
    middle = (low + high) / 2
    half = max(high - low, least) / 2
    axes.set_ylim(middle - half, middle + half + room)
