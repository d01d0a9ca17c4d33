"""Checks of what the user hands to shapes and partitions; each failure is one sentence."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jumpnet.errors import GeometryError
from jumpnet.guard.text import shorten

Floats: TypeAlias = NDArray[np.float64]
Bounds: TypeAlias = tuple[Floats, Floats]
LONGEST_NAME = 200
"""Characters of a name: longer ones break tables and messages."""

LARGEST, LEAST = 1e100, 1e-100
"""Of sizes: squares and volumes of others may overflow or underflow."""


def name(text: object, what: str) -> str:
    """What a piece or a part of the boundary may be called: a line of visible characters that fits into a table."""
    if not isinstance(text, str) or not 0 < len(text) <= LONGEST_NAME or not text.isprintable():
        raise GeometryError(
            f"{what} cannot be called {shorten(text)}; a name has 1 to {LONGEST_NAME} printable characters."
        )
    return text


def number(value: object, what: str) -> float:
    """A finite real number."""
    try:
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise GeometryError(f"{what} must be a number, not {value!r}.") from None
    if not np.isfinite(result):
        raise GeometryError(f"{what} must be a finite number, not {value!r}.")
    return result


def positive(value: object, what: str) -> float:
    """A finite number above zero."""
    result = number(value, what)
    if result <= 0.0:
        raise GeometryError(f"{what} must be positive, not {result:g}.")
    return result


def vector(value: object, what: str) -> tuple[float, ...]:
    """A point or a list of lengths: one finite number per dimension."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise GeometryError(f"{what} must be a list of numbers, not {value!r}.") from None
    if array.ndim == 0:
        array = array[None]
    if array.ndim != 1 or array.size == 0:
        raise GeometryError(f"{what} must be a list of numbers, one per dimension, not {value!r}.")
    if not np.all(np.isfinite(array)):
        raise GeometryError(f"{what} must hold finite numbers, not {array.tolist()}.")
    return tuple(array.tolist())


def lengths(value: object, dim: int, what: str) -> tuple[float, ...]:
    """`dim` positive numbers; a single number stands for all of them."""
    result = vector(value, what)
    if len(result) == 1:
        result = result * dim
    if len(result) != dim:
        raise GeometryError(f"{what} must hold {dim} numbers as the centre does, not {len(result)}.")
    if min(result) <= 0.0:
        raise GeometryError(f"{what} must be positive, not {list(result)}.")
    sizes(([0.0] * dim, result), what)
    return result


def box(bounds: object, what: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Two corners, the lower one below the upper one in every coordinate."""
    if not isinstance(bounds, Sequence | np.ndarray) or len(bounds) != 2:
        raise GeometryError(f"{what} must be a pair (lower, upper) of corners, not {bounds!r}.")
    lower, upper = (
        vector(bounds[0], f"the lower corner of {what}"),
        vector(bounds[1], f"the upper corner of {what}"),
    )
    if len(lower) != len(upper):
        raise GeometryError(f"the corners of {what} have {len(lower)} and {len(upper)} coordinates; give both as many.")
    for axis, (a, b) in enumerate(zip(lower, upper, strict=True), start=1):
        if a >= b:
            raise GeometryError(
                f"{what} runs from {a:g} to {b:g} in x{axis}; the lower corner must lie below the upper one."
            )
    return lower, upper


def sizes(bounds: ArrayLike, what: str) -> None:
    """Bounds (lower, upper) of a shape whose squares and volume are numbers; infinite ends are left out."""
    lower, upper = np.asarray(bounds, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # infinite ends, among them
        across = upper - lower
    large = np.abs([end for end in (*lower, *upper) if np.isfinite(end)])
    wrong = [*large[large > LARGEST].tolist(), *across[(across > 0.0) & (across < LEAST)].tolist()]
    if wrong:
        raise GeometryError(
            f"{what}: there are lengths or coordinates such as {wrong[0]:.3g}; they must be "
            f"from {LEAST:g} to {LARGEST:g}: choose another unit of length."
        )


def points(x: ArrayLike, dim: int) -> Floats:
    """Points as an (n, dim) array; in 1-D a plain list of numbers is accepted."""
    try:
        array = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise GeometryError(f"points must be an (n, {dim}) array of numbers, not {type(x).__name__}.") from None
    if array.ndim == 1 and dim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] != dim:
        raise GeometryError(
            f"points must have shape (n, {dim}), not {array.shape}; put a single point in a list, [[...]]."
        )
    return array


def count(n: object, what: str) -> int:
    """A whole number, zero or more."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
        raise GeometryError(f"{what} must be a whole number of at least 0, not {n!r}.")
    return int(n)
