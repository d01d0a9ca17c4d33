"""Plots along an interface, against the arc length: u on either side, its jump and the jump of the flux."""

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
from jumpnet.reporting.grid import planes, unlabelled, whole_resolution
from jumpnet.solution import Solution

RESOLUTION = 560  # points along the longer side, as on a page: the curves are the same
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
    grid = unlabelled(partition, plane, whole_resolution(resolution, RESOLUTION))
    found = _by_pair(interface_curves(partition, grid))
    chosen = _chosen(found, pair)
    flux = solution.statement.has_tensors
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
    """The stretches of one interface one after the other, evaluated at once, with gaps between their lines."""
    names = [solution.partition.names[k] if solution.partition is not None else str(k) for k in pair]
    x, n = (np.concatenate([getattr(curve, part) for curve in curves]) for part in ("points", "normals"))
    s, starts = _arc_lengths(curves)
    gaps = np.cumsum([len(curve.points) for curve in curves])[:-1]
    broken = lambda values: np.insert(values, gaps, np.nan)  # noqa: E731
    sides = [solution(x, k) for k in pair]
    for k, u in enumerate(sides):
        places[0].plot(broken(s), broken(u), color=LINES[k], linewidth=1.5, label=f"{names[k]} side")
    jumps, given = [sides[0] - sides[1]], None
    if len(places) > 2:
        fluxes = [np.einsum("ni,ni->n", solution.flux(x, k), n) for k in pair]
        jumps.append(fluxes[0] - fluxes[1])
        given = _given(solution, pair, x, n, np.mean(fluxes, axis=0), sides[1])
    for k, (axes, jump) in enumerate(zip(places[1:], jumps, strict=True)):
        axes.plot(broken(s), broken(jump), color=LINES[2], linewidth=1.5, label="computed")
        if given is not None:
            axes.plot(broken(s), broken(given[k]), "--", color=INK, linewidth=0.9, label="given")
    words = ("$u$", "$[u]$", r"$[A \nabla u \cdot n]$")
    for axes, label in zip(places, words, strict=False):
        axes.vlines(starts, 0, 1, transform=axes.get_xaxis_transform(), colors=FAINT, linewidth=0.5)
        styled(axes, ylabel=label)
        axes.legend(loc="upper right", fontsize=8, frameon=False, labelcolor=INK, ncols=2)  # above the lines: _calm
        _calm(axes)
        axes.yaxis.set_major_formatter(Apart())
        axes.yaxis.offsetText.set(fontsize=8, color=INK)
    places[-1].set_xlabel("arc length", fontsize=9, color=INK)


def _arc_lengths(curves: list[Curve]) -> tuple[np.ndarray, list[float]]:
    """The arc lengths of stretches one after the other, a little apart, and where all but the first begin."""
    found, starts = [curves[0].arc], []
    for curve in curves[1:]:
        starts.append(float(found[-1][-1]) * 1.02)
        found.append(starts[-1] + curve.arc)
    return np.concatenate(found), starts


def _given(
    solution: Solution, pair: tuple[int, int], x: np.ndarray, n: np.ndarray, crossing: np.ndarray, beyond: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """The prescribed jumps: v with the drop at a contact resistance, and w; None where the problem is not known.

    `crossing` is the flux through the interface. `beyond` is u on the side of the higher piece, from which partition
    coefficients determine the jump of u.
    """
    problem = solution.problem
    if problem is None:
        return None
    v, w = problem.jump_data(pair, x, n)
    fall = v + problem.resistance(pair, x) * crossing
    if problem.partitioned:
        a, b = pair
        fall = problem.K[a] * (beyond / problem.K[b] + fall) - beyond
    return fall, w


def _calm(axes: Axes) -> None:
    """The axis spans at least a millionth of the values' size, so that rounding is not magnified."""
    low, high = axes.get_ylim()
    drawn = np.concatenate([np.asarray(line.get_ydata(), float) for line in axes.lines])
    least = max(1e-6 * float(np.nanmax(np.abs(drawn))), 1e-9)
    room = 0.35 * max(high - low, least)  # for the legend
    middle = (low + high) / 2
    half = max(high - low, least) / 2
    axes.set_ylim(middle - half, middle + half + room)
