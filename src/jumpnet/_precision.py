"""Double precision as the package's own affair.

JAX computes in single precision unless told otherwise, and the usual switch is global. jumpnet must not change what
the user's own JAX code does, so every public call that reaches JAX enters this thread-local context instead, and no
JAX array leaves it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from jumpnet._compiled import kept


@contextmanager
def float64() -> Iterator[None]:
    """A context in which JAX computes in float64 and keeps what it compiles, for this thread only."""
    import jax

    with jax.enable_x64(True), kept():
        yield
