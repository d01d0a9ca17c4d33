"""`jumpnet examples`: the built-in problems, listed or solved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jumpnet.cli.session import INTERRUPTED, SOLVED, Session, exit_code, output_directory
from jumpnet.guard import interrupts

if TYPE_CHECKING:
    from jumpnet.solution import Solution


def listed(session: Session, as_json: bool = False) -> int:
    """Print the names, each with its sentence."""
    from jumpnet.experiments.examples import EXAMPLES

    sentences = {name: example.about for name, example in EXAMPLES.items()}
    if as_json:
        session.dump(sentences)
    else:
        session.say_pairs(sentences)
    return SOLVED


def run(
    session: Session,
    name: str,
    output: str | None,
    seed: int,
    steps: int,
    checkpoint: str | None,
    as_json: bool = False,
) -> int:
    """Solve one, print its trust report, and write its files if there is a place for them."""
    from jumpnet.experiments.examples import example
    from jumpnet.optim import LevenbergMarquardt

    chosen = example(name)
    folder = None if output is None else output_directory(output)
    with interrupts.caught(), session.progress(name, steps) as progress:
        optimizer = LevenbergMarquardt(steps=steps)
        solution = chosen.solve(seed=seed, progress=progress, optimizer=optimizer, checkpoint=checkpoint)
    if checkpoint is not None and Path(checkpoint).exists():
        session.keep(Path(checkpoint))
    if not as_json:
        session.say(f"{name}: {chosen.about}\n{solution.report()}")
    if folder is not None:
        solution.save(folder / f"{name}.jumpnet")
        session.keep(folder / f"{name}.jumpnet")
    if exit_code(solution.status) == INTERRUPTED or interrupts.asked():
        raise KeyboardInterrupt
    if folder is not None:
        _draw(session, solution, folder, name, chosen.about)
    if as_json:
        from jumpnet.cli.report import summary

        session.say_json({"name": name} | summary(solution))
    else:
        session.say_written()
    return exit_code(solution.status)


def _draw(session: Session, solution: Solution, folder: Path, name: str, about: str) -> None:
    """Write the picture and the report."""
    from jumpnet.reporting import Context, write_report

    picture = folder / f"{name}.png"
    solution.plot(picture)
    session.keep(picture)
    context = Context(about=about, saved=f"{name}.jumpnet", command=session.command, picture=picture.read_bytes())
    write_report(solution, folder / f"{name}.html", title=name, context=context)
    session.keep(folder / f"{name}.html")
