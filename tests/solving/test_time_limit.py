"""A time limit is kept, whatever is being done when it comes; Ctrl-C while an answer is judged keeps the answer."""

import os
from typing import Any

import numpy as np
import pytest

import jumpnet as jn

LIMIT = 1.5
# Seconds that starting costs: the first problem of a process is compiled for, a mesher is started.
START = 1.5


def corner() -> jn.Problem:
    """Corners of a piece that conducts well: functions are added one kind after the other."""
    shape = jn.Polygon([(-1, -1), (1, -1), (1, 0.1), (0, 0), (0, 1), (-1, 1)])
    parts = jn.Partition(jn.Box((-2, -2), (2, 2)), [shape])
    return jn.Problem(parts, A=[1.0, 50.0], boundary=jn.Dirichlet("x1*x2 + x1"))


def gaps() -> jn.Problem:
    """Narrow gaps between disks that conduct well, which the judge's mesh has to resolve."""
    disks = [jn.Disk((-0.3005, 0.0), 0.3), jn.Disk((0.3005, 0.0), 0.3)]
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), disks)
    return jn.Problem(parts, A=[1.0, 1e4, 1e4], boundary=jn.Dirichlet("x1"))


def image() -> jn.Problem:
    """Blobs in an image: long smooth curves without functions of their own."""
    x, y = np.meshgrid(*2 * [np.linspace(0, 4 * np.pi, 128)])
    parts = jn.Partition.from_labels((np.sin(x) * np.sin(y + 0.3 * x) > 0.2).astype(int))
    return jn.Problem(parts, A=[1.0] + [30.0] * (parts.size - 1), boundary=jn.Dirichlet("x1"))


def spent() -> float:
    """Seconds of this process: those that other programs take do not count.

    Nor do those of the mesher, which are all counted when it ends, also what it did before.
    """
    times = os.times()
    return times.user + times.system


@pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")
@pytest.mark.parametrize(
    ("problem", "method"), [(corner, "auto"), (corner, "trefftz"), (gaps, "auto"), (gaps, "trefftz"), (image, "auto")]
)
def test_a_time_limit_is_kept(problem: Any, method: str) -> None:
    stated = problem()
    began = spent()
    try:
        found = jn.solve(stated, tol=1e-13, time_limit=LIMIT, method=method)
    except jn.GeometryError as late:  # a busy machine made no mesh of the image in time
        assert problem is image and "no mesh was made" in str(late)
        found = None
    assert spent() - began < 1.2 * LIMIT + START
    assert found is None or (not found.status.ok and np.isfinite(found([[0.1, 0.2]])).all())


@pytest.mark.parametrize("method", ["auto", "fem"])
def test_a_limit_too_short_for_a_mesh_is_refused(method: str) -> None:
    """An engine that does not suit an image is no answer to a mesher without time."""
    began = spent()
    with pytest.raises(jn.JumpnetError, match=r"no mesh was made in .*; give a longer time limit, or an image"):
        jn.solve(image(), tol=1e-3, time_limit=0.01, method=method)
    assert spent() - began < LIMIT


def test_ctrl_c_while_an_answer_is_judged_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.1, 0.0), 0.4)])
    problem = jn.Problem(parts, A=[1.0, 5.0], boundary=jn.Dirichlet("x1"))
    expected = jn.solve(problem, tol=1e-6)([[0.3, 0.2]])
    monkeypatch.setattr("jumpnet.solving.verify.judge", interrupted)
    for method in ("auto", "trefftz", "fem"):
        with pytest.warns(jn.JumpnetWarning, match="interrupted"):
            found = jn.solve(problem, tol=1e-3, verify=True, method=method)
        assert found.status is jn.Status.INTERRUPTED and np.isnan(found.estimate)
        assert found([[0.3, 0.2]]) == pytest.approx(expected, rel=1e-2)


def test_the_judge_without_time_says_so() -> None:
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.1, 0.0), 0.4)])
    found = jn.solve(jn.Problem(parts, A=[1.0, 5.0], boundary=jn.Dirichlet("x1")), tol=1e-3, verify=False)
    assert "no time" in jn.judge(found, seconds=0.0).reason
