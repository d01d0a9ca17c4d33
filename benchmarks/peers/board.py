"""The heated chip of the adversary by NGSolve alone: its mean above ambient, by hp elements with layers at all corners.

python benchmarks/peers/board.py
"""

import netgen.occ as occ
import ngsolve as ng


def chip(layers: int, order: int, size: float) -> tuple[int, float]:
    """The number of unknowns and the mean over the chip."""
    made = {
        "board": occ.Rectangle(60, 6).Face(),
        "chip": occ.MoveTo(20, 6).Rectangle(20, 4).Face(),
        "slab": occ.MoveTo(10, 10).Rectangle(40, 3).Face(),
    }
    air = occ.Rectangle(60, 40).Face()
    for name, face in made.items():
        face.faces.name = name
        air = air - face
    air.faces.name = "air"
    whole = occ.Glue([air, *made.values()])
    for vertex in whole.vertices:
        vertex.hpref = 1
    for edge in whole.edges:
        height = edge.center[1]
        edge.name = "top" if abs(height - 40) < 1e-9 else "bottom" if abs(height) < 1e-9 else "other"
    mesh = ng.Mesh(occ.OCCGeometry(whole, dim=2).GenerateMesh(maxh=size))
    mesh.RefineHP(layers, factor=0.15)
    space = ng.H1(mesh, order=order)
    u, v = space.TnT()
    A = mesh.MaterialCF({"air": 0.026, "board": 0.3, "chip": 100, "slab": 200})
    alpha = mesh.BoundaryCF({"top": 0.01, "bottom": 0.005}, default=0)
    matrix = ng.BilinearForm(A * ng.grad(u) * ng.grad(v) * ng.dx + alpha * u * v * ng.ds).Assemble()
    load = ng.LinearForm(0.01 * v * ng.dx("chip")).Assemble()
    found = ng.GridFunction(space)
    found.vec.data = matrix.mat.Inverse(space.FreeDofs(), inverse="sparsecholesky") * load.vec
    return space.ndof, ng.Integrate(found * ng.dx("chip"), mesh) / 80


if __name__ == "__main__":
    ng.SetNumThreads(1)
    for given in ((6, 6, 4.0), (8, 8, 4.0), (10, 10, 4.0), (12, 10, 3.0), (12, 12, 3.0)):
        print(*given, *chip(*given))
