"""The table of a sweep, and how it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from jumpnet.errors import ModelError
from jumpnet.guard.text import spreadsheet


@dataclass(frozen=True, eq=False)
class Sweep:
    """The table of a sweep, one row for each solve, as `jn.sweep` returns it.

    Args:
        parameters: Columns of the parameters, by name.
        values: Columns of the quantities, by name; nan where a problem was refused, which `messages` says.
        errors: Their errors, judged where the solution was; nan where nothing is known.
        status: How each solve ended.
        estimate: The estimated root mean square error of each.
        messages: Sentences about problems that were refused, else empty.
        seconds: What each solve took; no part of the table.

    Example:
        >>> import jumpnet as jn
        >>> parts, ends = jn.Partition(jn.Interval(0, 1)), jn.Dirichlet(0)
        >>> rod = jn.Problem(parts, A="k", f=-1.0, boundary=ends, constants={"k": 1.0})
        >>> table = jn.sweep(rod, {"k": [1, 2]}, {"mean": "mean"})
        >>> len(table), table.ok, table.values["mean"].round(6).tolist()
        (2, True, [0.083333, 0.041667])
    """

    parameters: Mapping[str, np.ndarray]
    values: Mapping[str, np.ndarray]
    errors: Mapping[str, np.ndarray]
    status: tuple[str, ...]
    estimate: np.ndarray
    messages: tuple[str, ...]
    seconds: np.ndarray

    def __len__(self) -> int:
        return len(self.status)

    @property
    def ok(self) -> bool:
        """Whether all solves converged."""
        return all(status == "converged" for status in self.status)

    def columns(self) -> dict[str, Any]:
        """The table: parameters, each quantity with its error, estimate, status.

        Example: `pandas.DataFrame(table.columns())`.
        """
        found: dict[str, Any] = dict(self.parameters)
        for name, values in self.values.items():
            found |= {name: values, f"{name} error": self.errors[name]}
        return found | {"estimate": self.estimate, "status": list(self.status)}

    def to_csv(self) -> str:
        """The table as text; numbers with all their digits, nothing where one is not known."""
        columns = self.columns()
        lines = [",".join(_quoted(name) for name in columns)]
        lines += [",".join(map(_cell, row)) for row in zip(*columns.values(), strict=True)]
        return "\n".join(lines) + "\n"

    def write(self, path: str | PathLike[str]) -> None:
        """Write the table as .csv or .parquet (which needs pyarrow), by the name of the file.

        Example: `table.write("sweep.csv")`.
        """
        from jumpnet.guard.writing import write_atomically

        kind = Path(path).suffix.lower()
        if kind not in (".csv", ".parquet"):
            raise ModelError(
                f"the table cannot be written as {str(path)!r}; give a name that ends with .csv or .parquet."
            )
        content = self.to_csv().encode() if kind == ".csv" else _parquet(self.columns())
        try:
            write_atomically(path, content)
        except (OSError, ValueError) as problem:
            raise ModelError(f"{str(path)!r} cannot be written ({problem}); give another path.") from None

    def plot(self, path: str | PathLike[str] | None = None) -> Any:
        """A figure of each quantity over the parameters, with error bars; written to `path` if given.

        Example: `table.plot("sweep.png")`.
        """
        from jumpnet.reporting.figures.sweeps import plot_sweep

        return plot_sweep(self, path)

    def __repr__(self) -> str:
        bad = sum(status != "converged" for status in self.status)
        return f"Sweep({len(self)} solves in {', '.join(self.parameters)}{f', {bad} not converged' * bool(bad)})"


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return _quoted(value)
    return "" if np.isnan(value) else repr(float(value))


def _quoted(text: str) -> str:
    text = str(spreadsheet(text))
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n') else text


def _parquet(columns: dict[str, Any]) -> bytes:
    try:
        import pyarrow  # pyright: ignore[reportMissingImports]
        import pyarrow.parquet  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise ModelError(
            "Parquet needs pyarrow, which is not installed; pip install 'jumpnet[parquet]' adds it, or write a .csv."
        ) from None
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(columns), sink)
    return sink.getvalue().to_pybytes()
