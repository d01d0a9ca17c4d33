"""The figures of a run: optimisers, domains, maps, errors against D, learned labels. Drawn from the results alone."""

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from jumpnet.errors import JumpnetWarning
from jumpnet.experiments.reproduction import Reproduction
from jumpnet.experiments.summary import Summary
from jumpnet.experiments.tables import NETWORKS
from jumpnet.fields.piecewise import piecewise_values
from jumpnet.judge import judge
from jumpnet.reporting import plot_domain, plot_solution
from jumpnet.reporting.figures.canvas import FAINT, INK, LINES, new_figure, styled
from jumpnet.reporting.quantities import decided
from jumpnet.solution import Solution, load

Drawn = tuple[str, str, Figure]  # file name (beginning with the experiment's), title, figure
JUDGE_SECONDS = 60.0  # of a map; those of the paper take 3
POINTS_PER_PIECE = 50  # for the means that colour learned labels


def drawn(found: Reproduction) -> Iterator[Drawn]:
    """All figures that the results allow."""
    summaries = found.summaries()
    if histories := [s for s in summaries if any(record.get("history") for record in s.records)]:
        yield "optimizers", "Best loss against steps, by optimiser and encoding", optimizers(histories)
    if study := [s for s in summaries if s.row.study and s.l2 is not None]:
        yield "embedding-dimension", "Error against the length D of the label", dimensions(study)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JumpnetWarning)  # what is odd about a problem was said when it was solved
        yield from _of_solutions(found)


def _of_solutions(found: Reproduction) -> Iterator[Drawn]:
    """Maps with their domains, and labels, of the solutions that were kept."""
    domains = set()
    for row, setting in found.lines:
        for path in found.solutions((row, setting))[:1]:
            solution = load(path)
            name = f"{row.table}-{row.problem}" + (f"-{setting}" if setting != "default" else "")
            if row.table == "embedding":
                yield f"{name}-D{row.dim}", f"Labels learned for {row}, {setting}", labels(solution)
                continue
            if solution.partition is not None and row.problem not in domains:
                domains.add(row.problem)
                yield f"{row.table}-{row.problem}-domain", f"Domain of {row.problem}", plot_domain(solution.partition)
            yield _mapped(name, f"{row}, {setting}", solution)


def _mapped(name: str, title: str, solution: Solution) -> Drawn:
    """The solution, its error, and where the judge can find one, the error that it solves for without knowing u."""
    if solution.problem is not None:
        solution = solution.with_diagnostics(verdict=judge(solution, seconds=JUDGE_SECONDS))
    if not decided(solution):
        return name, f"{title}: solution and pointwise error", plot_solution(solution)
    assert solution.verdict is not None
    found = f"judged {solution.verdict.rms:.1e}, true {solution.errors().l2:.1e}"
    figure = plot_solution(solution, what=("u", "error", "judged"))
    return name, f"{title}: solution, pointwise error and judged error (root mean square: {found})", figure


def optimizers(summaries: Sequence[Summary]) -> Figure:
    """A panel for each encoding, a line for each optimiser."""
    methods = [method for method in NETWORKS if any(s.row.method == method for s in summaries)]
    names = list(dict.fromkeys(s.row.optimizer_name for s in summaries))
    figure = new_figure(3.6 * len(methods), 3.4)
    panels = figure.subplots(1, len(methods), sharey=True, squeeze=False)[0]
    for axes, method in zip(panels, methods, strict=True):
        for summary in (s for s in summaries if s.row.method == method):
            step, loss = np.array(summary.records[0]["history"]).T
            name = summary.row.optimizer_name
            axes.loglog(step, np.maximum(loss, 1e-300), color=LINES[names.index(name)], linewidth=1.4, label=name)
        styled(axes, title=method, xlabel="step", ylabel="best loss" if axes is panels[0] else "")
        axes.grid(axis="y", color=FAINT, alpha=0.25, linewidth=0.6)
    panels[0].legend(fontsize=7, frameon=False, labelcolor=INK)
    return figure


def dimensions(summaries: Sequence[Summary]) -> Figure:
    """Mean and worst error against D, a colour for each number of pieces."""
    figure = new_figure(5.4, 3.6)
    axes = figure.subplots()
    problems = list(dict.fromkeys((s.row.of_problem, s.setting) for s in summaries))
    for (problem, setting), colour in zip(problems, LINES, strict=False):
        mine = [s for s in summaries if (s.row.of_problem, s.setting) == (problem, setting)]
        fixed = [s for s in mine if isinstance(s.row.dim, int)]
        at = [int(s.row.dim or 0) for s in fixed]
        axes.loglog(at, [s.l2 for s in fixed], "o-", color=colour, markersize=4, label=f"{problem}, {setting}, mean")
        axes.loglog(at, [s.worst for s in fixed], ":", color=colour, linewidth=1.0, label="worst trial")
        for summary in (s for s in mine if s.row.dim == "auto"):
            axes.axhline(summary.l2 or 0, color=colour, linewidth=0.8, linestyle="--", label='dim="auto"')
    styled(axes, xlabel="D", ylabel="L2 error")
    tried = sorted({int(s.row.dim) for s in summaries if isinstance(s.row.dim, int)})
    axes.set_xticks(tried, [str(dim) for dim in tried])
    axes.minorticks_off()
    axes.legend(fontsize=7, frameon=False, labelcolor=INK)
    return figure


def labels(solution: Solution) -> Figure:
    """Where each piece has ended, by number; the colour is the mean of u: is that what brings pieces together?"""
    network = solution.network.shallow
    assert network is not None
    learned = np.asarray(network.unpack(solution.theta).e)  # pyright: ignore[reportArgumentType]
    flat = len(learned) == 1
    figure = new_figure(5.6, 2.0 if flat else 4.2)
    axes = figure.subplots()
    x, y = learned[0], np.zeros(learned.shape[1]) if flat else learned[1]
    picture = axes.scatter(x, y, c=_means(solution), s=40, cmap="viridis", zorder=2)
    for piece in range(len(x)):
        # Neighbours on the line take turns above and below it.
        place = (0, 9 if not flat or np.argsort(np.argsort(x))[piece] % 2 else -15)
        axes.annotate(
            str(piece), (x[piece], y[piece]), textcoords="offset points", xytext=place, ha="center", fontsize=8
        )
    _finish(figure, axes, picture, flat)
    return figure


def _means(solution: Solution) -> Float[np.ndarray, " pieces"]:
    """The mean of the exact solution over each piece."""
    assert solution.partition is not None and solution.exact is not None
    count = POINTS_PER_PIECE * solution.pieces
    x, piece = solution.partition.sample_interior(count, seed=0, minimum=POINTS_PER_PIECE // 2)
    return np.bincount(piece, piecewise_values(solution.exact, x, piece)) / np.bincount(piece)


def _finish(figure: Figure, axes: Axes, picture: object, flat: bool) -> None:
    styled(axes, xlabel="first number of the label", ylabel="" if flat else "second")
    if flat:
        axes.set_yticks([])
        axes.set_ylim(-1, 1)
        axes.spines["left"].set_visible(False)
    bar = figure.colorbar(picture, ax=axes, aspect=18)  # pyright: ignore[reportArgumentType]
    bar.set_label("mean of u", fontsize=8, color=INK)
    bar.ax.tick_params(labelsize=7)
