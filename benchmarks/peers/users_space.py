"""Heat through a box with a body from an STL file, by a plain NGSolve script: independent values for users.py.

    python benchmarks/peers/users_space.py benchmarks/users/data/torus.stl --k 50 [--size 0.25] [--orders 2,3]

The triangles become faces of OpenCASCADE, those of one plane one face; netgen meshes box and body; BDDC and CG solve.
Edges are refined geometrically (hp). Heat is twice the energy, as the sides are held at 1 and 0.
"""

import argparse
import json
import time

import netgen.occ as occ
import ngsolve as ng
import numpy as np
import trimesh


def body(path: str) -> occ.Solid:
    """The solid inside the triangles of a file."""
    found = trimesh.load(path, force="mesh")
    points = [occ.Pnt(*x) for x in np.asarray(found.vertices, float).tolist()]
    faces = [
        occ.Face(occ.Wire([occ.Segment(points[i], points[j]) for i, j in ((a, b), (b, c), (c, a))]))
        for a, b, c in found.faces.tolist()
    ]
    return occ.Solid(occ.Sew(faces)).UnifySameDomain()


def main() -> None:
    """Print one line for each order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--k", type=float, required=True)
    parser.add_argument("--size", type=float, default=0.25)
    parser.add_argument("--orders", default="2,3")
    parser.add_argument("--layers", type=int, default=0, help="of elements towards the edges of the body")
    given = parser.parse_args()
    began = time.process_time()
    solid, box = body(given.file), occ.Box(occ.Pnt(-1, -1, -1), occ.Pnt(1, 1, 1))
    for face, name in ((box.faces.Min(occ.Y), "low"), (box.faces.Max(occ.Y), "high")):
        face.name = name
    outside = box - solid
    outside.mat("matrix")
    solid.mat("body")
    glued = occ.Glue([outside, solid])
    if given.layers:
        for edge in solid.edges:
            edge.hpref = 1
    mesh = ng.Mesh(occ.OCCGeometry(glued).GenerateMesh(maxh=given.size))
    if given.layers:
        mesh.RefineHP(given.layers, factor=0.15)
    A = mesh.MaterialCF({"matrix": 1.0, "body": given.k})
    for order in map(int, given.orders.split(",")):
        space = ng.H1(mesh, order=order, dirichlet="low|high")
        u, v = space.TnT()
        a = ng.BilinearForm(A * ng.grad(u) * ng.grad(v) * ng.dx, condense=True)
        pre = ng.Preconditioner(a, "bddc")
        a.Assemble()
        found = ng.GridFunction(space)
        found.Set(mesh.BoundaryCF({"high": 1.0}, default=0.0), ng.BND)
        ng.solvers.BVP(bf=a, lf=ng.LinearForm(space).Assemble(), gf=found, pre=pre, print=False)
        heat = ng.Integrate(A * ng.grad(found) * ng.grad(found) * ng.dx, mesh)
        seconds = time.process_time() - began
        print(json.dumps({"order": order, "unknowns": space.ndof, "elements": mesh.ne, "heat": heat, "cpu": seconds}))


if __name__ == "__main__":
    main()
