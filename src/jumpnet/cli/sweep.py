"""`jumpnet sweep`: a problem file, solved for many values of its constants; a table and a picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jumpnet.cli.options import FileRequest
from jumpnet.cli.session import NOT_CONVERGED, SOLVED, Session, output_directory
from jumpnet.errors import ModelError
from jumpnet.guard import interrupts

if TYPE_CHECKING:
    from jumpnet.studies import Span, Sweep

MOST_ROWS = 12  # of the table on the terminal


@dataclass(frozen=True)
class Options:
    """The options of the command."""

    vary: Sequence[str]
    samples: int | None = None
    seed: int = 0
    jobs: int | None = None
    cluster: str | None = None
    again: bool = False
    tol: float | None = None


def run(session: Session, request: FileRequest, options: Options, output: str, as_json: bool) -> int:
    """Solve all cases that are not in the directory yet; print the table and write it."""
    from jumpnet.studies import sweep

    read = request.read().with_settings(tol=options.tol)
    folder = output_directory(output)
    vary = dict(map(_varied, options.vary))
    with interrupts.caught():
        table = sweep(
            read,
            vary,
            samples=options.samples,
            seed=options.seed,
            workers=options.jobs,
            cluster=options.cluster,
            store=folder / "solves",
            again=options.again,
            progress=not session.quiet,
        )
    _write(session, table, folder)
    if as_json:
        columns = {name: list(map(_plain, column)) for name, column in table.columns().items()}
        session.say_json({"table": columns, "converged": table.ok})
    else:
        _show(session, table)
        session.say_written()
    return SOLVED if table.ok else NOT_CONVERGED


def _varied(text: str) -> "tuple[str, list[float] | Span]":
    """NAME=LOW:HIGH:COUNT, with :log or :linear, or NAME=A,B,C."""
    from jumpnet.studies import Span

    wanted = f"--vary is {text!r}; NAME=LOW:HIGH:COUNT or NAME=A,B,C is wanted, e.g. --vary k=1e-3:1e4:50"
    name, equals, given = text.partition("=")
    parts = given.split(":")
    try:
        if not equals or not name.strip():
            raise ValueError
        if len(parts) == 1:
            return name.strip(), [float(value) for value in given.split(",")]
        if not 2 <= len(parts) <= 4 or parts[3:] not in ([], ["log"], ["linear"]):
            raise ValueError
        more: dict[str, Any] = {"count": int(parts[2])} if len(parts) > 2 else {}
        more |= {"scale": parts[3]} if len(parts) > 3 else {}
        return name.strip(), Span(float(parts[0]), float(parts[1]), **more)
    except ValueError:
        raise ModelError(f"{wanted}.") from None


def _write(session: Session, table: "Sweep", folder: Path) -> None:
    session.write(folder / "sweep.csv", table.to_csv())
    try:
        table.write(folder / "sweep.parquet")
        session.keep(folder / "sweep.parquet")
    except ModelError as without:
        if session.verbose:
            session.tell(str(without))
    table.plot(folder / "sweep.png")
    session.keep(folder / "sweep.png")


def _show(session: Session, table: "Sweep") -> None:
    """The first rows, and what did not converge."""
    columns = table.columns()
    widths = {name: max(len(name), 12) for name in columns}
    session.say("  ".join(name.rjust(width) for name, width in widths.items()))
    for row in list(zip(*columns.values(), strict=True))[:MOST_ROWS]:
        session.say("  ".join(_short(v).rjust(w) for v, w in zip(row, widths.values(), strict=True)))
    if len(table) > MOST_ROWS:
        session.say(f"... {len(table) - MOST_ROWS} more in sweep.csv")
    bad = [k for k, status in enumerate(table.status) if status != "converged"]
    if bad:
        where = ", ".join(f"{name} = {column[bad[0]]:.6g}" for name, column in table.parameters.items())
        why = table.messages[bad[0]] or table.status[bad[0]]
        session.alarm(f"{len(bad)} of {len(table)} solves did not converge, the first with {where}: {why}")


def _plain(value: Any) -> Any:
    """A number that JSON has; None for one that is not known."""
    if isinstance(value, str):
        return value
    return float(value) if value == value else None


def _short(value: Any) -> str:
    return value if isinstance(value, str) else "" if value != value else f"{value:.6g}"
