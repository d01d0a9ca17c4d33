"""`jumpnet reproduce`: the paper's tables, line by line as they come."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from jumpnet.cli.session import NOT_CONVERGED, SOLVED, Session, output_directory

if TYPE_CHECKING:
    from jumpnet.experiments.summary import Summary

# Heading and width of each column.
COLUMNS = (
    ("", 18), ("L2", 9), ("paper", 9), ("ratio", 6), ("Linf", 9), ("paper", 9), ("ratio", 6), ("worst seed/paper", 16),
    ("converged", 9), ("steps", 6), ("seconds", 8),
)  # fmt: skip


def run(session: Session, tables: Sequence[str], trials: int, models: str, output: str, steps: int) -> int:
    """Compute the lines asked for, print each when it is done, and keep the files up to date."""
    from jumpnet.experiments.summary import summarise
    from jumpnet.experiments.tables import NAMES, rows, run_row
    from jumpnet.optim import LevenbergMarquardt, Status

    names = NAMES if "all" in tables else tuple(name.lower() for name in tables)
    wanted = rows(names, tuple(model.strip().upper() for model in models.split(",")))
    folder = output_directory(output)
    optimizer, done = LevenbergMarquardt(steps=steps), []
    session.say("".join(_cell(heading, width, k) for k, (heading, width) in enumerate(COLUMNS)).rstrip())
    with _overall(session, len(wanted) * trials) as advance:
        for row in wanted:
            outcomes = []
            for seed in range(trials):
                outcome = run_row(row, seed, optimizer=optimizer)
                if outcome.status is Status.INTERRUPTED:
                    raise KeyboardInterrupt
                outcomes.append(outcome)
                advance(f"{row}, seed {seed}")
            done.append(summarise(row, outcomes))
            session.out.print(_line(done[-1]), soft_wrap=True)
            _write(session, folder, done)
    session.say_written()
    return SOLVED if all(s.converged == len(s.outcomes) for s in done) else NOT_CONVERGED


@contextmanager
def _overall(session: Session, total: int) -> Iterator[Any]:
    """A bar below the lines on a terminal; elsewhere the lines themselves are the progress."""
    if session.quiet or not session.out.is_terminal:
        yield lambda text: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(bar_width=24), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=session.out, transient=True) as shown:
        task = shown.add_task("", total=total)
        yield lambda text: shown.update(task, advance=1, description=text)


def _line(summary: "Summary") -> Text:
    row = summary.row
    cells = (
        str(row),
        f"{summary.l2:.2e}",
        _paper(row.l2),
        _ratio(summary.l2_ratio),
        f"{summary.linf:.2e}",
        _paper(row.linf),
        _ratio(summary.linf_ratio),
        _ratio(summary.worst_ratio),
        f"{summary.converged}/{len(summary.outcomes)}",
        f"{summary.steps:.0f}",
        f"{summary.seconds:.1f}",
    )
    line = Text()
    for k, (cell, (_, width)) in enumerate(zip(cells, COLUMNS, strict=True)):
        good = {3: summary.l2_ratio, 6: summary.linf_ratio}.get(k)
        style = "" if good is None else "green" if good <= 1 else "yellow"
        line.append(_cell(cell, width, k), style=style)
    line.rstrip()
    return line


def _cell(text: str, width: int, column: int) -> str:
    return (text.ljust(width) if column == 0 else text.rjust(width)) + "  "


def _paper(value: float | None) -> str:
    return "fails" if value is None else f"{value:.2e}"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}" if value < 1000 else f"{value:.0e}"


def _write(session: Session, folder: Path, done: "list[Summary]") -> None:
    """Both files, after each line: an interruption loses at most the line under way."""
    from jumpnet.reporting.canvas import write_file

    records = [summary.record() for summary in done]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    detailed = [summary.record() | {"outcomes": summary.seeds()} for summary in done]
    for name, content in (
        ("reproduce.csv", text.getvalue()),
        ("reproduce.json", json.dumps(detailed, indent=1) + "\n"),
    ):
        write_file(folder / name, content.encode())
        if folder / name not in session.written:
            session.keep(folder / name)
