"""A level of the direct solver: features, their weights by least squares, and how well unseen equations are met."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from jumpnet.collocation import Collocation, Points, Stream
from jumpnet.engines.trefftz.changes import singular_points
from jumpnet.engines.trefftz.drawing import Drawn, Followed, followed
from jumpnet.engines.trefftz.enrichments.rings import near_poles
from jumpnet.engines.trefftz.graded import equations_near
from jumpnet.engines.trefftz.plan import Part, Places, Plan
from jumpnet.geometry.cells.cells import CellPoints, Cells, Runs
from jumpnet.geometry.cells.surroundings import Surroundings
from jumpnet.models import Frozen, LinearSystem
from jumpnet.optim import Direct
from jumpnet.problem import Problem
from jumpnet.rows import (
    ON_CUTS,
    ConditionKey,
    Kind,
    Rows,
    Sites,
    balanced_size,
    combined,
    cuts,
    equations,
    joined,
    on_surfaces,
    select,
    stack,
    traced_cuts,
    weigh,
)

# How many times as many equations as unknowns: fewer, and the features are met at the points and wrong between them.
OVERSAMPLING = 2.0
# Families with a held-out residual above this part of the largest get more features.
LARGE = 0.05
# Points at which successive levels are compared.
COMPARED = 400
# How much heavier the total flux through a cut counts than the flux at a point of it, and the equation inside a cell,
# or inside a piece whose source polynomials answer: else they meet conditions at the expense of the equation.
BALANCE = 100.0
# An answer to a source is one unknown, but looked at as if it were so many: the source may be uneven.
ANSWERED = 60


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

    def large_terms(self) -> list[ConditionKey]:
        """The families of equations that are met worst, the worst first."""
        square = np.bincount(self.held_rows.term, self.held**2, len(self.held_rows.terms))
        worst = np.argsort(-square)
        if isinstance(self.plan.cells, Surroundings):
            # Of hundreds of families, small ones count together: those that are left out are a small part of all.
            large = worst[: 1 + np.count_nonzero(np.cumsum(square[worst][::-1])[::-1] > LARGE**2 * square.sum())]
        else:
            large = worst[square[worst] >= LARGE**2 * square.max()]  # all, where nothing is left of any
        return [self.held_rows.terms[term] for term in large]

    def without_traces(self) -> tuple[Frozen, Float[np.ndarray, " weights"]]:
        """Features and weights of the cells alone: what values on cuts were matched by is of no further use."""
        cells = self.plan.cells
        if not isinstance(cells, Surroundings):
            return self.network, self.theta
        network = replace(self.network, of_cell=self.network.of_cell[: cells.size])
        return network, self.theta[: network.size]

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
        self._drawn: Drawn | None = None
        self.x, self.piece = parts.sample_interior(
            max(COMPARED, 4 * parts.size), seed=[seed, int(Stream.HELD_OUT), 9], minimum=2, method="even"
        )
        n, d = self.x.shape
        self.compared = Sites(self.x, self.piece, np.ones(n), np.zeros((n, d)), np.zeros((n, d, d)))

    def level(self, plan: Plan) -> Level:
        """Solve with the features of a plan."""
        network = plan.network
        rows, held_rows = self._rows(plan, network)
        system = LinearSystem(network, rows)
        theta = self.optimizer.solve(system)
        r = system.residual(theta * system.column_size)
        found = network.values(theta, joined([held_rows.sites, network.placed(self.compared)]))
        of_site, values = found[: -len(self.x)], found[-len(self.x) :]
        held = np.bincount(held_rows.row_of_site, of_site, len(held_rows)) - held_rows.rhs
        return Level(plan, network, theta, rows, float(r @ r), held_rows, held * held_rows.weight, values)

    def _rows(self, plan: Plan, network: Frozen) -> tuple[Rows, Rows]:
        """The equations that the features do not solve by themselves, weighted: those to solve, and held-out ones."""
        solved = {ConditionKey(Kind.PDE, (piece,)) for piece, exact in enumerate(plan.exact) if exact}
        streams = (Stream.TRAIN, Stream.HELD_OUT)
        if isinstance(plan.cells, Cells):
            train, held = (self._rows_of_cells(plan, plan.cells, network, stream, solved) for stream in streams)
            return train, held
        needed = points_for(plan, self.problem)
        if self._drawn is None or not self._drawn.enough(needed):
            halfwidth = self.halfwidth if plan.cells is None else None  # cells have sizes of their own
            self._drawn = Drawn.of(self.problem, needed, self.seed, halfwidth, self._followed)
        found = []
        for stream in streams:
            rows = self._drawn.first(stream, needed, solved)
            crowded = list(self._crowded(plan, needed, stream))
            if plan.cells is None:
                # Those that were drawn are divided by their sizes already.
                sized = [more.weighted(more.weight / balanced_size(more, self.halfwidth)) for more in crowded]
                rows = weigh(stack([rows, *sized]) if sized else rows, "paper", self.halfwidth)
            else:
                rows = self._with_cuts(plan, plan.cells, network, stack([rows, *crowded]), stream)
            found.append(self._lifted(rows, np.where(plan.answered, BALANCE, 1.0)))
        return found[0], found[1]

    def _crowded(self, plan: Plan, needed: Points, stream: Stream) -> Iterator[Rows]:
        """Equations at more points, where functions of a plan change too fast for evenly spread ones."""
        places = {part.place for part in plan.parts if part.kind == "corner"}
        if places:
            every = singular_points(self.problem)
            corners = [corner for corner in every if tuple(corner.place.tolist()) in places]
            near_corners = equations_near(self.problem, corners, needed, stream)
            if near_corners is not None:
                yield near_corners
        rng = np.random.default_rng([self.seed, int(stream), len(plan.parts)])
        near = near_poles(self.problem, plan, needed, rng)
        if near is not None:
            yield on_surfaces(self.problem, near)

    def _with_cuts(self, plan: Plan, cells: Surroundings, network: Frozen, rows: Rows, stream: Stream) -> Rows:
        """Rows of whole pieces with those on the cuts between holes, weighted by the sizes of the cells."""
        half = np.ones((len(network.of_cell), self.problem.dim))
        for cell in range(cells.size):
            lower, upper = cells.boxes.get(cell) or self.problem.partition.piece_bounds(cell)
            half[cell] = (np.asarray(upper) - np.asarray(lower)) / 2
        rng = np.random.default_rng([self.seed, int(stream), cells.size])
        drawn, line = cells.cuts(plan.points_on_cuts, rng, even=stream is Stream.TRAIN)
        on_cuts = traced_cuts(self.problem, drawn, cells.size + 2 * line, half[drawn.low].min(axis=1))
        rows = stack([replace(rows, sites=network.placed(rows.sites)), on_cuts])
        return weigh(rows, "balanced", half[np.asarray(rows.sites.cell)], together=True)

    def _rows_of_cells(
        self, plan: Plan, cells: Cells, network: Frozen, stream: Stream, solved: set[ConditionKey]
    ) -> Rows:
        inside, along = counts_in_cells(plan, cells)
        rng = np.random.default_rng([self.seed, int(stream), len(cells.tree.leaves)])
        drawn = cells.draw(inside, along, rng, even=stream is Stream.TRAIN)
        rows = equations(self.problem, Collocation(*drawn[:7]))
        rows = replace(rows, sites=network.placed(rows.sites))
        if self._followed is not None:
            rows = stack([rows, _in_cells(self._followed[stream], cells, network, inside, along)])
        rows = stack([rows, cuts(self.problem, drawn.cuts)]) if len(drawn.cuts.x) else rows
        # The size of the leaf, not of what a piece has of it: the fluxes through a sliver count as much as others.
        lower, upper = cells.tree.corners(np.array([member.leaf for member in cells.members]))
        half = (upper - lower) / 2
        rows = weigh(rows, "balanced", half[np.asarray(rows.sites.cell)], together=True)
        balances = self._balances(rows, drawn) if stream is Stream.TRAIN else []
        keep = np.array([key not in solved for key in rows.terms])[rows.term]
        return stack([self._lifted(select(rows, keep), np.full(len(plan.exact), BALANCE)), *balances])

    @cached_property
    def _followed(self) -> dict[Stream, Followed] | None:
        """The equations where data change fast."""
        return followed(self.problem)

    def _balances(self, rows: Rows, drawn: CellPoints) -> list[Rows]:
        """The total flux through each stretch of wall and cut between two cells is the same on both sides.

        Least squares spreads what cannot be met at a corner over all other rows, where it is cheap: a little of the
        flux gets lost at every cut. Heavy rows for the totals leave it only errors without a total, which fade nearby.
        """
        runs = {ConditionKey(Kind.FLUX, pair): runs for pair, runs in drawn.interface_runs.items()}
        for piece in np.unique(drawn.cuts.piece).tolist():
            mine = drawn.cuts.piece == piece
            runs[ConditionKey(Kind.CUT_FLUX, (piece,))] = Runs(drawn.cut_runs.run[mine], drawn.cut_runs.length[mine])
        found = []
        for key, (run, length) in runs.items():
            if not (run >= 0).any():
                continue
            own = select(rows, rows.term == rows.terms.index(key))
            # Rows that follow the data come last and belong to no run.
            others = len(own) - len(run)
            run = np.concatenate([run, np.full(others, -1)]).astype(int)
            length = np.concatenate([length, np.zeros(others)])
            # Means over the run, of fluxes and of the weights of its rows.
            points, total = (np.bincount(run + 1, one)[run + 1] for one in (np.ones(len(run)), length))
            balance = combined(own, run, length / total, ConditionKey(Kind.BALANCE, key.pieces))
            weight = combined(replace(own, rhs=own.weight), run, 1 / points, key).rhs
            lift = self._lift[key.pieces[0]] * self._lift[key.pieces[-1]]
            found.append(balance.weighted(BALANCE * lift * weight))
        return found

    def _lifted(self, rows: Rows, inside: Float[np.ndarray, " pieces"]) -> Rows:
        """With more weight for what holds inside good conductors that float, and for the equation inside pieces."""
        factor = np.ones(len(rows.terms))
        for at, key in enumerate(rows.terms):
            if key.kind is Kind.PDE or key.kind in ON_CUTS:
                factor[at] = self._lift[key.piece]
                if key.kind is Kind.PDE:
                    factor[at] *= inside[key.piece]
        return rows.weighted(rows.weight * factor[rows.term])

    @cached_property
    def _lift(self) -> Float[np.ndarray, " pieces"]:
        """For each piece the root of its conductivity over the best that connects it with given values.

        A flux that gets lost in a piece of conductivity A changes u by its size over A, if values of u are given on the
        piece's boundary. If not, it changes the potential of the whole piece, by its size over the conductivity of
        what lies between: for an inclusion of contrast 1000 that is 1000 times as much.
        """
        parts = self.problem.partition
        conductivity = np.empty(parts.size)
        for piece in range(parts.size):
            x = self.x[self.piece == piece]
            A = self.problem.A[piece].value(x if len(x) else np.mean(parts.piece_bounds(piece), axis=0)[None])
            conductivity[piece] = np.exp(np.mean(np.log(np.trace(A, axis1=1, axis2=2) / parts.dim)))
        connected = np.where(self._grounded, conductivity, 0.0)
        for _ in range(parts.size):  # the widest way, link by link
            before = connected.copy()
            for interface in parts.interfaces:
                a, b = interface.pair
                for one, other in ((a, b), (b, a)):
                    connected[one] = max(connected[one], min(conductivity[one], connected[other]))
            if np.array_equal(before, connected):
                break
        return np.sqrt(conductivity / np.where(connected > 0, connected, conductivity))

    @property
    def _grounded(self) -> Bool[np.ndarray, " pieces"]:
        """The pieces on whose boundary values of u are given; all, where there are none."""
        parts, grounded = self.problem.partition, np.zeros(self.problem.partition.size, bool)
        if all(condition.kind == "dirichlet" for condition in self.problem.boundary.values()):
            grounded[list(parts._walls.outer_labels)] = True
            return grounded
        x, _, piece, part = parts.boundary_survey
        for number, name in enumerate(parts.boundary_parts):
            mine, condition = part == number, self.problem.boundary[name]
            given = condition.kind in ("dirichlet", "periodic") or condition.alpha.value(x[mine]) != 0
            grounded[piece[mine][given]] = True
        return grounded if grounded.any() else np.ones(parts.size, bool)


def points_for(plan: Plan, problem: Problem) -> Points:
    """Enough points for the unknowns: in pieces whose equation is not solved exactly, and on all surfaces."""
    parts = problem.partition
    dim = parts.dim
    # Harmonic functions are not seen by the equations inside a piece.
    inside = np.zeros(parts.size, int)
    of_cell: dict[int, list[Part]] = defaultdict(list)
    for part in plan.parts:
        of_cell[part.cell].append(part)
        if not part.solves:
            inside[part.piece] += ANSWERED if part.kind == "answer" else part.family.size
    minimum = max(int(OVERSAMPLING * 1.25 * max(inside)), 1)

    def unknowns(key: ConditionKey, cells: Iterable[int]) -> int:
        places = Places.of([key])
        return sum(_carried(part, dim) for cell in cells for part in of_cell[cell] if places.concern(part))

    # An interface has two equations for the unknowns of both sides.
    pairs = [interface.pair for interface in parts.interfaces]
    most = max((unknowns(ConditionKey(Kind.JUMP, (a, b)), _cells_at(plan, a, b)) for a, b in pairs), default=0)
    # Poles inside count for nothing here; the functions of pieces inside make up for them, where these are few.
    outer = plan.cells.at_boundary if isinstance(plan.cells, Surroundings) else list(of_cell)
    boundary = int(OVERSAMPLING * unknowns(ConditionKey(Kind.BOUNDARY), outer)) + 20
    return Points(minimum * parts.size, boundary, int(OVERSAMPLING * most / 2) + 10, minimum, "even")


def _cells_at(plan: Plan, a: int, b: int) -> set[int]:
    """The cells that meet at the interface of two pieces."""
    if not isinstance(plan.cells, Surroundings) or plan.cells.map.piece not in (a, b):
        return {a, b}
    inside = a + b - plan.cells.map.piece
    return {inside, *plan.cells.at_piece[inside]}


def _in_cells(
    more: Followed, cells: Cells, network: Frozen, inside: Int[np.ndarray, " cells"], along: Int[np.ndarray, " cells"]
) -> Rows:
    """Rows that follow the data, each of which counts as its share of the others in its cell."""
    rows = replace(more.rows, sites=network.placed(more.rows.sites))
    cell = np.asarray(rows.sites.cell)[np.cumsum(rows.counts) - rows.counts]
    lower, upper = cells.tree.corners(np.array([member.leaf for member in cells.members]))
    area, edge = (upper - lower).prod(axis=1), (upper - lower).max(axis=1)
    within = np.array([key.kind is Kind.PDE for key in rows.terms])[rows.term]
    expected = np.where(within, inside[cell] / area[cell], along[cell] / edge[cell]) * more.measure
    return rows.weighted(rows.weight * np.sqrt(np.minimum(expected, 1.0)))


def counts_in_cells(plan: Plan, cells: Cells) -> tuple[Int[np.ndarray, " cells"], Int[np.ndarray, " cells"]]:
    """How many points each cell needs inside, and on each of its walls and cuts."""
    inside, along = np.zeros((2, cells.size), int)
    for part in plan.parts:
        if not part.solves:
            inside[part.cell] += int(OVERSAMPLING * part.family.size) + 4
        along[part.cell] = max(along[part.cell], int(OVERSAMPLING * part.degree) + 4)
    return inside, along


def _carried(part: Part, dim: int) -> int:
    """How many numbers on a surface determine a part: of its functions, those of about the highest degree."""
    if dim == 1:
        return 1
    if part.kind == "poles":
        return part.degree // 2  # they get points of their own
    if part.solves and dim == 2:
        return 2 * part.degree + 2
    return 2 * int(part.family.size ** ((dim - 1) / dim)) + 2


def rms(values: np.ndarray) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(values**2)))
