"""The plan of a direct solve: which functions each cell has, up to which degree, and where more of them may help."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Protocol

import numpy as np
from jaxtyping import Int

from jumpnet.charts import Chart
from jumpnet.engines.trefftz import traces
from jumpnet.geometry.cells.cells import Cells
from jumpnet.geometry.cells.surroundings import Surroundings
from jumpnet.models import Frozen
from jumpnet.models.families import Family, Powers, Products, Ridges, Solid
from jumpnet.models.frozen import Features
from jumpnet.models.polynomials import Combination, Legendre
from jumpnet.models.wedges import Crack, Wedge
from jumpnet.rows import BETWEEN_PIECES, ON_BOUNDARY, ON_CUTS, ConditionKey, Kind

# The outside of the domain, where a piece is meant.
OUTSIDE = -1
# No piece gets more functions than this from one chart.
LARGEST = 1500


class Strings(Protocol):
    """Sets of poles, ever larger ones."""

    def count(self, wanted: int) -> int:
        """How many poles the smallest set has that has so many; the largest has fewer if there is none."""
        ...

    def family(self, count: int) -> Family:
        """The functions of the set with so many poles."""
        ...


@dataclass(frozen=True)
class Part:
    """Functions of one chart of one cell, up to a degree.

    `kind` is "legendre" (polynomials), "harmonic", "products" (of poles and polynomials), "ridges" (random ones of
    size `scale`, as many as the degree), "answer" (one polynomial with known `weights`, which answers a source),
    "corner" (powers about a corner, the first so many of `powers`; those with an `opening` are cut along a segment),
    "poles" (simple ones at `strings`, as many as the degree or a few more) or "bessel" (`strings` up to an order).
    Charts of the piece's own coordinates have growing harmonic functions, charts about a pole decaying ones. `pieces`
    are those on whose interfaces with this piece the part matters most, None for all of them and the outer boundary.
    `cell` is the piece itself, where that is not cut.
    """

    piece: int
    cell: int
    chart: Chart
    kind: str
    degree: int
    pole: bool = False
    pieces: tuple[int, ...] | None = None
    scale: float = 0.5
    weights: tuple[float, ...] = ()
    powers: tuple[complex, ...] = ()
    opening: float = 0.0
    strings: Strings | None = None

    @property
    def place(self) -> tuple[float, ...]:
        """Where functions about a point have it."""
        chart: Any = self.chart
        return tuple(np.asarray(chart.center).tolist())

    @property
    def solves(self) -> bool:
        """Whether the functions solve the equation inside the piece, but for a source."""
        return self.kind in ("harmonic", "corner", "poles", "bessel")

    @property
    def family(self) -> Family:
        """The functions."""
        dim = self.chart.outputs
        if self.kind == "products":
            return Products(self.degree)
        if self.kind == "answer":
            return Combination(dim, self.degree, self.weights)
        if self.kind == "corner":
            known = np.array(self.powers[: self.degree])
            powers, imaginary = (tuple(part.tolist()) for part in (np.real(known), np.imag(known)))
            imaginary = imaginary if any(imaginary) else ()
            return Crack(powers, imaginary, self.opening) if self.opening else Wedge(powers, imaginary)
        if self.strings is not None:
            return self.strings.family(self.degree)
        if self.kind == "ridges":
            return Ridges(dim, self.degree, self.scale, seed=self.piece)
        if self.kind == "legendre":
            return Legendre(dim, self.degree, constant=not self.pole)
        if dim == 2:
            return Powers(self.degree, constant=not self.pole, logarithm=self.pole)
        return Solid(self.degree, exterior=self.pole)

    def grown(self, stride: float = 1.0) -> "Part":
        """With a degree about a third higher (times `stride`); the same part where it is as large as it may be."""
        if self.kind == "answer":
            return self
        degree = self.degree + max(1, ceil(stride * max(2, self.degree // 3)))
        if self.strings is not None:
            degree = self.strings.count(degree)
        more = replace(self, degree=min(degree, len(self.powers)) if self.kind == "corner" else degree)
        return more if more.family.size <= LARGEST else self


@dataclass(frozen=True)
class Places:
    """Where some families of equations hold: inside pieces, at the boundary, on cuts, between pieces, or at points."""

    inside: set[int]
    boundary: bool
    cuts: set[tuple[int, str | int | None]]  # of a piece (None), or of one of its cells
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

    def concern(self, part: Part) -> bool:
        """Whether more functions of the part may lower the residual there."""
        if (part.piece in self.inside and not part.solves) or (part.piece in self.at_points and not part.pole):
            return True
        if (part.piece, None) in self.cuts or (part.piece, part.cell) in self.cuts:
            return True
        if self.boundary and (part.pieces is None or OUTSIDE in part.pieces):
            return True
        across = self.across.get(part.piece, set())
        return bool(across) if part.pieces is None else not across.isdisjoint(part.pieces)


@dataclass(frozen=True)
class Plan:
    """The features of all cells, which pieces solve their equation exactly, and the cells, where pieces are cut."""

    parts: tuple[Part, ...]
    exact: tuple[bool, ...]
    cells: Cells | Surroundings | None = None

    @property
    def answered(self) -> list[bool]:
        """Which pieces have harmonic functions, and polynomials only to answer a source."""
        harmonic = {part.piece for part in self.parts if part.kind == "harmonic" and not part.pole}
        return [piece in harmonic and not exact for piece, exact in enumerate(self.exact)]

    @property
    def network(self) -> Frozen:
        """The features as a model."""
        count = len(self.exact) if self.cells is None else self.cells.size
        of_cell: list[list[tuple[Chart, Family]]] = [[] for _ in range(count)]
        for part in self.parts:
            of_cell[part.cell].append((part.chart, part.family))
        features = [Features(tuple(found)) for found in of_cell]
        if isinstance(self.cells, Surroundings):
            features += traces.functions(self.cells, self.polynomials_on_cuts)
        return Frozen(tuple(features), None if self.cells is None else self.cells.map)

    @property
    def polynomials_on_cuts(self) -> Int[np.ndarray, " cuts"]:
        """How many polynomials each cut between holes has for value and for flux."""
        assert isinstance(self.cells, Surroundings)
        degree = np.zeros(self.cells.size, int)
        for part in self.parts:
            if not part.pole:
                degree[part.cell] = max(degree[part.cell], part.degree)
        return traces.polynomials(self.cells, degree)

    @property
    def points_on_cuts(self) -> Int[np.ndarray, " cuts"]:
        """How many points each cut between holes needs: a cell's own functions and poles beside it have no others."""
        cells = self.cells
        assert isinstance(cells, Surroundings)
        inside = {
            cell: set(cells.partition.holes(cells.map.piece)[hole].pieces) for cell, (hole, _) in cells.cells.items()
        }
        unknowns = np.zeros(cells.size, int)
        for part in self.parts:
            if part.cell in inside and not (part.pole and inside[part.cell].intersection(part.pieces or ())):
                unknowns[part.cell] += part.family.size
        return traces.points(cells, self.polynomials_on_cuts, unknowns)

    def of(self, cell: int) -> Iterator[Part]:
        """The parts of one cell."""
        return (part for part in self.parts if part.cell == cell)

    def grown(self, keys: Sequence[ConditionKey], stride: float = 1.0) -> "Plan":
        """With more functions wherever they may lower the residual of one of the conditions."""
        places = Places.of(keys)
        grown = (part.grown(stride) if places.concern(part) else part for part in self.parts)
        return replace(self, parts=tuple(grown))
