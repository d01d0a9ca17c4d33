"""Points of the direct solver, drawn for several levels at once, and the equations there.

Equations for the solve and those held out to judge it by are drawn together: drawing and evaluating are dominated by
what a call costs, not by what a point costs. Each family of equations has its points from one evenly spread sequence;
the first half of it is for the solve, the second is held out. Every run of such a sequence is spread as evenly as all
of it, so a level takes the first of each half.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from jumpnet.collocation import Points, Stream, collocate
from jumpnet.problem import Problem
from jumpnet.rows import Rows, balanced_size, equations, select

# When points run out, more than are needed are drawn, so that there are about so many in all pieces together: drawing
# costs more than solving with few features, and a few hundred points cost hardly more than a few. So many times as
# many as are needed at least and at most.
PLENTY, AHEAD = 3000, (1.25, 4.0)
# Points of a piece, of all that are drawn, at which its source is unusual: so many times as far from its median as at
# nine of ten points. So many of them take part in every level, since a narrow source may have no others.
UNUSUAL, PEAKS = 10.0, 8


@dataclass(frozen=True)
class Drawn:
    """Equations at more points than are needed now, as many held out as not.

    `start` and `count` say which of the rows of each family are for the solve, and which are held out; `rank` is the
    place of a row in its family. Measurements, and in 1-D boundary and interfaces, are the same rows for both.
    """

    points: Points
    rows: Rows
    rank: Int[np.ndarray, " rows"]
    peaks: Bool[np.ndarray, " rows"]
    start: dict[Stream, Int[np.ndarray, " terms"]]
    count: Int[np.ndarray, " terms"]

    @staticmethod
    def of(problem: Problem, needed: Points, seed: int, halfwidth: Float[np.ndarray, " d"] | None) -> "Drawn":
        """Draw points, with some to spare; with `halfwidth`, that of the domain, rows weigh one over their size."""
        ahead = float(np.clip(PLENTY / max(needed.interior, 1), *AHEAD))
        more = {name: int(ahead * getattr(needed, name)) for name in ("interior", "boundary", "interface", "minimum")}
        both = replace(needed, **{name: 2 * number for name, number in more.items()})
        rows = equations(problem, collocate(problem.partition, both, seed=seed))
        if halfwidth is not None:
            rows = rows.weighted(rows.weight / balanced_size(rows, halfwidth))
        total = np.bincount(rows.term, minlength=len(rows.terms))
        order = np.argsort(rows.term, kind="stable")
        rank = np.empty(len(rows), int)
        rank[order] = np.arange(len(rows)) - np.repeat(np.cumsum(total) - total, total)
        half = np.array([_kind(term) in _drawn_kinds(problem.dim) for term in rows.terms])
        count = np.where(half, (total + 1) // 2, total)
        start = {Stream.TRAIN: np.zeros_like(count), Stream.HELD_OUT: np.where(half, count, 0)}
        return Drawn(replace(needed, **more), rows, rank, _peaks(rows, rank, count), start, count)

    def enough(self, needed: Points) -> bool:
        """Whether there are as many points as are needed."""
        mine, theirs = self.points, needed
        return (
            mine.minimum >= theirs.minimum and mine.boundary >= theirs.boundary and mine.interface >= theirs.interface
        )

    def first(self, stream: Stream, needed: Points, without: set[str]) -> Rows:
        """The equations at the first points, as large a part of each family as is needed of its kind, and at peaks.

        Families that need not be looked at are left out.
        """
        have, dim = self.points, self.rows.sites.x.shape[1]
        share = {"pde": needed.minimum / max(have.minimum, 1), "boundary": needed.boundary / max(have.boundary, 1)}
        share["jump"] = share["flux"] = needed.interface / max(have.interface, 1)
        share = {kind: share[kind] for kind in _drawn_kinds(dim)}
        part = np.array([0.0 if term in without else share.get(_kind(term), 1.0) for term in self.rows.terms])
        most = np.ceil(part * self.count).astype(int)[self.rows.term]
        place = self._place(stream)
        return select(self.rows, (place >= 0) & ((place < most) | (self.peaks & (most > 0) & self._of(place))))

    def at_peaks(self, stream: Stream) -> Rows:
        """The equations where sources are most unusual, with weights of one."""
        rows = select(self.rows, self.peaks & self._of(self._place(stream)))
        return rows.weighted(np.ones(len(rows)))

    def _place(self, stream: Stream) -> Int[np.ndarray, " rows"]:
        """The place of each row among those of its family that are for the same."""
        return self.rank - self.start[stream][self.rows.term]

    def _of(self, place: Int[np.ndarray, " rows"]) -> Bool[np.ndarray, " rows"]:
        return (place >= 0) & (place < self.count[self.rows.term])


def _kind(term: str) -> str:
    return term.split()[0]


def _drawn_kinds(dim: int) -> tuple[str, ...]:
    """The kinds of equations whose points are drawn; in 1-D every point of a boundary is there once."""
    return ("pde",) if dim == 1 else ("pde", "boundary", "jump", "flux")


def _peaks(rows: Rows, rank: Int[np.ndarray, " rows"], count: Int[np.ndarray, " terms"]) -> Bool[np.ndarray, " rows"]:
    """The points of each piece, held out or not, at which its source is most unusual."""
    peaks = np.zeros(len(rows), bool)
    for number, term in enumerate(rows.terms):
        if _kind(term) != "pde":
            continue
        mine = np.flatnonzero(rows.term == number)
        source = rows.rhs[mine]
        off = np.abs(source - np.partition(source, len(source) // 2)[len(source) // 2])
        unusual = off > UNUSUAL * np.partition(off, int(0.9 * len(off)))[int(0.9 * len(off))]
        if not unusual.any():
            continue
        for half in (rank[mine] < count[number], rank[mine] >= count[number]):
            found = np.flatnonzero(unusual & half)
            peaks[mine[found[np.argsort(off[found])[-PEAKS:]]]] = True
    return peaks
