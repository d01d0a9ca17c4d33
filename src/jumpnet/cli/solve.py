"""`jumpnet solve`: a problem file, solved, reported and drawn."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from jumpnet.cli.options import FileRequest
from jumpnet.cli.session import INTERRUPTED, Session, check_spared, exit_code, output_directory
from jumpnet.guard import interrupts

if TYPE_CHECKING:
    from jumpnet.files import ProblemFile
    from jumpnet.files.beside import Coarse
    from jumpnet.solution import Solution


def run(session: Session, request: FileRequest, options: dict[str, Any], output: str | None, as_json: bool) -> int:
    """Read, solve, print the report and the quantities, and write the files if there is a place for them."""
    with session.waiting("reading"):
        from jumpnet.files.beside import half_resolution
        from jumpnet.solution.advice import spoken

        read = request.read().with_settings(**options)
    folder = None if output is None else output_directory(output)
    if folder is not None:
        check_spared(read.data, [folder / f"{read.name}.png", folder / "domain.png"])
    with half_resolution(read) as coarse:
        with spoken("command"), interrupts.caught():
            solution = read.solve(progress=not session.quiet)  # a bar for each way that is tried
        if folder is not None:
            solution.save(folder / f"{read.name}.jumpnet")
            session.keep(folder / f"{read.name}.jumpnet")
        if exit_code(solution.status) == INTERRUPTED or interrupts.asked():
            raise KeyboardInterrupt
        with spoken("command"):
            _told(session, read, solution, folder, as_json, coarse)
    return exit_code(solution.status)


def _told(
    session: Session, read: "ProblemFile", solution: "Solution", folder: Path | None, as_json: bool, coarse: "Coarse"
) -> None:
    """Print the report and the quantities, and write the files if there is a place for them."""
    from jumpnet.files.outputs import described, results, write

    image = ", also at half the resolution of the image" if read.asks_resolution else ""
    with session.waiting(f"quantities{image}"):
        found = results(read, solution, coarse)
    if folder is not None:
        with session.waiting("report and pictures"):
            write(read, solution, found, folder, session.keep, session.command)
    if as_json:
        session.say_json(found)
    else:
        if found["alarm"]:
            session.alarm(found["alarm"])
        session.say(described(read, solution, found))
        session.say_written()
