"""`jumpnet bench`: measurements beside other programs; the files are updated after each number."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from jumpnet.cli.session import SOLVED, Session, output_directory
from jumpnet.guard import interrupts

if TYPE_CHECKING:
    from jumpnet.experiments.bench.report import Report, Table


def run(session: Session, output: str, only: str, quick: bool, seeds: int) -> int:
    """Measure what is asked for, print each table when it is complete, and keep the files up to date."""
    from jumpnet.experiments.bench import plan, suite
    from jumpnet.experiments.bench.report import Report
    from jumpnet.experiments.bench.timing import machine

    names = [name.strip() for name in only.split(",") if name.strip()]
    comparisons, folder = suite.chosen(names), output_directory(output)
    command = "jumpnet bench" + " --quick" * quick + (f" --only {','.join(names)}" if names else "")
    chosen = plan.QUICK if quick else plan.FULL
    if seeds:
        command, chosen = f"{command} --seeds {seeds}", replace(chosen, seeds=seeds)
    report = Report(command, machine())

    def changed(table: "Table", done: bool) -> None:
        _write(session, folder, report)
        if done:
            session.say(table.markdown() + "\n")
            _draw(session, folder, table)

    with interrupts.caught(), _shown(session) as tell:
        suite.run(report, comparisons, chosen, tell, changed)
    session.say_written()
    return SOLVED


@contextmanager
def _shown(session: Session) -> Iterator[Callable[[str], None]]:
    """What is being measured: a line that changes on a terminal, a line each elsewhere."""
    if session.quiet or not session.err.is_terminal:
        yield (lambda text: None) if session.quiet else session.tell
        return
    with session.err.status("starting") as status:
        yield status.update


def _write(session: Session, folder: Path, report: "Report") -> None:
    session.write(folder / "bench.json", report.json())
    session.write(folder / "bench.md", report.markdown())


def _draw(session: Session, folder: Path, table: "Table") -> None:
    from jumpnet.experiments.bench.figures import drawn
    from jumpnet.reporting.figures.canvas import finished

    figure = drawn(table)
    if figure is not None:
        finished(figure, folder / f"{table.name}.png")
        session.keep(folder / f"{table.name}.png")
