"""Temperature and flux converge as data get finer: `benchmarks/shapes.py` on fewer lines."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "shapes.py"


@pytest.mark.slow
@pytest.mark.parametrize(
    # Orders of geometry: 3/2 for pixels (errors of single rows average out), 2 for polygons, 4 for splines.
    ("family", "lines", "order"),
    [("image", 4, 1.0), ("polygon", 3, 1.0), ("points", 3, 3.0), ("volume", 3, 1.0), ("stl-facets", 3, 1.0)],
)
def test_errors_fall_with_the_resolution(family, lines, order):
    if family.startswith("stl"):
        pytest.importorskip("trimesh")
    found = importlib.util.spec_from_file_location("shapes_benchmark", SCRIPT)
    assert found is not None and found.loader is not None
    script = importlib.util.module_from_spec(found)
    found.loader.exec_module(script)
    _, orders = script.table(family, 1, lines)
    assert min(orders[:2]) > order
