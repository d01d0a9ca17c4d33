"""Points of the Trefftz engine, drawn for several levels at once, and the equations there.

Points for the solve and held-out points are drawn together, because the cost of drawing and evaluating is mostly that
of a call, not that of a point. The points of each family of equations are one low-discrepancy sequence: its first half
is for the solve, its second half is held out. Every section of such a sequence is evenly spread, so that a level takes
the first points of each half.

Where data have structure that evenly spread points miss (problem/resolution.py), every level has additional points.
Each is weighted by the length, area or volume it represents, so that the sum of squares remains an approximate
integral.
"""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from jumpnet.collocation import Collocation, Points, Stream, collocate
from jumpnet.problem import Problem
from jumpnet.problem.places import Places
from jumpnet.problem.resolution import DataSurvey, survey
from jumpnet.rows import ConditionKey, Kind, Rows, balanced_size, equations, select, stack

# When points run out, about PLENTY new ones are drawn in all, between the two factors AHEAD of the number needed: one
# drawing costs more than a solve with few functions, and its cost hardly depends on the number of points (heuristic).
PLENTY, AHEAD = 3000, (1.25, 4.0)
# Groups of equations with collocation points of their own.
GROUPS = ("pde", "boundary", "jump", "flux")


@dataclass(frozen=True)
class Followed:
    """Equations at the additional points where data vary fast, of one stream.

    `measure` is the length, area or volume that each row represents, `share` the same divided by that of its piece, of
    the boundary or of its interface.
    """

    rows: Rows
    measure: Float[np.ndarray, " rows"]
    share: Float[np.ndarray, " rows"]


def followed(problem: Problem) -> dict[Stream, Followed] | None:
    """The equations at additional points, for the solve and held out; None if the data need no additional points."""
    found = survey(problem)
    if found.empty:
        return None
    return {stream: _followed(problem, found, half) for half, stream in enumerate((Stream.TRAIN, Stream.HELD_OUT))}


def with_held_out(problem: Problem, drawn: Collocation) -> Collocation:
    """Held-out points together with the additional ones where data vary fast."""
    found = survey(problem)
    if found.empty:
        return drawn
    more = _points_of(found, 1, problem.dim)
    interfaces = dict(drawn.interfaces)
    for pair, (x, normal) in more.interfaces.items():
        before = interfaces.get(pair, (np.empty((0, problem.dim)),) * 2)
        interfaces[pair] = (np.concatenate([before[0], x]), np.concatenate([before[1], normal]))

    def both(name: str) -> np.ndarray:
        return np.concatenate([getattr(drawn, name), getattr(more, name)])

    return Collocation(
        both("interior"),
        both("piece"),
        both("boundary"),
        both("boundary_normal"),
        both("boundary_piece"),
        both("boundary_part"),
        interfaces,
    )


def _points_of(found: DataSurvey, half: int, dim: int) -> Collocation:
    """The points of a survey, of one half."""
    nothing = Places(np.empty((2, 0, dim)), np.empty(0), np.empty(0), np.empty((2, 0, dim)), np.empty(0, int))
    inside = Places.join([nothing, *found.pieces.values()])
    edge = Places.join([nothing, *found.boundary.values()])
    part = np.repeat(np.array([*found.boundary], int), [len(one) for one in found.boundary.values()])
    interfaces = {pair: (one.x[half], one.normal[half]) for pair, one in found.interfaces.items()}
    return Collocation(inside.x[half], inside.piece, edge.x[half], edge.normal[half], edge.piece, part, interfaces)


def _followed(problem: Problem, found: DataSurvey, half: int) -> Followed:
    parts = problem.partition
    around = sum(wall.patch.measure for wall in parts.walls.walls if wall.owner == 0)
    wholes = [(one, parts.measure(piece)) for piece, one in found.pieces.items()]
    wholes += [(one, around) for one in found.boundary.values()]
    lengths = {interface.pair: interface.measure for interface in parts.interfaces}
    wholes += [(one, lengths[pair]) for pair, one in found.interfaces.items()]
    known = {
        x.tobytes(): (measure, measure / whole)
        for one, whole in wholes
        for x, measure in zip(one.x[half], one.measure.tolist(), strict=True)
    }
    rows = equations(problem, _points_of(found, half, parts.dim))
    rows = select(rows, np.array([key.kind.group in GROUPS for key in rows.terms])[rows.term])
    first = np.cumsum(rows.counts) - rows.counts
    # The first site of a periodic row is on the other side of the box: such rows get the smallest share.
    least = min(known.values())
    table = [known.get(x.tobytes(), least) for x in np.ascontiguousarray(np.asarray(rows.sites.x)[first])]
    measure, share = np.array(table).T
    return Followed(rows, measure, share)


