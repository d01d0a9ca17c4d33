"""The labels beside walls, which the wall's own shape is not asked for, and points that polygons cannot decide."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.experiments import problems
from jumpnet.geometry.curves.closed import Curve

SQUARE = jn.Box((-1, -1), (1, 1))
BLOB = jn.Disk((0, 0), 0.5) | jn.Box((0, 0), (0.8, 0.4))
PARTITIONS = {
    "heart": lambda: problems.pde2().partition,
    "chessboard": lambda: problems.pde3().partition,
    "stars": lambda: problems.pde4().partition,
    "balls": lambda: problems.pde5().partition,
    "chain": lambda: problems.pde1(5).partition,
    "touching": lambda: jn.Partition(SQUARE, [jn.Box((-1, -1), (0, 0)), jn.Box((0, -1), (1, 0))]),
    "cut off": lambda: jn.Partition(SQUARE, [jn.HalfSpace((1.0, 0.3), -0.2)]),
    "combined": lambda: jn.Partition(SQUARE, [BLOB - jn.Disk((0, 0), 0.2)]),
}


@pytest.mark.parametrize("name", PARTITIONS)
def test_sides_of_walls_are_those_that_labels_tell(name: str) -> None:
    walls = PARTITIONS[name]().walls
    for trace in walls.pilot:
        ahead, behind = (walls.labeller(trace.points + s * walls.step * trace.normals) for s in (1, -1))
        # Corners and cusps, where the other side is nearer than a step, are the exception.
        same = (trace.ahead == ahead) & (trace.behind == behind)
        assert same.mean() > 0.999


def test_what_polygons_cannot_decide_is_decided_by_the_curve() -> None:
    heart = problems.pde2().partition.pieces[0]
    assert isinstance(heart, Curve)
    rng = np.random.default_rng(0)
    on, normals = heart.patches()[0].sample(4000, rng)
    x = on + (rng.choice([-1.0, 1.0], 4000) * 10 ** rng.uniform(-9, -1, 4000))[:, None] * normals
    finder = heart._finder
    for slack in (0.0, 1e-9, 1e-3):
        np.testing.assert_array_equal(finder.contains(x, slack), finder.signed_distance(x) < slack)
    # Of points anywhere, hardly any have to be looked at.
    assert len(finder.undecided(rng.uniform(-1, 1, (4000, 2)), 0.0)) < 10
