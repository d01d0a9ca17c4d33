"""Which pieces meet at a boundary point: the labels a small step to either side of it.

A partition finds its interfaces and its outer boundary from these labels alone. The shape to whose boundary a point
belongs is behind it; what is ahead the others say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jumpnet.errors import GeometryError
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.partition.labels import Labeller
from jumpnet.geometry.randomness import EvenlySpread
from jumpnet.geometry.shape import Patch

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Wall:
    """A patch and the piece (or, with 0, the domain) to whose boundary it belongs."""

    owner: int
    patch: Patch


@dataclass(frozen=True, eq=False)
class Trace:
    """Wall points: position, outward normal, labels ahead (along the normal) and behind, and the wall's number."""

    points: Floats
    normals: Floats
    ahead: np.ndarray
    behind: np.ndarray
    wall: np.ndarray

    def __getitem__(self, index: np.ndarray | slice) -> Trace:
        return Trace(*(getattr(self, name)[index] for name in self.__dataclass_fields__))

    def __len__(self) -> int:
        return len(self.points)

    @staticmethod
    def join(traces: Sequence[Trace]) -> Trace:
        """All of them, one after the other."""
        return Trace(*(np.concatenate([getattr(t, name) for t in traces]) for name in Trace.__dataclass_fields__))


Wanted = Callable[[Trace], np.ndarray]


