"""Weights: the paper's mean squares, and rows of equal size."""

from functools import cache

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.collocation import Points, collocate
from jumpnet.experiments import problems
from jumpnet.rows import BETWEEN_PIECES, ConditionKey, Kind, Rows, equations, functional_size, row_family, stack, weigh

EPS = np.finfo(float).eps
PDE = ConditionKey(Kind.PDE, (0,))
COUNTS = Points(90, 30, 20)


@cache
def rows_of(name: str) -> tuple[jn.Problem, Rows]:
    problem = {"pde4": problems.pde4, "inclusion": lambda: problems.inclusion(2, 1000.0)}[name]()
    return problem, equations(problem, collocate(problem.partition, COUNTS, seed=0))


def halfwidth(problem: jn.Problem) -> np.ndarray:
    lower, upper = (np.asarray(end, float) for end in problem.partition.bounds)
    return (upper - lower) / 2


def test_the_papers_loss_is_a_sum_of_mean_squares() -> None:
    """1/M over all interior points, 1/M_b over all boundary points, 1/M_Gamma for each interface and each condition."""
    problem, rows = rows_of("pde4")
    weighed = weigh(rows, "paper", halfwidth(problem))
    residual = np.random.default_rng(0).standard_normal(len(rows))
    kind = np.array([rows.terms[t].kind.group for t in rows.term])
    expected = np.mean(residual[kind == "pde"] ** 2) + np.mean(residual[kind == "boundary"] ** 2)
    for index, key in enumerate(rows.terms):
        if key.kind in BETWEEN_PIECES:
            expected += np.mean(residual[rows.term == index] ** 2)
    assert np.sum((weighed.weight * residual) ** 2) == pytest.approx(expected, rel=100 * EPS)


def test_equilibrated_rows_have_size_one_in_the_domains_box() -> None:
    """The largest coefficient in coordinates scaled to the box, times the weight, is the family's 1/sqrt(M)."""
    problem, rows = rows_of("inclusion")
    h = halfwidth(problem)
    equal, paper = (weigh(rows, kind, h) for kind in ("equilibrated", "paper"))
    assert np.array_equal(equal.rhs, rows.rhs), "the table itself stays physical"
    size = functional_size(rows, h)
    np.testing.assert_allclose(equal.weight * size, paper.weight, rtol=10 * EPS)
    s = rows.sites
    largest = np.zeros(len(rows))
    per_site = np.max([np.abs(s.a0), np.abs(s.a1).max(1), np.abs(s.a2).max((1, 2))], axis=0)  # h = 1 here
    np.maximum.at(largest, rows.row_of_site, per_site)
    np.testing.assert_allclose(size, largest, rtol=10 * EPS)
    flux = np.isin(rows.term, [i for i, key in enumerate(rows.terms) if key.kind is Kind.FLUX])
    assert size[flux].min() > 1000 / np.sqrt(2) - 1, "the larger side of an interface decides"


def test_equilibrated_weights_do_not_depend_on_units_of_length_or_of_the_equation() -> None:
    rng = np.random.default_rng(0)
    x, a1, a2 = rng.standard_normal((8, 2)), rng.standard_normal((8, 2)), rng.standard_normal((8, 2, 2))
    h = np.array([0.5, 2.0])
    plain = weigh(row_family(PDE, np.ones(8), (x, 0, 1.0, a1, a2)), "equilibrated", h)
    times = weigh(row_family(PDE, np.ones(8), (x, 0, 1e6, 1e6 * a1, 1e6 * a2)), "equilibrated", h)
    np.testing.assert_allclose(times.weight * 1e6, plain.weight, rtol=10 * EPS)
    L = 1000.0  # metres to millimetres: u'(x) and u''(x) shrink, coefficients grow
    longer = weigh(row_family(PDE, np.ones(8), (L * x, 0, 1.0, L * a1, L**2 * a2)), "equilibrated", L * h)
    np.testing.assert_allclose(longer.weight, plain.weight, rtol=100 * EPS)


def test_a_row_without_coefficients_is_not_blown_up() -> None:
    """A = (d x)^2 vanishes at x = 0 (pde1): the row says 0 = f(0)."""
    a2 = np.array([0.0, 1.0, 4.0]).reshape(3, 1, 1)
    rows = weigh(row_family(PDE, np.zeros(3), (np.zeros((3, 1)), 0, 0.0, 0.0, a2)), "equilibrated", np.ones(1))
    assert np.isfinite(rows.weight).all() and rows.weight[0] <= rows.weight.max()
    assert rows.weight[0] == pytest.approx(1 / np.sqrt(3) / 4)


def test_the_names_of_weights() -> None:
    problem, rows = rows_of("pde4")
    with pytest.raises(jn.ModelError, match="equilibrated"):
        weigh(rows, "equal", halfwidth(problem))  # type: ignore[arg-type]


def test_stacking_merges_families_of_the_same_name() -> None:
    one = row_family(ConditionKey(Kind.VALUE, (0,)), np.zeros(2), (np.zeros((2, 1)), 0, 1.0, 0.0, 0.0))
    two = row_family(
        ConditionKey(Kind.JUMP, (0, 1)), np.zeros(3), *((np.zeros((3, 1)), c, 1.0, 0.0, 0.0) for c in (0, 1))
    )
    none = row_family(ConditionKey(Kind.VALUE, (9,)), np.zeros(0), (np.zeros((0, 1)), 0, 1.0, 0.0, 0.0))
    rows = stack([one, two, none, one])
    assert rows.labels == ("value 0", "jump 0-1")
    assert rows.term.tolist() == [0, 0, 1, 1, 1, 0, 0]
    assert rows.layout == ((1, 2, 0), (2, 3, 0), (1, 2, 0))
