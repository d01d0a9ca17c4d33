"""The choice of charts, from the partition and the coefficients, never from the solution."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np
from jaxtyping import Float

from jumpnet.charts.atlas import Atlas, Slots
from jumpnet.charts.chart import Box, Chart, Pole, Slit
from jumpnet.errors import ModelError
from jumpnet.geometry import Hole, Partition

Charts = Literal["auto", "paper", "box", "local"] | Sequence[Chart]
Tensor = Callable[[int, np.ndarray], np.ndarray]

# Above this many pieces, and always in 1-D, each is seen in its own box: one network cannot resolve many short pieces
# in one coordinate.
MANY_PIECES = 8
# Up to this many holes each gets inputs of its own; beyond, cells share inputs and only a cell's own holes count.
MANY_HOLES = 4


def choose_atlases(charts: Charts, partition: Partition, tensor: Tensor | None = None) -> list[Atlas]:
    """The charts by name or as given; `tensor(piece, x)` is A, None where there is no equation (approximation).

    "auto" gives two where there are holes, without and with pole charts: a short training tells which suits the
    problem (a manufactured solution has no singularities in its holes, a real one has).
    """
    if not isinstance(charts, str):
        return [Atlas((_domain_box(partition), *charts))]
    if charts == "paper":
        shape = (partition.size, partition.dim)
        return [Atlas((Box(np.zeros(shape), np.ones(shape)),))]
    if charts == "box":
        return [Atlas((_domain_box(partition),))]
    if charts == "local":
        return [Atlas((local_boxes(partition),))]
    if charts == "auto":
        many = partition.dim == 1 or partition.size > MANY_PIECES
        box = local_boxes(partition) if many else _domain_box(partition)
        poles = [] if tensor is None or partition.dim == 1 else list(hole_charts(partition, tensor))
        return [Atlas((box,))] + [Atlas((box, *_in_slots(poles)))] * bool(poles)
    raise ModelError(f'charts is {charts!r}; choose "auto", "paper", "box", "local" or give a list of charts.')


def hole_charts(partition: Partition, tensor: Tensor) -> Iterator[Chart]:
    """A chart for each hole of each piece."""
    for piece in range(partition.size):
        for hole in partition.holes(piece):
            yield from charts_of_hole(partition, piece, hole, tensor)


def charts_of_hole(partition: Partition, piece: int, hole: Hole, tensor: Tensor) -> Iterator[Chart]:
    """A drawn-out pole in the plane; in space one pole, or several along an elongated hole."""
    A = tensor(piece, hole.points).mean(axis=0)
    transform = inverse_root(A)
    fitted = _fit_ellipsoid((hole.points - hole.center) @ transform.T)
    shift, axes, directions = fitted
    center = hole.center + np.linalg.solve(transform, shift)

    def inside(point: np.ndarray) -> bool:
        return int(partition.label(point[None])[0]) != piece

    if not inside(center):
        center, radius = _deepest_point(partition, piece, hole, transform)
        axes = np.full(partition.dim, radius)
    long, short = axes[0], axes[1]
    focal = np.sqrt(max(long**2 - short**2, 0.0)) * directions[:, 0]
    while focal @ focal > (0.05 * short) ** 2:
        # The whole segment between the foci must lie in the hole; a bent hole gets a shorter one.
        ends = [center + np.linalg.solve(transform, t * focal) for t in (-1.0, -0.5, 0.5, 1.0)]
        if all(inside(end) for end in ends):
            break
        focal = focal * 0.8
    else:
        focal = np.zeros_like(focal)
    if partition.dim == 2:
        yield Slit((piece,), center, transform, complex(focal[0], focal[1]), float(long + short))
        return
    # In space there is no drawn-out pole in closed form: several poles along the segment do instead.
    count = 1 if np.linalg.norm(focal) < 0.5 * short else 3
    radius = float(np.prod(axes) ** (1 / len(axes)))
    for t in np.linspace(-1, 1, count + 2)[1:-1]:
        yield Pole((piece,), center + np.linalg.solve(transform, t * focal), transform, radius)


def _fit_ellipsoid(z: Float[np.ndarray, "m d"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centre, semi-axes (longest first) and directions of an ellipsoid through boundary points.

    An algebraic least-squares fit of z.Q.z + p.z = 1, exact for ellipsoids; the moments of the points where the fit is
    not an ellipsoid.
    """
    m, d = z.shape
    i, j = np.triu_indices(d)
    columns = np.c_[z[:, i] * z[:, j] * np.where(i == j, 1.0, 2.0), z]
    fit = np.linalg.lstsq(columns, np.ones(m), rcond=None)[0]
    Q = np.zeros((d, d))
    Q[i, j] = Q[j, i] = fit[: len(i)]
    eigenvalues, directions = np.linalg.eigh(Q)
    if eigenvalues[0] > 0:
        center = -np.linalg.solve(Q, fit[len(i) :]) / 2
        return center, np.sqrt((1 + center @ Q @ center) / eigenvalues), directions
    center = z.mean(axis=0)
    variances, directions = np.linalg.eigh(np.cov(z.T))
    return center, np.sqrt(d * variances[::-1]), directions[:, ::-1]


def _deepest_point(
    partition: Partition, piece: int, hole: Hole, transform: np.ndarray
) -> tuple[Float[np.ndarray, " d"], float]:
    """The sampled point of a hole farthest from its boundary, and that distance in the transformed coordinates."""
    lower, upper = hole.points.min(axis=0), hole.points.max(axis=0)
    candidates = np.random.default_rng(0).uniform(lower, upper, (2000, partition.dim))
    candidates = candidates[partition.label(candidates) != piece]
    if not len(candidates):
        return hole.center, float(np.linalg.norm(upper - lower)) / 4
    gaps = ((candidates[:, None] - hole.points[None, :400]) @ transform.T) ** 2
    distance = np.sqrt(gaps.sum(axis=2).min(axis=1))
    best = int(np.argmax(distance))
    return candidates[best], float(distance[best])


def inverse_root(A: Float[np.ndarray, "d d"]) -> Float[np.ndarray, "d d"]:
    """A^(-1/2), scaled to determinant one: the linear map after which A is a multiple of the identity."""
    eigenvalues, vectors = np.linalg.eigh(A)
    root = (vectors / np.sqrt(eigenvalues)) @ vectors.T
    return root / np.linalg.det(root) ** (1 / len(A))


def _in_slots(charts: list[Chart]) -> list[Chart]:
    """Charts as inputs of a shared network: one set of inputs each while they are few, else shared between cells."""
    if len(charts) <= MANY_HOLES:
        return charts
    of_cell: dict[tuple[int, ...], list[Chart]] = {}
    for chart in charts:
        of_cell.setdefault(getattr(chart, "cells", ()), []).append(chart)
    if len(of_cell) == 1:
        return charts
    depth = max(map(len, of_cell.values()))
    return [Slots(tuple(own[i] for own in of_cell.values() if i < len(own))) for i in range(depth)]


def _domain_box(partition: Partition) -> Box:
    lower, upper = (np.asarray(end, float) for end in partition.bounds)
    return Box(np.tile((lower + upper) / 2, (partition.size, 1)), np.tile((upper - lower) / 2, (partition.size, 1)))


def local_boxes(partition: Partition) -> Box:
    """Each piece in its own box."""
    ends = [partition.piece_bounds(piece) for piece in range(partition.size)]
    lower, upper = (np.array([np.asarray(end[side], float) for end in ends]) for side in (0, 1))
    return Box((lower + upper) / 2, (upper - lower) / 2)
