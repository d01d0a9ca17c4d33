"""`jumpnet reproduce`: the paper's tables and figures, line by line as they come."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from jumpnet.cli.session import SOLVED, Session, output_directory
from jumpnet.errors import ModelError
from jumpnet.guard import interrupts

if TYPE_CHECKING:
    from jumpnet.experiments.reproduction import Reproduction, Wanted
    from jumpnet.experiments.summary import Summary

# Heading and width of each column.
COLUMNS = (
    ("", 34), ("L2", 9), ("median", 9), ("worst", 9), ("paper", 9), ("ratio", 7), ("Linf", 9), ("paper", 9),
    ("ratio", 7), ("trials", 6), ("steps", 6), ("seconds", 8), ("", 0),
)  # fmt: skip

PICTURE_DPI = 60  # pictures are saved with twice as many dots


@dataclass(frozen=True)
class Options:
    """The options of the command."""

    trials: int = 10
    setting: str = "default"
    models: str = ""
    steps: int | None = None
    jobs: int | None = None
    cluster: str | None = None
    quick: bool = False
    again: bool = False
    stored: bool = False
    recorded: bool = False


def run(session: Session, tables: Sequence[str], options: Options, output: str) -> int:
    """Compute what is not in the directory yet, print each line when it is complete, then write the page."""
    from jumpnet.engines.network.trials import cores
    from jumpnet.experiments.cost import spoken
    from jumpnet.experiments.recorded import Recorded
    from jumpnet.experiments.reproduction import Reproduction
    from jumpnet.experiments.store import Store

    wanted = _wanted(tables, options)
    wanted.lines()  # says what is wrong before anything is made
    folder = output_directory(output)
    recorded = Recorded() if options.stored or options.recorded else None
    store = Store(folder / ("quick" if options.quick else "trials"), recorded)
    found = Reproduction(wanted, store, again=options.again)
    waiting, jobs = 0 if options.stored else len(found.waiting), options.jobs or cores()
    if waiting:
        left = spoken(found.clock.left(1 if options.cluster else jobs))
        where = f"on the cluster at {options.cluster}" if options.cluster else f"{jobs} at a time"
        kept = f", {len(found.trials) - waiting} kept from before" if waiting < len(found.trials) else ""
        session.say(f"{waiting} trials to compute, {where}{kept}; about {left} (an estimate from their sizes)")
    session.say("".join(_cell(heading, width, k) for k, (heading, width) in enumerate(COLUMNS)).rstrip())
    for line in found.lines:
        if found.complete(line) or (options.stored and found.summary(line).records):
            session.out.print(_line(found.summary(line), wanted.quick), soft_wrap=True)
    with interrupts.caught(), _overall(session, found, 1 if options.cluster else jobs) as advance:
        for trial, _ in () if options.stored else found.run(min(jobs, max(waiting, 1)), options.cluster):
            advance(str(trial.row))
            line = found.line_of(trial)
            if found.complete(line):
                session.out.print(_line(found.summary(line), wanted.quick), soft_wrap=True)
                _write_numbers(session, folder, found)
    _write_numbers(session, folder, found)
    _write_page(session, folder, found, wanted)
    session.say_written()
    return SOLVED


def _wanted(tables: Sequence[str], options: Options) -> "Wanted":
    """The options in the words of the experiments."""
    from jumpnet.experiments.reproduction import SETTINGS, Wanted
    from jumpnet.experiments.tables import METHODS, NAMES, STUDIES

    if options.setting not in (*SETTINGS, "both"):
        raise ModelError(f"the setting is {options.setting!r}; choose default, faithful or both.")
    known = {method.lower(): method for method in METHODS}
    asked = [name.strip() for name in options.models.split(",")] if options.models else []
    names = (*NAMES, *STUDIES) if "all" in tables else tuple(dict.fromkeys(name.lower() for name in tables))
    both = options.quick or options.setting == "both"
    return Wanted(
        names,
        tuple(known.get(name.lower(), name) for name in asked) if asked else None,
        SETTINGS if both else tuple(setting for setting in SETTINGS if setting == options.setting),
        options.trials,
        options.steps,
        options.quick,
    )


@contextmanager
def _overall(session: Session, found: "Reproduction", workers: int) -> Iterator[Callable[[str], None]]:
    """A bar below the lines on a terminal; elsewhere the lines themselves are the progress."""
    if session.quiet or not session.out.is_terminal or not found.waiting:
        yield lambda text: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from jumpnet.experiments.cost import spoken

    columns = (BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=session.out, transient=True) as shown:

        def words(last: str) -> str:
            return f"about {spoken(found.clock.left(workers))} left{last and f', last {last}'}"

        task = shown.add_task(words(""), total=len(found.waiting))
        yield lambda last: shown.update(task, advance=1, description=words(last))


def _line(summary: "Summary", quick: bool) -> Text:
    """A line of the table; a quick run is compared with nothing."""
    row = summary.row
    cells = (
        f"{row}{'' if summary.setting == 'default' else ', ' + summary.setting}",
        _number(summary.l2),
        _number(summary.median),
        _number(summary.worst),
        "-" if quick else "fails" if row.failed else _number(row.l2),
        "-" if quick else _ratio(summary.l2_ratio),
        _number(summary.linf),
        "-" if quick else _number(row.linf),
        "-" if quick else _ratio(summary.linf_ratio),
        str(len(summary.records)),
        "-" if summary.steps is None else f"{summary.steps:.0f}",
        f"{summary.seconds:.1f}",
        summary.statuses + ("" if summary.judged is None else f", judged {summary.judged:.1e}"),
    )
    line = Text()
    for k, (cell, (_, width)) in enumerate(zip(cells, COLUMNS, strict=True)):
        good = None if quick else {5: summary.l2_ratio, 8: summary.linf_ratio}.get(k)
        style = "" if good is None else "green" if good <= 1 else "yellow"
        line.append(_cell(cell, width, k), style=style)
    line.rstrip()
    return line


def _cell(text: str, width: int, column: int) -> str:
    return (text.ljust(width) if column in (0, len(COLUMNS) - 1) else text.rjust(width)) + "  "


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2e}"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2g}" if value < 1000 else f"{value:.0e}"


def _write_numbers(session: Session, folder: Path, found: "Reproduction") -> None:
    """The table of all lines; the trials themselves are files of their own and are never lost."""
    records = [summary.record() for summary in found.summaries()]
    if not records:
        return
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    session.write(folder / "reproduction.csv", text.getvalue())


def _write_page(session: Session, folder: Path, found: "Reproduction", wanted: "Wanted") -> None:
    """The page with all tables, and its figures."""
    from jumpnet.experiments.document import page
    from jumpnet.experiments.figures import drawn
    from jumpnet.reporting.figures.canvas import finished

    pictures = output_directory(str(folder / "reproduction"))
    figures = []
    for name, title, figure in drawn(found):
        figure.set_dpi(PICTURE_DPI)
        finished(figure, pictures / f"{name}.png")
        session.keep(pictures / f"{name}.png")
        figures.append((name, title))
    session.write(folder / "reproduction.md", page(found, figures, quick=wanted.quick))
