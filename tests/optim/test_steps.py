"""One Levenberg-Marquardt step, however it is factorised, is the solution of the damped least-squares problem."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.linalg.factorisations import auto, cholesky, corrected, qr, qr_step

EPS = np.finfo(float).eps
SHAPES = {"tall": (60, 20), "square": (20, 20), "wide": (12, 30), "one column": (15, 1), "one row": (1, 4)}


def system(shape: tuple[int, int], condition: float = 1e3) -> tuple[np.ndarray, np.ndarray]:
    """A random J with singular values from 1 down to 1/condition, and r."""
    rng = np.random.default_rng([*shape, 1])
    m, n = shape
    k = min(m, n)
    left, right = (np.linalg.qr(rng.standard_normal((size, k)))[0] for size in shape)
    return (left * np.geomspace(1, 1 / condition, k)) @ right.T, rng.standard_normal(m)


def by_lstsq(J: np.ndarray, r: np.ndarray, damping: float) -> np.ndarray:
    """min |J d + r|^2 + mu |d|^2 as the plain least-squares problem of the augmented matrix."""
    n = J.shape[1]
    augmented = np.r_[J, np.sqrt(damping) * np.eye(n)]
    return np.linalg.lstsq(augmented, -np.r_[r, np.zeros(n)], rcond=None)[0]


def condition(J: np.ndarray, damping: float) -> float:
    """Of the augmented matrix."""
    s = np.linalg.svd(J, compute_uv=False)
    smallest = s[-1] if len(s) == J.shape[1] else 0.0
    return float(np.sqrt((s[0] ** 2 + damping) / (smallest**2 + damping)))


def largest_step(J: np.ndarray, r: np.ndarray, damping: float) -> float:
    """|r| over the smallest singular value of the augmented matrix: what a step of that right-hand side could be."""
    s = np.linalg.svd(J, compute_uv=False)
    smallest = s[-1] if len(s) == J.shape[1] else 0.0
    return float(np.linalg.norm(r) / np.sqrt(smallest**2 + damping))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("damping", [1e-8, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_qr_step_against_lstsq_of_the_augmented_system(shape: tuple[int, int], damping: float, order: str) -> None:
    J, r = system(shape)
    J = np.array(J, order=order)  # type: ignore[call-overload]
    kept = J.copy(), r.copy()
    d = qr_step(J, r, damping)
    expected = by_lstsq(J, r, damping)
    assert d is not None
    # Backward stability: eps cond |r| / sigma_min.
    np.testing.assert_allclose(
        d, expected, rtol=0, atol=100 * EPS * condition(J, damping) * largest_step(J, r, damping)
    )
    assert np.array_equal(J, kept[0]) and np.array_equal(r, kept[1]), "the caller's arrays are not overwritten"


@pytest.mark.parametrize("damping", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("factorise", [cholesky, auto])
def test_cholesky_and_auto_steps_against_lstsq(factorise, shape: tuple[int, int], damping: float) -> None:
    J, r = system(shape)
    kept = J.copy(), r.copy()
    d, expected = factorise(J, damping)(r), by_lstsq(J, r, damping)
    assert d is not None
    # The normal equations square the condition number.
    tolerance = 100 * EPS * condition(J, damping) ** 2 * largest_step(J, r, damping)
    np.testing.assert_allclose(d, expected, rtol=0, atol=tolerance)
    assert np.array_equal(J, kept[0]) and np.array_equal(r, kept[1])


def test_qr_is_used_where_the_normal_equations_have_lost_everything() -> None:
    """Damping far below eps |J|^2: Cholesky breaks down or is wrong, QR and auto are not."""
    J, r = system((60, 20), condition=1e7)
    expected = by_lstsq(J, r, 1e-17)
    for factorise in (qr, auto):
        d = factorise(J, 1e-17)(r)  # type: ignore[misc]
        assert d is not None
        assert np.linalg.norm(d - expected) <= 1e-3 * np.linalg.norm(expected)
    assert np.array_equal(auto(J, 1e-17)(r), qr(J, 1e-17)(r))  # type: ignore[misc,arg-type]
    assert np.array_equal(auto(J, 1.0)(r), corrected(J, 1.0)(r))  # type: ignore[misc,arg-type]


def test_corrections_give_a_cholesky_step_the_digits_of_qr() -> None:
    """Damping a hundred times eps |J|^2: the normal equations alone keep two digits."""
    J, r = system((200, 60), condition=1e8)
    damping = 100 * EPS * float(np.max(np.sum(J**2, axis=0)))
    expected = by_lstsq(J, r, damping)
    off = [np.linalg.norm(f(J, damping)(r) - expected) / np.linalg.norm(expected) for f in (cholesky, auto)]  # type: ignore[misc]
    assert off[1] < 1e-5 < 1e-4 < off[0]


@pytest.mark.parametrize("factorise", [qr, cholesky, auto])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_columns_with_dampings_of_their_own_and_several_right_hand_sides(factorise, shape: tuple[int, int]) -> None:
    J, r = system(shape)
    damping = np.geomspace(0.1, 10.0, shape[1])
    solve = factorise(J, damping)
    for right in (r, 2 * r[::-1]):
        expected = by_lstsq(J / np.sqrt(damping), right, 1.0) / np.sqrt(damping)
        np.testing.assert_allclose(solve(right), expected, atol=1e-9 * largest_step(J, right, 0.1))


@pytest.mark.parametrize("factorise", [qr, cholesky, auto])
def test_numbers_that_are_not_finite_do_not_pass_for_a_step(factorise) -> None:
    J, r = system((10, 4))
    J[3, 2] = np.nan
    solve = factorise(J, 1.0)
    d = None if solve is None else solve(r)
    assert d is None or not np.isfinite(d).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"step": "lu"},
        {"damping": 0.0},
        {"output_damping": -1.0},
        {"lowered": 1.0},
        {"max_step": 0.0},
        {"steps": 0},
        {"tol": -1.0},
        {"tol": float("nan")},
        {"time_limit": 0.0},
    ],
    ids=str,
)
def test_wrong_settings_are_refused_in_one_sentence(wrong: dict) -> None:
    with pytest.raises(jn.ModelError) as refused:
        jn.optim.LevenbergMarquardt(**wrong)
    assert "\n" not in str(refused.value) and str(refused.value).endswith(".")
