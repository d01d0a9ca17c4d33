"""The checks a partition makes of its shapes, each failure one sentence with an example point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jumpnet.errors import GeometryError
from jumpnet.geometry import checks
from jumpnet.geometry.bodies.primitives import Interval
from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.randomness import EvenlySpread
from jumpnet.geometry.shape import Shape

MARGIN = 1e-9
"""Pieces may overlap, or leave the domain, by this fraction of the domain's size: rounding, not a mistake."""
MUCH_LARGER = 3.0
"""Pieces larger than the domain by this factor, along every axis, are probably in another unit."""


def check_shapes(domain: object, pieces: Sequence[object]) -> None:
    """Shapes of one dimension in a bounded domain."""
    if not isinstance(domain, Shape):
        raise GeometryError(f"the domain must be a shape such as jumpnet.Box, not {type(domain).__name__}.")
    for k, piece in enumerate(pieces, start=1):
        if not isinstance(piece, Shape):
            raise GeometryError(f"piece {k} must be a shape such as jumpnet.Disk, not {type(piece).__name__}.")
        if piece.dim != domain.dim:
            raise GeometryError(f"piece {k} has {piece.dim} dimensions and the domain {domain.dim}; give both as many.")
        checks.sizes(piece.bounds, f"piece {k}")
    if not np.all(np.isfinite(domain.bounds)):
        raise GeometryError(
            "the domain has no end; give a LevelSet its bounds, or cut the domain with a Box, `a & box`."
        )
    checks.sizes(domain.bounds, "the domain")


def probe(box: Bounds, n: int) -> Floats:
    """The same `n` points, spread over a box, every time."""
    lower, upper = box
    return lower + EvenlySpread().random((n, len(lower))) * (upper - lower)


def interior(shape: Shape, box: Bounds, also: Shape | None, size: float) -> Floats:
    """Points inside `shape` (and inside `also`) from probes of the box: the first try that finds any."""
    for n in (256, 1 << 12, 1 << 16):
        x = probe(box, n)
        x = x[shape.contains(x, -MARGIN * size)]
        if also is not None:
            x = x[also.contains(x)]
        if len(x):
            return x
    return np.empty((0, shape.dim))


def extents(piece: Shape, domain: Shape) -> str:
    """A question about units, for the end of a sentence, where a piece is much larger than the domain."""
    reach, room = (shape.bounds[1] - shape.bounds[0] for shape in (piece, domain))
    if not np.all(np.isfinite(reach)) or np.any(reach < MUCH_LARGER * room):
        return ""
    return f" It is {np.min(reach / room):.3g} times as large as the domain: are both in the same unit (scale)?"


def check_layout(domain: Shape, pieces: Sequence[Shape]) -> None:
    """Pieces that are neither empty, nor outside the domain, nor overlapping."""
    size = domain.size
    if not domain.volume and not len(interior(domain, domain.bounds, None, size)):
        raise GeometryError("the domain is empty.")
    _check_closed(domain, "the domain", None, size)
    if domain.dim == 1 and all(isinstance(piece, Interval) for piece in pieces):
        _check_chain(domain, pieces)
        return
    probes = [_check_piece(domain, k, piece) for k, piece in enumerate(pieces, start=1)]
    if not pieces:
        return
    lower, upper = (np.array([piece.bounds[side] for piece in pieces]) for side in (0, 1))
    for k, x in enumerate(probes, start=1):
        near = np.all((lower < x.max(axis=0)) & (upper > x.min(axis=0)), axis=1)
        near[k - 1] = False
        for j in np.flatnonzero(near).tolist():
            _check_overlap(k, j + 1, x, pieces[j], size)


