"""Assembly: the rows of a trial space, the weights by least squares, and the residual at held-out points."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float

from jumpnet.collocation import Points, Stream
from jumpnet.engines.trefftz.collocation_pool import Drawn, Followed, followed
from jumpnet.engines.trefftz.corner_grading import equations_near
from jumpnet.engines.trefftz.enrichments.aaa_poles import PolesBeyond, near_poles
from jumpnet.engines.trefftz.enrichments.corners import places_of_powers
from jumpnet.engines.trefftz.functions import ParticularSolution
from jumpnet.engines.trefftz.options import Trefftz
from jumpnet.engines.trefftz.small_walls import HoleWall, on_small_walls, walls_of_holes
from jumpnet.engines.trefftz.trial_space import BasisBlock, Places, TrialSpace
from jumpnet.geometry.cells.power_diagram import PowerDiagram
from jumpnet.models import Frozen, LinearSystem
from jumpnet.problem import Problem
from jumpnet.problem.ambient import ambient
from jumpnet.problem.changes import singular_points
from jumpnet.rows import (
    ON_CUTS,
    ConditionKey,
    Kind,
    Rows,
    Sites,
    balanced_size,
    joined,
    on_surfaces,
    stack,
    traced_cuts,
    weigh,
)

# Points at which successive levels are compared.
COMPARED = 400
# Rounding errors of right-hand sides, in units of the last place (heuristic).
ROUNDED = 4.0
# The weight of the differential equation in pieces whose particular solution is sought among polynomials: with less,
# the polynomials fit the boundary conditions at the expense of the equation (heuristic).
INSIDE = 100.0
# Collocation points per particular solution, in unknowns that they would suffice for: the source may be uneven
# (heuristic).
PER_PARTICULAR = 60


@dataclass(frozen=True)
class Level:
    """One solve: functions and weights, the held-out residual of each row, and the values at the comparison points.

    `constant` is what is added to the features; `noise` is the norm of the rounding errors that it leaves in the data.
    """

    space: TrialSpace
    network: Frozen
    theta: Float[np.ndarray, " weights"]
    rows: Rows
    loss: float
    held_rows: Rows
    held: Float[np.ndarray, " rows"]
    values: Float[np.ndarray, " points"]
    constant: float = 0.0
    noise: float = 0.0

    @cached_property
    def residual(self) -> float:
        """The norm of the held-out residual."""
        return float(np.linalg.norm(self.held))

    def large_terms(self, part: float) -> list[ConditionKey]:
        """The families of equations with residuals above a part of the largest, the largest first."""
        square = np.bincount(self.held_rows.term, self.held**2, len(self.held_rows.terms))
        worst = np.argsort(-square)
        if self.space.cells is not None:
            # With hundreds of families, those left out are together a small part of the residual (Doerfler marking).
            large = worst[: 1 + np.count_nonzero(np.cumsum(square[worst][::-1])[::-1] > part**2 * square.sum())]
        else:
            large = worst[square[worst] >= part**2 * square.max()]  # all of them, if all residuals are zero
        return [self.held_rows.terms[term] for term in large]

    def without_traces(self) -> tuple[Frozen, Float[np.ndarray, " weights"]]:
        """Functions and weights of the cells, without the traces on the skeleton."""
        cells = self.space.cells
        if cells is None:
            return self.network, self.theta
        network = replace(self.network, of_cell=self.network.of_cell[: cells.size])
        return network, self.theta[: network.size]


class DirectSolver:
    """The levels of one problem and one seed."""

    def __init__(self, problem: Problem, seed: int, options: Trefftz = Trefftz()):
        self.problem, self.seed, self.options = problem, seed, options
        lower, upper = (np.asarray(end, float) for end in problem.partition.bounds)
        self.halfwidth = (upper - lower) / 2
        parts = problem.partition
        self._drawn: Drawn | None = None
        self.operations = 0.0
        """Floating-point operations of all levels so far."""
        self._constant = ambient(problem)
        self.x, self.piece = parts.sample_interior(
            max(COMPARED, 4 * parts.size), seed=[seed, int(Stream.HELD_OUT), 9], minimum=2, method="even"
        )
        n, d = self.x.shape
        self.compared = Sites(self.x, self.piece, np.ones(n), np.zeros((n, d)), np.zeros((n, d, d)))

    def level(self, space: TrialSpace) -> Level:
        """Solve in a trial space."""
        network = space.network
        rows, held_rows = self._rows(space, network)
        constant = self._constant
        size = float(np.linalg.norm(held_rows.rhs * held_rows.weight))
        noise = ROUNDED * np.finfo(float).eps * size if constant else 0.0
        rows, held_rows = (_without(constant, some) if constant else some for some in (rows, held_rows))
        system = LinearSystem(network, rows)
        self.operations += system.operations
        theta = self.options.least_squares.solve(system)
        r = system.residual(theta * system.column_size)
        found = network.values(theta, joined([held_rows.sites, network.placed(self.compared)]))
        of_site, values = found[: -len(self.x)], found[-len(self.x) :]
        held = np.bincount(held_rows.row_of_site, of_site, len(held_rows)) - held_rows.rhs
        held = held * held_rows.weight
        return Level(
            space, network, theta, rows, float(r @ r), held_rows, held, values + constant, float(constant), noise
        )

    @property
    def _pieces(self) -> range:
        return range(self.problem.partition.size)

    def _rows(self, space: TrialSpace, network: Frozen) -> tuple[Rows, Rows]:
        """The weighted equations, without those that all functions satisfy: the ones to solve, and held-out ones."""
        solved = {ConditionKey(Kind.PDE, (piece,)) for piece, exact in enumerate(space.exact) if exact}
        streams = (Stream.TRAIN, Stream.HELD_OUT)
        needed = points_for(space, self.problem, self.options.oversampling)
        if self._drawn is None or not self._drawn.enough(needed):
            halfwidth = self.halfwidth if space.cells is None else None  # cells are sized one by one
            self._drawn = Drawn.of(self.problem, needed, self.seed, halfwidth, self._followed)
        found = []
        for stream in streams:
            rows = self._drawn.first(stream, needed, solved)
            crowded = list(self._crowded(space, needed, stream))
            if space.cells is None:
                # Rows of drawn points are divided by their sizes already.
                sized = [more.weighted(more.weight / balanced_size(more, self.halfwidth)) for more in crowded]
                rows = weigh(stack([rows, *sized]) if sized else rows, "paper", self.halfwidth)
            else:
                rows = self._with_cuts(space, space.cells, network, stack([rows, *crowded]), stream)
            found.append(self._lifted(rows, np.where(space.has_particular_solution, INSIDE, 1.0)))
        return found[0], found[1]

    def _crowded(self, space: TrialSpace, needed: Points, stream: Stream) -> Iterator[Rows]:
        """Equations at additional points, where functions of the space vary too fast for evenly spread points."""
        places = places_of_powers(space)
        if places:
            every = singular_points(self.problem)
            corners = [corner for corner in every if tuple(corner.place.tolist()) in places]
            near_corners = equations_near(self.problem, corners, needed, stream)
            if near_corners is not None:
                yield near_corners
        rng = np.random.default_rng([self.seed, int(stream), len(space.blocks)])
        near = near_poles(self.problem, space, needed, rng)
        if near is not None:
            yield on_surfaces(self.problem, near)
        least = max((_carried(block, self.problem.dim) for block in space.blocks if _about_hole(block)), default=0)
        enough = int(self.options.oversampling * least)
        small = on_small_walls(self.problem, self._holes, needed, enough, rng) if least else None
        if small is not None:
            yield on_surfaces(self.problem, small)

    def _with_cuts(self, space: TrialSpace, cells: PowerDiagram, network: Frozen, rows: Rows, stream: Stream) -> Rows:
        """Rows of pieces together with those on the cuts between holes, weighted by the sizes of the cells."""
        half = np.ones((len(network.of_cell), self.problem.dim))
        for cell in range(cells.size):
            lower, upper = cells.boxes.get(cell) or self.problem.partition.piece_bounds(cell)
            half[cell] = (np.asarray(upper) - np.asarray(lower)) / 2
        rng = np.random.default_rng([self.seed, int(stream), cells.size])
        drawn, line = cells.cuts(space.points_on_cuts, rng, even=stream is Stream.TRAIN)
        on_cuts = traced_cuts(self.problem, drawn, cells.size + 2 * line, half[drawn.low].min(axis=1))
        rows = stack([replace(rows, sites=network.placed(rows.sites)), on_cuts])
        return weigh(rows, "balanced", half[np.asarray(rows.sites.cell)], together=True)

    @cached_property
    def _holes(self) -> tuple[HoleWall, ...]:
        """The walls of holes."""
        return walls_of_holes(self.problem.partition)

    @cached_property
    def _followed(self) -> dict[Stream, Followed] | None:
        """The equations at points where data vary fast."""
        return followed(self.problem)

    def _lifted(self, rows: Rows, inside: Float[np.ndarray, " pieces"]) -> Rows:
        """Rows with larger weights in good conductors at floating potential, and for the differential equation."""
        factor = np.ones(len(rows.terms))
        for at, key in enumerate(rows.terms):
            if key.kind is Kind.PDE or key.kind in ON_CUTS:
                factor[at] = self._lift[key.piece]
                if key.kind is Kind.PDE:
                    factor[at] *= inside[key.piece]
        return rows.weighted(rows.weight * factor[rows.term])

    @cached_property
    def _lift(self) -> Float[np.ndarray, " pieces"]:
        """For each piece, the root of its conductivity over the largest that connects it with given values of u.

        A flux error q in a piece of conductivity A changes u by about q/A if values of u are given on its boundary. If
        not, it changes the potential of the whole piece by about q/B, where B is the conductivity of the pieces between
        it and the given values: for an inclusion of contrast 1000 that is 1000 times as much.
        """
        parts = self.problem.partition
        conductivity = np.empty(parts.size)
        for piece in range(parts.size):
            x = self.x[self.piece == piece]
            A = self.problem.A[piece].value(x if len(x) else np.mean(parts.piece_bounds(piece), axis=0)[None])
            conductivity[piece] = np.exp(np.mean(np.log(np.trace(A, axis1=1, axis2=2) / parts.dim)))
        connected = np.where(self._grounded, conductivity, 0.0)
        for _ in range(parts.size):  # the widest path from given values, one link per round
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
        """The pieces on whose boundary values of u are given; all pieces if there are none."""
        parts, grounded = self.problem.partition, np.zeros(self.problem.partition.size, bool)
        if all(condition.kind == "dirichlet" for condition in self.problem.boundary.values()):
            grounded[list(parts.walls.outer_labels)] = True
            return grounded
        x, _, piece, part = parts.boundary_survey
        for number, name in enumerate(parts.boundary_parts):
            mine, condition = part == number, self.problem.boundary[name]
            given = condition.kind in ("dirichlet", "periodic") or condition.alpha.value(x[mine]) != 0
            grounded[piece[mine][given]] = True
        return grounded if grounded.any() else np.ones(parts.size, bool)


def _without(constant: float, rows: Rows) -> Rows:
    """The equations of u less a constant."""
    of_one = np.bincount(rows.row_of_site, np.asarray(rows.sites.a0), len(rows))  # the left-hand sides of u = 1
    return replace(rows, rhs=rows.rhs - constant * of_one)


def points_for(space: TrialSpace, problem: Problem, oversampling: float) -> Points:
    """The numbers of points for the unknowns: in pieces whose functions do not solve the equation, and on surfaces."""
    parts = problem.partition
    dim = parts.dim
    # Functions that solve the equation do not appear in the rows inside a piece.
    inside = np.zeros(parts.size, int)
    of_cell: dict[int, list[BasisBlock]] = defaultdict(list)
    for block in space.blocks:
        of_cell[block.cell].append(block)
        if not block.solves:
            particular = isinstance(block.functions, ParticularSolution)
            inside[block.piece] += PER_PARTICULAR if particular else block.family.size
    minimum = max(int(oversampling * 1.25 * max(inside)), 1)

    def unknowns(key: ConditionKey, cells: Iterable[int]) -> int:
        places = Places.of([key])
        return sum(_carried(block, dim) for cell in cells for block in of_cell[cell] if places.concern(block))

    # An interface has two equations for the unknowns of both sides.
    pairs = [interface.pair for interface in parts.interfaces]
    most = max((unknowns(ConditionKey(Kind.JUMP, (a, b)), space.at_interface(a, b)) for a, b in pairs), default=0)
    # Poles in holes do not count here; the functions of the pieces in the holes compensate for them.
    boundary = int(oversampling * unknowns(ConditionKey(Kind.BOUNDARY), space.reaching_boundary)) + 20
    return Points(minimum * parts.size, boundary, int(oversampling * most / 2) + 10, minimum, "even")


def _about_hole(block: BasisBlock) -> bool:
    """Whether the functions are decaying ones about a hole, for which there are no additional points yet."""
    return block.pole and not block.functions.own_points


def _carried(block: BasisBlock, dim: int) -> int:
    """The number of values on a surface that determine a block."""
    if dim == 1:
        return 1
    if isinstance(block.functions, PolesBeyond):
        return block.degree // 2  # they have additional points (near_poles, equations_near)
    if block.solves and dim == 2:
        return 2 * block.degree + 2
    return 2 * int(block.family.size ** ((dim - 1) / dim)) + 2
