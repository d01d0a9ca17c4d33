"""pde2 by FiPy's finite volumes: can a general library carry an anisotropic problem with jumps by lifting them?

    pip install fipy sympy && python benchmarks/peers/fipy_pde2.py [CELLS ...]

A uniform grid of m^2 cells; the tensor of a face is that of its piece, its scale the harmonic mean between pieces. The
jump v of u is lifted by its own formula in the heart; then the jump of the flux by phi q outside, where phi vanishes on
the cardioid and q makes the flux right. What is left has no jumps, which is what FiPy solves; sweeps are repeated for
its explicit cross terms. `smooth` leaves the heart out: the same equation everywhere, to see the scheme by itself.
Measured with FiPy 4.0.3 (L2 error): smooth 9.7e-4 and 6.1e-5 with 32^2 and 128^2 cells, second order; with the heart
3.3e-3, 7.2e-3 and 1.1e-2 with 32^2, 64^2 and 128^2: it does not converge. The largest error is at the cusp, where the
lift has unbounded second derivatives, and the interface is a staircase. The paper quotes 1.8e-4, by a method made for
interfaces.
"""

import sys

import fipy
import numpy as np
import sympy as sp

SWEEPS = 60
x1, x2 = sp.symbols("x1 x2")


def operator(A: sp.Matrix, lam: sp.Expr, u: sp.Expr) -> sp.Expr:
    """div(A grad u) - lam u."""
    flux = A * gradient(u)
    return sp.diff(flux[0], x1) + sp.diff(flux[1], x2) - lam * u


def gradient(u: sp.Expr) -> sp.Matrix:
    return sp.Matrix([sp.diff(u, x1), sp.diff(u, x2)])


def values(formula: sp.Expr, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.broadcast_to(np.asarray(sp.lambdify((x1, x2), formula, "numpy", cse=True)(x, y), float), x.shape)


def solved(m: int, smooth: bool) -> tuple[float, float]:
    """L2 and largest error at the centres of m x m cells."""
    square = x1**2 + x2**2
    M = sp.Matrix([[square + 1, square], [square, square + 2]])
    lam = sp.exp(x1) * (square + 3) * sp.sin(x2)
    u, A, lams = [square, sp.exp(x1) * sp.cos(x2)], [1000 * M, M], [1000 * lam, lam]
    jump = u[0] - u[1]
    # With u + jump in the heart the remainder is continuous; `excess` is the jump that is left of its flux.
    excess = A[0] * gradient(u[0]) - A[1] * gradient(u[1]) - A[1] * gradient(jump)
    X = x1 + sp.Rational(1, 4)
    radius = X**2 + x2**2
    phi = (3 * radius - X) ** 2 - radius
    slope = gradient(phi)
    lift = sp.Integer(0) * x1 if smooth else phi * (excess.T * slope)[0] / (slope.T * A[0] * slope)[0]
    right = [operator(A[0], lams[0], u[0] - lift), operator(A[1], lams[1], u[1] + jump)]
    mesh = fipy.Grid2D(nx=m, ny=m, dx=2 / m, dy=2 / m) + ((-1.0,), (-1.0,))
    x, y = (np.asarray(c) for c in mesh.cellCenters.value)
    fx, fy = (np.asarray(c) for c in mesh.faceCenters.value)
    inside = np.hypot(x + 0.25, y) < (1 + np.cos(np.arctan2(y, x + 0.25))) / 3
    heart = np.zeros(len(x), bool) if smooth else inside
    one, two = (np.asarray(np.ma.filled(ids, -1)) for ids in mesh.faceCellIDs)
    two = np.where(two < 0, one, two)
    scale = np.where(heart[one] == heart[two], np.where(heart[one], 1.0, 1000.0), 2 * 1000 / 1001)
    tensor = np.array([[scale * values(M[i, j], fx, fy) for j in (0, 1)] for i in (0, 1)])
    unknown = fipy.CellVariable(mesh=mesh, value=0.0)
    edge = values(u[0] - lift, fx, fy)
    unknown.constrain(fipy.FaceVariable(mesh=mesh, value=edge), mesh.exteriorFaces)

    def by_piece(pair: list[sp.Expr]) -> fipy.CellVariable:
        return fipy.CellVariable(mesh=mesh, value=np.where(heart, values(pair[1], x, y), values(pair[0], x, y)))

    diffusion = fipy.DiffusionTermCorrection(coeff=fipy.FaceVariable(mesh=mesh, rank=2, value=tensor))
    equation = diffusion == by_piece(right) + fipy.ImplicitSourceTerm(coeff=by_piece(lams))
    for _ in range(SWEEPS):
        equation.sweep(var=unknown, solver=fipy.LinearLUSolver(tolerance=1e-14, iterations=20))
    error = np.asarray(unknown.value) + np.where(heart, 0.0, values(lift, x, y)) - values(u[0], x, y)
    return float(np.sqrt(np.mean(error**2))), float(np.abs(error).max())


if __name__ == "__main__":
    for cells in [int(word) for word in sys.argv[1:]] or [32, 64, 128]:
        for smooth in (True, False):
            l2, linf = solved(cells, smooth)
            print(f"{cells}^2 cells, {'smooth' if smooth else 'heart'}: L2 {l2:.1e}, Linf {linf:.1e}", flush=True)
