"""A large constant in the data, such as an ambient temperature: u is solved for without it, to avoid its rounding
errors."""

import numpy as np

from jumpnet.problem.problem import Problem

# A constant is taken out of the equations where it leaves less than this part of the boundary data.
AMBIENT = 1e-2
# Points of each part of the boundary, and of the pieces, at which data are evaluated.
POINTS = 100


def ambient(problem: Problem) -> float:
    """The constant that is subtracted from u: the one that leaves the smallest data, or zero where much remains.

    It is zero unless lam is zero everywhere: otherwise the constant would be a source inside the pieces.
    """
    parts = problem.partition
    x, piece = parts.sample_interior(max(POINTS, 2 * parts.size), seed=9, minimum=2)
    if any(np.any(problem.lam[p].value(x[piece == p])) for p in range(parts.size)):
        return 0.0
    factors, data = np.zeros(0), np.zeros(0)
    for part in parts.boundary_parts:
        if problem.boundary[part].kind not in ("dirichlet", "robin"):
            continue
        at, normals, labels, _ = parts.sample_boundary(POINTS, seed=9, part=part)
        _, alpha, g = problem.boundary_data(part, at, normals, labels)
        factors, data = np.append(factors, alpha), np.append(data, g)
    if not factors.any() or not data.any():
        return 0.0
    best = float(data @ factors / (factors @ factors))
    return best if np.linalg.norm(data - best * factors) < AMBIENT * np.linalg.norm(data) else 0.0
