"""LAPACK called without Python's lock: SciPy's wrappers to the last bit, and the lock really free meanwhile."""

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from jumpnet.linalg import lapack

TPQRT, TPMQRT, POSV = get_lapack_funcs(("tpqrt", "tpmqrt", "posv"), dtype=np.float64)
(SYRK,) = get_blas_funcs(("syrk",), dtype=np.float64)
SIZES = [(1, 1), (5, 1), (30, 40), (60, 20), (400, 90), (900, 255)]


def same(ours: tuple, theirs: tuple) -> bool:
    return len(ours) == len(theirs) and all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))


@pytest.fixture(params=SIZES, ids=str)
def matrices(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    m, n = request.param
    rng = np.random.default_rng([m, n])
    return np.triu(rng.standard_normal((n, n))), rng.standard_normal((m, n))


@pytest.mark.parametrize("order", ["C", "F"])
def test_qr(matrices: tuple[np.ndarray, np.ndarray], order: str) -> None:
    triangle, below = (np.array(one, order=order) for one in matrices)  # type: ignore[call-overload]
    nb = min(32, len(triangle))
    before = triangle.copy(), below.copy()
    ours = lapack.tpqrt(0, nb, triangle, below)
    assert same(ours, TPQRT(0, nb, triangle, below))
    assert np.array_equal(triangle, before[0]) and np.array_equal(below, before[1]), "arguments stay as they are"
    rng = np.random.default_rng(0)
    _, V, T, _ = ours
    top, bottom = rng.standard_normal((len(triangle), 7)), rng.standard_normal((len(below), 7))
    for trans in "NT":
        options = {"side": "L", "trans": trans}
        assert same(lapack.tpmqrt(0, V, T, top, bottom, **options), TPMQRT(0, V, T, top, bottom, **options))


def test_overwriting(matrices: tuple[np.ndarray, np.ndarray]) -> None:
    triangle, below = (np.asfortranarray(one) for one in matrices)
    expected = TPQRT(0, 1, triangle, below)
    R, V, *_ = lapack.tpqrt(0, 1, triangle, below, overwrite_a=1, overwrite_b=1)
    assert np.array_equal(R, expected[0]) and np.array_equal(V, expected[1])
    assert np.shares_memory(R, triangle) and np.shares_memory(V, below)


def test_normal_equations(matrices: tuple[np.ndarray, np.ndarray]) -> None:
    _, J = matrices
    for a in (J, np.asfortranarray(J)):
        assert np.array_equal(lapack.syrk(1.0, a, trans=1), SYRK(1.0, a, trans=1))
        assert np.array_equal(lapack.syrk(2.0, a), SYRK(2.0, a))
    normal = lapack.syrk(1.0, J, trans=1) + np.eye(J.shape[1])
    assert same(lapack.posv(normal, J.T @ np.ones(len(J))), POSV(normal, J.T @ np.ones(len(J))))
    indefinite = -np.eye(J.shape[1])
    assert lapack.posv(indefinite, np.ones(len(indefinite)))[2] == POSV(indefinite, np.ones(len(indefinite)))[2] == 1


LARGE = np.asfortranarray(np.random.default_rng(0).standard_normal((6000, 500)))


@pytest.mark.parametrize(
    "compute",
    [lambda: lapack.tpqrt(0, 32, np.eye(500), LARGE), lambda: lapack.syrk(1.0, LARGE, trans=1)],
    ids=["tpqrt", "syrk"],
)
def test_other_threads_go_on_meanwhile(compute: Callable[[], object]) -> None:
    ticks, done = [], threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    other = threading.Thread(target=tick)
    other.start()
    time.sleep(0.01)
    began = time.perf_counter()
    compute()
    seconds = time.perf_counter() - began
    done.set()
    other.join()
    inside = [t for t in ticks if began + 0.1 * seconds < t < began + 0.9 * seconds]
    # A thread that waits for the lock gets no turn at all; on a busy machine one that does not still gets some.
    assert len(inside) >= 3, f"{len(inside)} turns in {seconds:.3f} s"
