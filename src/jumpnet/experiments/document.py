"""The page about a run: every row beside the paper's, by setting; generated, never edited."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from jumpnet.experiments.bench.timing import machine
from jumpnet.experiments.reproduction import SETTINGS, Reproduction, by_experiment
from jumpnet.experiments.summary import Summary
from jumpnet.experiments.tables import NAMES, NETWORKS, experiment
from jumpnet.experiments.trial import Setting

TIMES_FAITHFUL = 3.0  # the factor by which another implementation, with other random numbers, may differ

ENOUGH = 10.0  # times the least error: a longer label is not worth its parameters
EXPLANATION = (
    "Errors are means over trials (seeds from 0 on): L2 the root mean square, Linf the largest, at ten times as many "
    "random points as there are interior ones. *Default* trains the paper's networks, with its numbers of neurons and "
    "points, in our charts, weights, damping and restarts, and with labels *mean* evenly spaced in the order of the "
    'means; *faithful* is `preset="paper"`: its coordinates, labels, weights and stops, with our damping and initial '
    "weights. *separate* is a network for each piece, *plain* one smooth "
    "network without a label, *solve* what `jn.solve(problem)` (or `jn.approximate`) does by itself. In 1-D the paper "
    "does not give its random coefficients; ours are other functions, so orders of magnitude are compared there. *FEM* "
    "is `jn.baselines.fem` with the paper's number of unknowns; *FVM* is quoted from the paper, not computed. Loss, "
    "steps and seconds are of one trial, on average, in the first setting shown."
)

HOW = """```
jumpnet reproduce pde4 fa1              # one table or several; all: everything, hours
jumpnet reproduce all --setting both    # default, faithful or both
jumpnet reproduce all --quick           # both settings, few rows and steps: minutes
jumpnet reproduce all --jobs 8          # trials in so many processes
jumpnet reproduce all --cluster tcp://host:8786   # on a dask.distributed scheduler
jumpnet reproduce all --stored          # compute nothing, write this page again
make reproduction                       # all of it, into docs/
```

Each trial is a file in `results/trials`, with its seed, settings, versions, time and status. A run that is interrupted
goes on where it stopped, and one that is repeated computes nothing (`--again`: everything). Workers of a cluster need
the same version of jumpnet; whoever can reach a dask scheduler can run code on its workers, so keep it in a network you
trust."""

Cells = Sequence[str]


def page(found: Reproduction, figures: Sequence[tuple[str, str]], *, quick: bool = False) -> str:
    """The page as Markdown; `figures` are names and titles of pictures in reproduction/."""
    summaries = found.summaries()
    parts = ["# Reproduction", _preface(summaries, quick), "## Summary", overview(summaries)]
    parts += [verdict for verdict in (_verdict(summaries, setting) for setting in SETTINGS) if verdict]
    for name, mine in by_experiment(summaries).items():
        parts += [f"## {experiment(name).title}", _table(mine), *_remarks(name, mine)]
        parts += [f"![{title}](reproduction/{file}.png)" for file, title in figures if file.startswith(name)]
    return "\n\n".join([*parts, "## To do it again", HOW]) + "\n"


def _preface(summaries: Sequence[Summary], quick: bool) -> str:
    here = machine()
    records = [record for summary in summaries for record in summary.records]
    versions = sorted({record["versions"].get("jumpnet", "?") for record in records})
    dates = sorted(record["finished"][:10] for record in records) or [datetime.now(UTC).strftime("%Y-%m-%d")]
    when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    reduced = " A quick run: few rows, one trial, few steps; its numbers show that everything runs, no more." * quick
    return (
        f"Written by `jumpnet reproduce`, never edited.{reduced} Computed {when} with jumpnet {', '.join(versions)}, "
        f"jax {here.get('jax', '?')}, numpy {here['numpy']}, scipy {here['scipy']} on {here['cores']} cores of "
        f"{here['processor']}.\n\n{EXPLANATION}"
    )


def overview(summaries: Sequence[Summary]) -> str:
    """One line for each of the paper's tables: how its network rows compare, and what `solve` does."""
    lines = []
    for name, mine in by_experiment(summaries).items():
        if name not in NAMES:
            continue
        cells = [experiment(name).title]
        for setting in SETTINGS:
            ratios = [s.l2_ratio for s in _networks(mine, setting) if s.l2_ratio is not None]
            allowed = 1.0 if setting == "default" else TIMES_FAITHFUL
            good = sum(r <= allowed for r in ratios)
            cells += [f"{good} of {len(ratios)}", f"{max(ratios):.2g}"] if ratios else ["-", "-"]
        cells.append(", ".join(f"{s.l2:.1e}" for s in mine if s.row.method == "solve" and s.l2 is not None) or "-")
        cells.append(_trials(mine))
        lines.append(cells)
    heading = (
        "table", "default: L2 at or below the paper's", "largest ratio",
        f"faithful: within {TIMES_FAITHFUL:.0f} times", "largest ratio", "`solve` by itself, L2", "trials",
    )  # fmt: skip
    return _markdown(heading, lines)


