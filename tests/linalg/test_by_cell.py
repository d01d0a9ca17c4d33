"""Elimination cell by cell gives the step of the dense factorisation, for every model and every shape of partition."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.charts import choose_atlases
from jumpnet.collocation import Points, collocate
from jumpnet.experiments.problems import pde1, pde3, pde4
from jumpnet.linalg.block_qr import ByCell, Pattern
from jumpnet.linalg.factorisations import Solve, cholesky, qr_step
from jumpnet.linalg.qr import by_cell_step
from jumpnet.models import System
from jumpnet.rows import ConditionKey, Kind, Rows, Sites, equations

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
    "model, problem",
    [
        *((model, "star") for model in ("CE, D = 2", "nonlinear", "OH", "separate")),
        ("OH", "chain"),
        ("OH", "board"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (("CE", "star"), ("deep", "star"), ("separate", "board"))
        ),
    ],
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
    rows = Rows(sites, counts, rng.standard_normal(4), np.ones(4), np.zeros(4, int), (ConditionKey(Kind.VALUE),))
    system = System(jn.models.OneHot(3).network(2, 3), rows)
    theta = system.network.initial(rng)
    (r, dense), (_, by_cell) = system.dense(theta), system._by_cell(theta)
    np.testing.assert_allclose(by_cell_step(by_cell, r, 0.1), qr_step(dense, r, 0.1), rtol=1e-12)  # type: ignore[arg-type]


def test_cholesky_is_taken_where_it_is_asked_for() -> None:
    inputs, rows, cells = rows_of("long chain")
    system = System(jn.models.OneHot(20).network(inputs, cells), rows)
    theta = system.network.initial(np.random.default_rng(0))
    (_, dense), (_, by_cell) = system.dense(theta), system.linearised(theta)
    assert isinstance(by_cell, ByCell)
    np.testing.assert_allclose(by_cell.dense(), dense, rtol=0, atol=1e-13)
    asked = []

    def step(J: np.ndarray, damping: object) -> Solve | None:
        asked.append(J.shape)
        return cholesky(J, damping)  # type: ignore[arg-type]

    for kind in (step, "qr"):
        optimizer = jn.optim.LevenbergMarquardt(step=kind)
        optimizer.advance(system, optimizer.init(system, theta), 1)
    assert asked == [dense.shape]


def test_every_row_is_eliminated_once_and_neighbours_come_later() -> None:
    _, rows, cells = rows_of("star")
    network = MODELS["OH"].network(2, cells)
    pattern = Pattern(tuple(network.own), network.size, rows.row_of_site, np.asarray(rows.sites.cell), len(rows))
    turns = [one for front in pattern.plan for one in front.cells]
    assert sorted(turns) == list(range(cells))
    assert turns.index(0) >= cells - 2, "the background, which touches every inclusion, comes last"
    taken = np.concatenate([group.rows for front in pattern.plan for group in front.groups])
    assert np.array_equal(np.sort(taken), np.arange(len(rows)))
    for front in pattern.plan:
        assert all(turns.index(one) > turns.index(front.cells[-1]) for one in front.neighbours)


def board_of_cells(side: int, rows_of_cut: int) -> tuple[Pattern, np.ndarray, tuple[np.ndarray, ...]]:
    """A square of cells and a few unknowns on each cut: its pattern with places, and a random Jacobian, twice."""
    rng = np.random.default_rng(2)
    cells = side**2
    board = np.arange(cells).reshape(side, side)
    beside = np.concatenate([np.stack(pair, axis=-1).reshape(-1, 2) for pair in (
        (board[:, 1:], board[:, :-1]), (board[1:], board[:-1]))])  # fmt: skip
    # Two sets of unknowns on each cut, as for value and flux; the cells' own rows come last.
    touched = [(one, cells + 2 * cut + k) for cut, pair in enumerate(beside) for k in range(2) for one in pair]
    touched = [pair for pair in touched for _ in range(rows_of_cut)]
    touched += [(one,) for one in range(cells) for _ in range(3)]
    widths = [9] * cells + [3] * 2 * len(beside)
    ends = np.cumsum([0, *widths])
    own = tuple(np.arange(a, b) for a, b in pairwise(ends))
    row, cell = np.array([(row, one) for row, cells in enumerate(touched) for one in cells]).T
    middle = np.stack(np.divmod(np.arange(cells), side), axis=1).astype(float)
    where = np.concatenate([middle, np.repeat(middle[beside].mean(axis=1), 2, axis=0)])
    pattern = Pattern(own, int(ends[-1]), row, cell, len(touched), where[cell])
    blocks = tuple(rng.standard_normal((np.count_nonzero(cell == one), width)) for one, width in enumerate(widths))
    dense = np.zeros((len(touched), pattern.size))
    for one, block in enumerate(blocks):
        dense[np.ix_(row[cell == one], own[one])] = block
    return pattern, dense, blocks


@pytest.mark.parametrize(("side", "rows_of_cut"), [(4, 2), (4, 12), (7, 2), (7, 5)])
def test_cells_that_know_each_other_through_cuts(side: int, rows_of_cut: int) -> None:
    """With many rows on a cut and with fewer than it has unknowns, in either order of elimination."""
    pattern, dense, blocks = board_of_cells(side, rows_of_cut)
    r = np.random.default_rng(3).standard_normal(len(dense))
    expected = qr_step(dense, r, 1e-3)
    for order in (pattern, replace(pattern, x=None)):
        found = by_cell_step(ByCell(np.zeros((len(dense), 0)), blocks, order), r, 1e-3)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)  # type: ignore[arg-type]
        assert any(len(front.cells) > 1 for front in order.plan), "unknowns of a cut are eliminated together"


def test_many_cells_in_a_plane_are_dissected() -> None:
    pattern, _, _ = board_of_cells(12, 3)

    def columns(pattern: Pattern) -> int:
        """Of the last front, which all others lead to."""
        return sum(len(pattern.own[one]) for one in pattern.plan[-1].cells)

    assert columns(pattern) < 0.8 * columns(replace(pattern, x=None))


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