@dataclass(frozen=True, eq=False)
class Walls:
    """All patches of a partition, able to draw wall points of a kind."""

    labeller: Labeller
    walls: tuple[Wall, ...]
    dim: int
    step: float

    def trace(self, k: int, n: int, rng: np.random.Generator, quasi: bool) -> Trace:
        """`n` points of wall k with the labels on both sides."""
        return self._traced({k: n}, rng, quasi)

    def _traced(self, counts: dict[int, int], rng: np.random.Generator, quasi: bool) -> Trace:
        """The given numbers of points of each of these walls; labels are computed once for all walls of an owner."""
        sampled = [self.walls[k].patch.sample(n, rng, quasi) for k, n in counts.items()]
        x, normals = (np.concatenate([one[at] for one in sampled]) for at in (0, 1))
        wall = np.repeat(np.array(list(counts)), [len(points) for points, _ in sampled])
        owners = {self.walls[k].owner for k in counts}
        if len(owners) == 1:
            return Trace(x, normals, *self.labeller.beside(x, normals, owners.pop(), self.step), wall)
        ahead, behind = np.empty((2, len(x)), int)
        for owner in owners:
            mine = self._owners[wall] == owner
            ahead[mine], behind[mine] = self.labeller.beside(x[mine], normals[mine], owner, self.step)
        return Trace(x, normals, ahead, behind, wall)

    @cached_property
    def pilot(self) -> tuple[Trace, ...]:
        """A fixed, evenly spread sample of every wall: what touches what, and on which share of the wall."""
        count = len(self.walls)
        n = 1 if self.dim == 1 else max(8192 // count, min(512, max(128, 32768 // count)))
        return tuple(self.trace(k, n, EvenlySpread(), False) for k in range(len(self.walls)))

    @cached_property
    def _every(self) -> Trace:
        return Trace.join(self.pilot)

    @cached_property
    def of_piece(self) -> dict[int, list[int]]:
        """For each piece the walls that touch it."""
        found: dict[int, list[int]] = {}
        for k, trace in enumerate(self.pilot):
            for label in np.unique(np.concatenate([trace.ahead, trace.behind])).tolist():
                found.setdefault(label, []).append(k)
        return found

    @cached_property
    def _owners(self) -> np.ndarray:
        return np.array([wall.owner for wall in self.walls])

    def on_outer_boundary(self, trace: Trace) -> np.ndarray:
        """Points of the domain's own walls with a piece behind and nothing ahead."""
        owner = self._owners[trace.wall]
        return (owner == 0) & (trace.ahead < 0) & (trace.behind >= 0)

    def between(self, trace: Trace, pair: Pair | None = None) -> np.ndarray:
        """Points between two pieces (or the pieces of `pair`).

        A face that two pieces share is on the walls of both: it counts for the lower one. (Piece 0 has no
        walls.)
        """
        low, high = np.minimum(trace.ahead, trace.behind), np.maximum(trace.ahead, trace.behind)
        owner = self._owners[trace.wall]
        found = (low >= 0) & (low != high) & (owner == np.where(low == 0, high, low))
        return found if pair is None else found & (low == pair[0]) & (high == pair[1])

    @cached_property
    def interfaces(self) -> dict[Pair, float]:
        """The pairs of pieces that touch and the measure of their interface."""
        measures = {pair: sum(shares.values()) for pair, shares in self.of_pair.items()}
        return dict(sorted(measures.items()))

    @cached_property
    def outer_labels(self) -> frozenset[int]:
        """The pieces that reach the outer boundary."""
        of_domain = [trace for wall, trace in zip(self.walls, self.pilot, strict=True) if wall.owner == 0]
        return frozenset(int(l) for t in of_domain for l in np.unique(t.behind[self.on_outer_boundary(t)]))

    @cached_property
    def of_pair(self) -> dict[Pair, dict[int, float]]:
        """For each pair of pieces that touch, the walls between them and how much each has of their interface."""
        found: dict[Pair, dict[int, float]] = {}
        for k, trace in enumerate(self.pilot):
            kept = trace[self.between(trace)]
            pairs = np.sort(np.stack([kept.ahead, kept.behind], axis=1), axis=1)
            for (a, b), times in zip(*np.unique(pairs, axis=0, return_counts=True), strict=True):
                found.setdefault((int(a), int(b)), {})[k] = float(times / len(trace) * self.walls[k].patch.measure)
        return found

    def draw(self, n: int, rng: np.random.Generator, quasi: bool, wanted: Wanted, what: str) -> Trace:
        """`n` points of the wanted kind, uniform over all walls that have some; in 1-D every such point once.

        `what` names the kind where there are none.
        """
        pilot = zip(self.walls, self.pilot, strict=True)
        shares = np.array([wall.patch.measure * float(np.mean(wanted(t))) for wall, t in pilot], dtype=np.float64)
        return self._drawn(n, rng, quasi, wanted, shares, what)

    def draw_between(self, n: int, rng: np.random.Generator, quasi: bool, pair: Pair) -> Trace:
        """`n` points between two pieces in the same way."""
        shares = np.zeros(len(self.walls))
        for k, share in self.of_pair.get(pair, {}).items():
            shares[k] = share
        return self._drawn(
            n, rng, quasi, lambda trace: self.between(trace, pair), shares, f"the interface of pieces {pair}"
        )

    def _drawn(self, n: int, rng: np.random.Generator, quasi: bool, wanted: Wanted, shares: Floats, what: str) -> Trace:
        if self.dim == 1:
            return self._every[wanted(self._every)]
        used = np.flatnonzero(shares > 0.0)
        if len(used) == 0:
            raise GeometryError(
                f"{what} is at none of the {sum(map(len, self.pilot))} points at which walls are examined: it is "
                "empty, or too small to be found. Make it larger, or state its data as a formula on the whole side."
            )
        if n == 0:
            return self.pilot[used[0]][:0]
        if quasi:
            counts = np.zeros(len(self.walls), int)
            counts[used] = _apportion(n, shares[used])
            return self._fill(counts, rng, wanted, shares)
        return self._mix(n, rng, used, shares, wanted)

    def _fill(self, counts: np.ndarray, rng: np.random.Generator, wanted: Wanted, shares: Floats) -> Trace:
        """The given numbers of wanted points of each wall from low-discrepancy batches."""
        found: list[Trace] = []
        missing = counts
        while (short := np.flatnonzero(missing > 0)).size:
            rates = {int(k): shares[k] / self.walls[k].patch.measure for k in short}
            sizes = {
                k: int(missing[k] if rate > 1 - 1e-9 else missing[k] / rate * 1.1 + 4) for k, rate in rates.items()
            }
            batch = self._traced(sizes, rng, True)
            found.append(batch[wanted(batch)])
            missing = missing - np.bincount(found[-1].wall, minlength=len(counts))
        every = found[0] if len(found) == 1 else Trace.join(found)
        # Walls in turn, so that the first points of many are spread as evenly as all.
        by_wall = np.argsort(every.wall, kind="stable")
        wall, there = every.wall[by_wall], np.bincount(every.wall, minlength=len(counts))
        place = np.arange(len(wall)) - (np.cumsum(there) - there)[wall]
        kept = place < counts[wall]
        return every[by_wall[kept][np.argsort((place[kept] + 0.5) / counts[wall[kept]], kind="stable")]]

    def _mix(
        self,
        n: int,
        rng: np.random.Generator,
        used: np.ndarray,
        shares: Floats,
        wanted: Wanted,
    ) -> Trace:
        """`n` wanted points: walls chosen by their full measure, unwanted points rejected, hence uniform."""
        full = np.array([self.walls[k].patch.measure for k in used])
        rate = shares[used].sum() / full.sum()
        parts: list[Trace] = []
        while (have := sum(len(p) for p in parts)) < n:
            batch = n - have if rate == 1.0 else int((n - have) / rate * 1.1) + 8
            counts = rng.multinomial(batch, full / full.sum())
            fresh = Trace.join([self.trace(int(k), int(m), rng, False) for k, m in zip(used, counts, strict=True) if m])
            fresh = fresh[wanted(fresh)]
            parts.append(fresh[rng.permutation(len(fresh))])
        return Trace.join(parts)[:n]


def _apportion(n: int, shares: Floats) -> np.ndarray:
    """Whole numbers that add up to n, in proportion to the shares (largest remainders)."""
    exact = n * shares / shares.sum()
    counts = np.floor(exact).astype(int)
    rest = np.argsort(counts - exact, kind="stable")[: n - counts.sum()]
    counts[rest] += 1
    return counts
