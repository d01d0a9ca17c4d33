"""The drawings of benchmarks/users as an ordinary user of NGSolve would compute them.

    python benchmarks/peers/users_ngsolve.py sink|board [--order 3] [--size 0] [--levels 4]

Geometry drawn by hand from the numbers of the drawings, a mesh by Netgen, order 3, uniform refinement, a direct solver;
one thread. Prints a line of JSON for each refinement: the quantities of the problem file, unknowns, CPU seconds of
mesh, assembly and solve so far. It shares nothing with jumpnet.
"""

import argparse
import json
import time
from collections.abc import Iterator
from itertools import pairwise

import ngsolve as ng
from netgen.occ import ArcOfCircle, Face, Glue, MoveTo, OCCGeometry, Segment, Wire, X, Y


def sink_mesh(size: float) -> ng.Mesh:
    """The sink with seven tapered fins and the chip under it, x2 upward, in millimetres."""
    width, fins, top, base, height = 48.0, 7, 8.0, 30.0, 40.0
    pitch, foot, tip = width / fins, 2.4, 1.4
    body = MoveTo(0, height - base - 4.0).Rectangle(width, 4.0).Face()
    for k in range(fins):
        middle = (k + 0.5) * pitch
        low, high = height - base, height - top
        right, left = (middle + tip / 2, high), (middle - tip / 2, high)
        arc = ArcOfCircle((*right, 0), (middle, high + tip / 2, 0), (*left, 0))
        corners = [(*left, 0), (middle - foot / 2, low, 0), (middle + foot / 2, low, 0), (*right, 0)]
        body = body + Face(Wire([arc, *(Segment(a, b) for a, b in pairwise(corners))]))
    chip = MoveTo(17, 3.5).Rectangle(15, 2.5).Face()
    body.faces.name, chip.faces.name = "sink", "chip"
    body.edges.name = chip.edges.name = "outer"
    chip.edges.Max(Y).name = "paste"
    for edge in (chip.edges.Min(Y), chip.edges.Min(X), chip.edges.Max(X)):
        edge.name = "case"
    return ng.Mesh(OCCGeometry(Glue([body, chip]), dim=2).GenerateMesh(maxh=size))


def sink(mesh: ng.Mesh, order: int) -> tuple[dict[str, float], int]:
    """Mean temperatures of chip and sink and the heat between them; a field for each, coupled by the paste."""
    film, paste, heat = 4e-5, 25.0, 0.02 / (15 * 2.5)
    parts = {"sink": 0.2, "chip": 0.12}
    space = ng.FESpace([ng.Compress(ng.H1(mesh, order=order, definedon=name)) for name in parts])
    (us, uc), (vs, vc) = space.TnT()
    a = ng.BilinearForm(space)
    a += 0.2 * ng.grad(us) * ng.grad(vs) * ng.dx("sink") + 0.12 * ng.grad(uc) * ng.grad(vc) * ng.dx("chip")
    a += film * us * vs * ng.ds("outer") + 1 / paste * (us - uc) * (vs - vc) * ng.ds("paste")
    f = ng.LinearForm(heat * vc * ng.dx("chip"))
    a.Assemble()
    f.Assemble()
    u = ng.GridFunction(space)
    u.vec.data = a.mat.Inverse(space.FreeDofs(), inverse="sparsecholesky") * f.vec
    chip, base = u.components[1], u.components[0]
    mean = {name: ng.Integrate(one * ng.dx(name), mesh) / ng.Integrate(ng.CF(1) * ng.dx(name), mesh)
            for name, one in (("chip", chip), ("sink", base))}  # fmt: skip
    through = ng.Integrate((base - chip) / paste * ng.ds("paste"), mesh)
    found = {
        "temperature of the chip": mean["chip"],
        "temperature of the sink": mean["sink"],
        "heat into the sink": through,
    }
    return found, space.ndof


