"""The trial space of a solve: which functions each cell has, up to which degree, and where more of them may help."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from jaxtyping import Int

from jumpnet.charts import Chart
from jumpnet.engines.trefftz import traces
from jumpnet.engines.trefftz.functions import Functions, HarmonicFunctions
from jumpnet.geometry.cells.power_diagram import PowerDiagram
from jumpnet.geometry.walls.corners import OUTSIDE
from jumpnet.models import Frozen
from jumpnet.models.families import Family
from jumpnet.models.frozen import Features
from jumpnet.rows import BETWEEN_PIECES, ON_BOUNDARY, ON_CUTS, ConditionKey, Kind

# The most functions of one block (heuristic).
LARGEST = 1500


@dataclass(frozen=True)
class BasisBlock:
    """Functions of one chart of one cell, up to a degree.

    Charts of the piece's own coordinates have growing functions, charts about a pole decaying ones. `pieces` are those
    on whose interfaces with this piece the block matters most, None for all of them and the outer boundary. `cell` is
    the piece itself, where that is not cut.
    """

    piece: int
    cell: int
    chart: Chart
    functions: Functions
    degree: int
    pieces: tuple[int, ...] | None = None

    @property
    def place(self) -> tuple[float, ...]:
        """The centre of the chart, for functions about a point."""
        chart: Any = self.chart
        return tuple(np.asarray(chart.center).tolist())

    @property
    def pole(self) -> bool:
        """Whether the functions are singular at points outside the cell."""
        return self.functions.pole

    @property
    def solves(self) -> bool:
        """Whether the functions solve the piece's equation without its source."""
        return self.functions.solves

    @property
    def family(self) -> Family:
        """The functions up to the degree."""
        return self.functions.family(self.degree)

    def in_cell(self, cell: int, near: set[int]) -> "BasisBlock":
        """A block of a whole piece as one of a cell: pieces that are not near the cell are removed."""
        chart: Any = self.chart
        pieces = tuple(label for label in self.pieces or () if label in near)
        return replace(self, cell=cell, chart=replace(chart, cells=(cell,)), pieces=pieces)

    def grown(self, stride: float = 1.0) -> "BasisBlock":
        """The block with a degree about a third higher (times `stride`); unchanged if it would become too large."""
        more = replace(
            self, degree=self.functions.degree(self.degree + max(1, ceil(stride * max(2, self.degree // 3))))
        )
        return more if more.family.size <= LARGEST else self


@dataclass(frozen=True)
class Places:
    """Where marked conditions hold: inside pieces, on the boundary, on cuts, between pieces, or at data points."""

    inside: set[int]
    boundary: bool
    cuts: set[tuple[int, str | int | None]]  # piece and cell
    across: dict[int, set[int]]
    at_points: set[int]

    @staticmethod
    def of(keys: Sequence[ConditionKey]) -> "Places":
        """The places of some conditions."""
        found = Places(set(), any(key.kind in ON_BOUNDARY for key in keys), set(), defaultdict(set), set())
        for key in keys:
            if key.kind is Kind.PDE:
                found.inside.add(key.piece)
            elif key.kind in ON_CUTS:
                found.cuts.add((key.piece, key.part))
            elif key.kind in BETWEEN_PIECES:
                a, b = key.pieces
                found.across[a].add(b)
                found.across[b].add(a)
            elif key.kind not in ON_BOUNDARY:
                found.at_points.add(key.piece)
        return found

    def concern(self, block: BasisBlock) -> bool:
        """Whether a higher degree of the block may lower the residuals of these conditions."""
        if (block.piece in self.inside and not block.solves) or (block.piece in self.at_points and not block.pole):
            return True
        if (block.piece, block.cell) in self.cuts:
            return True
        if self.boundary and (block.pieces is None or OUTSIDE in block.pieces):
            return True
        across = self.across.get(block.piece, set())
        return bool(across) if block.pieces is None else not across.isdisjoint(block.pieces)


@dataclass(frozen=True)
class TrialSpace:
    """The blocks of all cells, whether those of each piece solve its equation, and the cells of a split piece."""

    blocks: tuple[BasisBlock, ...]
    exact: tuple[bool, ...]
    cells: PowerDiagram | None = None

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.exact) if self.cells is None else self.cells.size

    @property
    def reaching_boundary(self) -> Iterable[int]:
        """The cells that reach the outer boundary, or all cells, where no piece is split."""
        return range(self.size) if self.cells is None else self.cells.at_boundary

    def at_interface(self, a: int, b: int) -> set[int]:
        """The cells that meet at the interface of two pieces."""
        if self.cells is None or self.cells.map.piece not in (a, b):
            return {a, b}
        inside = a + b - self.cells.map.piece
        return {inside, *self.cells.at_piece[inside]}

    @property
    def harmonic(self) -> set[int]:
        """The pieces with harmonic functions of their own coordinates."""
        return {b.piece for b in self.blocks if isinstance(b.functions, HarmonicFunctions) and not b.pole}

    @property
    def has_particular_solution(self) -> list[bool]:
        """Which pieces have harmonic functions, and polynomials only as a particular solution for the source."""
        return [piece in self.harmonic and not exact for piece, exact in enumerate(self.exact)]

    @property
    def network(self) -> Frozen:
        """The trial space as a model with frozen features."""
        of_cell: list[list[tuple[Chart, Family]]] = [[] for _ in range(self.size)]
        for block in self.blocks:
            of_cell[block.cell].append((block.chart, block.family))
        features = [Features(tuple(found)) for found in of_cell]
        if self.cells is None:
            return Frozen(tuple(features))
        traced = traces.functions(self.cells, self.polynomials_on_cuts)
        return Frozen((*features, *traced), self.cells.map)

    @property
    def polynomials_on_cuts(self) -> Int[np.ndarray, " cuts"]:
        """How many polynomials each cut between holes has for value and for flux; a piece must be split."""
        assert self.cells is not None
        degree = np.zeros(self.cells.size, int)
        for block in self.blocks:
            if not block.pole:
                degree[block.cell] = max(degree[block.cell], block.degree)
        return traces.polynomials(self.cells, degree)

    @property
    def points_on_cuts(self) -> Int[np.ndarray, " cuts"]:
        """The number of points on each cut; they alone determine a cell's own functions and the poles beside it."""
        cells = self.cells
        assert cells is not None
        inside = {
            cell: set(cells.partition.holes(cells.map.piece)[hole].pieces) for cell, (hole, _) in cells.cells.items()
        }
        unknowns = np.zeros(cells.size, int)
        for block in self.blocks:
            if block.cell in inside and not (block.pole and inside[block.cell].intersection(block.pieces or ())):
                unknowns[block.cell] += block.family.size
        return traces.points(cells, self.polynomials_on_cuts, unknowns)

    def with_blocks(self, more: Sequence[BasisBlock]) -> "TrialSpace":
        """The space with further blocks."""
        return replace(self, blocks=(*self.blocks, *more)) if more else self

    def of(self, cell: int) -> Iterator[BasisBlock]:
        """The blocks of one cell."""
        return (block for block in self.blocks if block.cell == cell)

    def grown(self, keys: Sequence[ConditionKey], stride: float = 1.0) -> "TrialSpace":
        """The space with higher degrees wherever that may lower the residual of a marked condition."""
        places = Places.of(keys)
        grown = (block.grown(stride) if places.concern(block) else block for block in self.blocks)
        return replace(self, blocks=tuple(grown))