def _networks(summaries: Iterable[Summary], setting: Setting) -> list[Summary]:
    return [s for s in summaries if s.row.method in NETWORKS and s.setting == setting and s.row.published]


def _trials(summaries: Iterable[Summary]) -> str:
    counts = sorted({len(s.records) for s in summaries if s.row.method in NETWORKS})
    return "-" if not counts else str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _verdict(summaries: Sequence[Summary], setting: Setting) -> str:
    """Which rows miss the mark, and what became of those that failed in the paper."""
    mine = [s for s in _networks(summaries, setting) if s.row.table in NAMES]
    if not mine:
        return ""
    allowed = 1.0 if setting == "default" else TIMES_FAITHFUL
    missed = [
        f"{s.row} ({s.l2_ratio:.2g}; {s.statuses})" for s in mine if s.l2_ratio is not None and s.l2_ratio > allowed
    ]
    failed = [f"{s.row} (L2 {s.l2:.1e}; {s.statuses})" for s in mine if s.row.l2 is None and s.l2 is not None]
    words = "above the paper's L2" if setting == "default" else f"above {allowed:.0f} times the paper's L2"
    text = f"**{setting.capitalize()}.** Rows {words} (ratio; status): {'; '.join(missed) or 'none'}."
    return text + (f" Rows that fail in the paper: {'; '.join(failed)}." if failed else "")


def _table(summaries: Sequence[Summary]) -> str:
    """The rows of an experiment, the settings side by side."""
    settings = [setting for setting in SETTINGS if any(s.setting == setting for s in summaries)]
    rows = list(dict.fromkeys(summary.row for summary in summaries))
    published = any(row.published for row in rows)
    heading = ["row", "unknowns"] + ["L2, paper"] * published
    for setting in settings:
        heading += [f"L2, {setting}"] + ["ratio"] * published
    heading += ["Linf, paper"] * published + [f"Linf, {setting}" for setting in settings]
    heading += [f"{setting}: how trials ended" for setting in settings] + ["loss", "steps", "seconds"]
    lines = []
    for row in rows:
        mine = {s.setting: s for s in summaries if s.row == row}
        first = next(iter(mine.values()))
        cells = [str(row), _plain(first.parameters)]
        cells += ["fails" if row.failed else _error(row.l2)] * published
        for setting in settings:
            s = mine.get(setting)
            cells += [_error(s.l2 if s else None)] + [_plain(s.l2_ratio if s else None)] * published
        cells += [_error(row.linf)] * published
        cells += [_error(mine[setting].linf if setting in mine else None) for setting in settings]
        cells += [mine[setting].statuses if setting in mine else "-" for setting in settings]
        cells += [_error(first.loss), "-" if first.steps is None else f"{first.steps:.0f}"]
        cells.append(f"{first.seconds / len(first.records):.1f}")
        lines.append(cells)
    return _markdown(heading, lines)


def _remarks(name: str, summaries: Sequence[Summary]) -> list[str]:
    """What a table cannot say by itself."""
    found = [experiment(name).remark] if experiment(name).remark else []
    for problem in dict.fromkeys(s.row.of_problem for s in summaries if s.row.study and s.setting == "default"):
        mine = [s for s in summaries if s.row.of_problem == problem and s.row.study and s.setting == "default"]
        if (best := recommended(mine)) is not None:
            pieces = mine[0].row.pieces
            found.append(
                f"{problem}: the smallest D within a factor of {ENOUGH:.0f} of the least mean L2 is {best}, "
                f"{100 * best / pieces:.0f} % of the pieces."
            )
    return found


def recommended(summaries: Sequence[Summary]) -> int | None:
    """The smallest D whose error is within a factor of the least."""
    errors = {s.row.dim: s.l2 for s in summaries if isinstance(s.row.dim, int) and s.l2 is not None}
    return min((d for d, error in errors.items() if error <= ENOUGH * min(errors.values())), default=None)


def _error(value: float | None) -> str:
    return "-" if value is None else f"{value:.1e}"


def _plain(value: float | None) -> str:
    return "-" if value is None else f"{value:.2g}" if isinstance(value, float) else str(value)


def _markdown(heading: Cells, lines: Sequence[Cells]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (heading, ["---"] * len(heading), *lines))
