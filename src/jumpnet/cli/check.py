"""`jumpnet check`: what was understood of a problem file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jumpnet.cli.options import FileRequest
from jumpnet.cli.session import SOLVED, Session, check_spared
from jumpnet.guard.budget import bounded
from jumpnet.guard.text import one_line

MOST_LINES = 40  # of a table


def schema(session: Session) -> int:
    """Print the JSON schema of problem files."""
    from jumpnet.files.schema import json_schema

    session.dump(json_schema())
    return SOLVED


def run(session: Session, request: FileRequest, picture: str | None, as_json: bool) -> int:
    """Read the file, say what it states, and draw the domain if there is a place for it."""
    from jumpnet.files.explaining import explained

    read = request.read()
    found = bounded(request.budget, lambda: explained(read))
    if picture is not None:
        from jumpnet.reporting import plot_domain

        check_spared({Path(request.file), *read.data}, [Path(picture)])
        plot_domain(read.problem, picture, title=read.title)
        session.keep(Path(picture))
    if as_json:
        session.dump(found)
        return SOLVED
    _show(session, found)
    session.say_written()
    return SOLVED


def _show(session: Session, found: dict[str, Any]) -> None:
    called = {1: "length", 2: "area", 3: "volume"}.get(found["dimensions"], "volume")
    surface = {1: "points", 2: "length", 3: "area"}.get(found["dimensions"], "area")
    session.say(f"{found['title']}: {found['dimensions']}-D, {found['domain']}, contrast {found['contrast']:.4g}")
    if found["constants"]:
        session.say("constants  " + ", ".join(f"{name} = {value:.6g}" for name, value in found["constants"].items()))
    pieces = [(p["number"], p["name"], f"{p['measure']:.6g}", _range(*p["A"])) for p in found["pieces"]]
    _table(session, ("piece", "name", called, "A"), pieces)
    faces = [
        ("{}-{}".format(*i["pair"]), " - ".join(i["between"]), f"{i['measure']:.6g}", f"{i['contrast']:.4g}")
        for i in found["interfaces"]
    ]
    if faces:
        _table(session, ("interface", "between", surface, "contrast"), faces)
    _table(session, ("boundary", "condition"), list(found["boundary"].items()))
    for line in _also(found):
        session.say(line)
    count = found["equations"]
    session.say(
        f"equations  {count['pieces']} in pieces, {count['boundary']} on the boundary, {count['jumps']} on interfaces"
    )
    outputs = [*(f"{name} ({kind})" for name, kind in found["quantities"].items()), *found["probes"]]
    if outputs:
        session.say("outputs    " + ", ".join(outputs))


def _also(found: dict[str, Any]) -> Iterator[str]:
    """What only some problems have."""
    for face in found["interfaces"]:
        if max(face["resistance"]) > 0:
            yield f"contact    {' - '.join(face['between'])}, resistance {_range(*face['resistance'])}"
    for source in found["sources"]:
        yield f"source     {source['q']:.6g} at {source['x']} in {source['piece']}"
    if found["measurements"]:
        yield f"data       {found['measurements']} measured values"
    if found["nonlinear"]:
        yield "nonlinear  formulas use u; coefficients and conditions are those about the start"
    if found["mean"] is not None:
        yield f"mean       {found['mean']:.6g}, as the conditions leave a constant open"


def _range(low: float, high: float) -> str:
    return f"{low:.4g}" if high - low <= 1e-12 * high else f"{low:.4g} to {high:.4g}"


def _table(session: Session, headings: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in headings:
        table.add_column(heading, no_wrap=True)
    for row in rows[:MOST_LINES]:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    if len(rows) > MOST_LINES:
        table.add_row(Text(f"... {len(rows) - MOST_LINES} more"))
    session.out.print(table)
