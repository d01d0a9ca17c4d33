"""Unfitted finite elements (ngsxfem): linear elements of a regular mesh, cut where a level set changes its sign.

For interfaces that no fitted mesh can be made for, such as level sets that cross themselves. Each of two pieces has its
own linear function on the elements it reaches into; Nitsche's method joins them with the prescribed jumps. Of second
order: level set and data are taken linear on each element.
"""

from typing import Any

import numpy as np
from scipy.spatial import KDTree

from jumpnet.baselines.evaluation import MeshFunction
from jumpnet.errors import GeometryError, ModelError
from jumpnet.fe.meshing.fitted import boundary_part
from jumpnet.fe.ngsolve import ngsolve
from jumpnet.geometry import Box
from jumpnet.problem import Problem

TINY = 1e-8  # of the largest level: an interface through a vertex is moved by so much, or the elements could not be cut
ATTEMPTS, NEAR = 3, 0.05
PENALTY = 20.0  # times the larger A over the element's size


def xfem() -> Any:
    """The module of ngsxfem, or a sentence that says how to install it."""
    ngsolve()
    try:
        import xfem as module  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise ModelError(
            "unfitted finite elements need ngsxfem, which is not installed; pip install 'jumpnet[fem]' adds it."
        ) from None
    return module


def solved(problem: Problem, cells: float, unknowns: int | None) -> tuple[Any, list[MeshFunction], int]:
    """The mesh, the function of each piece and the number of unknowns, with about `cells` squares along each side.

    Unknowns are doubled where elements are cut, so a first mesh tells how many squares give the number asked for.
    """
    _check(problem)
    found = _on(problem, round(cells))
    for _ in range(ATTEMPTS if unknowns else 0):
        if abs(found[2] - (unknowns or 0)) <= NEAR * (unknowns or 0):
            break
        cells *= ((unknowns or 0) / found[2]) ** 0.5
        found = _on(problem, round(cells))
    return found


def _on(problem: Problem, cells: int) -> tuple[Any, list[MeshFunction], int]:
    ng, xf = ngsolve().ng, xfem()
    mesh = _mesh(problem, cells)
    linear = ng.H1(mesh, order=1)
    points = np.array([vertex.point for vertex in mesh.vertices])
    values = problem.partition.pieces[0].level(points)
    tiny = TINY * float(np.abs(values).max())
    level = _nodal(linear, np.where(np.abs(values) < tiny, tiny, values))
    cut = xf.CutInfo(mesh, level)
    active = [cut.GetElementsOfType(xf.HASPOS), cut.GetElementsOfType(xf.HASNEG)]
    base = ng.H1(mesh, order=1, dirichlet=".*")
    space = ng.FESpace([ng.Compress(base, xf.GetDofsOfElements(base, elements)) for elements in active])
    u, t = space.TnT()
    dx = [xf.dCut(level, side, definedonelements=on) for side, on in zip((xf.POS, xf.NEG), active, strict=True)]
    dg = xf.dCut(level, xf.IF, definedonelements=cut.GetElementsOfType(xf.IF))
    A, lam, f = _coefficients(problem, linear, points)
    n = ng.Normalize(ng.grad(level))  # from piece 1, where the level is negative, to piece 0
    v, w = _jumps(problem, linear, points, n)
    share = xf.CutRatioGF(cut)  # of the element that is in piece 1
    kappa = (1 - share, share)
    penalty = PENALTY * max(float(np.abs(problem.A[l].value(points)).max()) for l in (0, 1)) / ng.specialcf.mesh_size

    def flux(functions: Any) -> Any:
        return sum(kappa[l] * ng.InnerProduct(A[l] * ng.grad(functions[l]), n) for l in (0, 1))

    jump, tested = u[0] - u[1], t[0] - t[1]
    form, load = ng.BilinearForm(space, symmetric=True), ng.LinearForm(space)
    for l in (0, 1):
        form += (ng.InnerProduct(A[l] * ng.grad(u[l]), ng.grad(t[l])) + lam[l] * u[l] * t[l]) * dx[l]
        load += -f[l] * t[l] * dx[l]
    form += (flux(u) * tested + flux(t) * jump + penalty * jump * tested) * dg
    load += (v * (flux(t) + penalty * tested) - w * (kappa[1] * t[0] + kappa[0] * t[1])) * dg
    form.Assemble()
    load.Assemble()
    found = ng.GridFunction(space)
    for l in (0, 1):
        found.components[l].Set(_boundary(problem, linear, points, l), definedon=mesh.Boundaries(".*"))
    residual = (load.vec - form.mat * found.vec).Evaluate()
    found.vec.data += form.mat.Inverse(space.FreeDofs(), inverse="sparsecholesky") * residual
    functions = [(found.components[l], Active(mesh, active[l])) for l in (0, 1)]
    made = [MeshFunction(mesh, u, ng.grad(u), inside, problem.dim) for u, inside in functions]
    return mesh, made, sum(space.FreeDofs())


