"""Finite volumes on the voxels of label volumes: closed forms of layers, balances, files, and the judge."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.fe.voxel import VoxelFunction

SIDES = np.array([16, 12, 8]) / 16


def layers() -> np.ndarray:
    """A quarter of the volume as a layer across x1, in voxels indexed x, y, z."""
    labels = np.zeros((16, 12, 8), int)
    labels[4:8] = 1
    return labels


@pytest.fixture(scope="module")
def parts() -> jn.Partition:
    return jn.Partition.from_labels(layers(), pixel=1 / 16, order="xyz")


def across(parts: jn.Partition, axis: int) -> jn.Problem:
    """Held at 1 and 0 on two opposite sides, the others insulated."""
    sides: dict[str, jn.Condition] = {f"x{k + 1}": jn.Neumann(0.0) for k in range(3) if k != axis}
    sides |= {f"x{axis + 1}-": jn.Dirichlet(1.0), f"x{axis + 1}+": jn.Dirichlet(0.0)}
    return jn.Problem(parts, A=[1.0, 10.0], boundary=sides)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_layers_are_exact(parts: jn.Partition, axis: int) -> None:
    solution = jn.solve(across(parts, axis), tol=1e-2)
    effective = 1 / (0.75 + 0.25 / 10) if axis == 0 else 0.75 + 2.5
    heat = effective * np.prod(SIDES) / SIDES[axis] ** 2
    assert solution.status.ok and "voxels" in solution.diagnostics.method
    assert solution.net_flux(f"x{axis + 1}-").value == pytest.approx(heat, rel=1e-7)
    assert 2 * solution.energy().value == pytest.approx(heat, rel=1e-7)
    assert all(balance.defect < 1e-6 for balance in solution.balances())
    assert solution.verdict is not None and solution.verdict.rms < 1e-6


def test_effective_tensor_of_layers(parts: jn.Partition) -> None:
    found = jn.effective_tensor(parts, [1.0, 10.0])
    assert np.allclose(found.tensor, np.diag([1 / (0.75 + 0.025), 3.25, 3.25]), atol=1e-6)
    assert not found.violated


def test_values_and_gradients_are_those_of_layers(parts: jn.Partition) -> None:
    solution = jn.solve(across(parts, 0), tol=1e-2)
    x = np.random.default_rng(0).uniform(0.01, 0.99, (100, 3)) * SIDES
    flux = 1 / (0.75 + 0.025)
    exact = 1 - flux * (x[:, 0] - 0.9 * np.clip(x[:, 0] - 0.25, 0, 0.25))
    assert np.abs(solution(x, 0) - exact).max() < 1e-7
    assert np.abs(solution.flux(x, parts.label(x))[:, 1:]).max() < 1e-6
    assert isinstance(solution.network.of_cell[0].parts[0][1], VoxelFunction)  # type: ignore[union-attr]


def test_saved_and_loaded_with_the_same_bits(parts: jn.Partition, tmp_path) -> None:
    solution = jn.solve(across(parts, 0), tol=1e-2)
    solution.save(tmp_path / "volume.jumpnet")
    again = jn.load(tmp_path / "volume.jumpnet")
    x = np.random.default_rng(1).uniform(0.01, 0.99, (50, 3)) * SIDES
    assert np.array_equal(again(x), solution(x))
    assert again.net_flux("x1+").value == solution.net_flux("x1+").value


def test_robin_and_sources_balance(parts: jn.Partition) -> None:
    problem = jn.Problem(parts, A=[1.0, 10.0], f=[-1.0, -2.0], lam=[0.5, 0.0], boundary=jn.Robin(2.0, 1.0))
    solution = jn.solve(problem, tol=0.5)
    assert all(balance.defect < 1e-6 for balance in solution.balances())


def test_the_judge_covers_a_ball() -> None:
    """A ball of k = 10 in a box, against a far finer volume; at 24 voxels across."""

    def heat(n: int) -> jn.Solution:
        x = np.stack(np.meshgrid(*[(np.arange(n) + 0.5) / n] * 3, indexing="ij"), axis=-1)
        labels = (np.linalg.norm(x - [0.45, 0.5, 0.55], axis=-1) < 0.3).astype(int)
        parts = jn.Partition.from_labels(labels, pixel=1 / n, order="xyz")
        return jn.solve(across(parts, 0), tol=1e-1, verify=n < 40)

    coarse, fine = heat(24), heat(48)
    verdict = coarse.verdict
    assert verdict is not None and coarse.status.ok
    off = abs(coarse.net_flux("x1-").value - fine.net_flux("x1-").value)
    assert off <= verdict.safety * abs(verdict.error_of_net_flux("x1-"))
    x, piece = fine.partition.sample_interior(500, seed=0)  # type: ignore[union-attr]
    assert np.sqrt(np.mean((coarse(x, piece) - fine(x, piece)) ** 2)) <= verdict.estimate
