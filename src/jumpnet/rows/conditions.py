"""The condition that a row states: its kind, its pieces, and the part of the boundary or the cell.

Rows carry this key; the label of a condition ("pde 0", "jump 0-1", "boundary left") is made from it for reports only.
"""

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """The kind of a condition; its value is the first part of the label."""

    VALUE = "value"  # function approximation: u at a point
    PDE = "pde"
    BOUNDARY = "boundary"
    PERIODIC_VALUE = "boundary value"
    PERIODIC_FLUX = "boundary flux"
    JUMP = "jump"
    FLUX = "flux"  # the jump of A grad u . n
    CUT = "cut"  # u is continuous where a piece is cut into cells
    CUT_FLUX = "cut flux"
    DATA = "data"  # a measurement
    MEAN = "mean"

    # Enum's own hash is computed in Python each time; with hundreds of cells there are thousands of keys.
    __hash__ = object.__hash__

    @property
    def group(self) -> str:
        """The group of a kind in reports and losses: "boundary", "cut", or the kind itself."""
        return group_of(self.value)


# Kinds of conditions by where they hold.
BETWEEN_PIECES = (Kind.JUMP, Kind.FLUX)
ON_BOUNDARY = (Kind.BOUNDARY, Kind.PERIODIC_VALUE, Kind.PERIODIC_FLUX)  # on the outer boundary
ON_CUTS = (Kind.CUT, Kind.CUT_FLUX)  # between cells of one piece


@dataclass(frozen=True, slots=True)
class ConditionKey:
    """A condition: `pieces` are one piece, or both sides of an interface in ascending order; the boundary has none.

    `part` is the name of a part of the boundary, or the number of a cell where cells of a piece have conditions of
    their own; None where there is only one.
    """

    kind: Kind
    pieces: tuple[int, ...] = ()
    part: str | int | None = None

    @property
    def piece(self) -> int:
        """The piece that the condition holds in; an interface has two."""
        (piece,) = self.pieces
        return piece

    @property
    def family(self) -> "ConditionKey | str":
        """The rows that share one mean square of the loss: those of an interface, else those of a group."""
        return self if self.kind in BETWEEN_PIECES else self.kind.group

    def __str__(self) -> str:
        """The label: what reports, histories and saved files call the condition."""
        pieces = "-".join(map(str, self.pieces))
        if self.kind in ON_BOUNDARY:
            words = [str(self.part or ""), *self.kind.value.split()[1:]]
            return " ".join(["boundary", *(word for word in words if word)])
        return " ".join(word for word in (self.kind.value, "" if self.part is None else str(self.part), pieces) if word)


def group_of(label: str) -> str:
    """The group of a condition, from its label: all that is left of it in a saved history."""
    return label.split(" ")[0]
