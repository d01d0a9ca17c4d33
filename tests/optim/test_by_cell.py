"""Elimination cell by cell gives the step of the dense factorisation, for every model and every shape of partition."""

from functools import cache

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.charts import choose_atlases
from jumpnet.collocation import Points, collocate
from jumpnet.experiments.problems import pde1, pde3, pde4
from jumpnet.models import System
from jumpnet.models.bycell import Pattern
from jumpnet.optim.bycell import by_cell_step
from jumpnet.optim.factorisations import qr_step
from jumpnet.rows import Rows, Sites, equations

MODELS = {
    "CE": jn.models.CategoricalEmbedding(1, 8),
    "CE, D = 2": jn.models.CategoricalEmbedding(2, 8),
    "nonlinear": jn.models.CategoricalEmbedding(2, 8, squash="tanh"),
    "OH": jn.models.OneHot(8),
    "separate": jn.models.Separate(8),
    "deep": jn.models.Deep(2, (6, 6)),
}
# A chain; pieces in a background; a chessboard, where every piece of one colour touches several of the other.
PROBLEMS = {"chain": lambda: (pde1(5), Points(60, 2, 1)), "star": lambda: (pde4(), Points(60, 12, 12)),
            "long chain": lambda: (pde1(50), Points(500, 2, 1)),
            "board": lambda: (pde3(), Points(60, 12, 12))}  # fmt: skip


@cache
def rows_of(name: str) -> tuple[int, Rows, int]:
    problem, points = PROBLEMS[name]()
    (atlas,) = choose_atlases("box", problem.partition)
    rows = equations(problem, collocate(problem.partition, points, seed=0))
    return atlas.inputs, atlas.push_rows(rows), problem.partition.size


@pytest.mark.parametrize("damping", [1.0, 1e-6])
@pytest.mark.parametrize(
    "model, problem", [*((model, "star") for model in MODELS), ("OH", "chain"), ("OH", "board"), ("separate", "board")]
)
def test_the_step_by_cell_is_the_dense_one(model: str, problem: str, damping: float) -> None:
    inputs, rows, cells = rows_of(problem)
    system = System(MODELS[model].network(inputs, cells), rows)
    theta = system.network.initial(np.random.default_rng(0))
    (r, dense), (r_by_cell, by_cell) = system.dense(theta), system._by_cell(theta)
    size = np.abs(dense).max()
    np.testing.assert_allclose(r_by_cell, r, rtol=0, atol=1e-13 * np.abs(r).max())
    expected, found = qr_step(dense, r, damping), by_cell_step(by_cell, r, damping)
    assert expected is not None and found is not None
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * size / damping * np.linalg.norm(expected))


def test_rows_with_several_sites_in_one_cell_are_summed() -> None:
    """As in a mean over a piece: three sites of cell 0 and one of cell 1 in the same row."""
    rng = np.random.default_rng(1)
    cell = np.array([0, 0, 0, 1, 1, 2, 2, 0])
    sites = Sites(rng.uniform(-1, 1, (8, 2)), cell, np.ones(8), np.zeros((8, 2)), np.zeros((8, 2, 2)))
    counts = np.array([4, 2, 1, 1])
    rows = Rows(sites, counts, rng.standard_normal(4), np.ones(4), np.zeros(4, int), ("value",))
    system = System(jn.models.OneHot(3).network(2, 3), rows)
    theta = system.network.initial(rng)
    (r, dense), (_, by_cell) = system.dense(theta), system._by_cell(theta)
    np.testing.assert_allclose(by_cell_step(by_cell, r, 0.1), qr_step(dense, r, 0.1), rtol=1e-12)  # type: ignore[arg-type]


def test_every_row_is_eliminated_once_and_neighbours_come_later() -> None:
    _, rows, cells = rows_of("star")
    network = MODELS["OH"].network(2, cells)
    pattern = Pattern(tuple(network.own), network.size, rows.row_of_site, np.asarray(rows.sites.cell), len(rows))
    turns = [front.cell for front in pattern.plan]
    assert sorted(turns) == list(range(cells))
    assert turns.index(0) >= cells - 2, "the background, which touches every inclusion, comes last"
    taken = np.concatenate([part.rows for front in pattern.plan for part in (front.alone, front.coupled)])
    assert np.array_equal(np.sort(taken), np.arange(len(rows)))
    for at, front in enumerate(pattern.plan):
        assert all(turns.index(one) > at for one in front.neighbours)


def test_the_dense_form_stays_where_cells_have_little_to_themselves() -> None:
    inputs, rows, cells = rows_of("star")
    assert not System(jn.models.ScalarEncoding(neurons=50).network(inputs, cells), rows).pattern.pays
    assert not System(jn.models.CategoricalEmbedding(1, 50).network(inputs, cells), rows).pattern.pays
    inputs, rows, cells = rows_of("long chain")
    assert System(jn.models.OneHot(20).network(inputs, cells), rows).pattern.pays
    assert System(jn.models.Separate(20).network(inputs, cells), rows).pattern.pays


def test_not_finite_numbers_do_not_pass_for_a_step() -> None:
    inputs, rows, cells = rows_of("chain")
    system = System(MODELS["OH"].network(inputs, cells), rows)
    r, J = system._by_cell(np.full(system.size, np.nan))
    d = by_cell_step(J, r, 1.0)
    assert d is None or not np.isfinite(d).all()