def board_mesh(size: float) -> ng.Mesh:
    """The board: laminate, three copper layers, vias, a package."""

    def box(a: float, b: float, c: float, d: float):
        return MoveTo(a, b).Rectangle(c - a, d - b).Face()

    vias = [9.0, 11.0, 13.0, 15.0]
    ends = [0.5, *(x for via in vias for x in (via - 0.35, via + 0.35)), 23.5]
    layers = {
        "top": [box(1, 1.5, 5, 1.6), box(7, 1.5, 17, 1.6), box(19, 1.5, 23, 1.6)],
        "plane": [box(a, 0.95, b, 1.05) for a, b in zip(ends[::2], ends[1::2], strict=True)],
        "bottom": [box(0.5, 0, 23.5, 0.1)],
        "vias": [box(x - 0.15, 0.1, x + 0.15, 1.5) for x in vias],
        "package": [box(8, 1.6, 16, 2.4)],
    }
    laminate = box(0, 0, 24, 1.6)
    for shape in (shape for shapes in layers.values() for shape in shapes):
        laminate = laminate - shape
    laminate.faces.name = "laminate"
    for name, shapes in layers.items():
        for shape in shapes:
            shape.faces.name = name
    whole = Glue([laminate, *(shape for shapes in layers.values() for shape in shapes)])
    whole.edges.name = "inner"
    for edge in whole.edges:
        x, y = edge.center.x, edge.center.y
        side = min(x, 24 - x) < 1e-9 or (y > 1.6 + 1e-9 and min(abs(x - 8), abs(x - 16)) < 1e-9)
        above = abs(y - 2.4) < 1e-9 or (abs(y - 1.6) < 1e-9 and abs(x - 12) > 4)
        if abs(y) < 1e-9:
            edge.name = "plate"
        elif side or above:
            edge.name = "outer"
    return ng.Mesh(OCCGeometry(whole, dim=2).GenerateMesh(maxh=size))


def board(mesh: ng.Mesh, order: int) -> tuple[dict[str, float], int]:
    """Mean temperatures of package and plane; the heat into the plate, by testing with a function that is 1 on it."""
    film, heat, copper = 1e-5, 0.1 / (8 * 0.8), ng.CF((0.39, 0, 0, 0.39), dims=(2, 2))
    A = mesh.MaterialCF(
        {"laminate": ng.CF((8e-4, 0, 0, 3e-4), dims=(2, 2)), "package": ng.CF((9e-4, 0, 0, 9e-4), dims=(2, 2))}
        | dict.fromkeys(("top", "plane", "bottom", "vias"), copper)
    )
    space = ng.H1(mesh, order=order, dirichlet="plate")
    u, v = space.TnT()
    a = ng.BilinearForm(A * ng.grad(u) * ng.grad(v) * ng.dx + film * u * v * ng.ds("outer")).Assemble()
    f = ng.LinearForm(heat * v * ng.dx("package")).Assemble()
    found = ng.GridFunction(space)
    found.vec.data = a.mat.Inverse(space.FreeDofs(), inverse="sparsecholesky") * f.vec
    one = ng.GridFunction(space)
    one.Set(1.0, definedon=mesh.Boundaries("plate"))
    flow = ng.InnerProduct(one.vec, (a.mat * found.vec - f.vec).Evaluate())

    def mean(name: str) -> float:
        return ng.Integrate(found * ng.dx(name), mesh) / ng.Integrate(ng.CF(1) * ng.dx(name), mesh)

    values = {
        "temperature of the package": mean("package"),
        "temperature of the plane": mean("plane"),
        "heat into the plate": flow,
    }
    return values, space.ndof


CASES = {"sink": (sink_mesh, sink, 4.0), "board": (board_mesh, board, 1.0)}


def runs(case: str, order: int, size: float, levels: int) -> Iterator[dict[str, object]]:
    """The quantities on finer and finer meshes."""
    make, solve, usual = CASES[case]
    ng.SetNumThreads(1)
    began = time.process_time()
    mesh = make(size or usual)
    mesh.Curve(order)
    for level in range(levels):
        if level:
            mesh.Refine()
            mesh.Curve(order)
        found, unknowns = solve(mesh, order)
        yield {"level": level, **found, "unknowns": unknowns, "cpu": time.process_time() - began}


def main() -> None:
    """Print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--order", type=int, default=3)
    parser.add_argument("--size", type=float, default=0.0)
    parser.add_argument("--levels", type=int, default=4)
    given = parser.parse_args()
    for line in runs(given.case, given.order, given.size, given.levels):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
