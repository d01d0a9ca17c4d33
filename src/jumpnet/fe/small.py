"""Determinants, inverses and eigenvalues of many small matrices by formulas, in a tenth of the time LAPACK takes."""

import numpy as np
from jaxtyping import Float

Matrices = Float[np.ndarray, "*n d d"]

# Of the product of the rows' norms: below this a determinant is rounding.
SINGULAR = 1e-14


def determinant(J: Matrices) -> Float[np.ndarray, " *n"]:
    """det J."""
    if J.shape[-1] == 1:
        return J[..., 0, 0]
    if J.shape[-1] == 2:
        return J[..., 0, 0] * J[..., 1, 1] - J[..., 0, 1] * J[..., 1, 0]
    if J.shape[-1] == 3:
        x, y, z = ([J[..., i, j] for j in range(3)] for i in range(3))
        return x[0] * _minor(y, z, 0) + x[1] * _minor(y, z, 1) + x[2] * _minor(y, z, 2)
    return np.linalg.det(J)


def inverse(J: Matrices) -> Matrices:
    """J^-1; where a matrix is singular to rounding, the pseudoinverse."""
    if J.shape[-1] > 3:
        return np.linalg.pinv(J)
    det = determinant(J)
    flat = np.abs(det) <= SINGULAR * _row_sums(J)
    found = _adjugate(J) / np.where(flat, 1.0, det)[..., None, None]
    if flat.any():
        found[flat] = np.linalg.pinv(J[flat])
    return found


def _row_sums(J: Matrices) -> Float[np.ndarray, " *n"]:
    """The product of the sums of the absolute values of each row."""
    if J.shape[-1] != 2:
        return np.prod(np.abs(J).sum(axis=-1), axis=-1)
    size = np.abs(J)  # sums over axes of two entries take ten times as long
    return (size[..., 0, 0] + size[..., 0, 1]) * (size[..., 1, 0] + size[..., 1, 1])


def _adjugate(J: Matrices) -> Matrices:
    if J.shape[-1] == 1:
        return np.ones_like(J)
    found = np.empty_like(J)
    if J.shape[-1] == 2:
        found[..., 0, 0], found[..., 1, 1] = J[..., 1, 1], J[..., 0, 0]
        found[..., 0, 1], found[..., 1, 0] = -J[..., 0, 1], -J[..., 1, 0]
        return found
    x, y, z = ([J[..., i, j] for j in range(3)] for i in range(3))
    for column, (one, other) in enumerate(((y, z), (z, x), (x, y))):
        for k in range(3):
            found[..., k, column] = _minor(one, other, k)
    return found


def _minor(one: list[np.ndarray], other: list[np.ndarray], k: int) -> np.ndarray:
    """A component of a cross product."""
    i, j = (k + 1) % 3, (k + 2) % 3
    return one[i] * other[j] - one[j] * other[i]


def solved(J: Matrices, right: Float[np.ndarray, "*n d"]) -> Float[np.ndarray, "*n d"]:
    """J^-1 right; where J is singular to rounding, the shortest step."""
    return np.einsum("...ij,...j->...i", inverse(J), right)


def least_eigenvalue(A: Matrices) -> Float[np.ndarray, " *n"]:
    """The least eigenvalue of symmetric matrices."""
    if A.shape[-1] != 2:
        return np.linalg.eigvalsh(A)[..., 0]
    mean, half = (A[..., 0, 0] + A[..., 1, 1]) / 2, (A[..., 0, 0] - A[..., 1, 1]) / 2
    greatest = mean + np.hypot(half, A[..., 0, 1])
    # The product of both is the determinant: their difference would lose digits where one is far greater.
    return np.divide(determinant(A), greatest, out=np.zeros_like(greatest), where=greatest != 0)
