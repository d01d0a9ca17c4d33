"""Rows: every equation of a problem as a linear functional of u, taken at sites.

A site is a point together with the cell from whose side it is seen. A row sums, over its sites,

    a0 u + a1 . grad u + a2 : hess u

and asks the sum to equal a right-hand side. The PDE, each kind of boundary condition and both jump conditions are
different coefficients in the same table, so nothing after this module knows what a PDE is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from jumpnet.rows.conditions import ConditionKey

Arrays = Array | np.ndarray


class Run(NamedTuple):
    """Consecutive rows with equally many sites and derivatives up to the same order: their sums are plain reshapes."""

    sites: int
    rows: int
    order: int


Layout = tuple[Run, ...]


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class Sites:
    """Points, cells and coefficients of functionals; `x` and the coefficients are in the same coordinates.

    A pytree, so that it can be passed to compiled functions.
    """

    x: Float[Arrays, "sites d"]
    cell: Int[Arrays, " sites"]
    a0: Float[Arrays, " sites"]
    a1: Float[Arrays, "sites d"]
    a2: Float[Arrays, "sites d d"]
    # Networks are told by `order` below 2 (static, so that compiled code leaves them out) where a2, or a1 too, is zero.
    order: int = field(default=2, metadata={"static": True})

    def __len__(self) -> int:
        return len(self.cell)


@dataclass(frozen=True)
class Rows:
    """Equations: `counts[i]` consecutive sites belong to row i.

    `term[i]` is the index into `terms` of the condition that the row states, so that losses can be reported condition
    by condition. `weight` multiplies the row when it becomes part of a least-squares system; the
    table itself stays physical.
    """

    sites: Sites
    counts: Int[np.ndarray, " rows"]
    rhs: Float[np.ndarray, " rows"]
    weight: Float[np.ndarray, " rows"]
    term: Int[np.ndarray, " rows"]
    terms: tuple[ConditionKey, ...]

    def __len__(self) -> int:
        return len(self.rhs)

    @property
    def layout(self) -> Layout:
        """The runs of rows of the same kind."""
        if len(self) == 0:
            return ()
        s = self.sites
        of_site = np.where(np.any(s.a2, axis=(1, 2)), 2, np.where(np.any(s.a1, axis=1), 1, 0))
        order = np.zeros(len(self), int)
        np.maximum.at(order, self.row_of_site, of_site)
        starts = np.r_[0, np.flatnonzero(np.diff(self.counts) | np.diff(order)) + 1, len(self)]
        return tuple(Run(int(self.counts[a]), int(b - a), int(order[a])) for a, b in pairwise(starts))

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the conditions in reports."""
        return tuple(map(str, self.terms))

    @property
    def row_of_site(self) -> Int[np.ndarray, " sites"]:
        """The row each site belongs to."""
        return np.repeat(np.arange(len(self)), self.counts)

    def weighted(self, weight: Float[np.ndarray, " rows"]) -> "Rows":
        """The same equations with other weights."""
        return replace(self, weight=np.asarray(weight, float))


def row_family(
    key: ConditionKey,
    rhs: Float[np.ndarray, " rows"],
    *sides: tuple[np.ndarray, int | np.ndarray, np.ndarray | float, np.ndarray | float, np.ndarray | float],
) -> Rows:
    """Rows of one kind; each side is (points, cell, a0, a1, a2) and contributes one site to every row."""
    rhs = np.asarray(rhs, float)
    m, d, count = len(rhs), np.shape(sides[0][0])[1], len(sides)
    # The sides are interleaved, so that the sites of one row are neighbours.
    x, a1 = np.empty((2, m, count, d))
    a0, a2, cell = np.empty((m, count)), np.zeros((m, count, d, d)), np.empty((m, count), np.int32)
    for k, (where, piece, value, gradient, hessian) in enumerate(sides):
        x[:, k], cell[:, k], a0[:, k], a1[:, k] = where, piece, value, gradient
        if isinstance(hessian, np.ndarray):
            a2[:, k] = (hessian + np.swapaxes(hessian, 1, 2)) / 2
        else:
            a2[:, k] = hessian
    sites = Sites(x.reshape(-1, d), cell.ravel(), a0.ravel(), a1.reshape(-1, d), a2.reshape(-1, d, d))
    return Rows(sites, np.full(m, count), rhs, np.ones(m), np.zeros(m, int), (key,))


def stack(families: Iterable[Rows]) -> Rows:
    """All families in one table; families of the same condition become one term."""
    families = [f for f in families if len(f)]
    place: dict[ConditionKey, int] = {}
    for family in families:
        for key in family.terms:
            place.setdefault(key, len(place))

    term = [np.array([place[key] for key in f.terms])[f.term] for f in families]
    counts, rhs, weight = ([getattr(f, key) for f in families] for key in ("counts", "rhs", "weight"))
    counts, rhs, weight, term = (np.concatenate(parts) for parts in (counts, rhs, weight, term))
    return Rows(joined([f.sites for f in families]), counts, rhs, weight, term, tuple(place))


def joined(sites: Sequence[Sites]) -> Sites:
    """All sites, one after the other."""
    x, cell, a0, a1, a2 = (
        np.concatenate([np.asarray(getattr(one, key)) for one in sites]) for key in ("x", "cell", "a0", "a1", "a2")
    )
    return Sites(x, cell, a0, a1, a2)


def batch(rows: Rows, share: float, rng: np.random.Generator) -> Rows:
    """A random share of the rows of every condition, at least one of each, and their order kept.

    Weights grow by as much as there are fewer rows, so that the loss of a batch is that of all rows on average. All
    batches of a share have the same layout: code that is compiled for one serves for all.
    """
    run = np.repeat(np.arange(len(rows.layout)), [one.rows for one in rows.layout])
    weight, keep = rows.weight.copy(), np.zeros(len(rows), bool)
    for kind in np.unique(np.stack([run, rows.term]), axis=1).T:
        mine = np.flatnonzero((run == kind[0]) & (rows.term == kind[1]))
        count = max(1, round(share * len(mine)))
        keep[rng.choice(mine, count, replace=False)] = True
        weight[mine] *= np.sqrt(len(mine) / count)
    return select(rows.weighted(weight), keep)


def select(rows: Rows, keep: Bool[np.ndarray, " rows"]) -> Rows:
    """A subset of the rows, without the families that have no row left."""
    of_site = np.repeat(keep, rows.counts)
    s = rows.sites
    x, cell, a0, a1, a2 = (np.asarray(part)[of_site] for part in (s.x, s.cell, s.a0, s.a1, s.a2))
    sites = Sites(x, cell, a0, a1, a2)
    kept = np.unique(rows.term[keep])
    term = np.searchsorted(kept, rows.term[keep])
    terms = tuple(rows.terms[index] for index in kept)
    return Rows(sites, rows.counts[keep], rows.rhs[keep], rows.weight[keep], term, terms)
