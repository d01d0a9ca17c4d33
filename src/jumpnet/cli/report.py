"""`jumpnet report`: a saved solution, in words and as a page."""

from pathlib import Path

from jumpnet.cli.session import Session, exit_code


def run(session: Session, file: str, output: str | None) -> int:
    """Print the trust report and write the page."""
    from jumpnet.solution import load

    solution = load(file)
    page = Path(output) if output is not None else Path(file).with_suffix(".html")
    solution.write_report(page)
    session.keep(page)
    session.say(str(solution.report()))
    session.say_written()
    return exit_code(solution.status)
