"""Meshes of periodic boxes: graded layers match on opposite sides, and so do ends of walls that nearly did."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.fe import refinement
from jumpnet.fe.meshing.first import first_mesh
from jumpnet.fe.meshing.graph import planar_graph
from jumpnet.fe.meshing.periodic import together

SQUARE = jn.Box((0, 0), (1, 1))


def layers(off: float) -> jn.Partition:
    """Two walls from the lower to the upper side, which end a little beside where they began."""
    strip = jn.Polygon([(0.25, 0), (0.5, 0), (0.5 + off, 1), (0.25 - off, 1)])
    return jn.Partition(SQUARE, [strip])


@pytest.mark.parametrize("off", [0.0, 3e-7, 1e-2])
def test_ends_of_walls(off: float) -> None:
    graph = planar_graph(layers(off), [1])
    assert graph is not None
    low, high = (np.sort(graph.corners[graph.corners[:, 1] == y, 0]) for y in (0.0, 1.0))
    assert low == pytest.approx(high, abs=1e-12)
    assert len(low) == (6 if off > 1e-6 else 4)  # too far apart to be one: both sides have all of them
    ends = np.array([[[0, 0.5], [0.1, 0.5], [0.9, 0.5 + off], [1, 0.5 + off]]])
    assert together(ends, layers(0.0), [0])[0][0, :, 1] == pytest.approx(
        [0.5 + off / 2] * 4 if off < 1e-6 else ends[0, :, 1], abs=1e-15
    )


def test_layers_of_elements_match() -> None:
    problem = jn.Problem(layers(0.0), A=[1.0, 9.0], boundary={"x1": jn.Periodic(0), "x2": jn.Periodic(1)})
    mesh = first_mesh(problem, 0.1, 2)
    low, high = (
        [k for k, x in enumerate(mesh.vertices) if np.allclose(x, place)] for place in ([0.25, 0.0], [0.5, 1.0])
    )
    for vertices in (low, low + high):
        graded = refinement.graded(mesh, vertices, 3)
        assert len(graded) > len(mesh)
        assert len(graded.boundary) == 0
