"""The weights of the equations in the loss.

The paper's loss takes the mean square of each family (1/M, 1/M_b, 1/M_Gamma for each interface). Equations are
written in units of their coefficients, though, so that with a contrast of 1000 some of them have no effect.
Equilibrated weights also divide each row by the size of its functional, measured in coordinates scaled to the domain's
box; of everything tried, this did most for convergence. Balanced weights divide a row by the geometric mean of its
sites' sizes instead of the largest: the flux condition of an inclusion of conductivity k then weighs 1/sqrt(k) and not
1/k. Only the total flux determines the potential of a good conductor, so that with 1/k a residual of 1e-8 allows an
error of 1e-8 k. Balanced weights are better for functions that can satisfy both sides to rounding.
"""

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
from jaxtyping import Float

from jumpnet.errors import ModelError
from jumpnet.rows.conditions import ConditionKey
from jumpnet.rows.table import Rows

Weights = Literal["equilibrated", "balanced", "paper"] | Mapping[str, float] | Callable[[Rows], np.ndarray]


def weigh(rows: Rows, kind: Weights, halfwidth: Float[np.ndarray, "*sites d"], together: bool = False) -> Rows:
    """The rows with weights of the given kind; `halfwidth` is that of the domain's box, or of each site's cell.

    A mapping from conditions ("jump 0-1") or groups of them ("boundary") to factors multiplies their parts of the loss
    with equilibrated weights. A function of the rows gives the weight of each row itself. With `together`, all rows
    share one mean: of many cells, each has about as many rows.
    """
    if isinstance(kind, Mapping):
        rows = weigh(rows, "equilibrated", halfwidth, together)
        return rows.weighted(rows.weight * np.sqrt(_factors(rows, kind)))
    if callable(kind):
        return rows.weighted(_own(rows, kind))
    # Measurements come with weights of their own; those of all other rows are one.
    mean = rows.weight / np.sqrt(len(rows) if together else _family_size(rows))
    if kind == "paper":
        return rows.weighted(mean)
    if kind == "equilibrated":
        return rows.weighted(mean / functional_size(rows, halfwidth))
    if kind == "balanced":
        return rows.weighted(mean / balanced_size(rows, halfwidth))
    raise ModelError(
        f'weights is {kind!r}; choose "equilibrated", "balanced" or "paper", or give factors of conditions, '
        'such as {"boundary": 10.0}, or a function of the rows.'
    )


def _factors(rows: Rows, given: Mapping[str, float]) -> Float[np.ndarray, " rows"]:
    """The factor of each row; that of a condition itself counts before that of its group."""
    known = {*rows.labels, *(key.kind.group for key in rows.terms)}
    for name, factor in given.items():
        if name not in known:
            raise ModelError(f"weights has {name!r}, which is no condition here; there are {', '.join(sorted(known))}.")
        if isinstance(factor, bool) or not isinstance(factor, int | float | np.number) or not 0 <= factor < np.inf:
            raise ModelError(f"the weight of {name!r} is {factor!r}; give a number, zero or more.")
    of_term = [given.get(str(key), given.get(key.kind.group, 1.0)) for key in rows.terms]
    return np.array(of_term, float)[rows.term]


def _own(rows: Rows, rule: Callable[[Rows], np.ndarray]) -> Float[np.ndarray, " rows"]:
    """What the user's function gives, if it is a weight for each row."""
    weight = np.asarray(rule(rows), float)
    if weight.shape != (len(rows),) or not (np.isfinite(weight) & (weight >= 0)).all():
        raise ModelError(
            f"the function for weights gave an array of shape {weight.shape}, or numbers that are negative or not "
            f"finite; give a weight for each of the {len(rows)} rows."
        )
    return weight


def functional_size(rows: Rows, halfwidth: Float[np.ndarray, "*sites d"]) -> Float[np.ndarray, " rows"]:
    """The largest coefficient of each row, over its sites, in coordinates scaled to the box."""
    size, of_site = np.zeros(len(rows)), _site_size(rows, halfwidth)
    np.maximum.at(size, rows.row_of_site, of_site)
    return _not_vanishing(_or_sum(rows, size, of_site))


def balanced_size(rows: Rows, halfwidth: Float[np.ndarray, "*sites d"]) -> Float[np.ndarray, " rows"]:
    """The geometric mean of the largest coefficients over the sites of a row, in coordinates scaled to the box."""
    of_site = _not_vanishing(_site_size(rows, halfwidth))
    size = np.exp(np.bincount(rows.row_of_site, np.log(of_site), len(rows)) / rows.counts)
    return _or_sum(rows, size, of_site)


def _or_sum(rows: Rows, size: np.ndarray, of_site: np.ndarray) -> np.ndarray:
    """The size of each row; integrals, rows of many sites with small weights, are as large as these together."""
    return np.where(rows.counts > 2, np.bincount(rows.row_of_site, of_site, len(rows)), size)


def _site_size(rows: Rows, halfwidth: Float[np.ndarray, "*sites d"]) -> Float[np.ndarray, " sites"]:
    """The largest coefficient of each site; zero where it is rounding beside the same coefficient elsewhere."""
    s = rows.sites
    # Sites along the last axis: a maximum over a few long rows is much faster than over many short ones.
    a0, a1, a2 = (np.abs(np.array(np.asarray(part).T, order="C")) for part in (s.a0, s.a1, s.a2))
    h = np.broadcast_to(halfwidth, np.shape(s.a1)).T
    scaled = a0, (a1 / h).max(axis=0), (a2 / (h[:, None] * h)).max(axis=(0, 1))
    plain = a0, a1.max(axis=0), a2.max(axis=(0, 1))
    kept = (np.where(one > 1e-12 * one.max(initial=0.0), size, 0.0) for one, size in zip(plain, scaled, strict=True))
    return np.max(list(kept), axis=0)


def _not_vanishing(size: np.ndarray) -> np.ndarray:
    """Sizes with 1 in place of 0: a row without coefficients (A may vanish at a point) must not be divided by 0."""
    return np.where(size > 0, size, size.max(initial=1e-300))


def _family_size(rows: Rows) -> Float[np.ndarray, " rows"]:
    """How many rows share the mean a row is part of: all interior points, all boundary points, each interface's."""
    number: dict[ConditionKey | str, int] = {}
    group_of_term = np.array([number.setdefault(key.family, len(number)) for key in rows.terms], int)
    group = group_of_term[rows.term]
    return np.bincount(group)[group].astype(float)
