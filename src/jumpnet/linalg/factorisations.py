"""Damped least squares min |J d + r|^2 + sum_j mu_j d_j^2 of a dense Jacobian: factored once, solved for any r.

`damping` is a number or one number for each column. Every factorisation returns None where it breaks down, and leaves
its arguments as they are.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from scipy.linalg import get_lapack_funcs

from jumpnet.linalg.lapack import posv, syrk, tpmqrt, tpqrt

_trtrs, _potrs = get_lapack_funcs(("trtrs", "potrs"), dtype=np.float64)
# LAPACK's block size in tpqrt; 16 to 32 are equally fast for 250 to 600 columns, 48 is slower.
BLOCK = 32
TINY = np.finfo(float).tiny  # lower bound of divisors that may be zero
# Corrections of a Cholesky solution end at this part of the first error, or after this number of rounds.
CORRECTED, ROUNDS = 1e-6, 10

Damping = float | Float[np.ndarray, " n"]
Solve = Callable[[np.ndarray], np.ndarray | None]


def qr(J: Float[np.ndarray, "m n"], damping: Damping) -> Solve | None:
    """By QR of [J; sqrt(mu) I], never forming J^T J; with fewer rows than columns by QR of its transpose.

    The lower block is already triangular, so LAPACK's triangular-pentagonal QR starts from it and only eliminates J:
    a quarter to a half less work than factoring the stacked matrix.
    """
    m, n = J.shape
    if m < n:
        return _row_space(J, damping)
    triangle = np.zeros((n, n), order="F")
    np.fill_diagonal(triangle, np.sqrt(damping))
    R, V, T, info = tpqrt(0, min(BLOCK, n), triangle, J, overwrite_a=1)

    def solve(r: Float[np.ndarray, " m"]) -> np.ndarray | None:
        top, _, _ = tpmqrt(0, V, T, np.zeros((n, 1), order="F"), r[:, None], side="L", trans="T")
        d, singular = _trtrs(R, top[:, 0])
        return -d if singular == 0 else None

    return solve if info == 0 else None


def _row_space(J: Float[np.ndarray, "m n"], damping: Damping) -> Solve | None:
    """The same step as J^T y, by QR of [sqrt(mu) I; J^T]: the cost grows with the square of the number of rows."""
    m, n = J.shape
    least = np.min(damping)
    stretch = np.sqrt(damping / least)  # of the columns, so that all of them are damped alike
    triangle = np.asfortranarray(np.sqrt(least) * np.eye(m))
    R, V, T, info = tpqrt(0, min(BLOCK, m), triangle, (J / stretch).T, overwrite_a=1)

    def solve(r: Float[np.ndarray, " m"]) -> np.ndarray | None:
        y, singular = _trtrs(R, -r, trans=1)
        if singular:
            return None
        # [d; .] = Q [y; 0] is the shortest solution of J d + sqrt(mu) e = -r, which the damped problem asks for.
        _, d, _ = tpmqrt(0, V, T, y[:, None], np.zeros((n, 1), order="F"), side="L", trans="N", overwrite_b=1)
        return d[:, 0] / stretch

    return solve if info == 0 else None


def cholesky(J: Float[np.ndarray, "m n"], damping: Damping) -> Solve | None:
    """By the normal equations: several times cheaper than QR, at the price of squaring the condition number."""
    inverse = _normal_inverse(J, damping)
    return None if inverse is None else lambda r: -inverse(J.T @ r)


def _normal_inverse(J: Float[np.ndarray, "m n"], damping: Damping) -> Callable[[np.ndarray], np.ndarray] | None:
    """g -> (J^T J + mu)^-1 g by Cholesky; None where the matrix is not positive in floating point."""
    normal = syrk(1.0, J, trans=1)
    np.fill_diagonal(normal, normal.diagonal() + damping)
    U, _, info = posv(normal, np.zeros(len(normal)), overwrite_a=1)
    return (lambda g: _potrs(U, g)[0]) if info == 0 else None


def corrected(J: Float[np.ndarray, "m n"], damping: Damping) -> Solve | None:
    """By conjugate gradients with the Cholesky factor as preconditioner: its rounding errors cost rounds, not digits.

    Products are with J itself, never with J^T J.
    """
    inverse = _normal_inverse(J, damping)
    if inverse is None:
        return None

    def solve(r: Float[np.ndarray, " m"]) -> np.ndarray:
        d, left = np.zeros(J.shape[1]), -r
        slope = J.T @ left
        p = z = inverse(slope)
        size = first = slope @ z
        for _ in range(ROUNDS):
            Jp = J @ p
            length = size / max(Jp @ Jp + p @ (damping * p), TINY)
            d, left = d + length * p, left - length * Jp
            slope = J.T @ left - damping * d
            z = inverse(slope)
            size, before = slope @ z, size
            if not CORRECTED**2 * first < size:  # as small as asked for, or not a number
                break
            p = z + (size / before) * p
        return d

    return solve


def auto(J: Float[np.ndarray, "m n"], damping: Damping) -> Solve | None:
    """Cholesky with corrections while its rounding errors stay below the damping, else QR.

    Forming and factoring J^T J perturbs an entry by about eps times the lengths of its two columns. As long as the
    damping of each column exceeds that tenfold, the factor is not far off in any direction, and two to five rounds of
    correction, half a millisecond each on pde5, come to the accuracy of QR at half of its cost.
    """
    if np.min(damping / np.einsum("ij,ij->j", J, J).clip(TINY)) > 10 * np.finfo(float).eps:
        solve = corrected(J, damping)
        if solve is not None:
            return solve
    return qr(J, damping)


def qr_step(J: Float[np.ndarray, "m n"], r: Float[np.ndarray, " m"], damping: Damping) -> np.ndarray | None:
    """The step of a single right-hand side, by QR."""
    solve = qr(J, damping)
    return None if solve is None else solve(r)
