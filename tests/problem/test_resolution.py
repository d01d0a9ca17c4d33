"""What the program sees of data before it solves: peaks, bumps, layers, jumps, and what it says it cannot resolve."""

import math

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.collocation import Points, Stream, collocate
from jumpnet.engines.trefftz.collocation_pool import followed, with_held_out
from jumpnet.engines.trefftz.operator_type import operator_types
from jumpnet.errors import ProblemError
from jumpnet.expressions import Expression
from jumpnet.expressions.roughness import rough_arguments
from jumpnet.problem.resolution import survey
from jumpnet.problem.trees import resolve

SQUARE = jn.Partition(jn.Box((0, 0), (1, 1)))
WITH_DISK = jn.Partition(jn.Box((0, 0), (1, 1)), [jn.Disk((0.7, 0.6), 0.15)], ["rest", "disk"])
LINE = jn.Partition(jn.Interval(0, 1))
CUBE = jn.Partition(jn.Box((0, 0, 0), (1, 1, 1)))
CENTER = (0.317, 0.413, 0.55)


def peak_formula(width: float, dim: int) -> str:
    squares = "+".join(f"(x{i + 1}-{CENTER[i]})**2" for i in range(dim))
    return f"exp(-({squares})/(2*{width}**2))"


def peak(width: float, background: float = 0.0):  # type: ignore[no-untyped-def]
    def f(x):  # type: ignore[no-untyped-def]
        square = ((x - np.array(CENTER[: x.shape[1]])) ** 2).sum(axis=1)
        return background * np.sin(x[:, 0]) + np.exp(-square / (2 * width**2))

    return f


def assert_found(places, width: float, center=CENTER) -> None:  # type: ignore[no-untyped-def]
    """Points in the middle of the peak, as small as it is, and twice as far out."""
    for x in places.x:
        distance = np.linalg.norm(x - np.array(center[: x.shape[1]]), axis=1)
        assert distance.min() < width and distance.max() > 1.5 * width
    assert width / 4 < places.size.min() < 3 * width


@pytest.mark.parametrize("width", [1e-2, 1e-3, 1e-4, 1e-5])
def test_a_peak_in_a_formula_is_found_from_its_exponent(width: float) -> None:
    """Whatever its width, with and without a background, also beside an interface and near the boundary."""
    found = survey(jn.Problem(SQUARE, f=f"sin(x1) + {peak_formula(width, 2)}"))
    assert_found(found.pieces[0], width)
    assert not found.unresolved and not found.jumps
    near_edge = f"exp(-((x1 - 0.004)**2 + (x2 - 0.5)**2)/(2*{width}**2))"
    assert_found(survey(jn.Problem(SQUARE, f=near_edge)).pieces[0], width, (0.004, 0.5))
    inside = f"exp(-((x1 - 0.65)**2 + (x2 - 0.62)**2)/(2*{width}**2))"
    assert_found(survey(jn.Problem(WITH_DISK, f=[0.0, inside])).pieces[1], width, (0.65, 0.62))


@pytest.mark.parametrize(
    ("parts", "width", "background"),
    [
        *((LINE, width, background) for width in (1e-2, 1e-3, 1e-4, 1e-5) for background in (0.0, 1.0)),
        *((SQUARE, width, 0.0) for width in (1e-2, 1e-3)),
        *((SQUARE, width, 1.0) for width in (1e-2, 2e-3)),
        *((CUBE, 0.02, background) for background in (0.0, 1.0)),
    ],
)
def test_a_peak_in_a_callable_is_found_by_sampling(parts: jn.Partition, width: float, background: float) -> None:
    found = survey(jn.Problem(parts, f=peak(width, background)))
    assert_found(found.pieces[0], width)


def test_peaks_in_one_and_three_dimensions() -> None:
    assert_found(survey(jn.Problem(LINE, f=peak_formula(1e-5, 1))).pieces[0], 1e-5)
    assert_found(survey(jn.Problem(CUBE, f=peak_formula(0.02, 3))).pieces[0], 0.02)


def test_compact_bumps_are_found() -> None:
    """Of radius 1/200 in a formula; of diameter 1/200 in a callable, wherever the samples are."""
    square = "((x1 - 0.3)**2 + (x2 - 0.4)**2)"
    found = survey(jn.Problem(SQUARE, f=f"where({square} < 0.005**2, (1 - {square}/0.005**2)**2, 0)"))
    assert 1e-4 < found.pieces[0].size.min() < 0.005
    rng = np.random.default_rng(3)
    for center in rng.uniform(0.01, 0.99, (5, 2)):

        def bump(x, center=center):  # type: ignore[no-untyped-def]
            return np.maximum(1 - ((x - center) ** 2).sum(axis=1) / 0.0025**2, 0.0) ** 2

        places = survey(jn.Problem(SQUARE, f=bump)).pieces[0]
        assert np.linalg.norm(places.x[1] - center, axis=1).min() < 0.0025


