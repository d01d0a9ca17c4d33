"""Rows: an exact solution satisfies every equation of its problem to rounding, whatever the equation is.

The functional of a row is applied to the exact solution in two ways: with the derivatives of the solution's formula
(then the residual must vanish to rounding), and with finite differences of its values alone (then to the accuracy of
those), so that neither side of the comparison can hide an error of the other.
"""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.collocation import Collocation, Points, Stream, collocate
from jumpnet.experiments import problems
from jumpnet.fields import Field
from jumpnet.rows import BETWEEN_PIECES, Kind, Rows, equations, values

EPS = np.finfo(float).eps
COUNTS = Points(80, 24, 16)


def mixed_conditions() -> jn.Problem:
    """Every kind of condition, full and varying A, a positive and a negative lam, and unequal pieces."""
    parts = jn.Partition(jn.Box((-1, -2), (1, 1)), [jn.Disk((0.2, 0.1), 0.4), jn.Box((-1, -2), (1, -1))])
    matrix = [["2 + x1**2", "0.3*x1*x2"], ["0.3*x1*x2", "3 + x2"]]
    return jn.manufactured(
        parts,
        u=["sin(x1)*exp(x2)", "x1**3 - x2", "cos(x1 + 2*x2)"],
        A=[matrix, 5.0, [[1.0, 0.2], [0.2, 2.0]]],
        lam=["1 + x1**2", 0.0, 2.0],
        boundary={"left": jn.Neumann, "right": (jn.Robin, "2 + x2**2"), "top": (jn.Robin, 0.5), "bottom": jn.Dirichlet},
    )


PROBLEMS: dict[str, Callable[[], jn.Problem]] = {
    "pde1": problems.pde1,
    "pde2": problems.pde2,
    "pde3": problems.pde3,
    "pde4": problems.pde4,
    "pde5": problems.pde5,
    "mixed conditions": mixed_conditions,
    "inclusion, mixed": lambda: problems.inclusion(2, 10.0, (0.1, 0.2), boundary="mixed"),
    "ball": lambda: problems.inclusion(3, 1e-3),
    "ellipse": problems.ellipse_inclusion,
    "six dimensions": problems.sphere6d,
}


@cache
def problem(name: str) -> jn.Problem:
    return PROBLEMS[name]()


@cache
def rows_of(name: str) -> Rows:
    return equations(problem(name), collocate(problem(name).partition, COUNTS, seed=0))


def exact_fields(given: jn.Problem) -> Sequence[Field]:
    assert given.exact is not None
    return given.exact


