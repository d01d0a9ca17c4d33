"""Collocation: the points at which equations are asked for, reproducible from (partition, counts, seed, stream).

Streams keep training points, held-out points and test points independent of each other for every seed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Literal, Protocol

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from jumpnet.errors import ModelError
from jumpnet.geometry import Partition

Pair = tuple[int, int]
Method = Literal["random", "sobol", "even"]


class Stream(IntEnum):
    """What a set of random numbers is for; each is independent of the others for the same seed.

    Example:
        >>> import jumpnet as jn
        >>> jn.Stream.HELD_OUT.name
        'HELD_OUT'
    """

    TRAIN = 0
    WEIGHTS = 1
    HELD_OUT = 2
    TEST = 3
    LABELS = 4


@dataclass(frozen=True)
class Points:
    """How many collocation points a training takes.

    Args:
        interior: In all pieces together.
        boundary: On the outer boundary.
        interface: On each interface. In 1-D every boundary and interface point is taken once, whatever the counts say.
        minimum: The least number of interior points in each piece.
        method: "random", "sobol" (low discrepancy) or "even" (nearly as good and sooner there).

    Example:
        >>> import jumpnet as jn
        >>> jn.Points(324, 72, 72).minimum
        0
    """

    interior: int
    boundary: int
    interface: int
    minimum: int = 0
    method: Method = "random"

    def __post_init__(self) -> None:
        for name in ("interior", "boundary", "interface", "minimum"):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < 0:
                raise ModelError(f"points: {name} is {value!r}; give a whole number, zero or more.")
        if self.interior < 1:
            raise ModelError("points: interior is 0; at least one interior point is needed.")
        if self.method not in ("random", "sobol", "even"):
            raise ModelError(f'points: method is {self.method!r}; choose "random", "sobol" or "even".')

    @staticmethod
    def of(given: "Points | Sequence[int]") -> "Points":
        """`Points`, or a triple (interior, boundary, interface) as one."""
        if isinstance(given, Points):
            return given
        try:
            counts = [int(value) for value in given]
        except (TypeError, ValueError):
            counts = []
        if len(counts) != 3:
            raise ModelError(
                f"points is {given!r}; give jn.Points(...), three numbers (interior, boundary, per interface), or a "
                "function (partition, seed, stream) -> jn.Collocation."
            )
        interior, boundary, interface = counts
        return Points(interior, boundary, interface)


@dataclass(frozen=True)
class Collocation:
    """Frozen points with the labels and normals the equations need; `jn.collocate` draws them.

    Args:
        interior: Points inside pieces.
        piece: The piece of each.
        boundary: Points on the outer boundary.
        boundary_normal: The outward unit normal at each.
        boundary_piece: The piece behind each.
        boundary_part: The number of the part of the boundary that each lies on.
        interfaces: For each pair of pieces a < b, points on their interface and unit normals from b to a.

    Example:
        >>> import jumpnet as jn
        >>> drawn = jn.collocate(jn.Partition.chain([0, 1, 2]), jn.Points(20, 2, 1), seed=0)
        >>> drawn.with_interior(jn.Partition.chain([0, 1, 2]), [[0.5], [9.0]]).interior.shape
        (21, 1)
    """

    interior: Float[np.ndarray, "m d"]
    piece: Int[np.ndarray, " m"]
    boundary: Float[np.ndarray, "b d"]
    boundary_normal: Float[np.ndarray, "b d"]
    boundary_piece: Int[np.ndarray, " b"]
    boundary_part: Int[np.ndarray, " b"]
    interfaces: Mapping[Pair, tuple[Float[np.ndarray, "k d"], Float[np.ndarray, "k d"]]]

    def with_interior(self, partition: Partition, x: ArrayLike, *, instead: bool = False) -> "Collocation":
        """The same with more interior points, or with others instead; those outside the domain are left out."""
        x = np.asarray(x, float).reshape(-1, partition.dim)
        piece = partition.label(x)
        x, piece = x[piece >= 0], piece[piece >= 0]
        if not instead:
            x, piece = np.concatenate([self.interior, x]), np.concatenate([self.piece, piece])
        return replace(self, interior=x, piece=piece)

    def counts(self) -> "Points":
        """How many points there are; of the interfaces, on the one with the most."""
        most = max((len(x) for x, _ in self.interfaces.values()), default=0)
        return Points(len(self.interior), len(self.boundary), most)


class PointRule(Protocol):
    """Points of one's own: a function that draws them, for every seed and for training and held-out points alike."""

    def __call__(self, partition: Partition, seed: int, stream: Stream) -> Collocation: ...


def collocate(partition: Partition, points: Points, *, seed: int, stream: Stream = Stream.TRAIN) -> Collocation:
    """Draw the points of one seed and stream.

    Args:
        partition: The pieces.
        points: How many of each kind.
        seed: A whole number.
        stream: What the points are for; streams of a seed are independent of each other.

    Returns:
        The points, the same for the same arguments.

    Example:
        >>> import jumpnet as jn
        >>> jn.collocate(jn.Partition.chain([0, 1, 2]), jn.Points(20, 2, 1), seed=0).interior.shape
        (20, 1)
    """

    def entropy(*what: int) -> list[int]:
        return [seed, int(stream), *what]

    x, piece = partition.sample_interior(points.interior, seed=entropy(0), minimum=points.minimum, method=points.method)
    if points.boundary or partition.dim == 1:
        edge = partition.sample_boundary(points.boundary, seed=entropy(1), method=points.method)
    else:
        none = np.zeros((0, partition.dim))
        edge = none, none, np.zeros(0, int), np.zeros(0, int)
    interfaces = {}
    if points.interface or partition.dim == 1:
        for interface in partition.interfaces:
            a, b = interface.pair
            interfaces[a, b] = partition.sample_interface(
                (a, b), points.interface, seed=entropy(2, a, b), method=points.method
            )
    return Collocation(x, piece, *edge, interfaces)
