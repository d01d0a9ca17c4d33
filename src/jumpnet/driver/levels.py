"""A level of the direct solver: features, their weights by least squares, and how well unseen equations are met."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from jumpnet.collocation import Collocation, Points, Stream, collocate
from jumpnet.driver.features import Part, Plan
from jumpnet.models import Frozen, LinearSystem
from jumpnet.optim import Direct
from jumpnet.problem import Problem
from jumpnet.rows import Rows, Sites, cuts, equations, select, stack, weigh

# How many times as many equations as unknowns: fewer, and the features are met at the points and wrong between them.
OVERSAMPLING = 2.0
# Families with a held-out residual above this part of the largest get more features.
LARGE = 0.05
# Points at which successive levels are compared.
COMPARED = 400
# When points run out, so many times as many as are needed are drawn: drawing costs more than solving with few features.
AHEAD = 2.0


@dataclass(frozen=True)
class Level:
    """One solve: its features and weights, its held-out residual row by row, and the values at the compared points."""

    plan: Plan
    network: Frozen
    theta: Float[np.ndarray, " weights"]
    rows: Rows
    loss: float
    held_rows: Rows
    held: Float[np.ndarray, " rows"]
    values: Float[np.ndarray, " points"]

    @cached_property
    def residual(self) -> float:
        """The norm of the held-out residual."""
        return float(np.linalg.norm(self.held))

    def large_terms(self) -> list[str]:
        """The families of equations that are met worst, the worst first."""
        square = np.bincount(self.held_rows.term, self.held**2, len(self.held_rows.terms))
        large = np.flatnonzero(square > LARGE**2 * square.max())
        return [self.held_rows.terms[term] for term in large[np.argsort(-square[large])]]

    def residual_of_cells(self) -> Float[np.ndarray, " cells"]:
        """The norm of the held-out residual of the rows that touch each cell."""
        of_site = self.held[self.held_rows.row_of_site] ** 2
        cell = np.asarray(self.held_rows.sites.cell)
        return np.sqrt(np.bincount(cell, of_site, len(self.network.of_cell)))


class DirectSolver:
    """The levels of one problem and one seed."""

    def __init__(self, problem: Problem, seed: int, optimizer: Direct):
        self.problem, self.seed, self.optimizer = problem, seed, optimizer
        lower, upper = (np.asarray(end, float) for end in problem.partition.bounds)
        self.halfwidth = (upper - lower) / 2
        parts = problem.partition
        self._drawn: dict[Stream, Drawn] = {}
        self.x, self.piece = parts.sample_interior(
            max(COMPARED, 4 * parts.size), seed=[seed, int(Stream.HELD_OUT), 9], minimum=2, method="even"
        )

    def level(self, plan: Plan) -> Level:
        """Solve with the features of a plan."""
        network = plan.network
        rows = self._rows(plan, network, Stream.TRAIN)
        system = LinearSystem(network, rows)
        theta = self.optimizer.solve(system)
        r = system.residual(theta * system.column_size)
        held_rows = self._rows(plan, network, Stream.HELD_OUT)
        of_site = network.values(theta, held_rows.sites)
        held = np.bincount(held_rows.row_of_site, of_site, len(held_rows)) - held_rows.rhs
        n, d = self.x.shape
        at = network.placed(Sites(self.x, self.piece, np.ones(n), np.zeros((n, d)), np.zeros((n, d, d))))
        values = network.values(theta, at)
        return Level(plan, network, theta, rows, float(r @ r), held_rows, held * held_rows.weight, values)

    def _rows(self, plan: Plan, network: Frozen, stream: Stream) -> Rows:
        """The equations that the features do not solve by themselves, weighted."""
        solved = {f"pde {piece}" for piece, exact in enumerate(plan.exact) if exact}
        if plan.cells is not None:
            return self._rows_of_cells(plan, network, stream, solved)
        needed = points_for(plan, self.problem)
        drawn = self._drawn.get(stream)
        if drawn is None or not drawn.enough(needed):
            drawn = self._drawn[stream] = Drawn.of(self.problem, needed, self.seed, stream)
        rows = drawn.first(needed)
        keep = np.array([term not in solved for term in rows.terms])[rows.term]
        return weigh(select(rows, keep), "balanced", self.halfwidth)

    def _rows_of_cells(self, plan: Plan, network: Frozen, stream: Stream, solved: set[str]) -> Rows:
        assert plan.cells is not None and network.cells is not None
        inside, along = counts_in_cells(plan)
        rng = np.random.default_rng([self.seed, int(stream), len(plan.cells.tree.leaves)])
        drawn = plan.cells.draw(inside, along, rng, even=stream is Stream.TRAIN)
        rows = equations(self.problem, Collocation(*drawn[:-1]))
        rows = replace(rows, sites=network.placed(rows.sites))
        rows = stack([rows, cuts(self.problem, drawn.cuts)]) if len(drawn.cuts.x) else rows
        keep = np.array([term not in solved for term in rows.terms])[rows.term]
        rows = select(rows, keep)
        # The size of the leaf, not of what a piece has of it: the fluxes through a sliver count as much as others.
        lower, upper = plan.cells.tree.corners(np.array([leaf for leaf, _ in plan.cells.members]))
        half = (upper - lower) / 2
        return weigh(rows, "balanced", half[np.asarray(rows.sites.cell)], together=True)


@dataclass(frozen=True)
class Drawn:
    """Equations at more points than are needed now: the first of each family are spread as evenly as all."""

    points: Points
    rows: Rows
    rank: Int[np.ndarray, " rows"]

    @staticmethod
    def of(problem: Problem, needed: Points, seed: int, stream: Stream) -> "Drawn":
        """Draw points, with some to spare."""
        more = {name: int(AHEAD * getattr(needed, name)) for name in ("interior", "boundary", "interface", "minimum")}
        points = replace(needed, **more)
        rows = equations(problem, collocate(problem.partition, points, seed=seed, stream=stream))
        order = np.argsort(rows.term, kind="stable")
        starts = np.searchsorted(rows.term[order], np.arange(len(rows.terms)))
        rank = np.empty(len(rows), int)
        rank[order] = np.arange(len(rows)) - starts[rows.term[order]]
        return Drawn(points, rows, rank)

    def enough(self, needed: Points) -> bool:
        """Whether there are as many points as are needed."""
        mine, theirs = self.points, needed
        return (
            mine.minimum >= theirs.minimum and mine.boundary >= theirs.boundary and mine.interface >= theirs.interface
        )

    def first(self, needed: Points) -> Rows:
        """The equations at the first points: as large a part of each family as is needed of its kind."""
        share = {
            "pde": needed.minimum / max(self.points.minimum, 1),
            "boundary": needed.boundary / max(self.points.boundary, 1),
            "jump": needed.interface / max(self.points.interface, 1),
        }
        share["flux"] = share["jump"]
        count = np.bincount(self.rows.term, minlength=len(self.rows.terms))
        one_dimension = self.rows.sites.x.shape[1] == 1  # every point of a boundary is there once
        most = [
            total
            if one_dimension and not term.startswith("pde")
            else int(np.ceil(share.get(term.split()[0], 1.0) * total))
            for term, total in zip(self.rows.terms, count, strict=True)
        ]
        return select(self.rows, self.rank < np.array(most)[self.rows.term])


def points_for(plan: Plan, problem: Problem) -> Points:
    """Enough points for the unknowns: in pieces whose equation is not solved exactly, and on all surfaces."""
    parts = problem.partition
    dim = parts.dim
    # Harmonic functions are not seen by the equations inside a piece.
    inside = [sum(p.family.size for p in plan.of(piece) if p.kind != "harmonic") for piece in range(parts.size)]
    minimum = max(int(OVERSAMPLING * 1.25 * max(inside)), 1)

    def unknowns(term: str) -> int:
        return sum(_carried(part, dim) for part in plan.parts if part.concerns(term))

    # An interface has two equations for the unknowns of both sides.
    pairs = [interface.pair for interface in parts.interfaces]
    interface = int(OVERSAMPLING * max((unknowns(f"jump {a}-{b}") for a, b in pairs), default=0) / 2) + 10
    boundary = int(OVERSAMPLING * unknowns("boundary")) + 20
    return Points(minimum * parts.size, boundary, interface, minimum, "even")


def counts_in_cells(plan: Plan) -> tuple[Int[np.ndarray, " cells"], Int[np.ndarray, " cells"]]:
    """How many points each cell needs inside, and on each of its walls and cuts."""
    assert plan.cells is not None
    inside, along = np.zeros((2, len(plan.cells.members)), int)
    for part in plan.parts:
        if part.kind != "harmonic":
            inside[part.cell] += int(OVERSAMPLING * part.family.size) + 4
        along[part.cell] = max(along[part.cell], int(OVERSAMPLING * part.degree) + 4)
    return inside, along


def _carried(part: Part, dim: int) -> int:
    """How many numbers on a surface determine a part: of its functions, those of about the highest degree."""
    if dim == 1:
        return 1
    if part.kind == "harmonic" and dim == 2:
        return 2 * part.degree + 2
    return 2 * int(part.family.size ** ((dim - 1) / dim)) + 2


def rms(values: np.ndarray) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(values**2)))
