"""Which frozen features a problem gets: chosen piece by piece from geometry and coefficients, never from the solution.

Where A is constant and there is no source, the features solve the equation exactly: harmonic functions after the
linear map that makes A the identity, growing ones and poles in the holes. Elsewhere they are polynomials. Each part
has a degree of its own, which the direct solver raises where residuals are large.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jumpnet.charts import Affine, Box, Chart, Pole, inverse_root, local_boxes
from jumpnet.charts.choice import charts_of_hole
from jumpnet.geometry import Hole
from jumpnet.models import Frozen
from jumpnet.models.families import Family, Legendre, Powers, Solid
from jumpnet.models.frozen import Features
from jumpnet.problem import Problem

# Where the first attempt starts; smooth pieces need about twice as much for 1e-8.
FIRST_DEGREE, FIRST_ORDER = 6, 4
# No piece gets more functions than this from one chart.
LARGEST = 1500
# Points of a piece at which its equation is looked at.
PROBES = 64


@dataclass(frozen=True)
class Part:
    """Functions of one chart of one piece, up to a degree.

    `kind` is "legendre" (polynomials) or "harmonic". `neighbours` are the pieces in the hole that a chart belongs to,
    empty for the piece's own coordinates; about a hole the harmonic functions are the decaying ones.
    """

    piece: int
    chart: Chart
    kind: str
    degree: int
    neighbours: tuple[int, ...] = ()

    @property
    def family(self) -> Family:
        """The functions."""
        dim = self.chart.outputs
        if self.kind == "legendre":
            return Legendre(dim, self.degree, constant=not self.neighbours)
        if dim == 2:
            return Powers(self.degree, constant=not self.neighbours, logarithm=bool(self.neighbours))
        return Solid(self.degree, exterior=bool(self.neighbours))

    @property
    def harmonic(self) -> bool:
        """Whether the functions solve the piece's equation without source."""
        return self.kind != "legendre"

    def concerns(self, term: str) -> bool:
        """Whether more functions here may lower the residual of a family of equations."""
        kind, _, where = term.partition(" ")
        if kind == "pde":
            return int(where) == self.piece and not self.harmonic
        if kind == "boundary":
            return not self.neighbours
        pair = {int(piece) for piece in where.split("-")}
        return self.piece in pair and (not self.neighbours or bool(pair & set(self.neighbours)))

    def grown(self) -> "Part":
        """With a degree about a third higher; the same part where it is as large as it may be."""
        more = replace(self, degree=self.degree + max(2, self.degree // 3))
        return more if more.family.size <= LARGEST else self


@dataclass(frozen=True)
class Plan:
    """The features of all pieces, and which pieces solve their equation exactly."""

    parts: tuple[Part, ...]
    exact: tuple[bool, ...]

    @property
    def network(self) -> Frozen:
        """The features as a model."""
        of_piece: list[list[tuple[Chart, Family]]] = [[] for _ in self.exact]
        for part in self.parts:
            of_piece[part.piece].append((part.chart, part.family))
        return Frozen(tuple(Features(tuple(found)) for found in of_piece))

    def of(self, piece: int) -> Iterator[Part]:
        """The parts of one piece."""
        return (part for part in self.parts if part.piece == piece)

    def grown(self, terms: Sequence[str]) -> "Plan":
        """With more functions wherever they may lower the residual of one of the families."""
        return replace(
            self, parts=tuple(p.grown() if any(p.concerns(term) for term in terms) else p for p in self.parts)
        )


def first_plan(problem: Problem, poles: bool) -> Plan:
    """The features to start with, with or without poles in the holes."""
    parts = problem.partition
    boxes = local_boxes(parts)
    found, exact = [], []
    for piece in range(parts.size):
        nature = _nature(problem, piece)
        harmonic = nature.constant and parts.dim in (2, 3)
        exact.append(harmonic and not nature.source)
        if exact[-1]:
            found.append(Part(piece, _own_chart(problem, piece, boxes), "harmonic", FIRST_DEGREE))
        else:
            scaling = np.diag(1 / boxes.halfwidth[piece])
            found.append(Part(piece, Affine((piece,), boxes.center[piece], scaling, 1.0), "legendre", FIRST_DEGREE))
        if poles and parts.dim > 1:
            kind = "harmonic" if harmonic else "legendre"
            for hole in parts.holes(piece):
                charts = charts_of_hole(parts, piece, hole, lambda p, x: problem.A[p].value(x))
                found += [Part(piece, _of_kind(chart, harmonic), kind, FIRST_ORDER, _inside(hole)) for chart in charts]
    return Plan(tuple(found), tuple(exact))


@dataclass(frozen=True)
class _Nature:
    constant: bool  # div(A grad u) with a constant A and nothing else on the left
    source: bool  # f is not zero


def _nature(problem: Problem, piece: int) -> _Nature:
    """What kind of equation a piece has, from its coefficients at probe points."""
    lower, upper = (np.asarray(end, float) for end in problem.partition.piece_bounds(piece))
    x = np.random.default_rng(0).uniform(lower, upper, (16 * PROBES, problem.dim))
    x = x[problem.partition.label(x) == piece][:PROBES]
    if not len(x):
        return _Nature(False, True)
    _, _, lam, f = problem.pde(piece, x)
    return _Nature(problem.A[piece].is_constant and not lam.any(), bool(f.any()))


def _own_chart(problem: Problem, piece: int, boxes: Box) -> Affine:
    """The piece's own coordinates after the map that makes A the identity; its farthest point has length one."""
    center, half = boxes.center[piece], boxes.halfwidth[piece]
    transform = inverse_root(problem.A[piece].value(center[None])[0])
    corners = np.array(np.meshgrid(*[[-h, h] for h in half])).reshape(len(half), -1).T
    reach = np.linalg.norm(corners @ transform.T, axis=1).max()
    return Affine((piece,), center, transform, float(reach))


def _of_kind(chart: Chart, harmonic: bool) -> Chart:
    """In space, decaying harmonics are functions of the plain coordinates about the pole."""
    if harmonic and isinstance(chart, Pole):
        return Affine(chart.cells, chart.center, chart.transform, chart.radius)
    return chart


def _inside(hole: Hole) -> tuple[int, ...]:
    """The pieces that touch a hole's boundary; -1 for a hole of the domain itself."""
    return hole.pieces or (hole.piece,)
