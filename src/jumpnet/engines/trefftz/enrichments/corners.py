"""Singular functions at corners, and where conditions on the boundary change.

At a point where walls meet, a solution of div(A grad u) = f with A constant in each piece is a smooth function in each
of them plus a sum of powers of the distance, with a logarithm if the exponent is an integer. A square with a source has
z^2 log z at its corners, a re-entrant corner z^(2/3), a square inclusion of conductivity 10 z^0.73. Where given values
jump there is the angle, Im log z; between a Dirichlet and a Neumann condition on a straight side z^(1/2).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from jumpnet.charts import Affine, inverse_root
from jumpnet.engines.trefftz.functions import ParticularSolution
from jumpnet.engines.trefftz.reflections import mirrors
from jumpnet.engines.trefftz.trial_space import BasisBlock, TrialSpace
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.walls.corners import OUTSIDE, Corner, corners_of
from jumpnet.geometry.walls.singular_exponents import Sector, exponents
from jumpnet.models.families.wedges import WHOLE, BranchCutPotential, Wedge
from jumpnet.problem import Problem
from jumpnet.problem.changes import from_outside, kinds_beside, singular_points, values_jump
from jumpnet.rows import BETWEEN_PIECES, ON_BOUNDARY, ConditionKey

# Powers at each corner in the first space: at least FIRST, and all with exponents below LOW (heuristic).
FIRST, LOW = 3, 3.0
# The largest number of powers at a corner, and the largest exponent.
MOST, HIGHEST = 60, 32.0
# The most factors log z of a power; more occur with higher powers only (heuristic).
MOST_LOGARITHMS = 3
# Samples along a possible branch cut, and the length of a cut that would re-enter the piece: this part of the distance
# from the corner to there.
ALONG, OF_THE_WAY = 2000, 0.5
# A corner has an image in sides of the domain up to this distance, in lengths of its cut (heuristic).
NEAR_SIDE = 1.0
# No powers are used whose cut would be shorter than this, relative to the domain (heuristic).
SHORTEST = 1e-3

# A piece with up to FEW_CORNERS corners has their powers in the first space; with up to MANY_CORNERS they are proposed
# when p-refinement stagnates. A polygon that approximates a curve has more, with weak singularities (heuristic).
FEW_CORNERS, MANY_CORNERS = 24, 80

Only = Literal["any", "broken", "sudden"]


@dataclass(frozen=True)
class CornerPowers:
    """The first powers about a corner, `degree` of them; with an `opening`, those of a branch cut that ends."""

    powers: tuple[complex, ...]
    opening: float = 0.0
    pole: bool = True
    name: ClassVar[str] = "powers"
    solves: ClassVar[bool] = True
    own_points: ClassVar[bool] = True

    def degree(self, wanted: int) -> int:
        """The wanted number of powers, or all of them."""
        return min(wanted, len(self.powers))

    def family(self, degree: int) -> Wedge | BranchCutPotential:
        """The first powers."""
        known = np.array(self.powers[:degree])
        powers, imaginary = (tuple(part.tolist()) for part in (np.real(known), np.imag(known)))
        imaginary = imaginary if any(imaginary) else ()
        return BranchCutPotential(powers, imaginary, self.opening) if self.opening else Wedge(powers, imaginary)


@dataclass(frozen=True)
class Corners:
    """Powers at corners, and where conditions on the boundary change."""

    once: bool = False

    def begin(self, problem: Problem, space: TrialSpace) -> Sequence[BasisBlock]:
        """Powers with non-integer exponents; with a source all, as it is incompatible with the corner."""
        only = "any" if any(isinstance(block.functions, ParticularSolution) for block in space.blocks) else "broken"
        return _missing(problem, space, only, FEW_CORNERS)

    def propose(self, problem: Problem, space: TrialSpace, marked: Sequence[ConditionKey]) -> Sequence[BasisBlock]:
        """All powers the space lacks, if conditions on the boundary or between pieces have large residuals."""
        on_walls = any(key.kind in (*ON_BOUNDARY, *BETWEEN_PIECES) for key in marked)
        return _missing(problem, space, "any", MANY_CORNERS) if on_walls else ()


def places_of_powers(space: TrialSpace) -> set[tuple[float, ...]]:
    """The corners whose powers a space has."""
    return {block.place for block in space.blocks if isinstance(block.functions, CornerPowers)}


def _missing(problem: Problem, space: TrialSpace, only: Only, most: int) -> list[BasisBlock]:
    """The singular functions that a space lacks.

    If a piece that is not split has more than `most` corners, only those where the condition on the boundary changes.
    """
    cut, harmonic = space.cells, space.harmonic
    if not harmonic:
        return []
    at = Counter(piece for corner in corners_of(problem.partition) for piece in corner.pieces if piece in harmonic)
    if cut is None and max(at.values(), default=0) > most:
        only = "sudden"
    known = places_of_powers(space)
    found: list[BasisBlock] = []
    for block in corner_blocks(problem, harmonic, only):
        if block.place in known:
            continue
        if cut is not None and block.piece == cut.map.piece:
            (cell,) = cut.map(np.array([block.place]), np.array([block.piece])).tolist()
            block = block.in_cell(cell, set(block.pieces or ()))
        found.append(block)
    return found


def corner_blocks(problem: Problem, harmonic: set[int], only: Only = "any") -> Iterator[BasisBlock]:
    """The singular functions where all pieces have constant A: at corners, and where boundary conditions change.

    `only` "sudden" means places where given values jump or the kind of condition changes; "broken" adds corners with
    non-integer exponents. At the other corners the solution is smooth unless a source or incompatible data bring a
    logarithm.
    """
    for corner in singular_points(problem):
        if set(corner.pieces) <= {OUTSIDE, *harmonic}:
            yield from _at(problem, corner, only)


def _at(problem: Problem, corner: Corner, only: Only) -> Iterator[BasisBlock]:
    """The functions of each piece at one corner."""
    place, ways, pieces = corner
    ends, jumps, shifted = None, False, not (corner.straight or corner.smooth)
    if OUTSIDE in pieces:
        turned = from_outside(corner)
        if turned is None or "periodic" in (kinds := kinds_beside(problem, *turned)):
            return
        ways, pieces = turned
        ends, shifted = (kinds[0] == "dirichlet", kinds[1] == "dirichlet"), shifted or "robin" in kinds
        jumps = all(ends) and values_jump(problem, ways, pieces)
    sudden = jumps or corner.smooth
    if only == "sudden" and not sudden:
        return
    A = {piece: problem.A[piece].value(place[None])[0] for piece in pieces if piece != OUTSIDE}
    directions = np.array([way.direction for way in ways])
    walls = {piece: _complex(directions, inverse_root(A[piece])) for piece in A}
    sectors = [_sector(A[piece], np.roll(walls[piece], -at)) for at, piece in enumerate(pieces) if piece != OUTSIDE]
    powers = _series(exponents(tuple(sectors), ends, HIGHEST), jumps, shifted)[:MOST]
    if not sudden and only == "broken" and np.all(np.abs(powers - np.round(np.real(powers))) < WHOLE):
        return
    for piece in A if len(powers) else ():
        for begin, end in _gaps(pieces, piece):
            gap = float(np.angle(walls[piece][end] / walls[piece][begin]) % (2 * np.pi))
            middle = walls[piece][begin] / abs(walls[piece][begin]) * np.exp(0.5j * gap)
            yield from _of_piece(problem, place, piece, set(pieces) - {piece}, powers, gap, middle)


def _of_piece(
    problem: Problem, place: Floats, piece: int, others: set[int], powers: np.ndarray, gap: float, middle: complex
) -> Iterator[BasisBlock]:
    """The functions of one piece at a corner, with a branch cut along the middle of a gap outside the piece."""
    transform = inverse_root(problem.A[piece].value(place[None])[0])
    cut = _cut(problem, place, piece, transform, middle)
    if cut is None:
        return
    chart, ends_inside = cut
    count = min(max(FIRST, int(np.count_nonzero(np.real(powers) < LOW))), len(powers))
    functions = CornerPowers(tuple(powers.tolist()), gap / 2 if ends_inside else 0.0)
    block = BasisBlock(piece, piece, chart, functions, count, tuple(sorted(others)))
    yield block
    if ends_inside and OUTSIDE not in others:
        yield from _mirrored(problem, block, transform, middle)


def _sector(A: Floats, walls: np.ndarray) -> Sector:
    """The sector of a piece between two walls."""
    turn = walls[1] / walls[0]
    # Rounded, so that equal corners of a regular figure share the cached exponents.
    angle, stretch = round(float(np.angle(turn) % (2 * np.pi)), 13), round(float(abs(turn)), 13)
    return Sector(angle, stretch, float(np.sqrt(np.linalg.det(A))))


def _mirrored(problem: Problem, block: BasisBlock, transform: Floats, along: complex) -> Iterator[BasisBlock]:
    """The images of a corner of a hole in nearby straight sides of the domain."""
    chart: Any = block.chart
    place = complex(*(transform @ chart.center))
    for side in mirrors(problem, block.piece, transform):
        if side.distance(place) < NEAR_SIDE * chart.radius:
            image = side.image(place)
            center = np.linalg.solve(transform, [image.real, image.imag])
            images = replace(chart, center=center, transform=_turned(side.direction(along)) @ transform)
            yield replace(block, chart=images, pieces=(OUTSIDE,))


def _turned(cut: complex) -> Floats:
    """The rotation that takes the direction of a cut to the negative real axis."""
    return -np.array([[cut.real, cut.imag], [-cut.imag, cut.real]])


def _series(powers: np.ndarray, jumps: bool, shifted: bool) -> np.ndarray:
    """The exponents of a solution, each repeated for every factor log z (integers have one from the start).

    They are the exponents of the tangents, and 0 if values jump. Curved walls and Robin conditions add integers to them
    (`shifted`), and a logarithm whenever a sum is another exponent.
    """
    powers = np.append(0.0, powers) if jumps else powers
    if not shifted or not len(powers):
        return powers
    every = (powers[:, None] + np.arange(np.ceil(HIGHEST))).ravel()
    every = np.sort_complex(every) if np.iscomplexobj(every) else np.sort(every)
    every = every[np.append(True, np.abs(np.diff(every)) > WHOLE)]
    above = every[:, None] - powers
    met = (np.abs(above - np.round(above)) < WHOLE) & (np.real(above) > -0.5)
    return np.repeat(every, np.minimum(met.sum(axis=1), MOST_LOGARITHMS))


def _complex(vectors: Floats, transform: Floats) -> np.ndarray:
    """Vectors after a linear map, as complex numbers."""
    y = vectors @ transform.T
    return y[:, 0] + 1j * y[:, 1]


def _gaps(pieces: Sequence[int], piece: int) -> Iterator[tuple[int, int]]:
    """The gaps around a corner that a piece does not fill: the walls where each begins and ends, anticlockwise."""
    mine = [at for at, other in enumerate(pieces) if other == piece]
    for at, after in zip(mine, mine[1:] + mine[:1], strict=True):
        yield (at + 1) % len(pieces), after


def _cut(problem: Problem, place: Floats, piece: int, metric: Floats, along: complex) -> tuple[Affine, bool] | None:
    """Coordinates in which the branch cut is on the negative real axis, and whether it ends at -1, because it would
    re-enter the piece otherwise. None if it would be too short."""
    parts, size = problem.partition, problem.partition.domain.size
    away = np.linalg.solve(metric, [along.real, along.imag])
    lengths = 2 * size * np.linspace(1 / ALONG, 1, ALONG) / np.linalg.norm(away)
    met = np.flatnonzero(parts.label(place + lengths[:, None] * away) == piece)
    turn = _turned(along)
    if len(met):
        reach = OF_THE_WAY * lengths[met[0]]
        return (Affine((piece,), place, turn @ metric, float(reach)), True) if reach > SHORTEST * size else None
    lower, upper = (np.asarray(bound, float) for bound in parts.bounds)
    reach = np.linalg.norm(np.abs(metric) @ (upper - lower))
    return Affine((piece,), place, turn @ metric, float(reach)), False
