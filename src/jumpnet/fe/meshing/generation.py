"""Meshes by netgen, as plain arrays; called in a process of its own (mesher.py)."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from jumpnet.fe.mesh import Mesh
from jumpnet.fe.meshing.fitted import arrays_of, curved_mesh
from jumpnet.fe.meshing.frame import Frame
from jumpnet.fe.meshing.planar import planar_mesh
from jumpnet.geometry import Partition

Sizes = Sequence[tuple[Float[np.ndarray, " d"], float]]
"""Places, and the sizes of elements there."""


def of_solids(parts: Partition, size: float, order: int, axes: Sequence[int], finer: Sizes) -> Mesh:
    """A mesh of any partition, by boolean operations on solids, with faces curved to an order."""
    frame = Frame.of(parts)
    return arrays_of(curved_mesh(parts, size, order, frame, axes, finer), order, frame, parts, axes)


def of_paths(parts: Partition, size: float, orders: Sequence[int], axes: Sequence[int], finer: Sizes) -> Mesh | None:
    """A mesh of a plane partition whose pieces are paths, curved to the first order that folds nothing; else None."""
    return planar_mesh(parts, size, tuple(orders), list(axes), list(finer))
