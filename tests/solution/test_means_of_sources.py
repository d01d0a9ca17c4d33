"""Integrals of the fields of point sources, which are infinite at the sources."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.problem.sources import Singular


def _polar(source: Singular, radius: float, dim: int) -> float:
    """The integral over a disk or a ball about the source, for A = 1."""
    c = source.q / {2: 2 * np.pi, 3: 4 * np.pi}[dim]
    return {2: -c * np.pi * radius**2 * (np.log(radius) - 0.5), 3: 2 * np.pi * c * radius**2}[dim]


@pytest.mark.parametrize("dim", [2, 3])
def test_over_a_disk_and_a_ball(dim: int) -> None:
    body = jn.Ball((0.1,) * dim, 0.4)
    parts = jn.Partition(jn.Box((-1,) * dim, (1,) * dim), [body])
    source = Singular(np.full(dim, 0.1), 3.0, 1, np.eye(dim))
    found = source.integral(parts)
    assert found.value == pytest.approx(_polar(source, 0.4, dim), rel=1e-9 if dim == 2 else 1e-3)
    assert abs(found.value - _polar(source, 0.4, dim)) <= found.error + 1e-12


def test_pieces_add_up_and_anisotropic_fields_are_integrated() -> None:
    inverse = np.linalg.inv(np.array([[2.0, 0.3], [0.3, 0.5]]))
    box, at = jn.Box((-1, -0.5), (1, 0.5)), np.array([-0.3, 0.05])
    source = Singular(at, 2.0, 0, inverse)
    whole = source.integral(jn.Partition(box))
    hole = jn.Partition(box, [jn.Disk((0.6, 0.1), 0.2)])
    rule = jn.Partition(jn.Disk((0.6, 0.1), 0.2)).sample_interior(20_000, seed=0, method="even")[0]
    assert whole.value - source.integral(hole).value == pytest.approx(
        np.pi * 0.04 * source.value(rule).mean(), rel=1e-3
    )
    x, y = np.meshgrid((np.arange(2000) + 0.5) / 1000 - 1, (np.arange(1000) + 0.5) / 1000 - 0.5)
    grid = source.value(np.column_stack([x.ravel(), y.ravel()])).mean() * 2
    assert whole.value == pytest.approx(grid, abs=1e-5)


@pytest.mark.parametrize("method", ["trefftz", "fem"])
def test_a_given_mean_beside_wells(method: str) -> None:
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.5, 0.5), 0.2)])
    wells = [jn.PointSource((-0.5, -0.4), 1.0), jn.PointSource((0.3, -0.6), -1.0)]
    problem = jn.Problem(parts, A=[1.0, 10.0], boundary=jn.Neumann(0.0), sources=wells, mean=2.0)
    solution = jn.solve(problem, method=method, tol=1e-6)
    x = (np.arange(1500) + 0.5) / 750 - 1
    grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    assert solution.status.ok
    assert solution(grid).mean() == pytest.approx(2.0, abs=2e-7)
