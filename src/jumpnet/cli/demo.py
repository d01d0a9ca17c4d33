"""`jumpnet demo`: two problems solved, compared and drawn."""

from pathlib import Path
from typing import TYPE_CHECKING

from jumpnet.cli.session import INTERRUPTED, Session, exit_code, output_directory
from jumpnet.guard import interrupts

if TYPE_CHECKING:
    from jumpnet.experiments.demo import Case
    from jumpnet.solution import Solution


def run(session: Session, output: str, seed: int, steps: int) -> int:
    """Solve, print the table, write the pictures, and say what was written."""
    folder = output_directory(output)
    from jumpnet.experiments.demo import cases
    from jumpnet.optim import LevenbergMarquardt

    solved = []
    for case in cases():
        name = case.example.name
        with interrupts.caught(), session.progress(name, steps) as progress:
            solution = case.example.solve(seed=seed, progress=progress, optimizer=LevenbergMarquardt(steps=steps))
        path = folder / f"{name}.jumpnet"
        solution.save(path)
        session.keep(path)
        if exit_code(solution.status) == INTERRUPTED or interrupts.asked():
            raise KeyboardInterrupt
        solved.append((case, solution))
    _print_table(session, solved)
    _draw(session, folder, solved)
    session.say_written()
    return exit_code(*(solution.status for _, solution in solved))


def _print_table(session: Session, solved: "list[tuple[Case, Solution]]") -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("", "status", "L2", "paper", "Linf", "paper", "steps", "time"):
        table.add_column(heading, justify="left" if heading in ("", "status") else "right", no_wrap=True)
    for case, solution in solved:
        errors, row = solution.errors(), case.paper
        l2, linf = ("not in the paper", "") if row is None else (f"{row.l2:.2e}", f"{row.linf:.2e}")
        table.add_row(
            case.example.name,
            solution.status.name.lower().replace("_", " "),
            f"{errors.l2:.2e}",
            l2,
            f"{errors.linf:.2e}",
            linf,
            str(solution.steps),
            f"{solution.settings['seconds']:.1f} s",
        )
    session.out.print(table)
    for case, _ in solved:
        session.say(f"{case.example.name}: {case.title}")


def _draw(session: Session, folder: Path, solved: "list[tuple[Case, Solution]]") -> None:
    from jumpnet.experiments.demo import DOMAINS
    from jumpnet.reporting import Context, plot_domain, plot_history, write_report

    pictures = []
    for case, solution in solved:
        pictures.append(solution.plot(folder / f"{case.example.name}.png"))
        session.keep(folder / f"{case.example.name}.png")
    for name, domain in DOMAINS.items():
        plot_domain(domain(), folder / f"{name}.png")
        session.keep(folder / f"{name}.png")
    for case, solution in solved:
        plot_history(solution.history, folder / f"history-{case.example.name}.png", unit=solution.unit)
        session.keep(folder / f"history-{case.example.name}.png")
    for (case, solution), picture, name in zip(solved, pictures, ("report.html", "report-disk.html"), strict=True):
        context = Context(saved=f"{case.example.name}.jumpnet", command=session.command, picture=picture)
        write_report(solution, folder / name, title=f"{case.example.name}: {case.title}", context=context)
        session.keep(folder / name)
