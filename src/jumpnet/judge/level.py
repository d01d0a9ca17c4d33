"""The defect problem in one space: its solution, norms, fluxes, and what the space cannot represent."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from jumpnet.fe.assembly import EXACT, PENALTY, System, assembled, point_load
from jumpnet.fe.drifting import solved_with_drift
from jumpnet.fe.field import Field, Locator
from jumpnet.fe.mesh import Faces, on_faces
from jumpnet.fe.simplex import dubiner, face_points, gauss
from jumpnet.fe.small import determinant, least_eigenvalue
from jumpnet.fe.space import Space
from jumpnet.judge.answers import Answer, Elements, Sources
from jumpnet.judge.coefficients import coefficients
from jumpnet.judge.cuts import CutDefects
from jumpnet.judge.defects import Defects, defects, drift, on_surfaces
from jumpnet.problem import Problem

MORE = 2  # further Gauss points in each direction, at which defects outside the space are measured

# The relative residual at which the judge's iterations end: e is then known to a few 1e-6 of its norm (balls of k from
# 1e-4 to 1e6, contact resistances, a brick with layers).
JUDGED = 1e-6

# The eigenvalue nearest to zero: the number of Lanczos vectors, and the relative accuracy.
VECTORS, ACCURACY = 12, 1e-2


@dataclass(frozen=True)
class Eigenvalue:
    """An eigenvalue in a space, a bound for its error, and the shift that penalties cause."""

    value: float
    error: float
    penalty: float


@dataclass(frozen=True, eq=False)
class Level:
    """The defect problem in one space, solved."""

    space: Space
    count: int
    defects: Defects
    system: System
    unknowns: Float[np.ndarray, " n"]
    cuts: CutDefects | None = None

    @cached_property
    def field(self) -> Field:
        """e."""
        return Field(self.space.mesh, self.space.order, self.space.gathered(self.unknowns))

    @cached_property
    def _weights(self) -> Float[np.ndarray, "m q"]:
        xi, w = gauss(self.space.mesh.dim, self.count)
        return w * np.abs(determinant(self.space.mesh.jacobians(xi)))

    def integrals(self, values: Float[np.ndarray, "m q"]) -> tuple[float, ...]:
        """The integrals over each piece of values at the Gauss points."""
        each = np.sum(self._weights * values, axis=1)
        return tuple(np.bincount(self.space.mesh.piece, each).tolist())

    def sampled(self) -> Float[np.ndarray, "m q"]:
        """e at the Gauss points."""
        return self.field.values @ self.space.basis.value(gauss(self.space.mesh.dim, self.count)[0]).T

    def difference(self, coarser: "Level") -> float:
        """The norm of the change from a coarser level, relative to that of e, by a few points of each element."""
        mesh, (xi, w) = self.space.mesh, gauss(self.space.mesh.dim, 2)
        here = self.field.values @ self.space.basis.value(xi).T
        if coarser.space.mesh is mesh:
            there = coarser.field.values @ coarser.space.basis.value(xi).T
        elif mesh.origin is not None and mesh.origin.mesh is coarser.space.mesh:
            there = mesh.origin.values(coarser.field.values, coarser.space.order, xi)
        else:
            x = mesh.points(xi)
            piece = np.repeat(mesh.piece, x.shape[1])
            there = coarser.field.value(x.reshape(-1, x.shape[2]), piece).reshape(here.shape)
        weight = w * np.abs(determinant(mesh.jacobians(xi)))
        size = float(np.sum(weight * here**2))
        return float(np.sqrt(np.sum(weight * (here - there) ** 2) / size)) if size > 0 else 0.0

    def trace(self, faces: Faces, side: int) -> Float[np.ndarray, "faces q"]:
        """e at the Gauss points of faces, seen from one side."""
        basis, d = self.space.basis, self.space.mesh.dim
        tables = np.array([basis.value(face_points(d, k, self.count)[0]) for k in range(d + 1)])
        return np.einsum("fqk,fk->fq", tables[faces.local[:, side]], self.field.values[faces.element[:, side]])

    def energy(self, values: Float[np.ndarray, "m nodes"]) -> Float[np.ndarray, " m"]:
        """The square of the energy norm of a function in each element, with |lam| in place of lam."""
        basis, volume = self.space.basis, self.defects.volume
        xi = gauss(self.space.mesh.dim, self.count)[0]
        gradient = self.space.mesh.gradients(basis.slopes(values, xi), xi)
        square = np.einsum("mqi,mqij,mqj->mq", gradient, volume.A, gradient, optimize=True)
        if volume.lam.any():
            square += np.abs(volume.lam) * (values @ basis.value(xi).T) ** 2
        return np.sum(self._weights * square, axis=1)

    # --- resonance ----------------------------------------------------------------------------------------------

    @cached_property
    def nearest(self) -> Eigenvalue | None:
        """The eigenvalue of least modulus, with respect to the mass; None where lam is not negative.

        Its error is the energy of the error of its eigenfunction, which is below that of its two highest degrees. A
        penalty s in place of a condition shifts it by the energy of the penalty, to first order in 1/s.
        """
        if self.defects.volume.lam.min() >= 0:
            return None
        found = self._nearest_mode()
        if found is None:
            return Eigenvalue(0.0, np.inf, 0.0)
        value, mode = found[0], replace(self, unknowns=found[1])
        basis, p = self.space.basis, self.space.order
        modes = np.where(basis.degrees > p - 2, basis.modes(mode.field.values), 0.0)
        return Eigenvalue(value, float(self.energy(basis.from_modes(modes)).sum()), mode._penalty_energy())

    def _nearest_mode(self) -> tuple[float, Float[np.ndarray, " n"]] | None:
        """The eigenvalue of least modulus and its mode of norm one, by Lanczos's method for the inverse."""
        size, dofs = self.space.size, self.space.dofs
        table = self.space.basis.value(gauss(self.space.mesh.dim, self.count)[0])

        def mass(v: np.ndarray) -> np.ndarray:
            products = (self._weights * (self.space.gathered(v.ravel()) @ table.T)) @ table
            return np.bincount(dofs.ravel(), products.ravel(), size)

        M, back = (
            LinearOperator((size, size), matvec=product, dtype=float)  # pyright: ignore[reportCallIssue]
            for product in (mass, self.system.solve)
        )
        start = self.system.solve(mass(np.random.default_rng(0).normal(size=size)))
        options: dict[str, Any] = {"OPinv": back, "v0": start, "tol": ACCURACY, "ncv": VECTORS}
        try:
            values, vectors = eigsh(back, 1, M=M, sigma=0.0, **options)
        except ArpackNoConvergence:
            return None
        mode = vectors[:, 0]
        return float(values[0]), mode / np.sqrt(mode @ mass(mode))

    def _penalty_energy(self) -> float:
        """The energy in penalties, including contacts and transfer coefficients that are as large as penalties."""
        mesh, contact, outer = self.space.mesh, self.defects.contact.stiffness, self.defects.outer.alpha
        soft = least_eigenvalue(self.defects.volume.A).min(axis=1)
        total = 0.0
        for faces, stiffness in ((mesh.interfaces, contact), (mesh.boundary, outer)):
            if not len(faces):
                continue
            weight = on_faces(mesh, faces.element[:, 0], faces.local[:, 0], self.count).weight
            inner = faces is mesh.interfaces
            jump = self.trace(faces, 0) - (self.trace(faces, 1) if inner else 0.0)
            sides = faces.element if inner else faces.element[:, :1]
            least = PENALTY * (soft[sides].min(axis=1) / mesh.size[sides].min(axis=1))[:, None]
            total += float(np.sum(weight * np.where(stiffness > 0.5 * least, stiffness, 0.0) * jump**2))
        return total

    # --- what the space cannot represent ------------------------------------------------------------------------

    def unresolved(self, problem: Problem, answer: Answer) -> float:
        """A bound for what defects outside the space may add to e (root mean square).

        It is made of the part of the residual (of finite elements: of f) that is orthogonal to the polynomials of an
        element, sampled at more points than the load. This part oscillates over a length of at most h/(p + 1), and
        causes an error of up to (h/(pi (p + 1)))^2/A times its size. The same part of the defects on faces acts to a
        depth of that length. Where faces deviate from the exact surface, the remainder of the continuation to it acts
        everywhere.
        """
        mesh, order, d = self.space.mesh, self.space.order, self.space.mesh.dim
        length, count = mesh.size / (np.pi * (order + 1)), self.count + MORE
        xi, w = gauss(d, count)
        square = 0.0
        if not (answer.weak and all(map(problem.constant_in, np.unique(mesh.piece).tolist()))):
            pde = coefficients(problem, mesh, xi)
            r = pde.f if answer.weak else answer.inside(mesh, xi, pde)[0]
            rest = r - _projection(r, d, order, count)
            k = least_eigenvalue(pde.A).min(axis=1)
            weight = w * np.abs(determinant(mesh.jacobians(xi)))
            square = float(np.sum((length**2 / k) ** 2 * np.sum(weight * rest**2, axis=1)))
        (_, inner), (_, outer) = on_surfaces(problem, mesh, count, answer)
        for faces, parts in (
            (mesh.interfaces, (inner.jump, inner.flux)),
            (mesh.boundary, (outer.value, outer.outflow)),
        ):
            element = faces.element[:, 0]
            weight = on_faces(mesh, element, faces.local[:, 0], count).weight
            for part, power in zip(parts, (1, 3), strict=True):
                rest = part - _projection(part, d - 1, order - 1, count)
                square += float(np.sum(length[element] ** power * np.sum(weight * rest**2, axis=1)))
            missed = (inner if faces is mesh.interfaces else outer).continued
            square += problem.partition.domain.size * float(np.sum(weight * missed**2))
        if self.cuts is not None:
            depth = length[Locator(mesh)(self.cuts.x, self.cuts.piece).element]
            square += float(np.sum(depth * self.cuts.weight * self.cuts.jump**2))
        return float(np.sqrt(square / sum(self.integrals(np.ones(self._weights.shape)))))

    # --- quantities ---------------------------------------------------------------------------------------------

    def means(self) -> tuple[Float[np.ndarray, " d"], Float[np.ndarray, " d"]]:
        """The means over the domain of grad e, by Gauss's theorem and so with its jumps, and of A grad e."""
        mesh, faces = self.space.mesh, self.space.mesh.boundary
        volume, A = self._weights.sum(), self.defects.volume.A
        slope = Elements(self.field).at(mesh, gauss(mesh.dim, self.count)[0])[1]
        if A.strides[1] == 0:  # one tensor for all points of an element
            flux = np.einsum("mij,mj->i", A[:, 0], np.matmul(self._weights[:, None], slope)[:, 0], optimize=True)
        else:
            flux = np.einsum("mq,mqij,mqj->i", self._weights, A, slope, optimize=True)
        inner = mesh.interfaces
        between = on_faces(mesh, inner.element[:, 0], inner.local[:, 0], self.count).weight
        flux += np.einsum("fq,fqi->i", between, self.defects.interface.swept)
        gradient = np.zeros(mesh.dim)
        if len(faces):
            there = on_faces(mesh, faces.element[:, 0], faces.local[:, 0], self.count)
            gradient = np.einsum("fq,fqi->i", there.weight * self.trace(faces, 0), there.normal)
        return gradient / volume, flux / volume

    def fluxes(self, problem: Problem) -> dict[tuple[int, int] | str, float]:
        """Integrals of A grad e . n over interfaces and parts of the boundary, from the equations themselves.

        Parts that begin or end inside a face, or that no face shows, are left out.
        """
        mesh = self.space.mesh
        found: dict[tuple[int, int] | str, float] = {}
        faces, there, here = mesh.interfaces, self.defects.interface, self.defects.boundary
        if len(faces):
            a, b = faces.element.T
            weight = on_faces(mesh, a, faces.local[:, 0], self.count).weight
            common = self.defects.contact.stiffness * (self.trace(faces, 0) - self.trace(faces, 1))
            each = np.sum(weight * (common + there.first), 1), np.sum(weight * (common + there.second), 1)
            low, high = mesh.piece[a], mesh.piece[b]
            for pair in problem.jumps:
                mine = (low == pair[0]) & (high == pair[1])
                found[pair] = float(each[0][mine].sum())
                found[pair[1], pair[0]] = -float(each[1][mine].sum())
        faces = mesh.boundary
        if len(faces):
            element, local = faces.element[:, 0], faces.local[:, 0]
            weight = on_faces(mesh, element, local, self.count).weight
            flux = weight * (here.through - self.defects.outer.alpha * self.trace(faces, 0))
            for k, name in enumerate(problem.partition.boundary_parts):
                mine = here.part == k
                if mine.any() and np.array_equal(mine.any(axis=1), mine.all(axis=1)):
                    found[name] = float(flux[mine].sum())
        return found