def _check_piece(domain: Shape, k: int, piece: Shape) -> Floats:
    """One piece against the domain; returns points of the piece for the overlap check."""
    size = domain.size
    lower, upper = (
        np.maximum(piece.bounds[0], domain.bounds[0]),
        np.minimum(piece.bounds[1], domain.bounds[1]),
    )
    if np.any(lower >= upper):
        if np.any(piece.bounds[0] > piece.bounds[1]):
            raise GeometryError(f"piece {k} is empty: the shapes it is made of do not meet.")
        raise GeometryError(f"piece {k} lies outside the domain; move it or enlarge the domain.")
    if piece.clipped:
        x = interior(piece, (lower, upper), domain, size)
        if not len(x):
            raise GeometryError(f"piece {k} is empty inside the domain; check the sign of its level function.")
        _check_closed(piece, f"piece {k}", domain, size)
        return x
    x = interior(piece, piece.bounds, None, size)
    if not len(x):
        raise GeometryError(f"piece {k} is empty; check its shape.")
    edge = [x] + [patch.sample(64, EvenlySpread())[0] for patch in piece.patches()]
    x = np.concatenate(edge)
    outside = ~domain.contains(x, MARGIN * size)
    if outside.any():
        raise GeometryError(
            f"piece {k} leaves the domain at {outside.sum()} of {len(x)} probe points, "
            f"e.g. {show(x[outside][0])}; a piece must lie inside: cut it off with `piece & domain`."
            + extents(piece, domain)
        )
    return x


def _check_overlap(k: int, j: int, x: Floats, other: Shape, size: float) -> None:
    lower, upper = other.bounds
    near = x[np.all((x > lower) & (x < upper), axis=1)]
    if not len(near):
        return
    shared = near[other.contains(near, -MARGIN * size)]
    if len(shared):
        a, b = sorted((k, j))
        raise GeometryError(
            f"pieces {a} and {b} overlap at {len(shared)} of {len(x)} probe points, e.g. {show(shared[0])}; "
            "pieces must be disjoint: subtract one from the other, `a - b`."
        )


def _check_closed(shape: Shape, name: str, domain: Shape | None, size: float) -> None:
    """A shape known only by its level function must not run through the faces of its bounds inside the domain."""
    lower, upper = shape.bounds
    if shape.volume is not None or not np.all(np.isfinite(shape.bounds)):
        return
    for axis in range(shape.dim):
        for value in (lower[axis], upper[axis]):
            x = probe((lower, upper), 256 if shape.dim > 1 else 1)
            x[:, axis] = value
            cut = shape.contains(x, -MARGIN * size)
            if domain is not None:
                cut &= domain.contains(x, -MARGIN * size)
            if cut.any():
                raise GeometryError(
                    f"{name} goes on beyond its bounds, e.g. at {show(x[cut][0])}; "
                    "enlarge the bounds, or cut it off with a Box, `a & box`."
                )


def _check_chain(domain: Shape, pieces: Sequence[Shape]) -> None:
    """The same for intervals on a line, without probes."""
    start, end = float(domain.bounds[0][0]), float(domain.bounds[1][0])
    margin = MARGIN * domain.size
    ends = np.array([[p.bounds[0][0], p.bounds[1][0]] for p in pieces]).reshape(-1, 2)
    for k, (a, b) in enumerate(ends, start=1):
        if a < start - margin or b > end + margin:
            raise GeometryError(
                f"piece {k}, from {a:g} to {b:g}, leaves the domain, which runs from {start:g} to {end:g}; "
                "a piece must lie inside."
            )
    order = np.argsort(ends[:, 0], kind="stable")
    clash = np.flatnonzero(ends[order[1:], 0] < ends[order[:-1], 1] - margin)
    if len(clash):
        i, j = sorted((int(order[clash[0]]), int(order[clash[0] + 1])))
        raise GeometryError(
            f"pieces {i + 1} and {j + 1} overlap near x = {ends[order[clash[0] + 1], 0]:g}; "
            "pieces must be disjoint: shorten one of them."
        )


def show(x: Floats) -> str:
    """A point, as it is written in a message."""
    return "x = (" + ", ".join(f"{value:.4g}" for value in x) + ")"
