"""What was measured, as data: rows, curves and fits of each comparison; as JSON and as Markdown."""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from jumpnet.experiments.bench.plan import Plan

Row = dict[str, Any]
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Curve:
    """Error against seconds; `points` of programs that were run once for each setting, else a line."""

    problem: str
    label: str
    seconds: tuple[float, ...]
    error: tuple[float, ...]
    points: bool = False


@dataclass(frozen=True)
class Fit:
    """quantity ~ against^exponent."""

    quantity: str
    against: str
    exponent: float


Item = Row | Curve | Fit | str  # a string is a note


@dataclass(frozen=True)
class Comparison:
    """Something to measure: its items come one by one, so that what was measured survives an interruption."""

    name: str
    title: str
    included: str
    measure: Callable[[Plan, Tell], Iterator[Item]]


@dataclass
class Table:
    """The results of a comparison so far."""

    name: str
    title: str
    included: str
    rows: list[Row] = field(default_factory=list)
    fits: list[Fit] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, item: Item) -> None:
        """Keep an item where it belongs."""
        place: list[Any] = {Curve: self.curves, Fit: self.fits, str: self.notes}.get(type(item), self.rows)
        if item not in place:
            place.append(item)

    def markdown(self) -> str:
        """Title, what the times include, the table, the fits and the notes."""
        parts = [f"## {self.title}", self.included]
        if self.rows:
            columns = list(dict.fromkeys(name for row in self.rows for name in row))
            lines = [columns, ["---"] * len(columns)]
            lines += [[cell(row.get(name)) for name in columns] for row in self.rows]
            parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
        parts += ["\n".join(f"- {fit.quantity} ~ {fit.against}^{fit.exponent:.2f}" for fit in self.fits)]
        parts += ["\n".join(f"- {note}" for note in self.notes)]
        return "\n\n".join(part for part in parts if part)


@dataclass
class Report:
    """The machine, the command, and the tables measured so far."""

    command: str
    machine: dict[str, str]
    tables: list[Table] = field(default_factory=list)

    def markdown(self) -> str:
        """The whole report."""
        facts = "\n".join(f"| {name} | {value} |" for name, value in self.machine.items())
        head = f"# Benchmarks\n\n`{self.command}`\n\n| | |\n|---|---|\n{facts}"
        return "\n\n".join([head, *(table.markdown() for table in self.tables)]) + "\n"

    def json(self) -> str:
        """The same with all digits and curves; what is not a finite number becomes null."""
        return json.dumps(_finite(asdict(self)), indent=1, allow_nan=False) + "\n"


def cell(value: Any) -> str:
    """A value as a reader wants it: three digits."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    return (
        f"{value:.3g}"
        if isinstance(value, float) and not 1000 <= abs(value) < 1e6
        else (f"{value:.0f}" if isinstance(value, float) else str(value))
    )


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
