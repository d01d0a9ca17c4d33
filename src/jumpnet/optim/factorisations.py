"""The damped least-squares step min |J d + r|^2 + mu |d|^2 of a dense Jacobian, by QR or by Cholesky.

Every function returns None where its factorisation breaks down, and leaves its arguments as they are.
"""

import numpy as np
from jaxtyping import Float
from scipy.linalg import get_lapack_funcs

from jumpnet.optim.lapack import posv, syrk, tpmqrt, tpqrt

(_trtrs,) = get_lapack_funcs(("trtrs",), dtype=np.float64)
# LAPACK's block size in tpqrt; 16 to 32 are equally fast for 250 to 600 columns, 48 is slower.
BLOCK = 32


def qr_step(J: Float[np.ndarray, "m n"], r: Float[np.ndarray, " m"], damping: float) -> np.ndarray | None:
    """By QR of [J; sqrt(mu) I], never forming J^T J; with fewer rows than columns by QR of its transpose.

    The lower block is already triangular, so LAPACK's triangular-pentagonal QR starts from it and only eliminates J:
    a quarter to a half less work than factoring the stacked matrix. r rides along as a last column, so Q is not needed.
    """
    m, n = J.shape
    if m < n:
        return row_space_step(J, r, damping)
    triangle = np.zeros((n + 1, n + 1), order="F")
    np.fill_diagonal(triangle[:n, :n], np.sqrt(damping))
    below = np.empty((m, n + 1), order="F")
    below[:, :n], below[:, n] = J, r
    R, _, _, info = tpqrt(0, min(BLOCK, n), triangle, below, overwrite_a=1, overwrite_b=1)
    d, singular = _trtrs(R[:n, :n], R[:n, n])
    return -d if info == 0 and singular == 0 else None


def row_space_step(J: Float[np.ndarray, "m n"], r: Float[np.ndarray, " m"], damping: float) -> np.ndarray | None:
    """The same step as J^T y, by QR of [sqrt(mu) I; J^T]: the cost grows with the square of the number of rows."""
    m, n = J.shape
    R, V, T, info = tpqrt(0, min(BLOCK, m), np.asfortranarray(np.sqrt(damping) * np.eye(m)), J.T, overwrite_a=1)
    y, singular = _trtrs(R, -r, trans=1)
    if info or singular:
        return None
    # [d; .] = Q [y; 0] is the shortest solution of J d + sqrt(mu) e = -r, which is what the damped problem asks for.
    _, d, _ = tpmqrt(0, V, T, y[:, None], np.zeros((n, 1), order="F"), side="L", trans="N", overwrite_b=1)
    return d[:, 0]


def cholesky_step(J: Float[np.ndarray, "m n"], r: Float[np.ndarray, " m"], damping: float) -> np.ndarray | None:
    """By the normal equations: several times cheaper than QR, at the price of squaring the condition number."""
    normal = syrk(1.0, J, trans=1)
    np.fill_diagonal(normal, normal.diagonal() + damping)
    _, d, info = posv(normal, J.T @ r, overwrite_a=1)
    return -d if info == 0 else None


def auto_step(J: Float[np.ndarray, "m n"], r: Float[np.ndarray, " m"], damping: float) -> np.ndarray | None:
    """Cholesky while its rounding errors stay far below the damping, else QR.

    Forming J^T J perturbs it by about eps |J|_F^2; as long as the damping exceeds that a thousandfold, the step is the
    same to three digits, and the next step corrects the rest.
    """
    if damping > 1e3 * np.finfo(float).eps * np.vdot(J, J):
        d = cholesky_step(J, r, damping)
        if d is not None:
            return d
    return qr_step(J, r, damping)