def applied(rows: Rows, u: np.ndarray, gradient: np.ndarray, hessian: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows' functionals of a function known at the sites, and the sum of the sizes of their parts."""
    s = rows.sites
    parts = np.c_[s.a0 * u, s.a1 * gradient, (s.a2 * hessian).reshape(len(s), -1)]
    total, size = np.zeros(len(rows)), np.abs(rows.rhs)
    np.add.at(total, rows.row_of_site, parts.sum(axis=1))
    np.add.at(size, rows.row_of_site, np.abs(parts).sum(axis=1))
    return total, size


def by_piece(given: jn.Problem, rows: Rows, what: str) -> np.ndarray:
    """Values, gradients or Hessians of the exact solution at all sites."""
    s = rows.sites
    shape = {"value": (), "gradient": (given.dim,), "hessian": (given.dim, given.dim)}[what]
    found = np.empty((len(s), *shape))
    for piece, field in enumerate(exact_fields(given)):
        mine = s.cell == piece
        found[mine] = getattr(field, what)(s.x[mine])
    return found


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_exact_solution_satisfies_every_family_to_rounding(name: str) -> None:
    given, rows = problem(name), rows_of(name)
    total, size = applied(rows, *(by_piece(given, rows, what) for what in ("value", "gradient", "hessian")))
    for index, term in enumerate(rows.terms):
        mine = rows.term == index
        # 1000: an expression of some dozen operations, and d^2 products in a row; lost digits in Q = sqrt(P^2 - f^2)
        # of the confocal ellipses come on top.
        bound = (1e5 if name == "ellipse" else 1000) * EPS * size[mine]
        assert (np.abs(total - rows.rhs)[mine] <= bound + 1e-300).all(), term


@pytest.mark.parametrize("name", ["pde2", "pde3", "pde4", "pde5", "mixed conditions", "inclusion, mixed"])
def test_right_hand_sides_against_finite_differences(name: str) -> None:
    given, rows = problem(name), rows_of(name)
    s, d = rows.sites, given.dim
    h = 1e-4

    def u(shift: np.ndarray) -> np.ndarray:
        found = np.empty(len(s))
        for piece, field in enumerate(exact_fields(given)):
            mine = s.cell == piece
            found[mine] = field.value(s.x[mine] + shift)
        return found

    e = h * np.eye(d)
    gradient = np.stack([(u(e[i]) - u(-e[i])) / (2 * h) for i in range(d)], axis=1)
    hessian = np.stack(
        [
            (u(e[i] + e[j]) - u(e[i] - e[j]) - u(e[j] - e[i]) + u(-e[i] - e[j])) / (4 * h * h)
            for i in range(d)
            for j in range(d)
        ],
        axis=1,
    ).reshape(-1, d, d)
    total, size = applied(rows, u(np.zeros(d)), gradient, hessian)
    coefficients = np.zeros(len(rows))
    largest = np.abs(np.c_[s.a0, s.a1, s.a2.reshape(len(s), -1)]).max(axis=1)
    np.maximum.at(coefficients, rows.row_of_site, largest)
    # Central differences: h^2 times fourth derivatives (up to 1e3 beside the dipole), and eps/h^2 of rounding.
    steep = 1e3 if name.startswith("inclusion") else 30
    allowed = (steep * h**2 + 10 * EPS / h**2) * (coefficients + size)
    assert (np.abs(total - rows.rhs) <= allowed).all()


def test_a_wrong_solution_is_noticed_in_every_family() -> None:
    """The tests above could pass on empty rows: perturb u and every family must object."""
    given, rows = problem("mixed conditions"), rows_of("mixed conditions")
    u, gradient, hessian = (by_piece(given, rows, what) for what in ("value", "gradient", "hessian"))
    bump = 0.1 * (1 + rows.sites.cell)  # other in each piece, so that jumps change too
    total, _ = applied(rows, u + bump, gradient + bump[:, None], hessian + 0.1)
    for index in range(len(rows.terms)):
        assert (np.abs(total - rows.rhs)[rows.term == index] > 1e-3).any()


# --- the layout of the table -----------------------------------------------------------------------------------------


def test_families_and_their_order() -> None:
    rows = rows_of("mixed conditions")
    assert set(rows.labels) == {
        *("pde 0", "pde 1", "pde 2"),
        *("boundary x1-", "boundary x1+", "boundary x2-", "boundary x2+"),
        *("jump 0-1", "flux 0-1", "jump 0-2", "flux 0-2"),
    }
    kinds = [rows.terms[t].kind.group for t in rows.term]
    assert kinds.count("pde") == COUNTS.interior
    assert kinds.count("boundary") == COUNTS.boundary
    assert kinds.count("jump") == kinds.count("flux") == 2 * COUNTS.interface


def test_layout_counts_every_site_once_and_in_order() -> None:
    rows = rows_of("pde4")
    assert sum(count * n for count, n, _ in rows.layout) == len(rows.sites) == rows.counts.sum()
    assert sum(run.rows for run in rows.layout) == len(rows)
    assert np.array_equal(np.concatenate([np.full(n, count) for count, n, _ in rows.layout]), rows.counts)
    assert np.array_equal(np.bincount(rows.row_of_site), rows.counts)
    # Equations of the same kind follow each other: the PDE, Dirichlet data, [u], [A grad u . n].
    assert [(run.sites, run.order) for run in rows.layout] == [(1, 2), (1, 0), (2, 0), (2, 1)]


def test_sides_of_a_jump_are_neighbours_at_the_same_point() -> None:
    rows = rows_of("pde4")
    for index, key in enumerate(rows.terms):
        if key.kind not in BETWEEN_PIECES:
            continue
        a, b = key.pieces
        sites = np.flatnonzero(np.isin(rows.row_of_site, np.flatnonzero(rows.term == index)))
        assert a < b
        assert np.array_equal(rows.sites.cell[sites], np.tile([a, b], len(sites) // 2))
        assert np.array_equal(rows.sites.x[sites[::2]], rows.sites.x[sites[1::2]])
        if key.kind is Kind.JUMP:
            assert np.array_equal(rows.sites.a0[sites], np.tile([1.0, -1.0], len(sites) // 2))


def test_a_boundary_part_may_carry_several_pieces() -> None:
    rows = rows_of("pde3")
    on_boundary = np.isin(rows.term, [i for i, key in enumerate(rows.terms) if key.kind is Kind.BOUNDARY])
    assert set(rows.sites.cell[np.isin(rows.row_of_site, np.flatnonzero(on_boundary))]) == {0, 1}


def test_coefficients_of_each_kind_of_condition() -> None:
    """design.md's table: Dirichlet (1, 0, 0), Neumann (0, A n, 0), Robin (alpha, A n, 0), PDE (-lam, div A, A)."""
    given, rows = problem("mixed conditions"), rows_of("mixed conditions")

    def sites(term: str):
        mine = np.isin(rows.row_of_site, np.flatnonzero(rows.term == rows.labels.index(term)))
        return tuple(np.asarray(getattr(rows.sites, key))[mine] for key in ("x", "cell", "a0", "a1", "a2"))

    _, _, a0, a1, a2 = sites("boundary x2-")
    assert (a0 == 1).all() and (a1 == 0).all() and (a2 == 0).all()
    for term, normal, alpha in (("boundary x1-", (-1, 0), 0.0), ("boundary x1+", (1, 0), None)):
        x, cell, a0, a1, a2 = sites(term)
        A = np.stack([given.A[c].value(p[None])[0] for p, c in zip(x, cell, strict=True)])
        np.testing.assert_allclose(a1, A @ np.array(normal, float), rtol=4 * EPS)
        np.testing.assert_allclose(a0, 2 + x[:, 1] ** 2 if alpha is None else alpha, rtol=4 * EPS)
        assert (a2 == 0).all()
    x, _, a0, a1, a2 = sites("pde 0")
    np.testing.assert_allclose(a0, -(1 + x[:, 0] ** 2), rtol=4 * EPS)
    np.testing.assert_allclose(a1, np.c_[2 * x[:, 0] + 0.3 * x[:, 0], 0.3 * x[:, 1] + 1], rtol=20 * EPS, atol=20 * EPS)
    np.testing.assert_allclose(a2[:, 0, 1], 0.3 * x[:, 0] * x[:, 1], rtol=20 * EPS)


def test_values_are_rows_of_function_approximation() -> None:
    x, piece = np.random.default_rng(0).uniform(size=(9, 2)), np.arange(9) % 2
    rows = values(np.arange(9.0), x, piece)
    assert rows.labels == ("value 0", "value 1") and len(rows) == 9
    assert (rows.sites.a0 == 1).all() and (rows.sites.a1 == 0).all() and (rows.sites.a2 == 0).all()
    assert np.array_equal(np.sort(rows.rhs), np.arange(9.0))
    assert np.array_equal(rows.sites.x[rows.sites.cell == 1], x[piece == 1])


# --- points ----------------------------------------------------------------------------------------------------------


def drawn_arrays(points: Collocation) -> list[np.ndarray]:
    surfaces = [part for pair in points.interfaces.values() for part in pair]
    return [points.interior, points.piece, points.boundary, points.boundary_normal, points.boundary_piece, *surfaces]


@pytest.mark.parametrize("method", ["random", "sobol"])
@pytest.mark.parametrize("name", ["pde2", "pde4", "pde5"])
def test_collocation_is_determined_by_counts_and_seed(name: str, method: str) -> None:
    parts = problem(name).partition
    counts = Points(60, 20, 12, minimum=5, method=method)  # type: ignore[arg-type]
    once, again, other = (collocate(parts, counts, seed=seed) for seed in (3, 3, 4))
    assert all(np.array_equal(a, b) for a, b in zip(drawn_arrays(once), drawn_arrays(again), strict=True))
    assert not np.array_equal(once.interior, other.interior)
    assert len(once.interior) == 60 and len(once.boundary) == 20
    assert {len(x) for x, _ in once.interfaces.values()} == {12}
    assert np.bincount(once.piece, minlength=parts.size).min() >= 5


def test_the_same_partition_made_again_gives_the_same_points() -> None:
    one, other = (collocate(problems.pde4().partition, COUNTS, seed=1) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(drawn_arrays(one), drawn_arrays(other), strict=True))


def test_held_out_rows_are_other_points_of_the_same_equations() -> None:
    given = problem("mixed conditions")
    train, held = (
        equations(given, collocate(given.partition, COUNTS, seed=0, stream=stream))
        for stream in (Stream.TRAIN, Stream.HELD_OUT)
    )
    assert set(train.terms) == set(held.terms) and len(train) == len(held)
    shared = {tuple(x) for x in train.sites.x} & {tuple(x) for x in held.sites.x}
    assert not shared
    total, size = applied(held, *(by_piece(given, held, what) for what in ("value", "gradient", "hessian")))
    assert (np.abs(total - held.rhs) <= 1000 * EPS * size).all()


def test_in_one_dimension_every_end_and_interface_is_taken_once() -> None:
    parts = jn.Partition.chain([0.0, 1.0, 3.0, 4.0])
    points = collocate(parts, Points(30, 50, 50), seed=0)
    assert np.array_equal(np.sort(points.boundary[:, 0]), [0.0, 4.0])
    assert [x[:, 0].tolist() for x, _ in points.interfaces.values()] == [[1.0], [3.0]]


@pytest.mark.parametrize("given", [(0, 1, 1), (-3, 1, 1), (10, 5), "many", (10, 5, -1), 7, ("a", 1, 1)], ids=str)
def test_wrong_counts_are_refused_in_one_sentence(given: object) -> None:
    with pytest.raises(jn.ModelError) as refused:
        Points.of(given)  # type: ignore[arg-type]
    assert "\n" not in str(refused.value) and str(refused.value).endswith(".")


def test_an_unknown_method_of_sampling_is_refused() -> None:
    with pytest.raises(jn.ModelError, match="sobol"):
        Points(10, 5, 5, method="halton")  # type: ignore[arg-type]
