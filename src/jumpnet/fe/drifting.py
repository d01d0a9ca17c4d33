"""Equations whose flux is A grad e + c e: the symmetric system of A, with the drift c by iterations.

Against the second derivatives the drift is a compact perturbation: preconditioned by the inverse of the symmetric
system, GMRES takes few steps.
"""

import numpy as np
from jaxtyping import Float
from scipy.sparse.linalg import LinearOperator, gmres

from jumpnet.errors import SolutionError
from jumpnet.fe.assembly import EXACT, System
from jumpnet.fe.simplex import gauss
from jumpnet.fe.small import determinant, inverse
from jumpnet.fe.space import Space

# The relative residual at which the iteration ends, and the most steps.
TOLERANCE, MOST = 1e-6, 60


def solved_with_drift(
    system: System, space: Space, count: int, drift: Float[np.ndarray, "m q d"] | None, accuracy: float = EXACT
) -> Float[np.ndarray, " n"]:
    """The unknowns of a system with a drift c, if any, at the `count` Gauss points in each direction.

    `accuracy` is that of iterations for systems without a drift.
    """
    start = system.solve(system.load, accuracy if drift is None else EXACT)
    if drift is None or not start.any():
        return start
    xi, w = gauss(space.mesh.dim, count)
    value, slope = space.basis.value(xi), space.basis.gradient(xi)
    J = space.mesh.jacobians(xi)
    carried = (w * np.abs(determinant(J)))[..., None] * np.matmul(inverse(J), drift[..., None])[..., 0]

    def applied(e: np.ndarray) -> np.ndarray:
        at = space.gathered(e.ravel()) @ value.T
        load = np.einsum("mqj,mq,qkj->mk", carried, at, slope, optimize=True)
        return e.ravel() + system.solve(np.bincount(space.dofs.ravel(), load.ravel(), space.size))

    operator = LinearOperator((space.size, space.size), matvec=applied, dtype=float)  # pyright: ignore[reportCallIssue]
    found, failed = gmres(operator, start, x0=start, rtol=TOLERANCE, restart=MOST, maxiter=1)
    if failed:
        raise SolutionError("the equations of the finite elements with the derivative of A by u do not converge.")
    return found
