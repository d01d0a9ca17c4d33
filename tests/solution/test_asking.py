"""Integrals of one's own functions, lines, histories: what users ask a solution for, against closed forms."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.optim import History
from jumpnet.optim.result import Record
from jumpnet.reporting import plot_history

LINEAR = jn.Partition(jn.Box((0, 0), (2, 1)), [jn.Box((1, 0), (2, 1))], names=["left half", "right half"])


@pytest.fixture(scope="module")
def linear() -> jn.Solution:
    """u = x1 in the left half, 1 + (x1 - 1)/4 in the right one: the flux is 1 throughout."""
    sides = {"left": jn.Dirichlet(0.0), "right": jn.Dirichlet(1.25), "x2": jn.Neumann(0.0)}
    return jn.solve(jn.Problem(LINEAR, A=[1.0, 4.0], boundary=sides), tol=1e-10, verify=True)


@pytest.mark.parametrize(
    ("f", "over", "value"),
    [
        (None, None, 0.5 + 1.125),
        (None, "left half", 0.5),
        (None, [0, "right half"], 1.625),
        ("u**2", 0, 1 / 3),
        ("x2*u", "left half", 0.25),
        (3, 1, 3.0),
        (lambda x: x[:, 0], 0, 0.5),
        (lambda x, u: x[:, 0] * u, 0, 1 / 3),
        (lambda x, u, grad: grad[:, 0] ** 2, "right half", 1 / 16),
        (lambda x, u: u, "right", 1.25),
        (lambda x, u: x[:, 1], "top", 2.0),
        (None, ("right half", "left half"), 1.0),
        (lambda x, u, grad: grad[:, 0], (1, 0), 0.25),
    ],
)
def test_integrals_of_ones_own_function(linear: jn.Solution, f: object, over: object, value: float) -> None:
    found = linear.integral(f, over)
    assert found.value == pytest.approx(value, abs=1e-8) and found.error < 1e-8


@pytest.mark.parametrize(
    ("f", "over"), [("u**2", 1), (lambda x, u, grad: grad[:, 0] ** 2, 0), (lambda x, u: x[:, 1] * u, "right")]
)
def test_the_error_bar_of_an_own_function_covers_the_error_of_the_solution(f: object, over: object) -> None:
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.2, 0.1), 0.4)])
    problem = jn.Problem(parts, A=[1.0, 20.0], f=["sin(3*x1)", 1.0], boundary=jn.Dirichlet("exp(x2)"))
    exact = jn.solve(problem, tol=1e-10, verify=False).integral(f, over)
    crude = jn.solve(problem, method=jn.FEM(order=2, size=0.4), tol=1e-2)
    assert np.isnan(exact.error) and "of the quadrature alone" in str(exact)
    found = crude.integral(f, over)
    assert abs(found.value - exact.value) < found.error < 0.1 * abs(exact.value)
    assert f"± {found.error:.1e}" in str(found)


def test_means_and_energies_by_name(linear: jn.Solution) -> None:
    assert linear.mean("right half").value == pytest.approx(1.125)
    assert linear.energy("left half").value == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("f", "over", "words"),
    [
        (None, "upper half", r"over is 'upper half'; give a piece \(left half, right half\), a part"),
        (None, ["upper half"], "no piece 'upper half'; the pieces are left half, right half"),
        (None, 7, "no piece 7"),
        (None, (0, 1, 2), "an interface is a pair"),
        ("v**2", None, "v"),
        (["u"], None, "give a formula in x1, "),
        (lambda: 1.0, None, "0 arguments"),
        (lambda x, u, grad, more: u, None, "4 arguments"),
        (lambda x, u: np.ones((2, 2)), None, "returns an array"),
    ],
)
def test_what_cannot_be_integrated(linear: jn.Solution, f: object, over: object, words: str) -> None:
    with pytest.raises(jn.JumpnetError, match=words):
        linear.integral(f, over)


def test_a_line_through_the_domain_and_beyond(linear: jn.Solution) -> None:
    line = linear.along((-0.5, 0.5), (2.0, 0.5), 26)
    assert len(line) == 26 and line.s[-1] == 2.5 and line.piece.tolist()[:5] == [-1] * 5
    inside = line.piece >= 0
    assert np.isnan(line.u[~inside]).all() and np.isnan(line.flux[~inside]).all()
    x = line.x[inside, 0]
    np.testing.assert_allclose(line.u[inside], np.where(x < 1, x, 1 + (x - 1) / 4), atol=1e-9)
    np.testing.assert_allclose(line.flux[inside], np.broadcast_to([1.0, 0.0], (len(x), 2)), atol=1e-8)
    assert list(line.columns()) == ["s", "x1", "x2", "piece", "u", "flux1", "flux2"]
    for wrong in (((0, 0, 0), (1, 1), 5), ((0, 0), (1, np.nan), 5), ((0, 0), (1, 1), 1)):
        with pytest.raises(jn.SolutionError):
            linear.along(*wrong)


HISTORY = History.of(
    [Record(k + 1, 10.0**-k, (0.5 * 10.0**-k, 0.1), 1e-3, 0.2, 0.1 * k) for k in range(5)], ("pde 0", "boundary x1-")
)


def test_a_history_is_indexed_and_turned_into_columns() -> None:
    assert HISTORY[-1].loss == 1e-4 and HISTORY[0].terms == (0.5, 0.1) and HISTORY[2].step == 3
    assert len(HISTORY[1:3]) == 2 and HISTORY[::2].loss.tolist() == pytest.approx([1, 1e-2, 1e-4])
    assert [record.loss for record in HISTORY] == HISTORY["loss"].tolist()
    columns = HISTORY.columns()
    assert set(columns) == {"step", "loss", "damping", "step norm", "seconds", "loss of pde 0", "loss of boundary x1-"}
    assert all(column.shape == (5,) for column in columns.values())
    with pytest.raises(jn.SolutionError, match="no column 'losses'; the columns are step, loss"):
        HISTORY["losses"]
    with pytest.raises(IndexError):
        HISTORY[5]


def test_histories_are_drawn_of_solutions_and_side_by_side(linear: jn.Solution) -> None:
    assert plot_history(linear).axes[0].get_ylabel() == "held-out loss"
    both = plot_history({"mine": HISTORY, "theirs": HISTORY[:3]})
    assert [line.get_label() for line in both.axes[0].lines] == ["mine", "theirs"]
    for wrong in ({}, linear.loss, History()):
        with pytest.raises(jn.SolutionError):
            plot_history(wrong)  # pyright: ignore[reportArgumentType]
