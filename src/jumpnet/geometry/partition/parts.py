"""Parts of the outer boundary that are named by the user: where a condition on the point holds, or what bounds a piece.

`Partition(domain, pieces, boundary={"inlet": "x1 < -0.9", "die": 2})`. A point belongs to the first part that it meets;
what is left keeps the names it has otherwise, the sides of a box or "boundary".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from jumpnet.errors import GeometryError
from jumpnet.expressions import Expression
from jumpnet.geometry import checks
from jumpnet.geometry.checks import Floats
from jumpnet.guard.text import shorten

TAKEN = ("boundary", "rest")
"""Names that mean something else where a part of the boundary is named."""


@dataclass(frozen=True, eq=False)
class BoundaryPart:
    """A named part: a condition such as "x1 < 0 and x2 > 1", or the number of a piece."""

    name: str
    where: Expression | int

    def holds(self, x: Floats, piece: np.ndarray) -> np.ndarray:
        """Whether points of the outer boundary, of pieces, belong to it."""
        if isinstance(self.where, int):
            return piece == self.where
        return self.where(x) > 0.5

    def spec(self) -> dict[str, Any]:
        """As JSON."""
        if isinstance(self.where, int):
            return {"name": self.name, "piece": self.where}
        return {"name": self.name, "where": self.where.text, "constants": dict(self.where.constants)}


def boundary_parts(
    given: Mapping[str, Any] | None, dim: int, size: int, constants: Mapping[str, float] | None = None
) -> tuple[BoundaryPart, ...]:
    """The parts given by name, checked."""
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        raise GeometryError(f"boundary is {shorten(given)}; a mapping from names to conditions is wanted.")
    sides = {f"x{axis + 1}{side}" for axis in range(dim) for side in ("-", "+", "")}
    sides |= {"left", "right", "bottom", "top", *(("front", "back") if dim > 2 else ())}
    found = []
    for name, where in given.items():
        if checks.name(name, "a part of the boundary") in sides or name in TAKEN:
            raise GeometryError(
                f"a part of the boundary cannot be called {name!r}, which means a side of a box or all that is left; "
                f"give it a name of its own, such as {f'my {name}'!r}."
            )
        found.append(BoundaryPart(name, _where(where, name, dim, size, constants)))
    return tuple(found)


def _where(where: Any, name: str, dim: int, size: int, constants: Mapping[str, float] | None) -> Expression | int:
    what = f"the boundary part {name!r}"
    if isinstance(where, int | np.integer) and not isinstance(where, bool):
        if not 0 <= where < size:
            raise GeometryError(f"{what} is that of piece {where}; the pieces are 0 to {size - 1}.")
        return int(where)
    if not isinstance(where, str):
        raise GeometryError(f'{what} is {shorten(where)}; a condition such as "x1 < 0" or a piece number is wanted.')
    # A condition stands only in where(...); from a file of ours it is written so already.
    text = where if where.startswith("where(") and where.endswith(", 1, 0)") else f"where({where}, 1, 0)"
    return Expression.parse(text, dim, constants, what=what)


def parts_from_spec(spec: list[dict[str, Any]], dim: int, size: int) -> tuple[BoundaryPart, ...]:
    """The parts that `BoundaryPart.spec()` described."""
    found = []
    for one in spec:
        where = one["piece"] if "piece" in one else one["where"]
        found += boundary_parts({one["name"]: where}, dim, size, one.get("constants"))
    return tuple(found)
