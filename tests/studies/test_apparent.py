"""Apparent tensors of samples: layers have closed forms, other samples lie between the bounds."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.errors import ProblemError

LAYERS = jn.Partition(jn.Box((0, 0), (1, 1)), [jn.Polygon([(0, 0), (1, 0), (1, 0.4), (0, 0.4)])])
ALONG, ACROSS = 0.6 * 1.0 + 0.4 * 5.0, 1 / (0.6 / 1.0 + 0.4 / 5.0)


def test_layers_between_two_sides_with_the_others_insulated() -> None:
    """Series and parallel resistances: exact for mixed conditions."""
    found = jn.effective_tensor(LAYERS, [1.0, 5.0], boundary="mixed", tol=1e-6, method="fem")
    assert np.allclose(found.tensor, np.diag([ALONG, ACROSS]), atol=1e-6)
    assert found.boundary == "mixed" and "insulated" in str(found)
    assert not found.violated


def test_linear_values_lie_above_and_uniform_fluxes_below() -> None:
    linear, flux = (
        jn.effective_tensor(LAYERS, [1.0, 5.0], boundary=kind, tol=1e-4, method="fem") for kind in ("linear", "flux")
    )
    exact = np.diag([ALONG, ACROSS])
    for above, below in ((linear.tensor, exact), (exact, flux.tensor)):
        assert np.linalg.eigvalsh(above - below)[0] > -1e-3
    assert linear.bounds.hashin_shtrikman is None and not linear.violated and not flux.violated


@pytest.mark.slow
def test_the_resolution_of_an_image_is_told() -> None:
    rows, columns = np.mgrid[0:32, 0:32]
    labels = ((rows - 15.5) ** 2 + (columns - 15.5) ** 2 < 9.3**2).astype(int)
    parts = jn.Partition.from_labels(labels, pixel=1 / 32)
    found = jn.effective_tensor(parts, [1.0, 5.0], boundary="mixed", resolution=True, method="fem")
    assert 0 < found.resolution < 0.1 and "pixels of twice the size" in str(found)


def test_unknown_conditions_are_refused() -> None:
    with pytest.raises(ProblemError, match="periodic"):
        jn.effective_tensor(LAYERS, [1.0, 5.0], boundary="free")  # type: ignore[arg-type]
