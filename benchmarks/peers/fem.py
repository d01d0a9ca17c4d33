"""Finite elements: NGSolve on pde2, pde4 and pde5, accuracy against time.

    python benchmarks/peers/fem.py pde4 [--way expert|ordinary] [--h 0.1] [--orders 4,6,8] [--repeats 3]

Continuous elements of high order on a fitted mesh (fem_meshes.py); a lift in the inclusions carries the jump of u, and
needs its values on the interface only. The clock covers geometry, mesh, assembly and the direct solve (in 3-D
conjugate gradients); imports and the symbolic right-hand side are not timed. One thread. Prints a line of JSON for
each order: the median over the repetitions.
"""

import argparse
import json
import statistics
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from jumpnet.experiments import problems

try:
    import fem_meshes
    import ngsolve as ng
except ImportError:
    sys.exit("NGSolve is not installed; pip install 'jumpnet[fem]' adds it.")

SIZES = {"expert": {"pde2": 0.5, "pde4": 0.1, "pde5": 0.18}, "ordinary": {"pde2": 0.25, "pde4": 0.1}}
ORDERS = {"pde2": "3,4,5,6,8", "pde4": "4,6,7,8,10", "pde5": "3,4,5"}


@dataclass(frozen=True)
class Piece:
    """The formulas of one piece as functions of coordinates, which may be coefficient functions."""

    u: Any
    A: Any
    lam: Any
    f: Any
    flux: Any


def formulas(problem: Any) -> list[Piece]:
    """What the problem states, in sympy, and the right-hand side it implies."""
    d = problem.partition.dim
    x = sympy.symbols(f"x1:{d + 1}", real=True)
    functions = {name: getattr(ng, name) for name in ("sin", "cos", "exp", "log", "sinh", "cosh", "sqrt")}

    def symbolic(field: Any) -> sympy.Expr:
        if not hasattr(field, "expression"):
            return sympy.Float(field.number)
        return field.expression.symbolic.xreplace(field.expression.parameters)

    def function(formula: Any) -> Any:
        return sympy.lambdify(x, formula, modules=[functions], cse=True)

    found = []
    for u, A, lam in zip(problem.exact, problem.A, problem.lam, strict=True):
        u, lam = symbolic(u), symbolic(lam)
        A = sympy.Matrix(d, d, [symbolic(entry) for entry in A.entries])
        flux = A * sympy.Matrix([sympy.diff(u, s) for s in x])
        f = sum(sympy.diff(part, s) for part, s in zip(flux, x, strict=True)) - lam * u
        found.append(Piece(*(function(formula) for formula in (u, list(A), lam, f, list(flux)))))
    return found


def solve(geometry: Any, pieces: list[Piece], names: list[str], order: int, *, condense: bool, iterative: bool) -> Any:
    """The solution as a coefficient function: continuous part and lift; also the number of unknowns."""
    mesh, bonus = geometry.mesh, 0 if iterative else 4
    here = (ng.x, ng.y, ng.z)[: mesh.dim]
    inside, gamma = "|".join(f"piece{l}" for l in range(1, len(pieces))), "|".join(names)

    def everywhere(part: Any) -> Any:
        return mesh.MaterialCF({f"piece{l}": part(piece) for l, piece in enumerate(pieces)})

    A = everywhere(lambda piece: ng.CF(tuple(piece.A(*here)), dims=(mesh.dim, mesh.dim)))
    lam, f = everywhere(lambda piece: piece.lam(*here)), everywhere(lambda piece: piece.f(*here))
    v, w = {}, {}
    for label, piece in zip(names, pieces[1:], strict=True):
        at = [geometry.point[label][i] for i in range(mesh.dim)]
        v[label] = pieces[0].u(*at) - piece.u(*at)
        jump = ng.CF(tuple(pieces[0].flux(*at))) - ng.CF(tuple(piece.flux(*at)))
        w[label] = ng.InnerProduct(jump, geometry.normal[label])
    at = [geometry.point["outer"][i] for i in range(mesh.dim)] if "outer" in geometry.point else here

    space = ng.H1(mesh, order=order, dirichlet="outer")
    trial, test = space.TnT()
    u = ng.GridFunction(space)
    u.Set(pieces[0].u(*at), definedon=mesh.Boundaries("outer"), bonus_intorder=bonus)
    lift = ng.GridFunction(ng.H1(mesh, order=order, definedon=mesh.Materials(inside)))
    lift.Set(-mesh.BoundaryCF(v), definedon=mesh.Boundaries(gamma), bonus_intorder=bonus)

    def energy(first: Any) -> Any:
        return ng.InnerProduct(A * ng.grad(first), ng.grad(test)) + lam * first * test

    form = ng.BilinearForm(space, symmetric=True, condense=condense)
    form += energy(trial) * ng.dx(bonus_intorder=bonus)
    load = ng.LinearForm(space)
    load += -f * test * ng.dx(bonus_intorder=bonus) - mesh.BoundaryCF(w) * test * ng.ds(gamma, bonus_intorder=bonus)
    load += -energy(lift) * ng.dx(definedon=mesh.Materials(inside), bonus_intorder=bonus)
    preconditioner = ng.Preconditioner(form, "bddc") if iterative else None
    form.Assemble()
    load.Assemble()
    residual = (load.vec - form.mat * u.vec).Evaluate()
    if condense:
        residual.data += form.harmonic_extension_trans * residual
    if preconditioner is None:
        inverse = form.mat.Inverse(space.FreeDofs(condense), inverse="sparsecholesky")
    else:
        inverse = ng.CGSolver(form.mat, preconditioner, tol=1e-12, maxiter=400)
    u.vec.data += inverse * residual
    if condense:
        u.vec.data += form.harmonic_extension * u.vec
        u.vec.data += form.inner_solve * load.vec
    return (u, lift), space.ndof


