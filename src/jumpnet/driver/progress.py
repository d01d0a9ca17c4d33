"""Showing a training while it runs: a bar on a terminal, or whatever function the user gives."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from jumpnet.optim import Record

Progress = Callable[[Record, float], None]


@contextmanager
def shown(progress: bool | Progress, total: int) -> Iterator[Progress | None]:
    """The function to call after each step: the user's own, a bar of `total` steps, or None."""
    if progress is False or progress is None:
        yield None
        return
    if callable(progress):
        yield progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("best loss {task.fields[best]:.1e}"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("training", total=total, best=float("nan"))

        def update(record: Record, best: float) -> None:
            bar.update(task, advance=1, best=best)

        yield update
