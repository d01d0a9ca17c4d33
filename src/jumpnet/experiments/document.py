"""Generates the page about a run: every row beside the paper's, by setting."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from jumpnet.experiments.bench.timing import machine
from jumpnet.experiments.reproduction import SETTINGS, Reproduction, by_experiment
from jumpnet.experiments.summary import Summary
from jumpnet.experiments.tables import NAMES, NETWORKS, experiment
from jumpnet.experiments.trial import HYPERCUBE, Setting

# The accepted ratio of a row's error to the paper's: other random numbers alone may change an error by 3.
ALLOWED: dict[Setting, float] = {"default": 1.0, "faithful": 3.0}
# What a quick run makes of rows: nothing of the paper's is beside them.
UNPUBLISHED = {"published": False, "l2": None, "linf": None}

ENOUGH = 10.0  # times the least error: a longer label is not worth its parameters
# The paragraph under the title.
EXPLANATION = (
    "Trials have seeds from 0 on; each row and setting says how many there are. L2 is the root mean square error, "
    "Linf the largest, at ten times as many random points as there are interior ones. Of the L2 errors of the trials: "
    "*mean* (what the paper gives, over ten trials), *median*, *worst*, and *spread*, their geometric standard "
    "deviation, a factor. *Default* trains the paper's networks, with its numbers of neurons and points, in our "
    "charts, weights, damping and restarts, and with labels *mean* evenly spaced in the order of the means. *Faithful* "
    'is `preset="paper"`: its coordinates, labels, weights, QR and stops. The paper gives no initial weights and no '
    "damping rule; for all rows alike, weights are normal of size one in inputs scaled to [-1, 1], larger where one "
    "number tells ten pieces or more apart, and the damping is 1e-3 times the loss to the power 1.1 "
    "([why](method.md#the-papers-setting)). *separate* is a network for each piece, *plain* one smooth network without "
    "a label, *solve* what `jn.solve(problem)` (or `jn.approximate`) does by itself. In 1-D the paper does not give "
    "its random coefficients; ours are other functions, so orders of magnitude are compared there. *FEM* is "
    "`jn.baselines.fem` with the paper's number of unknowns. *Loss met*: a training "
    "reached its tolerance, 1e-15. Unknowns, loss, steps and seconds are of one trial, on average."
)

# The note on the page of a quick run.
NOTHING_COMPARED = (
    "**A quick run: few rows, one trial, few steps. It shows that everything runs, and compares nothing:** what a "
    "training has reached after so few steps says nothing about the paper's numbers, which are left out."
)

# The commands that make the page.
HOW = """```
jumpnet reproduce pde4 fa1              # one table or several; all: everything, hours
jumpnet reproduce all --setting both    # default, faithful or both
jumpnet reproduce all --quick           # both settings, few rows and steps: minutes
jumpnet reproduce all --jobs 8          # trials in eight processes
jumpnet reproduce all --cluster tcp://host:8786   # on a dask.distributed scheduler
jumpnet reproduce all --setting both --stored     # compute nothing, write this page from the recorded trials
jumpnet reproduce all --setting both --recorded   # compute only what is not recorded yet
make reproduction                       # all of it, into docs/
```

Each trial is a file in `results/trials`, with its seed, settings, versions, time and status. A run that is interrupted
goes on where it stopped, and one that is repeated computes nothing (`--again`: everything). The trials of this page are
recorded in the package (`src/jumpnet/experiments/recorded`). Workers of a cluster need
the same version of jumpnet; whoever can reach a dask scheduler can run code on its workers, so keep it in a network you
trust."""

Cells = Sequence[str]


def page(found: Reproduction, figures: Sequence[tuple[str, str]], *, quick: bool = False) -> str:
    """The page as Markdown; `figures` are names and titles of pictures in reproduction/; `quick` compares nothing."""
    summaries = found.summaries()
    if quick:
        summaries = [replace(s, row=replace(s.row, **UNPUBLISHED)) for s in summaries]
    parts = ["# Reproduction", _preface(summaries, quick)]
    if not quick:
        parts += ["## Summary", overview(summaries)]
        parts += [verdict for verdict in (_verdict(summaries, setting) for setting in SETTINGS) if verdict]
    for name, mine in by_experiment(summaries).items():
        parts += [f"## {experiment(name).title}", _errors(mine), _trainings(mine), *_remarks(name, mine)]
        parts += [f"![{title}](reproduction/{file}.png)" for file, title in figures if file.startswith(name)]
    return "\n\n".join([*parts, "## To do it again", HOW]) + "\n"


def _preface(summaries: Sequence[Summary], quick: bool) -> str:
    here = machine()
    records = [record for summary in summaries for record in summary.records]
    versions = sorted({record["versions"].get("jumpnet", "?") for record in records})
    dates = sorted(record["finished"][:10] for record in records) or [datetime.now(UTC).strftime("%Y-%m-%d")]
    when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    reduced = f"\n\n{NOTHING_COMPARED}" if quick else ""
    return (
        f"Written by `jumpnet reproduce`, never edited. Computed {when} with jumpnet {', '.join(versions)}, "
        f"jax {here.get('jax', '?')}, numpy {here['numpy']}, scipy {here['scipy']} on {here['cores']} cores of "
        f"{here['processor']}.{reduced}\n\n{EXPLANATION}"
    )


def overview(summaries: Sequence[Summary]) -> str:
    """One line for each of the paper's tables: how its network rows compare, and what `solve` does."""
    lines = []
    for name, mine in by_experiment(summaries).items():
        if name not in NAMES:
            continue
        cells = [experiment(name).title]
        for setting in SETTINGS:
            networks = _networks(mine, setting)
            ratios = [ratio for s in networks if (ratio := _ratio(s)) is not None]
            good = sum(ratio <= ALLOWED[setting] for ratio in ratios)
            compared = [f"{good} of {len(ratios)}", f"{max(ratios):.2g}"] if ratios else ["-", "-"]
            cells += [_trials(networks), *compared]
        cells.append(", ".join(f"{s.l2:.1e}" for s in mine if s.row.method == "solve" and s.l2 is not None) or "-")
        lines.append(cells)
    heading = (
        "table", "default: trials", "mean L2 at or below the paper's", "largest ratio", "faithful: trials",
        f"median L2 within {ALLOWED['faithful']:.0f} times the paper's", "largest ratio", "`solve` by itself, L2",
    )  # fmt: skip
    return _markdown(heading, lines)