def error(problem: Any, mesh: Any, parts: Any) -> float:
    """Root mean square at random points of the elements, by volume; the exact value is that of the point's piece.

    Points between a curved edge and the exact interface belong to another piece than their element and are left out.
    """
    rng, d = np.random.default_rng(0), mesh.dim
    count = max(8, 12_000 // mesh.ne)
    rule = ng.IntegrationRule([tuple(p) for p in rng.dirichlet(np.ones(d + 1), count)[:, :d].tolist()], [1.0] * count)
    points = mesh.MapToAllElements({ng.TRIG if d == 2 else ng.TET: rule}, ng.VOL)
    x = np.stack([c(points)[:, 0] for c in (ng.x, ng.y, ng.z)[:d]], axis=1)
    weight = ng.Det(ng.specialcf.JacobianMatrix(d))(points)[:, 0]
    of_mesh = mesh.MaterialCF({f"piece{l}": l for l in range(problem.partition.size)})(points)[:, 0].round()
    values = sum(part(points)[:, 0] for part in parts)
    piece = problem.partition.label(x)
    exact = np.select([piece == l for l in range(len(problem.exact))], [field.value(x) for field in problem.exact])
    good = piece == of_mesh
    return float(np.sqrt(np.sum((weight * (values - exact) ** 2)[good]) / np.sum(weight[good])))


def main() -> None:
    """Solve for each order and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problem", choices=tuple(ORDERS))
    parser.add_argument("--way", choices=("expert", "ordinary"), default="expert")
    parser.add_argument("--h", type=float)
    parser.add_argument("--orders")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    name = given.problem
    if name not in SIZES[given.way]:
        sys.exit(f"there is no ordinary way for {name} here; --way expert is meant.")
    h = given.h or SIZES[given.way][name]
    ng.ngsglobals.msg_level = 0
    ng.SetNumThreads(1)  # more threads spin, and are slower on a core that is not theirs alone
    problem = getattr(problems, name)()
    pieces = formulas(problem)
    options = {"condense": given.way == "expert", "iterative": name == "pde5"}
    for order in map(int, (given.orders or ORDERS[name]).split(",")):
        times = []
        for _ in range(given.repeats + 1):
            began = time.perf_counter()
            geometry = getattr(fem_meshes, given.way)(name, h, order)
            meshed = time.perf_counter()
            parts, unknowns = solve(geometry, pieces, fem_meshes.labels(name), order, **options)
            times.append((meshed - began, time.perf_counter() - meshed))
        # The first run pays for what NGSolve sets up once, as compilation is not counted for the others either.
        meshing, solving = (statistics.median(part) for part in zip(*times[1:], strict=True))
        result = {
            "problem": name,
            "way": given.way,
            "h": h,
            "order": order,
            "elements": geometry.mesh.ne,
            "unknowns": unknowns,
            "mesh_seconds": meshing,
            "solve_seconds": solving,
            "seconds": meshing + solving,
            "error": error(problem, geometry.mesh, parts),
        }
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
