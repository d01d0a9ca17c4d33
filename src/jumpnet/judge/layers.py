"""Layers that a mesh does not show: where lam is large, u falls off from a wall within sqrt(A/lam).

Elements far longer than that see nothing of a layer, whatever their order: two orders agree on its absence, and the
judged error is that of another problem. The answer is then not decided, unless what may be missing is small.
"""

from math import factorial

import numpy as np
from jaxtyping import Float

from jumpnet.fe.mesh import Mesh, on_faces
from jumpnet.problem import Problem
from jumpnet.solution import Solution

# Polynomials of order p resolve a layer in an element of length h if h is at most SHOWN p layer widths (heuristic: at
# order 6, a layer in a disk has judged / true 0.97 at lam = 1e6, and 0.01 at 1e8).
SHOWN = 8.0


def hidden_layer(solution: Solution, problem: Problem, mesh: Mesh, order: int, enough: float) -> str:
    """Why layers keep the error from being known, where they may hide more than `enough`; else empty."""
    worst, widest = 0.0, (0.0, 0.0, 0)
    for faces, side in ((mesh.interfaces, 0), (mesh.interfaces, 1), (mesh.boundary, 0)):
        if not len(faces):
            continue
        element, local, other = faces.element[:, side], faces.local[:, side], faces.element[:, 1 - side]
        at = on_faces(mesh, element, local, 1)
        x, normal, own = at.x[:, 0], at.normal[:, 0], mesh.piece[element]
        height = mesh.dim * _volume(mesh, element) / at.weight[:, 0]
        A, width = np.ones(len(x)), np.full(len(x), np.inf)
        for piece in np.unique(own).tolist():
            mine = own == piece
            tensor, _, lam, _ = problem.pde(piece, x[mine])
            A[mine] = np.einsum("ni,nij,nj->n", normal[mine], tensor, normal[mine])
            with np.errstate(divide="ignore"):
                width[mine] = np.sqrt(A[mine] / np.maximum(lam, 0.0))
        thin = np.flatnonzero(height > SHOWN * order * width)
        if not len(thin):
            continue
        beyond = np.where(other[thin] < 0, own[thin], mesh.piece[other[thin]])
        through = np.abs(np.sum(solution.flux(x[thin], beyond) * normal[thin], axis=1))
        missing = np.abs(solution(x[thin], own[thin])) + through * height[thin] / A[thin]
        if missing.max() > worst:
            k = thin[np.argmax(missing)]
            worst, widest = float(missing.max()), (float(width[k]), float(height[k]), int(own[k]))
    if worst <= enough:
        return ""
    width_, height_, piece = widest
    return (
        f"not decided: u changes within {width_:.1e} of the walls of piece {problem.partition.names[piece]!r} "
        f"(lam is large), where elements are {height_:.1e} long."
    )


def _volume(mesh: Mesh, element: np.ndarray) -> Float[np.ndarray, " n"]:
    """The volumes of elements, by their maps in the middle."""
    middle = np.full((1, mesh.dim), 1.0 / (mesh.dim + 1))
    return np.abs(np.linalg.det(mesh.jacobians(middle, element)[:, 0])) / factorial(mesh.dim)
