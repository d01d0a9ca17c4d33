"""The progress of many solves: a bar with the time left on a terminal, a few plain lines elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from jumpnet.engines.progress import PLAIN_LINES
from jumpnet.studies.running import spoken

Shown = Callable[[int, int, float], None]
"""A user's own: called with the number of solves done, of all, and the seconds left."""


@contextmanager
def shown(progress: bool | Shown, total: int, before: int) -> Iterator[Callable[[], None]]:
    """The function to call after each solve; `before` of them were done already."""
    if progress is False or progress is None:
        yield lambda: None
        return
    began, done = time.perf_counter(), before

    def left() -> float:
        return (time.perf_counter() - began) / max(done - before, 1) * (total - done)

    with _told(total, before) if progress is True else _own(progress) as tell:

        def advance() -> None:
            nonlocal done
            done += 1
            tell(done, total, left())

        yield advance


@contextmanager
def _own(progress: Shown) -> Iterator[Shown]:
    yield progress


@contextmanager
def _told(total: int, before: int) -> Iterator[Shown]:
    """A bar on stderr, or lines at the quarters where that is no terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        every, said = max(total // PLAIN_LINES, 1), before // max(total // PLAIN_LINES, 1)

        def say(done: int, total: int, left: float) -> None:
            nonlocal said
            if done // every > said and done < total:
                said = done // every
                with suppress(OSError, SystemExit):
                    console.print(f"{done} of {total} solves, about {spoken(left)} left", highlight=False)

        yield say
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total, completed=before)
        yield lambda done, total, left: bar.update(task, completed=done, description=f"about {spoken(left)} left")