@dataclass(frozen=True)
class Drawn:
    """Equations at points drawn ahead of need, as many held out as for the solve.

    `start` and `count` say which of the rows of each family are for the solve, and which are held out; `rank` is the
    place of a row in its family. Measurements, and in 1-D boundary and interfaces, are the same rows for both.
    """

    points: Points
    rows: Rows
    rank: Int[np.ndarray, " rows"]
    start: dict[Stream, Int[np.ndarray, " terms"]]
    count: Int[np.ndarray, " terms"]
    followed: dict[Stream, Followed] | None

    @staticmethod
    def of(
        problem: Problem,
        needed: Points,
        seed: int,
        halfwidth: Float[np.ndarray, " d"] | None,
        narrow: dict[Stream, Followed] | None = None,
    ) -> "Drawn":
        """Draw points, with some to spare; `narrow` has the equations where data change fast.

        With `halfwidth`, that of the domain, rows weigh one over their size.
        """
        ahead = float(np.clip(PLENTY / max(needed.interior, 1), *AHEAD))
        more = {name: int(ahead * getattr(needed, name)) for name in ("interior", "boundary", "interface", "minimum")}
        both = replace(needed, **{name: 2 * number for name, number in more.items()})
        rows = equations(problem, collocate(problem.partition, both, seed=seed))
        if halfwidth is not None:
            rows = _sized(rows, halfwidth)
            narrow = narrow and {key: replace(one, rows=_sized(one.rows, halfwidth)) for key, one in narrow.items()}
        total = np.bincount(rows.term, minlength=len(rows.terms))
        order = np.argsort(rows.term, kind="stable")
        rank = np.empty(len(rows), int)
        rank[order] = np.arange(len(rows)) - np.repeat(np.cumsum(total) - total, total)
        half = np.array([key.kind.group in _drawn_groups(problem.dim) for key in rows.terms])
        count = np.where(half, (total + 1) // 2, total)
        start = {Stream.TRAIN: np.zeros_like(count), Stream.HELD_OUT: np.where(half, count, 0)}
        return Drawn(replace(needed, **more), rows, rank, start, count, narrow)

    def enough(self, needed: Points) -> bool:
        """Whether there are as many points as are needed."""
        mine, theirs = self.points, needed
        return (
            mine.minimum >= theirs.minimum and mine.boundary >= theirs.boundary and mine.interface >= theirs.interface
        )

    def first(self, stream: Stream, needed: Points, without: set[ConditionKey]) -> Rows:
        """The equations at the first points of each family, as many as are needed, and at all additional points.

        The families `without` are left out.
        """
        have, dim = self.points, self.rows.sites.x.shape[1]
        share = {"pde": needed.minimum / max(have.minimum, 1), "boundary": needed.boundary / max(have.boundary, 1)}
        share["jump"] = share["flux"] = needed.interface / max(have.interface, 1)
        share = {group: share[group] for group in _drawn_groups(dim)}
        part = np.array([0.0 if key in without else share.get(key.kind.group, 1.0) for key in self.rows.terms])
        most = np.ceil(part * self.count).astype(int)[self.rows.term]
        place = self.rank - self.start[stream][self.rows.term]
        rows = select(self.rows, (place >= 0) & (place < most))
        return rows if self.followed is None else _joined(rows, self.followed[stream], without)


def _joined(rows: Rows, more: Followed, without: set[ConditionKey]) -> Rows:
    """Rows together with those at additional points, each weighted by its share."""
    keep = np.array([key not in without for key in more.rows.terms])[more.rows.term]
    if not keep.any():
        return rows
    added, share = select(more.rows, keep), more.share[keep]
    ordinary, following = _rows_by_family(rows), _rows_by_family(added)
    # A part of the boundary is drawn from all of it, and so is the equation from all points of its piece.
    alike = np.array([ordinary.get(key.family, 0) for key in added.terms])[added.term]
    inside = np.array([key.kind is Kind.PDE for key in added.terms])[added.term]
    own = dict(zip(rows.terms, np.bincount(rows.term, minlength=len(rows.terms)).tolist(), strict=True))
    of_term = np.array([own.get(key, 0) for key in added.terms])[added.term]
    added = added.weighted(added.weight * np.sqrt(np.minimum(share * np.where(inside, of_term, alike), 1.0)))
    # Losses are means over the rows of a group: additional rows must not lower the weight of the others.
    more_of = {family: 1 + count / max(ordinary.get(family, 0), 1) for family, count in following.items()}
    result = stack([rows, added])
    factor = np.array([more_of.get(key.family, 1.0) for key in result.terms])[result.term]
    return result.weighted(result.weight * np.sqrt(factor))


def _sized(rows: Rows, halfwidth: Float[np.ndarray, " d"]) -> Rows:
    return rows.weighted(rows.weight / balanced_size(rows, halfwidth))


def _rows_by_family(rows: Rows) -> Counter[ConditionKey | str]:
    """How many rows each family has that a mean is taken over (rows/weights.py)."""
    found: Counter[ConditionKey | str] = Counter()
    for key, count in zip(rows.terms, np.bincount(rows.term, minlength=len(rows.terms)).tolist(), strict=True):
        found[key.family] += count
    return found


def _drawn_groups(dim: int) -> tuple[str, ...]:
    """The groups of equations whose points are drawn; in 1-D every point of a boundary is there once."""
    return ("pde",) if dim == 1 else GROUPS
