"""Showing a solve while it runs: a bar on a terminal, a few plain lines elsewhere, or the user's own function."""

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import get_ident
from typing import TYPE_CHECKING

from jumpnet.optim import Record
from jumpnet.rows import group_of

if TYPE_CHECKING:
    from rich.console import Console

Progress = Callable[[Record, float], None]


class Told(Record):
    """A record with the names of its terms, such as "pde 0" and "jump 0-1"."""

    names: tuple[str, ...] = ()


def with_names(progress: Progress | None, names: tuple[str, ...]) -> Progress | None:
    """The same function, told the names of the terms too."""
    if progress is None:
        return None

    def told(record: Record, best: float) -> None:
        full = Told(*record)
        full.names = names
        progress(full, best)

    return told


# Lines printed where there is no terminal: after each quarter of the steps.
PLAIN_LINES = 4


@dataclass(frozen=True)
class Measure:
    """What the bar shows of a loss: its name, and the number that it stands for."""

    name: str
    of: Callable[[float], float] = lambda loss: loss


LOSS = Measure("best loss")
# Losses are sums of squares: of the relative error that is estimated, or of all residuals.
ESTIMATE, RESIDUAL = Measure("estimated error", math.sqrt), Measure("residual", math.sqrt)


@contextmanager
def shown(
    progress: bool | Progress,
    total: int,
    name: str = "Trefftz method",
    unit: str = "level",
    measure: Measure = RESIDUAL,
) -> Iterator[Progress | None]:
    """The function to call after each step (or level): the user's own, a bar of `total` of them, or None."""
    if progress is False or progress is None:
        yield None
    elif callable(progress):
        yield progress
    else:
        with bar(name, total, unit=unit, measure=measure) as update:
            yield update


@contextmanager
def bar(
    name: str, total: int, console: "Console | None" = None, *, unit: str = "step", measure: Measure = LOSS
) -> Iterator[Progress]:
    """A progress bar on stderr (or a console), which becomes a few lines of text where there is no terminal."""
    from rich.console import Console

    console = console or Console(stderr=True)
    with (_live if console.is_terminal else _plain)(name, total, console, unit, measure) as update:
        yield update


class _Course:
    """The total number of steps and the best loss; the steps that a training reports restart with each random start.

    Trainings at the same time are told apart by their threads.
    """

    def __init__(self) -> None:
        self.done, self.best, self._last = 0, math.inf, defaultdict[int, int](int)

    def advance(self, step: int, best: float) -> None:
        last = self._last[get_ident()]
        self.done += step - last if step > last else step
        self._last[get_ident()], self.best = step, min(self.best, best)


@contextmanager
def _live(name: str, total: int, console: "Console", unit: str, measure: Measure) -> Iterator[Progress]:
    """A bar, and below it the loss of each kind of equation and the damping."""
    from rich.console import Group
    from rich.live import Live
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn(f"{unit}s"),
        TextColumn(measure.name + " {task.fields[best]:.1e}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    course, shown_bar, details = _Course(), Bar(*columns, console=console), Text(style="dim")
    with Live(Group(shown_bar, details), console=console, refresh_per_second=8):
        task = shown_bar.add_task(name, total=total, best=measure.of(course.best))

        def update(record: Record, best: float) -> None:
            course.advance(record.step, best)
            shown_bar.update(task, completed=course.done, best=measure.of(course.best))
            details.plain = _details(record)

        yield update
        # A solve that ends before its limit is finished too.
        shown_bar.update(task, total=max(course.done, 1))


def _details(record: Record) -> str:
    """The loss by kind of equation, where the names are known, and the damping."""
    parts = [f"loss {record.loss:.1e}"]
    if isinstance(record, Told):
        sums: dict[str, float] = {}
        for label, loss in zip(record.names, record.terms, strict=False):
            group = group_of(label)
            sums[group] = sums.get(group, 0.0) + loss
        parts += [f"{group} {loss:.1e}" for group, loss in sums.items()]
    if math.isfinite(record.damping):
        parts.append(f"damping {record.damping:.1e}")
    return "  ".join(parts)


@contextmanager
def _plain(name: str, total: int, console: "Console", unit: str, measure: Measure) -> Iterator[Progress]:
    course, began, said = _Course(), time.perf_counter(), 0
    every = max(total // PLAIN_LINES, 1)

    def say(text: str) -> None:
        with suppress(OSError, SystemExit):  # the reader of stderr has gone; rich would exit, the solve goes on
            console.print(f"{name}: {text}", markup=False, highlight=False, soft_wrap=True)

    def update(record: Record, best: float) -> None:
        nonlocal said
        course.advance(record.step, best)
        if course.done // every > said and course.done < total:
            said = course.done // every
            say(f"{unit} {course.done} of at most {total}, {measure.name} {measure.of(course.best):.1e}")

    yield update
    units = unit if course.done == 1 else f"{unit}s"
    say(f"{course.done} {units} in {time.perf_counter() - began:.1f} s, {measure.name} {measure.of(course.best):.1e}")
