"""Double precision as the package's own affair.

JAX computes in single precision unless told otherwise, and the usual switch is global. jumpnet must not change what
the user's own JAX code does, so every public call that reaches JAX enters this thread-local context instead, and no
JAX array leaves it.
"""

from contextlib import AbstractContextManager


def float64() -> AbstractContextManager[None]:
    """A context in which JAX computes in float64, for this thread only."""
    import jax

    return jax.enable_x64(True)