@pytest.mark.parametrize("width", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("formula", [True, False])
def test_peaks_on_boundary_and_interface(width: float, formula: bool) -> None:
    on_top = f"exp(-(x1 - 0.317)**2/(2*{width}**2))"
    on_disk = f"exp(-((x1 - 0.7)**2 + (x2 - 0.75)**2)/(2*{width}**2))"
    g = on_top if formula else Expression.parse(on_top, 2)
    w = on_disk if formula else Expression.parse(on_disk, 2)
    others = {"bottom": jn.Dirichlet(0.0), "x1": jn.Dirichlet(0.0)}
    problem = jn.Problem(WITH_DISK, boundary={"top": jn.Dirichlet(g), **others}, jumps=jn.Jump(w=w))
    found = survey(problem)
    (part,) = found.boundary
    assert problem.partition.boundary_parts[part] == "x2+"
    assert_found(found.boundary[part], width, (0.317, 1.0))
    places = found.interfaces[0, 1]
    assert_found(places, width, (0.7, 0.75))
    # From the disk, the higher number, to what surrounds it.
    assert np.all(np.sum(places.normal * (places.x - [0.7, 0.6]), axis=2) > 0.149)
    assert not found.pieces and not found.unresolved


def test_data_on_faces_and_spheres() -> None:
    parts = jn.Partition(jn.Box((0, 0, 0), (1, 1, 1)), [jn.Ball((0.5, 0.5, 0.5), 0.2)])
    top = "exp(-((x1-0.3)**2 + (x2-0.4)**2 + (x3-1)**2)/(2*0.002**2))"
    side = "exp(-((x1-0.7)**2 + (x2-0.5)**2 + (x3-0.5)**2)/(2*0.002**2))"
    found = survey(jn.Problem(parts, boundary=jn.Dirichlet(top), jumps=jn.Jump(v=side)))
    assert list(found.boundary) == [5]
    assert_found(found.boundary[5], 0.002, (0.3, 0.4, 1.0))
    assert_found(found.interfaces[0, 1], 0.002, (0.7, 0.5, 0.5))


def test_jumps_are_told_from_peaks_and_singularities() -> None:
    found = survey(jn.Problem(WITH_DISK, f="where(x1 > 0.3, 1, 2)", boundary=jn.Dirichlet("where(x2 < 0.25, 0, 1)")))
    assert [sentence.split(" near ")[0] for sentence in found.jumps] == [
        "f of piece 'rest' jumps",
        "g on 'x1-' jumps",
        "g on 'x1+' jumps",
    ]
    assert not found.unresolved
    (said,) = survey(jn.Problem(SQUARE, f="1/sqrt(abs(x1 - 0.3))")).unresolved
    assert said.startswith("f of piece 0") and "x = (0.3," in said
    (noise,) = survey(jn.Problem(SQUARE, f=lambda x: np.sin(1e9 * x[:, 0]))).unresolved
    assert "changes within" in noise


def test_the_tree_finds_the_place_of_a_jump_and_the_width_of_a_layer() -> None:
    ends = np.zeros(1), np.ones(1)
    leaves = resolve(lambda x: np.where(x[:, 0] > 1 / 3, 1.0, 0.0), *ends, 16)
    np.testing.assert_allclose(leaves.jumps, 1 / 3, atol=1e-8)
    layer = resolve(lambda x: np.tanh(1e4 * (x[:, 0] - 1 / 3)), *ends, 16)
    assert not len(layer.jumps) and 1e-5 < layer.edge.min() < 1e-3
    # The measures of leaves that tile what was halved add up to it.
    assert 1 / 16 <= (layer.edge[:, 0] * layer.count).sum() <= 2 / 16


def test_smooth_formulas_are_not_looked_at() -> None:
    box = (-1.0, -1.0), (1.0, 1.0)
    for smooth in ("sin(3*x1)*exp(x1 - x2)", "x1**5 - 2*x2", "1/(3 + x1)", "log(2 + x1*x2)", "tanh(4*x1)", "3"):
        assert rough_arguments(Expression.parse(smooth, 2), *box) == ()
    for rough in (
        "sin(30*x1)",
        "exp(-100*r**2)",
        "1/(1 + x1)",
        "abs(x1)",
        "where(x1 > x2, 1, 2)",
        "max(x1, 0)",
        "theta",
    ):
        assert rough_arguments(Expression.parse(rough, 2), *box)


def test_constants_and_smooth_data_leave_no_trace() -> None:
    found = survey(jn.Problem(WITH_DISK, A=[1.0, 10.0], f="sin(x1)", boundary=jn.Dirichlet("x1*x2")))
    assert found.empty and found.variation == (1.0, 1.0) and found.smallest == math.inf
    assert followed(jn.Problem(WITH_DISK)) is None


def test_variation_of_A() -> None:
    """From place to place: a constant matrix has none, and what holds outside a piece does not count."""
    found = survey(jn.Problem(WITH_DISK, A=["exp(3*x1)", [[2, 1], [1, 2]]]))
    assert found.variation[0] == pytest.approx(math.exp(3), rel=1e-6) and found.variation[1] == 1.0
    round_one = jn.Partition(jn.Disk((0, 0), 1.0))
    assert survey(jn.Problem(round_one, A="2 - x1**2 - x2**2")).variation[0] == pytest.approx(2.0, rel=0.1)
    turning = [["1 + 99*cos(x1)**2", "99*sin(x1)*cos(x1)"], ["99*sin(x1)*cos(x1)", "1 + 99*sin(x1)**2"]]
    assert survey(jn.Problem(SQUARE, A=turning)).variation[0] > 50
    steep = jn.Problem(SQUARE, A="exp(50*x1)")
    assert survey(steep).variation[0] == pytest.approx(math.exp(50), rel=1e-6)
    # Gradients are large where A is small: points follow that.
    assert np.median(survey(steep).pieces[0].x[..., 0]) < 0.1


def test_points_follow_the_data_with_the_weight_of_what_they_stand_for() -> None:
    """The rows of a level integrate f^2 over a peak that no other point sees."""
    width = 1e-3
    problem = jn.Problem(WITH_DISK, f=[peak_formula(width, 2), 0.0])
    assert [operator.exact for operator in operator_types(problem)] == [False, True]
    rows = followed(problem)
    assert rows is not None
    for stream in (Stream.TRAIN, Stream.HELD_OUT):
        own = rows[stream]
        assert np.sum(own.measure * own.rows.rhs**2) == pytest.approx(math.pi * width**2, rel=0.3)
        np.testing.assert_allclose(own.share, own.measure / (1 - math.pi * 0.15**2), rtol=1e-9)
    drawn = collocate(problem.partition, Points(100, 20, 20), seed=0, stream=Stream.HELD_OUT)
    more = with_held_out(problem, drawn)
    assert problem.f[0].value(drawn.interior).max() < 1e-6 and problem.f[0].value(more.interior).max() > 0.5


def test_a_source_between_all_points_is_no_success() -> None:
    """A narrow source in 1-D, where cells are not made: not converged, and not zero."""
    for f in (peak_formula(1e-5, 1), peak(1e-5)):
        with pytest.warns(jn.JumpnetWarning):
            solution = jn.solve(
                jn.Problem(LINE, f=f), tol=1e-3, method=jn.Trefftz(basis=jn.models.Polynomials(degree=12))
            )
        assert solution.status is not jn.Status.CONVERGED


def A(x):  # type: ignore[no-untyped-def]
    return 2 + np.sin(3 * x[:, 0]) * x[:, 1]


def slope(x):  # type: ignore[no-untyped-def]
    return np.stack([3 * np.cos(3 * x[:, 0]) * x[:, 1], np.sin(3 * x[:, 0])], axis=1)


def test_div_A_is_compared_with_differences() -> None:
    jn.Problem(WITH_DISK, A=A, div_A=slope)
    for wrong in (lambda x: -slope(x), lambda x: 1.01 * slope(x), lambda x: slope(x)[:, ::-1], lambda x: 0 * x):
        with pytest.raises(ProblemError, match=r"div_A in piece 0 is .* but differences of A give"):
            jn.Problem(WITH_DISK, A=A, div_A=wrong)
    with pytest.raises(ProblemError, match="div_A in piece 1"):
        jn.Problem(WITH_DISK, A=[1.0, A], div_A=[None, lambda x: 2 * slope(x)])


def test_div_A_of_steep_and_kinked_coefficients_is_accepted() -> None:
    for a, b in (
        (lambda x: np.exp(20 * x[:, 0]), lambda x: 20 * np.exp(20 * x[:, 0])),
        (lambda x: 1 + np.abs(x[:, 0] - 0.4), lambda x: np.sign(x[:, 0] - 0.4)),
        (lambda x: 1 + 1e-6 * np.sin(x[:, 0]), lambda x: 1e-6 * np.cos(x[:, 0])),
    ):
        jn.Problem(WITH_DISK, A=a, div_A=lambda x, b=b: np.stack([b(x), 0 * b(x)], axis=1))
        jn.Problem(LINE, A=a, div_A=lambda x, b=b: b(x)[:, None])
