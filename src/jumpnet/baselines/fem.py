"""Finite elements through NGSolve: an independent answer to the same `Problem`, as a `Solution`.

Continuous elements of any order on a fitted mesh. The jumps of u are carried by lifts, functions of one piece each that
are zero away from its faces: with lift_0 = 0, piece after piece takes lift_b = lift_a - v on the faces to the pieces a
before it. Data are taken at the integration points from the problem itself, so that everything it can state is covered.
"""

import time
from typing import Any

import numpy as np

from jumpnet.baselines import unfitted
from jumpnet.engines.fem.solutions import finite_element_solution
from jumpnet.errors import GeometryError, ModelError
from jumpnet.fe.features import FieldFunction
from jumpnet.fe.meshing.fitted import (
    FINER,
    FittedMesh,
    Surface,
    arrays_of,
    boundary_part,
    field_of,
    fitted_mesh,
    function_of,
    points_of,
)
from jumpnet.fe.meshing.frame import Frame
from jumpnet.fe.ngsolve import ngsolve
from jumpnet.fields import is_zero
from jumpnet.optim import Status
from jumpnet.problem import Problem
from jumpnet.solution import Diagnostics, MeshSize, Solution

EXTRA = 3  # orders of integration beyond that of the elements: coefficients vary, elements are curved
ATTEMPTS = 6  # meshes until the number of unknowns is near the one asked for
NEAR = 0.05  # relative difference from the number of unknowns asked for that is accepted


def fem(
    problem: Problem,
    *,
    order: int = 4,
    size: float | None = None,
    unknowns: int | None = None,
    fitted: bool = True,
) -> Solution:
    """Solve a problem in 2-D or 3-D by continuous finite elements on a mesh that follows its interfaces.

    `order` is the degree of the elements, `size` their diameter (by default a fifteenth of the domain's longest side);
    `unknowns` gives the approximate number of unknowns instead. What comes back answers like the solution of `solve`,
    and is saved like it; reading it needs no NGSolve. Level sets and other shapes that OpenCASCADE does not know are
    refused; `fitted=False` solves with them, for two pieces in a rectangle, by linear elements that the interface cuts
    (`order` is 1 then); that cannot be saved. Needs NGSolve, and ngsxfem for the latter (`pip install 'jumpnet[fem]'`).
    """
    if not isinstance(problem, Problem):
        raise ModelError(f"fem needs a jn.Problem, not {type(problem).__name__}; see jn.Problem(...).")
    if problem.dim not in (2, 3):
        raise GeometryError(f"the problem has {problem.dim} dimensions; finite elements are for 2 and 3 here.")
    if not isinstance(order, int) or not 1 <= order <= 15:
        raise ModelError(f"order is {order!r}; give a whole number from 1 to 15.")
    for name, value in (("size", size), ("unknowns", unknowns)):
        if value is not None and not value > 0:
            raise ModelError(f"{name} is {value!r}; give a positive number.")
    check_covered(problem)
    ngsolve()
    began = time.perf_counter()
    lower, upper = problem.partition.bounds
    first = size or float(np.max(upper - lower)) / 15
    if fitted:
        mesh, functions, count = _fitted(problem, first, order, unknowns)
    else:
        order = 1
        mesh, functions, count = unfitted.solved(problem, float(np.max(upper - lower)) / first, unknowns)
    kind = "" if fitted else "unfitted "
    method = f"{kind}finite elements of order {order}, {mesh.ne} elements, {count} unknowns (NGSolve)"
    made = MeshSize(count, mesh.ne, order)
    done = Diagnostics(Status.CONVERGED, method, time.perf_counter() - began, mesh=made)
    return finite_element_solution(problem, functions, done)


