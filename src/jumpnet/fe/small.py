"""Many small matrices at once: in space by cofactors, where a call of LAPACK for each takes ten times as long."""

import numpy as np
from jaxtyping import Float

Matrices = Float[np.ndarray, "*n d d"]


def determinants(J: Matrices) -> Float[np.ndarray, " *n"]:
    """The determinants."""
    if J.shape[-1] != 3:
        return np.linalg.det(J)
    (a, b, c), (d, e, f), (g, h, i) = _entries(J)
    return a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)


def inverses(J: Matrices) -> Matrices:
    """The inverses; LinAlgError for singular ones."""
    if J.shape[-1] != 3:
        return np.linalg.inv(J)
    (a, b, c), (d, e, f), (g, h, i) = _entries(J)
    first, second, third = e * i - f * h, f * g - d * i, d * h - e * g
    det = a * first + b * second + c * third
    if not np.all(det):
        raise np.linalg.LinAlgError("Singular matrix")
    found = np.empty_like(J)
    found[..., 0, 0], found[..., 1, 0], found[..., 2, 0] = first, second, third
    found[..., 0, 1], found[..., 1, 1], found[..., 2, 1] = c * h - b * i, a * i - c * g, b * g - a * h
    found[..., 0, 2], found[..., 1, 2], found[..., 2, 2] = b * f - c * e, c * d - a * f, a * e - b * d
    found /= det[..., None, None]
    return found


def solutions(J: Matrices, right: Float[np.ndarray, "*n d"]) -> Float[np.ndarray, "*n d"]:
    """J^-1 right; LinAlgError for singular ones."""
    if J.shape[-1] != 3:
        return np.linalg.solve(J, right[..., None])[..., 0]
    return np.einsum("...ij,...j->...i", inverses(J), right)


def _entries(J: Matrices) -> list[list[np.ndarray]]:
    return [[J[..., i, j] for j in range(3)] for i in range(3)]
