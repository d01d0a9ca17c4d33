"""The plots of a benchmark run, drawn from its tables."""

from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from jumpnet.experiments.bench.report import Row, Table
from jumpnet.experiments.tables import row as paper_row
from jumpnet.reporting.figures.canvas import FAINT, INK, LINES, new_figure, styled

MARKERS = "osD^v"  # of the problems, in turn


def accuracy(table: Table) -> Figure | None:
    """Error against seconds, a panel for each problem."""
    names = list(dict.fromkeys(curve.problem for curve in table.curves))
    if not names:
        return None
    labels = list(dict.fromkeys(curve.label for curve in table.curves))
    figure, handles = new_figure(4.2 * len(names), 4.0), {}
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        for curve in table.curves:
            if curve.problem == name:
                number = labels.index(curve.label)
                how: dict[str, Any] = {"marker": MARKERS[number], "markersize": 4, "linestyle": ":"}
                how = how if curve.points else {"linewidth": 1.4}
                (handles[curve.label],) = axes.loglog(curve.seconds, curve.error, color=LINES[number], **how)
        paper = axes.axhline(paper_row(name, "CE").l2 or 0.0, color=FAINT, linewidth=1, linestyle="--")
        handles["the paper's error"] = paper
        styled(axes, title=name, xlabel="seconds", ylabel="root mean square error")
    # Below the panels: curves go through every corner of them.
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside lower center",
        ncols=2 * len(names),
        fontsize=8,
        frameon=False,
    )
    return figure


def pieces(table: Table) -> Figure | None:
    """Step time and memory against the number of pieces."""
    quantities = [name for name in ("our step (ms)", "peak memory (MB)") if any(row.get(name) for row in table.rows)]
    return _growth(table, [("pieces", quantity, table.rows) for quantity in quantities])


def growth(table: Table) -> Figure | None:
    """A panel for each size that was varied."""
    varied = list(dict.fromkeys(row["varied"] for row in table.rows))
    return _growth(
        table,
        [
            (against, quantity, [row for row in table.rows if row["varied"] == against])
            for against in varied
            for quantity in ("assembly (ms)", "step (ms)")
        ],
    )


def _growth(table: Table, series: Sequence[tuple[str, str, list[Row]]]) -> Figure | None:
    """Lines with their fitted exponents; those against the same size share a panel unless their units differ."""
    places = list(dict.fromkeys((against, quantity[-4:]) for against, quantity, _ in series))
    if not places:
        return None
    figure = new_figure(3.6 * len(places), 3.2)
    all_axes: dict[tuple[str, str], Axes] = dict(
        zip(places, figure.subplots(1, len(places), squeeze=False)[0], strict=True)
    )
    for number, (against, quantity, rows) in enumerate(series):
        axes = all_axes[against, quantity[-4:]]
        known = [row for row in rows if row.get(quantity)]
        power = [fit.exponent for fit in table.fits if (fit.quantity, fit.against) == (quantity, against)]
        label = f"{quantity}" + (f", exponent {power[0]:.2f}" if power else "")
        sizes = [row[against] for row in known]
        axes.loglog(sizes, [row[quantity] for row in known], "o-", color=LINES[number % 2], markersize=4, label=label)
        axes.set_xticks(sizes, labels=[str(size) for size in sizes])
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
        styled(axes, xlabel=against)
        axes.legend(fontsize=7, frameon=False)
    return figure


def ratios(table: Table) -> Figure | None:
    """Ratios of times as bars."""
    bars = [
        (f"{row.get('problem') or row.get('pieces')}, {name}", row[name])
        for row in table.rows
        for name in row
        if name.startswith("ratio") and row[name]
    ]
    if not bars:
        return None
    figure = new_figure(6.0, 1.0 + 0.35 * len(bars))
    axes = figure.subplots()
    drawn = axes.barh([label for label, _ in bars], [value for _, value in bars], color=LINES[0], height=0.6)
    axes.bar_label(drawn, fmt="%.2g", fontsize=8, padding=3)
    axes.axvline(1.0, color=INK, linewidth=0.8)
    axes.invert_yaxis()
    styled(axes, xlabel="times longer than ours")
    return figure


DRAWINGS: dict[str, Callable[[Table], Figure | None]] = {
    "training": ratios,
    "assembly": ratios,
    "step": ratios,
    "onehot": ratios,
    "pieces": pieces,
    "growth": growth,
    "accuracy": accuracy,
}


def drawn(table: Table) -> Figure | None:
    """The plot of a table, None where there is nothing to draw."""
    return DRAWINGS[table.name](table) if table.name in DRAWINGS else None