def check_covered(problem: Problem) -> None:
    """Raises ModelError for problems that these elements cannot solve."""
    without = {
        "contact resistances": any(not is_zero(jump.R) for jump in problem.jumps.values()),
        "partition coefficients": problem.partitioned,
        "periodic sides": any(condition.kind == "periodic" for condition in problem.boundary.values()),
        "point sources": bool(problem.sources),
        "measured data": problem.data is not None,
        "named parts of the boundary": bool(problem.partition.named),
        "a free constant (Neumann conditions only)": problem.mean is not None,
    }
    found = [name for name, there in without.items() if there]
    if found:
        raise ModelError(
            f"the problem has {' and '.join(found)}, which finite elements here are without; use jn.solve."
        )


def _fitted(problem: Problem, size: float, order: int, unknowns: int | None) -> tuple[Any, list[FieldFunction], int]:
    """The mesh, the function of each piece and the number of unknowns."""
    ng, parts = ngsolve().ng, problem.partition
    mesh = fitted_mesh(parts, size, order, EXTRA)
    if unknowns is not None:
        mesh = _near(problem, mesh, size, order, unknowns)
    terms, count = _solved(problem, mesh, order)
    arrays = arrays_of(mesh.mesh, order + FINER, Frame.identity(parts.dim))
    field = field_of(mesh.mesh, arrays, [sum(mine, ng.CF(0.0)) for mine in terms], order)
    return mesh.mesh, [FieldFunction(field, piece, problem.dim) for piece in range(parts.size)], count


def _near(problem: Problem, mesh: FittedMesh, size: float, order: int, wanted: int) -> FittedMesh:
    """A mesh with about as many unknowns as wanted."""
    for _ in range(ATTEMPTS):
        count = _space(mesh, order).ndof
        if abs(count - wanted) <= NEAR * wanted:
            break
        size *= (count / wanted) ** (1 / problem.dim)
        mesh = fitted_mesh(problem.partition, size, order, EXTRA)
    return mesh


def _space(mesh: FittedMesh, order: int, dirichlet: str = "") -> Any:
    return ngsolve().ng.H1(mesh.mesh, order=order, dirichlet=dirichlet)


def _solved(problem: Problem, mesh: FittedMesh, order: int) -> tuple[list[list[Any]], int]:
    """For each piece the continuous part and its lift, if there is one; and the number of unknowns."""
    modules = ngsolve()
    ng, comp = modules.ng, modules.comp
    fixed = "|".join(mesh.boundary[part] for part in mesh.boundary if problem.boundary[part].kind == "dirichlet")
    space = _space(mesh, order, fixed)
    u, test = space.TnT()
    interior = comp.IntegrationRuleSpace(mesh.mesh, order=order + EXTRA)
    dx, ds = ng.dx(intrules=interior.GetIntegrationRules()), ng.ds(intrules=mesh.surface.rules)
    A, lam, f = _coefficients(problem, mesh, interior)
    alpha, g, v, w = (mesh.surface.of(data) for data in _surface_data(problem, mesh.surface))
    lifts = _lifts(mesh, order, v)

    def energy(first: Any) -> Any:
        return ng.InnerProduct(A * ng.grad(first), ng.grad(test)) + lam * first * test

    form = ng.BilinearForm(space, symmetric=True, condense=True)
    form += energy(u) * dx + alpha * u * test * ds
    load = ng.LinearForm(space)
    # On Dirichlet faces the tests are zero, whatever the data there.
    load += -f * test * dx + (g - w) * test * ds
    for piece, lift in lifts.items():
        inside = ng.dx(definedon=mesh.mesh.Materials(f"piece{piece}"), intrules=interior.GetIntegrationRules())
        load += -energy(lift) * inside - alpha * lift * test * ds
    solution = ng.GridFunction(space)
    if fixed:
        total = sum(lifts.values(), ng.CF(0.0))
        _project(solution, g - total, mesh.mesh.Boundaries(fixed), mesh.surface.rules)
    form.Assemble()
    load.Assemble()
    _linear_solve(form, load, solution, space)
    pieces = [[solution, lifts[p]] if p in lifts else [solution] for p in range(problem.partition.size)]
    return pieces, space.ndof


