"""Showing a training while it runs: a bar on a terminal, a few plain lines elsewhere, or the user's own function."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from jumpnet.optim import Record

if TYPE_CHECKING:
    from rich.console import Console

Progress = Callable[[Record, float], None]

# Lines of a training that is not watched on a terminal: at the first quarter of the steps, the second, and so on.
PLAIN_LINES = 4


@contextmanager
def shown(progress: bool | Progress, total: int) -> Iterator[Progress | None]:
    """The function to call after each step: the user's own, a bar of `total` steps, or None."""
    if progress is False or progress is None:
        yield None
    elif callable(progress):
        yield progress
    else:
        with bar("training", total) as update:
            yield update


@contextmanager
def bar(name: str, total: int, console: "Console | None" = None) -> Iterator[Progress]:
    """A progress bar on stderr (or a console), which becomes a few lines of text where there is no terminal."""
    from rich.console import Console

    console = console or Console(stderr=True)
    with (_live if console.is_terminal else _plain)(name, total, console) as update:
        yield update


class _Counter:
    """Steps in all: a record's own number starts again with each random start."""

    def __init__(self) -> None:
        self.done, self.last = 0, 0

    def advance(self, step: int) -> int:
        made = step - self.last if step > self.last else step
        self.done, self.last = self.done + made, step
        return self.done


@contextmanager
def _live(name: str, total: int, console: "Console") -> Iterator[Progress]:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("best loss {task.fields[best]:.1e}"),
        TimeElapsedColumn(),
    )
    counter = _Counter()
    with Bar(*columns, console=console) as shown_bar:
        task = shown_bar.add_task(name, total=total, best=float("nan"))

        def update(record: Record, best: float) -> None:
            shown_bar.update(task, completed=counter.advance(record.step), best=best)

        yield update
        # A training that ends before its limit is finished too.
        shown_bar.update(task, total=max(counter.done, 1))


@contextmanager
def _plain(name: str, total: int, console: "Console") -> Iterator[Progress]:
    counter, began, lowest = _Counter(), time.perf_counter(), float("nan")
    every = max(total // PLAIN_LINES, 1)
    said = 0

    def say(text: str) -> None:
        console.print(f"{name}: {text}", markup=False, highlight=False, soft_wrap=True)

    def update(record: Record, best: float) -> None:
        nonlocal lowest, said
        done, lowest = counter.advance(record.step), best
        if done // every > said and done < total:
            said = done // every
            say(f"step {done} of at most {total}, best loss {best:.1e}")

    yield update
    say(f"{counter.done} steps in {time.perf_counter() - began:.1f} s, best loss {lowest:.1e}")
