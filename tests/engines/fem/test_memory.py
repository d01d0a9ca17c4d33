"""What needs more memory than there is is refused before it is begun, or solved as far as there is memory."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.fe.space import Space, memory_of
from jumpnet.guard import memory

CUBE = jn.Box((0, 0, 0), (1, 1, 1))


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 2e7)


def heated() -> jn.Problem:
    return jn.Problem(jn.Partition(CUBE, []), A=["1 + x1"], f="exp(x1*x2*x3)", boundary=jn.Dirichlet(0.0))


def test_there_is_some_memory_and_the_amount_is_said() -> None:
    assert 1e7 < memory.free_memory()
    assert memory.too_much(1e3) == ""
    assert "GB of memory, and" in memory.too_much(1e19) or memory.free_memory() == float("inf")


def test_elements_that_are_too_many_are_refused_before_they_are_made() -> None:
    with pytest.raises(jn.SolutionError, match=r"elements of order 4 need about .* GB of memory"):
        jn.solve(heated(), method=jn.FEM(order=4, size=1e-3))


@pytest.mark.usefixtures("little")
def test_spaces_end_where_memory_does_and_say_so() -> None:
    pytest.importorskip("ngsolve")
    with pytest.warns(jn.JumpnetWarning):
        found = jn.solve(heated(), method="fem", tol=1e-9)
    assert found.status is jn.Status.STEP_LIMIT
    assert any("needs about" in reason for reason in found.diagnostics.reasons)


@pytest.mark.usefixtures("little")
def test_volumes_that_are_too_large_are_refused() -> None:
    labels = np.zeros((32, 32, 32), int)
    labels[8:24, 8:24, 8:24] = 1
    parts = jn.Partition.from_labels(labels, pixel=1 / 32)
    with pytest.raises(jn.SolutionError, match="32768 voxels need about"):
        jn.solve(jn.Problem(parts, A=[1.0, 5.0], boundary=jn.Dirichlet("x1")))


def test_more_elements_of_higher_order_need_more() -> None:
    assert memory_of(100, 3, 4) < memory_of(100, 3, 5) < memory_of(200, 3, 5)
    assert isinstance(Space.memory, property)
