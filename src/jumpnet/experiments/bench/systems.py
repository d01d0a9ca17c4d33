"""The least-squares systems that are measured, and the same rows differentiated automatically."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from jumpnet.charts import Charts, choose_atlases
from jumpnet.collocation import Points, collocate
from jumpnet.experiments import problems, tables
from jumpnet.geometry import Ball, Partition
from jumpnet.models import CategoricalEmbedding, Model, OneHot, System
from jumpnet.problem import Problem, manufactured
from jumpnet.rows import Rows, equations, weigh

POINTS_PER_PIECE = 20  # of chains of many pieces: the paper's 2,000 points for 100


def least_squares(problem: Problem, model: Model, points: Points | Sequence[int], charts: Charts = "box") -> System:
    """The system that a training of this model on this problem would see, for seed 0."""
    parts = problem.partition
    lower, upper = (np.asarray(end, float) for end in parts.bounds)
    rows = equations(problem, collocate(parts, Points.of(points), seed=0))
    (atlas,) = choose_atlases(charts, parts)
    weighted = atlas.push_rows(weigh(rows, "equilibrated", (upper - lower) / 2))
    return System(model.network(atlas.inputs, parts.size), weighted)


def paper_system(name: str) -> System:
    """The paper's CE model (D = 1) on one of its 2-D and 3-D problems, with its numbers of points."""
    row = tables.row(name, "CE")
    return least_squares(getattr(problems, name)(), row.model, row.points, row.charts)


def one_hot_system(pieces: int) -> System:
    """One-hot encoding with 50 neurons on the 1-D chain of a number of pieces."""
    return least_squares(problems.pde1(pieces), OneHot(), (POINTS_PER_PIECE * pieces, 2, 1), "local")


def ball_system(dim: int) -> System:
    """A ball in a ball in any dimension, CE with 50 neurons, 600 + 100 + 2 * 100 rows."""
    parts = Partition(Ball((0.0,) * dim, 0.6), [Ball((0.0,) * dim, 0.5)])
    coordinates = [f"x{i + 1}" for i in range(dim)]
    problem = manufactured(parts, u=["*".join(f"cos({x})" for x in coordinates), "+".join(coordinates)], A=[1.0, 10.0])
    return least_squares(problem, CategoricalEmbedding(), (600, 100, 100))


class Family(NamedTuple):
    """Weighted rows with equally many sites and derivatives of at most `order`; arrays are (rows, sites, ...)."""

    order: int
    row: Int[np.ndarray, " rows"]
    x: Float[np.ndarray, "rows sites d"]
    cell: Int[np.ndarray, "rows sites"]
    a0: Float[np.ndarray, "rows sites"]
    a1: Float[np.ndarray, "rows sites d"]
    a2: Float[np.ndarray, "rows sites d d"]


def families(rows: Rows, order: int | None = None) -> list[Family]:
    """Rows sorted by what they need: whoever differentiates automatically takes no Hessian where none is asked for.

    With `order`, all of them get derivatives up to that one, as where a single formula serves all equations.
    """
    s, weight = rows.sites, np.repeat(rows.weight, rows.counts)
    a0, a1, a2 = s.a0 * weight, s.a1 * weight[:, None], s.a2 * weight[:, None, None]
    of_site = np.where(np.abs(a2).max(axis=(1, 2)) > 0, 2, np.where(np.abs(a1).max(axis=1) > 0, 1, 0))
    needs = np.zeros(len(rows), int) if order is None else np.full(len(rows), order)
    np.maximum.at(needs, rows.row_of_site, of_site)
    first = np.cumsum(rows.counts) - rows.counts
    found = []
    for count, needed in sorted({*zip(rows.counts.tolist(), needs.tolist(), strict=True)}):
        mine = np.flatnonzero((rows.counts == count) & (needs == needed))
        at = first[mine][:, None] + np.arange(count)
        found.append(Family(needed, mine, *(np.asarray(part)[at] for part in (s.x, s.cell, a0, a1, a2))))
    return found


def by_autodiff(system: System, sorted_rows: Sequence[Family]) -> Callable[[Array], Array]:
    """The Jacobian of these rows by vmap(jacrev), compiled."""
    network = system.network.shallow
    if network is None:
        raise TypeError("only shallow networks are written out here")

    def u(theta: Array, x: Array, cell: Array) -> Array:
        p = network.unpack(theta)
        return p.c @ jax.nn.sigmoid(x @ p.w + p.e[:, cell] @ p.v + p.b)

    def functional(order: int, theta: Array, x: Array, cell: Array, a0: Array, a1: Array, a2: Array) -> Array:
        value, gradient = jax.value_and_grad(u, 1)(theta, x, cell) if order else (u(theta, x, cell), jnp.zeros(()))
        total = a0 * value + (a1 @ gradient if order else 0.0)
        return total + jnp.sum(a2 * jax.hessian(u, 1)(theta, x, cell)) if order == 2 else total

    def row(order: int, theta: Array, *sites: Array) -> Array:
        return sum(functional(order, theta, *(part[k] for part in sites)) for k in range(len(sites[0])))  # pyright: ignore

    def block(theta: Array, family: Family) -> Array:
        sites = [jnp.asarray(part) for part in family[2:]]
        return jax.vmap(jax.jacrev(lambda *all: row(family.order, *all)), (None,) + (0,) * len(sites))(theta, *sites)

    return jax.jit(lambda theta: jnp.concatenate([block(theta, family) for family in sorted_rows]))
