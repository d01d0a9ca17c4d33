"""What a solution answers: values, derivatives, one-sided values and jumps, each against limits and differences."""

from dataclasses import replace

import numpy as np
import pytest

import jumpnet as jn

EPS = np.finfo(float).eps
CENTER, RADIUS = np.array([0.2, 0.1]), 0.4


def on_circle(n: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Points of the interface and normals from piece 1 (the disk) to piece 0."""
    t = np.linspace(0, 2 * np.pi, n, endpoint=False) + 0.1
    normal = np.c_[np.cos(t), np.sin(t)]
    return CENTER + RADIUS * normal, normal


def inside_points(n: int = 30) -> np.ndarray:
    return np.random.default_rng(0).uniform(-0.95, 0.95, (n, 2))


def test_the_gradient_against_differences_of_values(disk: jn.Solution) -> None:
    x, h = inside_points(), 1e-5
    piece = disk.partition.label(x)  # type: ignore[union-attr]
    expected = np.stack([(disk(x + h * e, piece) - disk(x - h * e, piece)) / (2 * h) for e in np.eye(2)], axis=1)
    # Central differences: h^2 |u'''| and eps |u| / h.
    np.testing.assert_allclose(disk.grad(x), expected, rtol=0, atol=1e-7 * max(1, np.abs(expected).max()))


def test_the_flux_is_A_grad_u(disk: jn.Solution, disk_problem: jn.Problem) -> None:
    x = inside_points()
    piece = disk_problem.partition.label(x)
    A = np.stack([disk_problem.A[p].value(q[None])[0] for p, q in zip(piece, x, strict=True)])
    expected = np.einsum("nij,nj->ni", A, disk.grad(x))
    np.testing.assert_allclose(disk.flux(x), expected, rtol=100 * EPS, atol=100 * EPS)


def test_values_find_their_piece(disk: jn.Solution) -> None:
    x = inside_points()
    inside = np.linalg.norm(x - CENTER, axis=1) < RADIUS
    assert inside.any() and not inside.all()
    np.testing.assert_array_equal(disk(x), np.where(inside, disk.side(x, 1), disk.side(x, 0)))
    np.testing.assert_array_equal(disk(x), disk(x, inside.astype(int)))


def test_one_sided_values_are_the_limits_from_that_side(disk: jn.Solution) -> None:
    x, n = on_circle()
    h = 1e-9
    for piece, away in ((0, 1), (1, -1)):
        limit = disk(x + away * h * n)  # the piece is found: that of the side stepped to
        slope = np.abs(disk.grad(x, piece)).max()
        np.testing.assert_allclose(disk.side(x, piece), limit, rtol=0, atol=2 * h * slope + 100 * EPS)
        np.testing.assert_allclose(disk.grad(x, piece), disk.grad(x + away * h * n), rtol=0, atol=1e-6)


def test_jumps_are_the_differences_of_the_limits(disk: jn.Solution) -> None:
    x, n = on_circle()
    h = 1e-9
    np.testing.assert_array_equal(disk.jump(x), disk.side(x, 0) - disk.side(x, 1))
    np.testing.assert_allclose(disk.jump(x), disk(x + h * n) - disk(x - h * n), rtol=0, atol=1e-7)
    fluxes = disk.flux(x + h * n) - disk.flux(x - h * n)
    size = np.abs(disk.flux(x, 1)).max()
    np.testing.assert_allclose(disk.flux_jump(x), np.sum(fluxes * n, axis=1), rtol=0, atol=1e-6 * size)


def test_jumps_of_a_chain(chain: jn.Solution) -> None:
    """The normal points from piece 1 (right) to piece 0 (left): n = -1."""
    x, h = np.array([[0.6]]), 1e-9
    assert chain.jump(x)[0] == chain.side(x, 0)[0] - chain.side(x, 1)[0]
    np.testing.assert_allclose(chain.jump(x), chain(x - h) - chain(x + h), atol=1e-7)
    left, right = 1.6 * chain.grad(x, 0)[0, 0], 10.0 * chain.grad(x, 1)[0, 0]
    assert chain.flux_jump(x)[0] == pytest.approx(-(left - right), rel=1e-12)


@pytest.mark.parametrize("question", ["jump", "flux_jump"])
def test_a_point_that_is_on_no_interface_has_no_jump(disk: jn.Solution, question: str) -> None:
    with pytest.raises(jn.JumpnetError) as refused:
        getattr(disk, question)([[0.9, 0.9]])
    assert "\n" not in str(refused.value)


def test_one_dimensional_points_may_be_a_plain_list(chain: jn.Solution) -> None:
    assert np.array_equal(chain([0.1, 0.9]), chain([[0.1], [0.9]]))


def test_many_points_are_the_same_as_few(disk: jn.Solution) -> None:
    """Batches are padded: neither their size nor the order may show."""
    x = np.random.default_rng(1).uniform(-1, 1, (20_000, 2))
    whole = disk(x)
    some = np.array([0, 5, 16_383, 16_384, 19_999])
    np.testing.assert_allclose(disk(x[some]), whole[some], rtol=0, atol=1000 * EPS * np.abs(disk.theta).max())
    assert disk(np.zeros((0, 2))).shape == (0,) and disk.grad(np.zeros((0, 2))).shape == (0, 2)
    assert disk.flux(np.zeros((0, 2))).shape == (0, 2)


@pytest.mark.parametrize(
    "x, piece, word",
    [
        ([[2.0, 0.0]], None, "outside"),
        ([[0.0, 0.0]], 2, "piece 2"),
        ([[0.0, 0.0]], -1, "piece -1"),
        ([0.0, 0.0], None, "shape"),
        ([[0.0, 0.0, 0.0]], None, "shape"),
        ([["a", "b"]], None, "numbers"),
        ([[0.0, 0.0], [0.1, 0.1]], [0, 1, 0], "piece"),
    ],
    ids=str,
)
def test_questions_that_cannot_be_answered_get_one_sentence(disk: jn.Solution, x, piece, word: str) -> None:
    with pytest.raises(jn.SolutionError, match=word) as refused:
        disk(x, piece)
    assert "\n" not in str(refused.value) and str(refused.value).endswith(".")


WRONG = {  # what: (call, a word of the sentence)
    "piece not whole": (lambda s: s([[0.0, 0.0]], piece=0.7), "0.7"),
    "piece a switch": (lambda s: s([[0.0, 0.0]], piece=True), "True"),
    "piece a word": (lambda s: s([[0.0, 0.0]], piece="disk"), "disk"),
    "piece missing in a list": (lambda s: s([[0.0, 0.0]] * 2, piece=[None, 0]), "None"),
    "complex points": (lambda s: s(np.array([[1j, 0.0]])), "real"),
    "no test points": (lambda s: s.errors(0), "at least one"),
    "half a test point": (lambda s: s.errors(2.5), "2.5"),
    "another problem": (lambda s: s.with_problem("disk"), "jn.Problem"),
    "no path": (lambda s: s.save(None), "None"),
    "a number for a path": (lambda s: s.save(3), "3"),
    "a path without a name": (lambda s: s.save(""), "cannot be written"),
    "null in a path": (lambda s: s.save("a\0b"), "cannot be written"),
    "a page without a path": (lambda s: s.write_report(None), "None"),
    "nothing to load": (lambda s: jn.load(None), "None"),
    "bytes to load": (lambda s: jn.load(b"a"), "b'a'"),
    "a folder to load": (lambda s: jn.load("."), "folder"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_arguments_get_one_sentence(disk: jn.Solution, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jumpnet.reporting.page.page.page", lambda *_: "a page takes seconds to draw")
    call, word = WRONG[what]
    with pytest.raises(jn.JumpnetError) as refused:
        call(disk)
    assert word in str(refused.value) and "\n" not in str(refused.value)


def test_a_point_that_is_not_a_number_is_not_answered_silently(disk: jn.Solution) -> None:
    with pytest.raises(jn.JumpnetError):
        disk([[np.nan, 0.0]])


def test_errors_are_those_at_independent_points(disk: jn.Solution, disk_problem: jn.Problem) -> None:
    errors = disk.errors(500)
    assert errors.points == 500 and errors.linf >= errors.l2 > 0
    x, piece = disk_problem.partition.sample_interior(4000, seed=99)
    rms = np.sqrt(np.mean((disk(x, piece) - disk_problem.exact_values(x, piece)) ** 2))
    assert errors.l2 == pytest.approx(rms, rel=0.5)  # two Monte Carlo estimates of the same mean
    assert disk.errors(500) == disk.errors(500) != disk.errors(500, seed=5)


def test_a_solution_without_an_exact_one_says_so() -> None:

    parts = jn.Partition.chain([0.0, 1.0])
    with pytest.warns(jn.JumpnetWarning, match="not converged"):
        solution = jn.solve(
            jn.Problem(parts, f=1.0),
            method=jn.Network(
                jn.models.CategoricalEmbedding(neurons=3),
                points=(30, 2, 1),
                optimizer=jn.optim.LevenbergMarquardt(steps=2),
            ),
        )
    with pytest.raises(jn.SolutionError, match="exact"):
        solution.errors()
    assert solution.report().errors is None
    assert "held out" in str(solution.report())


def test_the_report_lists_every_family_on_held_out_points(disk: jn.Solution) -> None:
    report = disk.report()
    assert {r.term for r in report.held_out} == set(disk.history.terms)
    assert disk.held_out_loss == pytest.approx(sum(r.scaled**2 for r in report.held_out), rel=1e-12)
    assert report.worst is not None and report.worst.scaled == max(r.scaled for r in report.held_out)
    text = str(report)
    assert report.status.name.lower() in text and "held out" in text and "pde 0" in text


def test_physical_residuals_are_in_the_units_of_the_equation(disk: jn.Solution, disk_problem: jn.Problem) -> None:
    """Recomputed from the solution itself: the jump on held-out points."""
    from jumpnet.collocation import Points, Stream, collocate

    points = collocate(disk_problem.partition, Points(60, 20, 20), seed=disk.seed, stream=Stream.HELD_OUT)
    x, n = points.interfaces[0, 1]
    v, w = disk_problem.jump_data((0, 1), x, n)
    found = {r.term: r.physical for r in disk.held_out}
    jump = disk.side(x, 0) - disk.side(x, 1)
    flux = np.sum((disk.flux(x, 0) - disk.flux(x, 1)) * n, axis=1)
    assert found["jump 0-1"] == pytest.approx(np.sqrt(np.mean((jump - v) ** 2)), rel=1e-9)
    assert found["flux 0-1"] == pytest.approx(np.sqrt(np.mean((flux - w) ** 2)), rel=1e-9)


def test_the_residual_of_the_equation(disk: jn.Solution) -> None:
    """By finite differences of the flux, and small beside f."""
    x, piece = disk.partition.sample_interior(50, seed=5)
    residual, h = disk.residual(x, piece), 1e-5
    divergence = sum(
        (disk.flux(x + h * e, piece)[:, k] - disk.flux(x - h * e, piece)[:, k]) / (2 * h)
        for k, e in enumerate(np.eye(disk.dim))
    )
    lam = np.array([disk.problem.lam[p].value(x[i : i + 1])[0] for i, p in enumerate(piece)])
    f = np.array([disk.problem.f[p].value(x[i : i + 1])[0] for i, p in enumerate(piece)])
    assert np.allclose(residual, divergence - lam * disk(x, piece) - f, rtol=0, atol=1e-4)
    with pytest.raises(jn.SolutionError, match="with_problem"):
        replace(disk, statement=replace(disk.statement, problem=None)).residual(x)


def test_many_points_are_evaluated_in_batches(disk: jn.Solution, monkeypatch: pytest.MonkeyPatch) -> None:
    """On several threads or one, in any size of batch, to the same bits; memory does not grow with the points."""
    import tracemalloc

    from jumpnet.solution import batches

    x = np.random.default_rng(1).uniform(-0.99, 0.99, (5000, 2))
    expected, slopes = disk(x), disk.grad(x)
    monkeypatch.setattr(batches, "LARGEST_BATCH", 256)
    monkeypatch.setattr(batches, "LABELLED", 500)
    np.testing.assert_allclose(disk(x), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(disk.grad(x), slopes, rtol=1e-11, atol=1e-11)
    x = np.random.default_rng(1).uniform(-0.99, 0.99, (100_000, 2))
    tracemalloc.start()
    disk(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12 * x.nbytes  # what is returned, labels, and one batch; 10 neurons alone would be 5 times x
