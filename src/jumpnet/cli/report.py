"""`jumpnet report`: a saved solution, in words and as a page."""

from pathlib import Path

from jumpnet.cli.session import Session, exit_code
from jumpnet.errors import SolutionError


def run(session: Session, file: str, output: str | None) -> int:
    """Print the trust report and write the page."""
    from jumpnet.solution import load

    solution = load(file)
    page = Path(output) if output is not None else Path(file).with_suffix(".html")
    if page.exists() and page.samefile(file):
        raise SolutionError(
            f"the page would take the place of the solution {file!r}; give it a name of its own, -o OUT.html."
        )
    from jumpnet.reporting import Context, write_report

    context = Context(saved=Path(file).name, command=session.command)
    write_report(solution, page, title=Path(file).stem, context=context)
    session.keep(page)
    session.say(str(solution.report()))
    session.say_written()
    return exit_code(solution.status)