def _linear_solve(form: Any, load: Any, solution: Any, space: Any) -> None:
    """With the unknowns inside elements eliminated; the matrix may be indefinite where lam < 0."""
    residual = (load.vec - form.mat * solution.vec).Evaluate()
    residual.data += form.harmonic_extension_trans * residual
    inverse = form.mat.Inverse(space.FreeDofs(True), inverse="sparsecholesky")
    solution.vec.data += inverse * residual
    solution.vec.data += form.harmonic_extension * solution.vec
    solution.vec.data += form.inner_solve * load.vec


def _coefficients(problem: Problem, mesh: FittedMesh, space: Any) -> tuple[Any, Any, Any]:
    """A, lam and f at the integration points, each point with the formulas of its element's piece."""
    ng, d = ngsolve().ng, problem.dim
    x = np.stack([points_of(space, c) for c in (ng.x, ng.y, ng.z)[:d]], axis=1)
    labels = {f"piece{l}": l for l in range(problem.partition.size)}
    piece = points_of(space, mesh.mesh.MaterialCF(labels)).round().astype(int)
    A, lam, f = np.zeros((len(x), d, d)), np.zeros(len(x)), np.zeros(len(x))
    for l in np.unique(piece):
        mine = piece == l
        A[mine], _, lam[mine], f[mine] = problem.pde(int(l), x[mine])
    entries = [function_of(space, A[:, i, j]) for i in range(d) for j in range(d)]
    # Compiled: nine grid functions in a tree overflow NGSolve's stack where there are many integration points.
    return ng.CF(tuple(entries), dims=(d, d)).Compile(), function_of(space, lam), function_of(space, f)


def _surface_data(problem: Problem, surface: Surface) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """alpha (Robin), g, v and w at the points of the faces; zero where there is no such thing."""
    alpha, g, v, w = (np.zeros(len(surface.x)) for _ in range(4))
    outer = np.flatnonzero(surface.low < 0)
    parts = np.array([boundary_part(problem.partition, x) for x in surface.x[outer]])
    for part in np.unique(parts):
        at = outer[parts == part]
        kind, factor, g[at] = problem.boundary_data(str(part), surface.x[at], surface.normal[at], surface.high[at])
        alpha[at] = factor if kind == "robin" else 0.0
    inner = (surface.low >= 0) & (surface.low != surface.high)
    for a, b in np.unique(np.stack([surface.low[inner], surface.high[inner]], axis=1), axis=0).tolist():
        at = np.flatnonzero((surface.low == a) & (surface.high == b))
        v[at], w[at] = problem.jump_data((a, b), surface.x[at], surface.normal[at])
    return alpha, g, v, w


def _lifts(mesh: FittedMesh, order: int, v: Any) -> dict[int, Any]:
    """What each piece adds to the continuous part: lift_a - lift_b = v on the faces between a < b."""
    ng, lifts = ngsolve().ng, {}
    if not np.any(v.vec.FV().NumPy()):
        return lifts
    for a, b in sorted(mesh.interfaces, key=lambda pair: (pair[1], pair[0])):
        if b not in lifts:
            lifts[b] = ng.GridFunction(ng.H1(mesh.mesh, order=order, definedon=mesh.mesh.Materials(f"piece{b}")))
        wanted = (lifts[a] if a in lifts else ng.CF(0.0)) - v
        _project(lifts[b], wanted, mesh.mesh.Boundaries(mesh.interfaces[a, b]), mesh.surface.rules)
    return lifts


def _project(function: Any, wanted: Any, where: Any, rules: Any) -> None:
    """The traces of a function on some faces, by least squares; what it is elsewhere stays."""
    ng, space = ngsolve().ng, function.space
    u, test = space.TnT()
    here = ng.ds(definedon=where, intrules=rules)
    mass = ng.BilinearForm(u * test * here, symmetric=True, check_unused=False).Assemble()
    load = ng.LinearForm(wanted * test * here).Assemble()
    dofs = space.GetDofs(where)
    update = mass.mat.Inverse(dofs, inverse="sparsecholesky") * (load.vec - mass.mat * function.vec)
    function.vec.data += update
