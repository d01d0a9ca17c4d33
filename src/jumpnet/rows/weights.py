"""Weights: how much each equation counts in the loss.

The paper's loss takes the mean square of each family (1/M, 1/M_b, 1/M_Gamma for each interface). Equations are
written in units of their coefficients, though, and with contrasts of 1000 that makes some of them invisible.
Equilibrated weights also divide each row by the size of its functional, measured in coordinates scaled to the domain's
box; of everything tried, this did most for convergence.
"""

from typing import Literal

import numpy as np
from jaxtyping import Float

from jumpnet.errors import ModelError
from jumpnet.rows.table import Rows

Weights = Literal["equilibrated", "paper"]


def weigh(rows: Rows, kind: Weights, halfwidth: Float[np.ndarray, " d"]) -> Rows:
    """The rows with weights of the given kind; `halfwidth` is that of the domain's box."""
    mean = 1 / np.sqrt(_family_size(rows))
    if kind == "paper":
        return rows.weighted(mean)
    if kind == "equilibrated":
        return rows.weighted(mean / functional_size(rows, halfwidth))
    raise ModelError(f'weights is {kind!r}; choose "equilibrated" or "paper".')


def functional_size(rows: Rows, halfwidth: Float[np.ndarray, " d"]) -> Float[np.ndarray, " rows"]:
    """The largest coefficient of each row, over its sites, in coordinates scaled to the box."""
    s, h = rows.sites, halfwidth
    of_site = np.max(
        [np.abs(s.a0), np.abs(s.a1 / h).max(axis=1), np.abs(s.a2 / (h[:, None] * h)).max(axis=(1, 2))], axis=0
    )
    size = np.zeros(len(rows))
    np.maximum.at(size, rows.row_of_site, of_site)
    # A row without coefficients (A may vanish at a point) says 0 = rhs: it must not be blown up.
    return np.where(size > 1e-12 * size.max(), size, size.max())


def _family_size(rows: Rows) -> Float[np.ndarray, " rows"]:
    """How many rows share the mean a row is part of: all interior points, all boundary points, each interface's."""
    groups = [name if name.startswith(("jump", "flux")) else name.split()[0] for name in rows.terms]
    group_of_term = np.unique(groups, return_inverse=True)[1]
    group = group_of_term[rows.term]
    return np.bincount(group)[group].astype(float)