class Active:
    """Points of some of the elements: those given, or the centre of the nearest one, to go on from linearly."""

    def __init__(self, mesh: Any, elements: Any):
        self._mesh, self._active = mesh, np.array(list(elements), bool)
        corners = np.array([vertex.point for vertex in mesh.vertices])
        centres = np.array([corners[[v.nr for v in e.vertices]].mean(axis=0) for e in mesh.Elements()])
        self._tree = KDTree(centres[self._active])

    def __call__(self, x: np.ndarray) -> np.ndarray:
        number = self._mesh(*x.T)["nr"]
        lost = (number < 0) | ~self._active[number]
        at = x.copy()
        if lost.any():
            at[lost] = self._tree.data[self._tree.query(x[lost])[1]]
        return at


def _check(problem: Problem) -> None:
    parts = problem.partition
    conditions = {condition.kind for condition in problem.boundary.values()}
    if parts.dim != 2 or parts.size != 2 or not isinstance(parts.domain, Box) or conditions != {"dirichlet"}:
        raise GeometryError(
            "unfitted finite elements are for two pieces in a rectangle with Dirichlet conditions here; "
            "leave out fitted=False, or solve with jn.solve."
        )


def _mesh(problem: Problem, cells: int) -> Any:
    from ngsolve.meshes import MakeStructured2DMesh  # pyright: ignore[reportMissingImports]

    (a, b), (c, d) = problem.partition.bounds
    return MakeStructured2DMesh(
        quads=False, nx=cells, ny=cells, mapping=lambda s, r: (a + (c - a) * s, b + (d - b) * r)
    )


def _nodal(space: Any, values: np.ndarray) -> Any:
    made = ngsolve().ng.GridFunction(space)
    made.vec.FV().NumPy()[:] = values
    return made


def _coefficients(problem: Problem, space: Any, x: np.ndarray) -> tuple[list[Any], list[Any], list[Any]]:
    """A, lam and f of both pieces at the vertices, beyond the pieces too."""
    ng, d = ngsolve().ng, problem.dim
    A, lam, f = [], [], []
    for l in (0, 1):
        matrix, _, reaction, source = problem.pde(l, x)
        A.append(ng.CF(tuple(_nodal(space, matrix[:, i, j]) for i in range(d) for j in range(d)), dims=(d, d)))
        lam.append(_nodal(space, reaction))
        f.append(_nodal(space, source))
    return A, lam, f


def _jumps(problem: Problem, space: Any, x: np.ndarray, n: Any) -> tuple[Any, Any]:
    """v and w; the latter is a user's function of x, or the normal component of a field (manufactured problems)."""

    def along(direction: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
        return problem.jump_data((0, 1), x, np.tile(direction, (len(x), 1)))

    (v, first), (_, second), (_, opposite) = along((1.0, 0.0)), along((0.0, 1.0)), along((-1.0, 0.0))
    if np.array_equal(first, opposite):
        return _nodal(space, v), _nodal(space, first)
    return _nodal(space, v), _nodal(space, first) * n[0] + _nodal(space, second) * n[1]


def _boundary(problem: Problem, space: Any, x: np.ndarray, piece: int) -> Any:
    """The Dirichlet data of a piece at the vertices of the boundary."""
    lower, upper = problem.partition.bounds
    outer = np.flatnonzero(np.any(np.isclose(x, lower) | np.isclose(x, upper), axis=1))
    parts = np.array([boundary_part(problem.partition, point) for point in x[outer]])
    g = np.zeros(len(x))
    for part in np.unique(parts):
        at = outer[parts == part]
        labels = np.full(len(at), piece)
        g[at] = problem.boundary_data(str(part), x[at], np.zeros_like(x[at]), labels)[2]
    return _nodal(space, g)
