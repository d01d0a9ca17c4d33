"""The user's own functions: called, checked and differentiated (by JAX, in float64, only when asked)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jumpnet._precision import float64
from jumpnet.errors import JumpnetError, ProblemError
from jumpnet.guard.text import shorten

Array = NDArray[np.float64]


def finite_number(source: Any, what: str) -> float:
    """`source` as a float; ProblemError unless it is one finite real number."""
    plain = isinstance(source, int | float | np.number | np.ndarray) and not isinstance(source, bool)
    if not plain or np.ndim(source) or np.iscomplexobj(source):
        raise ProblemError(f"{what} is {shorten(source)}; a number, a formula in quotes or a callable of x is wanted.")
    if not np.isfinite(source):
        raise ProblemError(f"{what} is {source}; a finite number is wanted.")
    return float(source)


def call_checked(function: Callable[..., Any], x: Array, shapes: list[tuple[int, ...]], what: str) -> Array:
    """A callable's values in float64, broadcast to the last of the shapes allowed, refused if not finite."""
    with float64():
        try:
            raw = np.asarray(function(x))
        except JumpnetError:
            raise
        except Exception as error:  # the user's code may raise anything
            raise ProblemError(
                f"{what} is a callable that fails on an array x of shape {x.shape} ({one_line(error)}); "
                "write it for (n, d) arrays with jax.numpy."
            ) from error
    if raw.dtype.kind not in "fiu":
        raise ProblemError(f"{what} is a callable that returns {raw.dtype} values; real numbers are wanted.")
    if raw.shape not in shapes:
        wanted = " or ".join(str(s) for s in shapes if s)
        raise ProblemError(
            f"{what} is a callable that returns shape {raw.shape} for x of shape {x.shape}; {wanted} is wanted."
        )
    values = np.array(raw, dtype=np.float64) if raw.shape else np.full(shapes[-1], raw, dtype=np.float64)
    bad = ~np.isfinite(values.reshape(x.shape[0], -1)).all(axis=1) if x.shape[0] else np.zeros(0, bool)
    if bad.any():
        raise ProblemError(f"{what} is not finite at {point(x[np.argmax(bad)])}; it must be finite on its whole piece.")
    return values


def point(x: Array) -> str:
    """A point for an error message."""
    return "x = (" + ", ".join(f"{c:.4g}" for c in x) + ")"


def one_line(error: BaseException) -> str:
    """The first line of another library's message."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:120]


def differentiate(function: Callable[..., Any], x: Array, order: int, what: str) -> Array:
    """Derivatives of a callable by JAX, (n, *value, d) or (n, *value, d, d)."""
    import jax

    n = x.shape[0]
    # JAX compiles once per shape: powers of two make few shapes of the pieces' many sizes.
    padded = np.resize(x, (max(32, 1 << (n - 1).bit_length()), x.shape[1])) if n else np.zeros((32, x.shape[1]))
    try:
        transform = _cached_derivative(function, order)
    except TypeError:  # a callable without a hash
        transform = _derivative(function, order)
    with float64():
        try:
            return np.array(transform(padded), dtype=np.float64)[:n]
        except (jax.errors.JAXTypeError, TypeError, AttributeError, IndexError, ValueError) as error:
            raise ProblemError(
                f"{what} is a callable that JAX cannot differentiate; write it with jax.numpy, "
                "give a formula in quotes, or (for A) give its divergence as div_A=."
            ) from error


def _derivative(function: Callable[..., Any], order: int) -> Callable[[Array], Any]:
    """The derivative of one order, for arrays of points."""
    import jax
    import jax.numpy as jnp

    def at(y: Any) -> Any:
        out = jnp.asarray(function(y[None, :]), dtype=float)
        return out[0] if out.ndim else out

    transform = at
    for _ in range(order):
        transform = jax.jacfwd(transform)
    return jax.jit(jax.vmap(transform))


_cached_derivative = lru_cache(maxsize=256)(_derivative)
