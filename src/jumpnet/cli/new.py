"""`jumpnet new`: a commented problem file to start from."""

from pathlib import Path

from jumpnet.cli.session import SOLVED, Session
from jumpnet.errors import ProblemError


def listed(session: Session) -> int:
    """Print the kinds, each with its sentence."""
    from jumpnet.files.starting import KINDS

    session.say_pairs(KINDS)
    return SOLVED


def run(session: Session, kind: str, file: str | None, schema: bool) -> int:
    """Write the file and its data; nothing that is there already is overwritten."""
    from jumpnet.files.starting import SCHEMA, started
    from jumpnet.guard.text import shorten
    from jumpnet.reporting.figures.canvas import write_file

    target = Path(kind).with_suffix(".toml") if file is None else Path(file)
    if target.suffix != ".toml":
        raise ProblemError(f"the file is {shorten(str(target))}; a name that ends in .toml is wanted.")
    found = started(kind, target, schema)
    there = [path for path in found if path.exists() and path.name != SCHEMA]
    if there:
        raise ProblemError(
            f"there is a file {str(there[0])!r} already; give another name, jumpnet new {kind} NAME.toml, "
            f"or start from your own drawing, image or mesh: jumpnet new DATA."
        )
    for path, content in found.items():
        write_file(path, content)
        session.keep(path)
    session.say_written()
    if not session.quiet:
        session.say(f"next  jumpnet check {target} --picture domain.png\n      jumpnet solve {target} -o out")
    return SOLVED
