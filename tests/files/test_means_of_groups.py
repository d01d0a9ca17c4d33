"""The mean over several pieces weighs them by areas from Gauss's rule: those of rings are only sampled elsewhere."""

from pathlib import Path

import jumpnet as jn

RINGS = """
[domain]
kind = "box"
lower = [-1, -1]
upper = [1, 1]
[background]
A = 1.0
[pieces.ring]
shape = { kind = "disk", radius = 0.3 }
centers = [[-0.5, 0.0], [0.4, 0.1]]
without = ["core"]
A = 1.0
[pieces.core]
shape = { kind = "disk", radius = 0.13 }
centers = [[-0.5, 0.0], [0.4, 0.1]]
A = 1.0
[boundary]
rest = { kind = "dirichlet", g = "x1" }
[quantities]
rings = { kind = "mean", over = "ring" }
"""


def test_the_mean_over_two_rings_of_the_same_size_is_that_of_their_centres(tmp_path: Path) -> None:
    (tmp_path / "rings.toml").write_text(RINGS)
    read = jn.read_file(tmp_path / "rings.toml")
    found = read.quantities(read.solve())["rings"]
    assert abs(found.value + 0.05) <= 1e-12 + 2 * found.error
    assert found.error < 1e-8
