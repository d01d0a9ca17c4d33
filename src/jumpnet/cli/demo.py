"""`jumpnet demo`: a drawing solved, judged and reported; a problem of the paper, beside the paper's errors."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from jumpnet.cli.session import INTERRUPTED, Session, exit_code, output_directory
from jumpnet.guard import interrupts

if TYPE_CHECKING:
    from jumpnet.experiments.demo import Case
    from jumpnet.files import ProblemFile
    from jumpnet.solution import Solution


def run(session: Session, output: str, seed: int, steps: int) -> int:
    """Solve, print the numbers, write the pages and pictures, and say what was written."""
    folder = output_directory(output)
    from jumpnet.experiments.demo import case
    from jumpnet.optim import LevenbergMarquardt

    paper = case()
    name = paper.example.name
    with interrupts.caught(), session.progress(name, steps) as progress:
        solution = paper.example.solve(seed=seed, progress=progress, optimizer=LevenbergMarquardt(steps=steps))
    _keep(session, solution, folder / f"{name}.jumpnet")
    read, drawn, found = _drawing(session, folder)
    session.say(_numbers(read, drawn, found))
    _print_table(session, paper, solution)
    _draw(session, folder, paper, solution)
    session.say_written()
    return exit_code(solution.status, drawn.status)


def _keep(session: Session, solution: "Solution", path: Path) -> None:
    """Save a solution; after an interrupt nothing else is done."""
    solution.save(path)
    session.keep(path)
    if exit_code(solution.status) == INTERRUPTED or interrupts.asked():
        raise KeyboardInterrupt


def _drawing(session: Session, folder: Path) -> "tuple[ProblemFile, Solution, dict[str, Any]]":
    """The drawing as `jumpnet new` and `jumpnet solve` would have it, in a folder of its own."""
    from jumpnet.experiments.demo import DRAWING
    from jumpnet.files import read_file
    from jumpnet.files.outputs import results, write
    from jumpnet.files.starting import started

    place = output_directory(str(folder / DRAWING))
    for path, content in started(DRAWING, place / f"{DRAWING}.toml").items():
        session.write(path, content.decode())
    read = read_file(place / f"{DRAWING}.toml")
    with interrupts.caught():
        solution = read.solve(progress=not session.quiet)
    _keep(session, solution, place / f"{DRAWING}.jumpnet")
    found = results(read, solution)
    with session.waiting("report and pictures"):
        write(read, solution, found, place, session.keep, f"jumpnet solve {DRAWING}.toml -o out")
    return read, solution, found


def _numbers(read: "ProblemFile", solution: "Solution", found: dict[str, Any]) -> str:
    """What was asked of the drawing, with its errors."""
    from jumpnet.files.outputs import listed_quantities

    status, seconds = solution.status.name.lower().replace("_", " "), solution.diagnostics.seconds
    lines = [f"{read.title}: {status} in {seconds:.1f} s, {solution.diagnostics.method}", *listed_quantities(found)]
    return "\n".join(lines)


def _print_table(session: Session, case: "Case", solution: "Solution") -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("the paper", "status", "L2", "paper's", "Linf", "paper's", "steps", "time"):
        table.add_column(heading, justify="left" if heading in ("the paper", "status") else "right", no_wrap=True)
    errors, row = solution.errors(), case.paper
    table.add_row(
        case.example.name,
        solution.status.name.lower().replace("_", " "),
        f"{errors.l2:.2e}",
        f"{row.l2:.2e}",
        f"{errors.linf:.2e}",
        f"{row.linf:.2e}",
        str(solution.steps),
        f"{solution.diagnostics.seconds:.1f} s",
    )
    session.out.print(table)
    session.say(f"{case.example.name}: {case.title}")


def _draw(session: Session, folder: Path, case: "Case", solution: "Solution") -> None:
    from jumpnet.experiments.demo import DOMAINS
    from jumpnet.reporting import Context, plot_domain, plot_history, write_report

    name = case.example.name
    picture = folder / f"{name}.png"
    solution.plot(picture)
    session.keep(picture)
    for domain_name, domain in DOMAINS.items():
        plot_domain(domain(), folder / f"{domain_name}.png")
        session.keep(folder / f"{domain_name}.png")
    plot_history(solution.history, folder / f"history-{name}.png", unit=solution.unit)
    session.keep(folder / f"history-{name}.png")
    context = Context(saved=f"{name}.jumpnet", command=session.command, picture=picture.read_bytes())
    write_report(solution, folder / "report.html", title=f"{name}: {case.title}", context=context)
    session.keep(folder / "report.html")