def _projection(values: np.ndarray, dim: int, order: int, count: int) -> np.ndarray:
    """The best polynomials on the reference simplex, by Gauss points."""
    xi, w = gauss(dim, count)
    if dim == 0:
        return values
    table = dubiner(dim, max(order, 0), xi)
    return ((values * w) @ table) @ table.T


def solved(
    problem: Problem,
    space: Space,
    answer: Answer,
    mean: float | None = None,
    count: int | None = None,
    accuracy: float = JUDGED,
) -> Level:
    """The defect problem in a space; `mean` is that of e, where nothing else fixes the constant.

    Data are taken at `count` Gauss points in each direction: by default one more than the order. In the plane three
    for elements, whose own equations must not have seen the data at the same points; in space theirs have one fewer.
    `accuracy` is that of iterations.
    """
    more = 3 if answer.weak and space.mesh.dim == 2 else 1
    count = count or space.order + more
    found = defects(problem, space.mesh, count, answer)
    system = assembled(space, count, found.volume, found.contact, found.outer)
    cuts = answer.cuts(problem, space.mesh)
    if cuts is not None:
        at = Locator(space.mesh)(cuts.x, cuts.piece)
        load = point_load(space, at, cuts.weight * cuts.flux, -(cuts.weight * cuts.jump)[:, None] * cuts.conormal)
        system = replace(system, load=system.load + load)
    if mean is None:
        # An answer's error changes A; what is not there yet does not.
        carried = None if isinstance(answer, Sources) else drift(problem, space.mesh, count)
        e = solved_with_drift(system, space, count, carried, accuracy)
        return Level(space, count, found, system, e, cuts)
    system = system.tied()
    return Level(space, count, found, system, up_to_a_constant(system, system.load, mean, accuracy), cuts)


def up_to_a_constant(tied: System, load: np.ndarray, mean: float, accuracy: float = EXACT) -> np.ndarray:
    """The solution with a mean; a load that does not balance is made to (by the multiplier of the mean)."""
    found = tied.solve(load - tied.mass * (load.sum() / tied.mass.sum()), accuracy)
    return found + mean - float(tied.mass @ found) / float(tied.mass.sum())