def _networks(summaries: Iterable[Summary], setting: Setting) -> list[Summary]:
    return [s for s in summaries if s.row.method in NETWORKS and s.setting == setting and s.row.published]


def _ratio(summary: Summary) -> float | None:
    """What a setting is measured by: the mean of the default, the median of the faithful, over the paper's mean."""
    return summary.l2_ratio if summary.setting == "default" else summary.median_ratio


def _trials(summaries: Iterable[Summary]) -> str:
    """How many trials rows have: one number, or from the fewest to the most."""
    counts = sorted({len(s.records) for s in summaries})
    return "-" if not counts else str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _verdict(summaries: Sequence[Summary], setting: Setting) -> str:
    """Rows above the accepted ratio, and the results of rows that failed in the paper."""
    mine = [s for s in _networks(summaries, setting) if s.row.table in NAMES]
    if not mine:
        return ""
    allowed = ALLOWED[setting]
    compared = [(s, ratio) for s in mine if (ratio := _ratio(s)) is not None]
    missed = [f"{s.row} ({ratio:.2g}; {s.statuses})" for s, ratio in compared if ratio > allowed]
    failed = [f"{s.row} (L2 {s.median:.1e}; {s.statuses})" for s in mine if s.row.l2 is None and s.median is not None]
    words = "whose mean L2 is above the paper's"
    if setting == "faithful":
        words = f"whose median L2 is above {allowed:.0f} times the paper's"
    text = (
        f"**{setting.capitalize()}.** {len(compared) - len(missed)} of {len(compared)} rows meet that. Rows {words} "
        f"(ratio; how trials ended): {'; '.join(missed) or 'none'}."
    )
    return text + (f" Rows that fail in the paper (median L2): {'; '.join(failed)}." if failed else "")


def _errors(summaries: Sequence[Summary]) -> str:
    """The L2 errors of an experiment's rows, a line for each setting."""
    published = any(s.row.published for s in summaries)
    judged = any(s.judged is not None for s in summaries)
    heading = ["row", "setting", "trials"] + ["L2, paper"] * published + ["mean", "median", "worst", "spread"]
    heading += ["judged", "judged / true"] * judged + ["mean / paper", "median / paper"] * published
    lines = []
    for s in _by_row(summaries):
        cells = [str(s.row), s.setting, str(len(s.records))]
        cells += ["fails" if s.row.failed else _error(s.row.l2)] * published
        cells += [_error(s.l2), _error(s.median), _error(s.worst), _plain(s.spread)]
        cells += [_error(s.judged), _plain(s.judged_ratio)] * judged
        cells += ([_plain(s.l2_ratio), _plain(s.median_ratio)]) * published
        lines.append(cells)
    return _markdown(heading, lines)


def _trainings(summaries: Sequence[Summary]) -> str:
    """The largest errors, and how trials ended, in the same order."""
    published = any(s.row.published for s in summaries)
    heading = ["row", "setting", "unknowns"] + ["Linf, paper"] * published + ["Linf, mean"]
    heading += ["how trials ended", "loss", "steps", "seconds"]
    lines = []
    for s in _by_row(summaries):
        cells = [str(s.row), s.setting, _plain(s.parameters)] + [_error(s.row.linf)] * published + [_error(s.linf)]
        cells += [s.statuses, _error(s.loss), "-" if s.steps is None else f"{s.steps:.0f}"]
        lines.append([*cells, f"{s.seconds / len(s.records):.1f}"])
    return _markdown(heading, lines)


def _by_row(summaries: Sequence[Summary]) -> list[Summary]:
    """In the paper's order, the settings of a row one below the other."""
    names = [str(row) for row in experiment(summaries[0].row.table).rows]
    return sorted(summaries, key=lambda s: (names.index(str(s.row)), SETTINGS.index(s.setting)))


def _remarks(name: str, summaries: Sequence[Summary]) -> list[str]:
    """What a table cannot say by itself."""
    found = [experiment(name).remark] if experiment(name).remark else []
    other = [s for s in summaries if s.row.measure == HYPERCUBE and s.mean_of("relative_l2") is not None]
    if other:
        words = "; ".join(f"{s.row} {s.mean_of('relative_l2'):.1e}" for s in other)
        found.append(f"Mean relative errors at points uniform in the ball: {words}.")
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
