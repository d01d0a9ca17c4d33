"""Points of the direct solver, drawn for several levels at once, and the equations there.

Equations for the solve and those held out to judge it by are drawn together: drawing and evaluating are dominated by
what a call costs, not by what a point costs. Each family of equations has its points from one evenly spread sequence;
the first half of it is for the solve, the second is held out. Every run of such a sequence is spread as evenly as all
of it, so a level takes the first of each half.

Where data have structure that evenly spread points miss (problem/resolution.py), every level has further points. Each
counts as much as the length, area or volume it stands for: the sum of squares stays an integral.
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

# When points run out, about PLENTY are drawn in all pieces together, and between 1.25 and 4 times as many as are
# needed: drawing costs more than a solve with few functions, and hundreds of points cost hardly more than a few.
PLENTY, AHEAD = 3000, (1.25, 4.0)
# Groups of equations that are asked for at points of their own.
GROUPS = ("pde", "boundary", "jump", "flux")


@dataclass(frozen=True)
class Followed:
    """Equations at the points that follow fast changes of data, those of one stream.

    `measure` is the length, area or volume that each row stands for, `share` the same as a part of its piece, of the
    boundary or of its interface.
    """

    rows: Rows
    measure: Float[np.ndarray, " rows"]
    share: Float[np.ndarray, " rows"]


def followed(problem: Problem) -> dict[Stream, Followed] | None:
    """The equations that follow the data of a problem, for the solve and held out; None if nothing needs them."""
    found = survey(problem)
    if found.empty:
        return None
    return {stream: _followed(problem, found, half) for half, stream in enumerate((Stream.TRAIN, Stream.HELD_OUT))}


def with_held_out(problem: Problem, drawn: Collocation) -> Collocation:
    """Held-out points together with those that follow the data."""
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
    around = sum(wall.patch.measure for wall in parts._walls.walls if wall.owner == 0)
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
    # The rows of periodic sides have their first site across: they count as the smallest.
    least = min(known.values())
    table = [known.get(x.tobytes(), least) for x in np.ascontiguousarray(np.asarray(rows.sites.x)[first])]
    measure, share = np.array(table).T
    return Followed(rows, measure, share)


@dataclass(frozen=True)
class Drawn:
    """Equations at more points than are needed now, as many held out as not.

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
        """The equations at the first points, as large a part of each family as is needed of its kind, and all followed.

        Families that need not be looked at are left out.
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
    """Rows with those that follow the data, each of which counts as its share of the others."""
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
    # Means are taken over the rows of a group: those that follow must not make the others count less.
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
