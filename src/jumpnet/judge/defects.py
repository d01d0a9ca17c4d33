"""The defect problem: the residuals of an answer u_h as data for e = u - u_h at the Gauss points of a mesh.

From div(A grad u) - lam u = f follows, for tests t that are continuous in each piece and with r = div(A grad u_h) -
lam u_h - f (`Solution.residual`),

    sum over pieces of  int A grad e . grad t + lam e t  =  int r t  +  boundary terms of A grad e . n t.

On an interface of a < b, n from b to a, the two sides add -q_a t_a + q_b t_b, q = A grad e . n. With q_a - q_b = w' =
w - [A grad u_h . n], all of w' is given to the side that conducts better: q_a = m + k_a w', q_b = m - k_b w', k_a + k_b
= 1. The flux of the other side, m, follows from [e] = v' + R (m + (k_a - k_b) w'/2). Where R is (nearly) zero a small
one replaces it in front of m. So the penalty does not depend on the contrast.

The second derivatives of finite elements do not converge, so their loads are the weak residual, int -f t - A grad u_h .
grad t - lam u_h t, on their own mesh. Where a face of that is off the exact surface, u_h and t are
continued to it, to the first order of the distance. With the outward distance z of the surface of a piece, and the part
F of A grad u_h along the surface, this adds -int z (F . grad t + (f + lam u_h) t) over its faces (Hadamard's formula).
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from jaxtyping import Float, Int

from jumpnet.errors import GeometryError
from jumpnet.fe.assembly import PENALTY, Contact, Outer, Volume
from jumpnet.fe.field import Field
from jumpnet.fe.mesh import Mesh, on_faces
from jumpnet.fe.meshing.fitted import projected
from jumpnet.fe.simplex import face_points, gauss
from jumpnet.fe.small import solved
from jumpnet.geometry import Shape
from jumpnet.judge.cuts import CutDefects, cut_defects
from jumpnet.problem import Problem, Supplement
from jumpnet.problem.ambient import ambient
from jumpnet.solution import Solution

# Batches of points are padded to a multiple of this for networks, inside elements and on faces.
WHOLE, FACES = 8192, 2048
# Faces closer than this to the exact surface, relative to their element, count as exact.
ON = 1e-10

Array = Float[np.ndarray, "..."]


class Answer(Protocol):
    """An answer to be judged: its residual inside elements, and its values and gradients on faces."""

    weak: ClassVar[bool]
    """Whether its residual is taken in weak form."""

    def inside(self, mesh: Mesh, xi: Array, pde: "Coefficients") -> tuple[Array, Array]:
        """The strong residual (m, q) and an empty array; of a weak answer, values (m, q) and gradients (m, q, d)."""
        ...

    def value(self, mesh: Mesh, xi: Array) -> Array:
        """Values (m, q) in elements."""
        ...

    def on_face(self, mesh: Mesh, element: Array, local: Array, x: Array, count: int) -> tuple[Array, Array]:
        """Values (f, q) and gradients (f, q, d) at points x near those of faces, seen from an element."""
        ...

    def cuts(self, problem: Problem, mesh: Mesh) -> CutDefects | None:
        """Defects inside pieces, where cells meet."""
        ...


@dataclass(frozen=True, eq=False)
class Smooth:
    """An answer in closed form, with second derivatives: a network or a basis expansion."""

    solution: Solution
    weak: ClassVar[bool] = False

    def inside(self, mesh: Mesh, xi: Array, pde: "Coefficients") -> tuple[Array, Array]:
        shape, d = pde.x.shape[:2], mesh.dim
        piece = np.repeat(mesh.piece, shape[1]).astype(np.int32)
        parts = pde.x.reshape(-1, d), piece, -pde.lam.ravel(), pde.divergence.reshape(-1, d), pde.A.reshape(-1, d, d)
        left = self.solution._functional(*self._padded(WHOLE, *parts))[: len(piece)]
        return left.reshape(shape) - pde.f, np.zeros(0)

    def _padded(self, size: int, *parts: Array) -> tuple[Array, ...]:
        """Points padded for networks to a multiple of `size`, as code is compiled for each size of a batch."""
        count = len(parts[0])
        if self.solution.network.expansion is not None:
            return parts
        taken = np.minimum(np.arange(-(-count // size) * size), count - 1)
        return tuple(part[taken] for part in parts)

    def _sampled(self, x: Array, piece: Array) -> tuple[Array, Array]:
        """Values and gradients at points."""
        count = len(x)
        x, piece = self._padded(FACES, x, piece)
        return self.solution(x, piece)[:count], self.solution.grad(x, piece)[:count]

    def value(self, mesh: Mesh, xi: Array) -> Array:
        x = mesh.points(xi)
        flat, piece = self._padded(FACES, x.reshape(-1, mesh.dim), np.repeat(mesh.piece, len(xi)))
        return self.solution(flat, piece)[: x.shape[0] * x.shape[1]].reshape(x.shape[:2])

    def on_face(self, mesh: Mesh, element: Array, local: Array, x: Array, count: int) -> tuple[Array, Array]:
        value, gradient = self._sampled(x.reshape(-1, mesh.dim), np.repeat(mesh.piece[element], x.shape[1]))
        return value.reshape(x.shape[:2]), gradient.reshape(x.shape)

    def cuts(self, problem: Problem, mesh: Mesh) -> CutDefects | None:
        return cut_defects(self.solution, problem, float(np.median(mesh.size)) / 2)


@dataclass(frozen=True, eq=False)
class Sources:
    """A constant and the fields of point sources in their pieces; its error is the rest of the solution."""

    fields: Supplement
    weak: ClassVar[bool] = False

    @staticmethod
    def of(problem: Problem) -> "Sources":
        """The fields of a problem's sources, and the constant that dwarfs the rest; else the function that is zero."""
        return Sources(Supplement(ambient(problem), problem.sources))

    def inside(self, mesh: Mesh, xi: Array, pde: "Coefficients") -> tuple[Array, Array]:
        # div(A grad u) is zero: the pieces of sources have a constant A.
        return -pde.lam * self.value(mesh, xi) - pde.f, np.zeros(0)

    def value(self, mesh: Mesh, xi: Array) -> Array:
        if not self.fields.given:
            return np.zeros((len(mesh), len(xi)))
        x = mesh.points(xi)
        return self.fields.functional(_flat(x), np.repeat(mesh.piece, len(xi)), 1.0, 0.0).reshape(x.shape[:2])

    def on_face(self, mesh: Mesh, element: Array, local: Array, x: Array, count: int) -> tuple[Array, Array]:
        if not self.fields.given:
            return np.zeros(x.shape[:2]), np.zeros(x.shape)
        flat, piece = _flat(x), np.repeat(mesh.piece[element], x.shape[1])
        value = self.fields.functional(flat, piece, 1.0, 0.0)
        slope = [self.fields.functional(flat, piece, 0.0, along) for along in np.eye(mesh.dim)]
        return value.reshape(x.shape[:2]), np.stack(slope, axis=1).reshape(x.shape)

    def cuts(self, problem: Problem, mesh: Mesh) -> CutDefects | None:
        return None


@dataclass(frozen=True, eq=False)
class Elements:
    """An answer of finite elements on the judge's mesh, plus the fields of point sources `beside` it.

    Equations of the elements are taken in their weak form, those of the sources in their strong one.
    """

    field: Field
    beside: Sources | None = None
    weak: ClassVar[bool] = True

    def inside(self, mesh: Mesh, xi: Array, pde: "Coefficients") -> tuple[Array, Array]:
        return self.at(mesh, xi)

    def strong_inside(self, mesh: Mesh, xi: Array, pde: "Coefficients") -> Array:
        """The residual of the part whose equations are taken in their strong form."""
        return -pde.f if self.beside is None else self.beside.inside(mesh, xi, pde)[0]

    def at(self, mesh: Mesh, xi: Array) -> tuple[Array, Array]:
        """Values and gradients at reference points of all elements."""
        return self._at(mesh, xi, np.arange(len(mesh)))

    def value(self, mesh: Mesh, xi: Array) -> Array:
        return self.field.values @ self.field.basis.value(xi).T

    def on_face(self, mesh: Mesh, element: Array, local: Array, x: Array, count: int) -> tuple[Array, Array]:
        value, gradient = np.empty(x.shape[:2]), np.empty(x.shape)
        for k in np.unique(local):
            mine, xi = local == k, face_points(mesh.dim, int(k), count)[0]
            value[mine], gradient[mine] = self._at(mesh, xi, element[mine])
            value[mine] += np.sum((x[mine] - mesh.points(xi, element[mine])) * gradient[mine], axis=2)
        more, slope = self.strong_on_face(mesh, element, local, x, count)
        return value + more, gradient + slope

    def strong_on_face(self, mesh: Mesh, element: Array, local: Array, x: Array, count: int) -> tuple[Array, Array]:
        """The part of the values and gradients whose equations are taken in their strong form."""
        if self.beside is None:
            return np.zeros(x.shape[:2]), np.zeros(x.shape)
        return self.beside.on_face(mesh, element, local, x, count)

    def cuts(self, problem: Problem, mesh: Mesh) -> CutDefects | None:
        return None

    def _at(self, mesh: Mesh, xi: Array, element: Array) -> tuple[Array, Array]:
        values, basis = self.field.values[element], self.field.basis
        slope = np.einsum("qkj,mk->mqj", basis.gradient(xi), values, optimize=True)
        J = mesh.jacobians(xi, element)
        return values @ basis.value(xi).T, solved(np.swapaxes(J, 2, 3), slope)


@dataclass(frozen=True, eq=False)
class Defects:
    """The defect problem on a mesh, and the defects by themselves.

    `residual` is r at the Gauss points of elements (zero for finite elements, whose residual is weak).
    """

    volume: Volume
    contact: Contact
    outer: Outer
    residual: Array
    interface: "OnInterfaces"
    boundary: "OnBoundary"


@dataclass(frozen=True, eq=False)
class OnInterfaces:
    """Defects on interfaces: v', and w' over the conductivity of the better side; and the flux of e.

    That is A grad e . n = s [e] + first (or second), seen from the lower (or higher) piece. `magnitude` is the largest
    of the numbers whose difference v' is. `continued` is the change of the jump of u_h from the faces of the mesh to
    the exact surface, times the distance over the size of an element: a bound for what continuing to first order
    misses. `swept` is A grad u_h between the two surfaces, on the side of the higher piece minus that of the lower one.
    """

    jump: Array
    flux: Array
    first: Array
    second: Array
    magnitude: float
    continued: Array
    swept: Array


@dataclass(frozen=True, eq=False)
class OnBoundary:
    """Defects of Dirichlet conditions, and of others over the conductivity; and the flux of e.

    That is A grad e . n = through - alpha e. `part` numbers the parts of the boundary. `continued` is as on interfaces.
    """

    value: Array
    outflow: Array
    through: Array
    part: Int[np.ndarray, "faces q"]
    continued: Array


def defects(problem: Problem, mesh: Mesh, count: int, answer: Answer) -> Defects:
    """The defect problem with data at `count` Gauss points in each direction."""
    volume, residual = _volume(problem, mesh, count, answer)
    contact, interface = _contact(problem, mesh, count, answer)
    outer, boundary = _outer(problem, mesh, count, answer)
    return Defects(volume, contact, outer, residual, interface, boundary)


def on_surfaces(
    problem: Problem, mesh: Mesh, count: int, answer: Answer
) -> tuple[tuple[Contact, OnInterfaces], tuple[Outer, OnBoundary]]:
    """The part of the defect problem on interfaces and on the boundary."""
    return _contact(problem, mesh, count, answer), _outer(problem, mesh, count, answer)


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Points of elements, and the equation there."""

    x: Float[np.ndarray, "m q d"]
    A: Float[np.ndarray, "m q d d"]
    divergence: Float[np.ndarray, "m q d"]
    lam: Float[np.ndarray, "m q"]
    f: Float[np.ndarray, "m q"]


def coefficients(problem: Problem, mesh: Mesh, xi: Array) -> Coefficients:
    """The equation at reference points of all elements."""
    x = mesh.points(xi)
    m, q, d = x.shape
    if all(map(problem.constant_in, np.unique(mesh.piece).tolist())):
        return _constants(problem, mesh, x)
    found = Coefficients(x, np.empty((m, q, d, d)), np.empty((m, q, d)), np.empty((m, q)), np.empty((m, q)))
    for l in np.unique(mesh.piece).tolist():
        mine = mesh.piece == l
        given = problem.pde(l, x[mine].reshape(-1, d))
        for part, values in zip((found.A, found.divergence, found.lam, found.f), given, strict=True):
            part[mine] = values.reshape(-1, *part.shape[1:])
    return found


def _constants(problem: Problem, mesh: Mesh, x: Array) -> Coefficients:
    """Coefficients that are constant in each piece: one value per element, without memory for each point."""
    given = [problem.pde(l, x[:1, 0]) for l in range(problem.partition.size)]
    parts = (np.concatenate(of_pieces)[mesh.piece][:, None] for of_pieces in zip(*given, strict=True))
    A, divergence, lam, f = (np.broadcast_to(p, (*x.shape[:2], *p.shape[2:])) for p in parts)
    return Coefficients(x, A, divergence, lam, f)


def _volume(problem: Problem, mesh: Mesh, count: int, answer: Answer) -> tuple[Volume, Array]:
    xi = gauss(mesh.dim, count)[0]
    pde = coefficients(problem, mesh, xi)
    value, gradient = answer.inside(mesh, xi, pde)
    if not isinstance(answer, Elements):
        return Volume(pde.A, pde.lam, value), value
    flux = -np.einsum("mqij,mqj->mqi", pde.A, gradient)
    load = answer.strong_inside(mesh, xi, pde) - pde.lam * value
    return Volume(pde.A, pde.lam, load, flux), np.zeros(pde.f.shape)


def drift(problem: Problem, mesh: Mesh, count: int) -> Array | None:
    """c (m, q, d) at Gauss points: an error e of an answer at which A was taken changes the flux by A grad e + c e."""
    x, found = None, None
    for l in np.unique(mesh.piece).tolist():
        mine = mesh.piece == l
        if problem.A[l].is_constant:
            continue
        x = mesh.points(gauss(mesh.dim, count)[0]) if x is None else x
        c = problem.A[l].drift(x[mine].reshape(-1, mesh.dim))
        if c is not None:
            found = np.zeros(x.shape) if found is None else found
            found[mine] = c.reshape(-1, *x.shape[1:])
    return found


def _flux(problem: Problem, piece: Array, x: Array, gradient: Array) -> Array:
    """A grad u, or A n, at points of faces."""
    found = np.empty(x.shape)
    for l in np.unique(piece).tolist():
        mine = piece == l
        A = problem.A[l].value(x[mine].reshape(-1, x.shape[2])).reshape(-1, x.shape[1], x.shape[2], x.shape[2])
        found[mine] = np.einsum("fqij,fqj->fqi", A, gradient[mine])
    return found


def _continued(
    problem: Problem, piece: Array, x: Array, normal: Array, distance: Array, value: Array, flux: Array
) -> tuple[Array, Array]:
    """Loads of t and of grad t for the layer between the faces and the exact surface at an outward distance."""
    source = np.zeros(value.shape)
    for l in np.unique(piece).tolist():
        mine = piece == l
        lam, f = (part.reshape(-1, x.shape[1]) for part in problem.pde(l, _flat(x[mine]))[2:])
        source[mine] = f + lam * value[mine]
    along = flux - np.sum(flux * normal, axis=2, keepdims=True) * normal
    return -distance * source, -distance[..., None] * along


def _contact(problem: Problem, mesh: Mesh, count: int, answer: Answer) -> tuple[Contact, OnInterfaces]:
    faces = mesh.interfaces
    (a, b), (ka, kb) = faces.element.T, faces.local.T
    first, second = on_faces(mesh, a, ka, count), on_faces(mesh, b, kb, count)
    low, high = mesh.piece[a], mesh.piece[b]
    size = np.minimum(mesh.size[a], mesh.size[b])[:, None]
    here, xa, xb, n = first.x, first.x.copy(), second.x.copy(), -first.normal
    v, w, R = (np.zeros(xa.shape[:2]) for _ in range(3))
    across = np.abs(first.x - second.x).max(axis=(1, 2), initial=0.0) > 1e-6 * problem.partition.domain.size
    for pair in np.unique(np.stack([low, high], axis=1)[~across], axis=0).tolist():
        mine = np.flatnonzero((low == pair[0]) & (high == pair[1]) & ~across)
        shape = problem.partition.pieces[pair[1] - 1]
        at, normal = _on_exact(mesh, shape, (*pair, count), xa[mine], n[mine], size[mine])
        xa[mine] = xb[mine] = at.reshape(xa[mine].shape)
        n[mine] = normal.reshape(xa[mine].shape)
        shape = xa[mine].shape[:2]
        data = problem.jump_data((pair[0], pair[1]), at, normal)
        v[mine], w[mine] = (one.reshape(shape) for one in data)
        R[mine] = problem.resistance((pair[0], pair[1]), at).reshape(shape)
    if across.any():
        v[across] = _periodic(problem, mesh, xa[across], xb[across], n[across], low[across], high[across])
    (ua, ga), (ub, gb) = answer.on_face(mesh, a, ka, xa, count), answer.on_face(mesh, b, kb, xb, count)
    Aa, Ab = _flux(problem, low, xa, n), _flux(problem, high, xb, n)
    ka_, kb_ = np.sum(Aa * n, axis=2), np.sum(Ab * n, axis=2)  # conductivities along n
    flux_a, flux_b = _flux(problem, low, xa, ga), _flux(problem, high, xb, gb)
    qa, qb = np.sum(flux_a * n, axis=2), np.sum(flux_b * n, axis=2)
    to_a = (ka_ >= kb_).astype(float)
    jump, flux = v - (ua - ub) + R * (qa + qb) / 2, w - (qa - qb)
    s = 1.0 / np.maximum(R, size / (PENALTY * np.minimum(ka_, kb_)))
    # m, the flux of the side that conducts worse, is known + s ([e] - wanted).
    known, rest = (np.where(to_a > 0, qb, qa), w) if answer.weak else (np.zeros_like(w), flux)
    wanted = (v - (ua - ub) if answer.weak else jump) + R * (known + (to_a - 0.5) * rest)
    contact = Contact(s, s * wanted - known - to_a * rest, -s * wanted + known - (1 - to_a) * rest)
    distance = np.sum((xa - here) * n, axis=2)
    if isinstance(answer, Elements):
        strong_a = _flux(problem, low, xa, answer.strong_on_face(mesh, a, ka, xa, count)[1])
        strong_b = _flux(problem, high, xb, answer.strong_on_face(mesh, b, kb, xb, count)[1])
        of_a, of_b = np.sum(strong_a * n, axis=2), np.sum(strong_b * n, axis=2)
        contact = Contact(s, contact.first + of_a, contact.second - of_b)
        if np.any(np.abs(distance) > ON * size):
            (more_a, along_a), (more_b, along_b) = (
                _continued(problem, low, xa, n, -distance, ua, flux_a - strong_a),
                _continued(problem, high, xb, n, distance, ub, flux_b - strong_b),
            )
            contact = Contact(s, contact.first + more_a, contact.second + more_b, (along_a, along_b))
    # The flux of e is that of u minus that of u_h.
    qa, qb = (qa, qb) if answer.weak else (0.0, 0.0)
    first, second = known + to_a * rest - qa - s * wanted, known - (1 - to_a) * rest - qb - s * wanted
    magnitude = max(float(np.abs(part).max(initial=0.0)) for part in (v, ua, ub, jump - v + (ua - ub)))
    distance = distance if answer.weak else np.zeros_like(distance)
    missed = distance**2 / size * np.sum(n * (ga - gb), axis=2)
    swept = distance[..., None] * (flux_b - flux_a)
    return contact, OnInterfaces(jump, flux / np.maximum(ka_, kb_), first, second, magnitude, missed, swept)


def _on_exact(
    mesh: Mesh, shape: Shape, key: tuple[int, ...], x: Array, normal: Array, size: Array
) -> tuple[Array, Array]:
    """The closest points on the exact surface to points of faces, and its normals; computed once for each mesh."""
    known = mesh.kept.get(("projected", *key))
    if known is None or known[0] is not shape:
        at, n, off = x.copy(), normal.copy(), ~_straight_walls(shape, x, normal)
        found = projected(shape, _flat(x[off]), _flat(normal[off]), np.repeat(size[off, 0], x.shape[1]))
        at[off], n[off] = (one.reshape(-1, *x.shape[1:]) for one in found)
        known = shape, _flat(at), _flat(n)
        mesh.kept["projected", *key] = known
    return known[1], known[2]


def _straight_walls(shape: Shape, x: Array, normal: Array) -> Array:
    """Which faces of the plane lie on straight walls: they are straight, and three of their points are on the wall."""
    found = np.ptp(normal, axis=1).max(axis=1) <= ON if x.shape[2] == 2 else np.zeros(len(x), bool)
    some = x[found][:, [0, x.shape[1] // 3, -1]]
    found[found] = (np.abs(shape.level(_flat(some))).reshape(-1, 3) <= ON * shape.size).all(axis=1)
    return found


def _periodic(problem: Problem, mesh: Mesh, xa: Array, xb: Array, n: Array, low: Array, high: Array) -> Array:
    """v on periodic faces, as first minus second side: the condition has the upper minus the lower."""
    found = np.zeros(xa.shape[:2])
    axis = np.argmax(np.abs(n[:, 0]), axis=1)
    for k in np.unique(axis).tolist():
        for upper in (True, False):
            mine = (axis == k) & ((xa[:, 0, k] > xb[:, 0, k]) == upper)
            if mine.any():
                below, piece = (xb, high) if upper else (xa, low)
                x = _flat(below[mine])
                labels = np.repeat(piece[mine], xa.shape[1])
                along = np.tile(np.eye(mesh.dim)[k], (len(x), 1))
                v = problem.boundary_data(f"x{k + 1}-", x, along, labels)[2]
                found[mine] = (1.0 if upper else -1.0) * v.reshape(-1, xa.shape[1])
    return found


def _outer(problem: Problem, mesh: Mesh, count: int, answer: Answer) -> tuple[Outer, OnBoundary]:
    faces, parts = mesh.boundary, problem.partition
    element, local = faces.element[:, 0], faces.local[:, 0]
    points = on_faces(mesh, element, local, count)
    shape, size, piece = points.x.shape, mesh.size[element][:, None], mesh.piece[element]
    x, n = _on_exact(mesh, parts.domain, (count,), points.x, points.normal, size)
    labels = np.repeat(piece, shape[1])
    number = parts.part_numbers(x, n, labels)
    fixed, alpha, g = np.zeros(len(x), bool), np.zeros(len(x)), np.zeros(len(x))
    for k in np.unique(number).tolist():
        mine = number == k
        kind, factor, g[mine] = problem.boundary_data(parts.boundary_parts[k], x[mine], n[mine], labels[mine])
        if kind == "periodic":  # it would be taken for an insulated side, by the judge too
            raise GeometryError("the meshes of opposite periodic sides do not match.")
        fixed[mine], alpha[mine] = kind == "dirichlet", factor if kind == "robin" else 0.0
    x, n = x.reshape(shape), n.reshape(shape)
    fixed, alpha, g = (one.reshape(shape[:2]) for one in (fixed, alpha, g))
    u, gradient = answer.on_face(mesh, element, local, x, count)
    An = _flux(problem, piece, x, n)
    flux = _flux(problem, piece, x, gradient)
    q, k = np.sum(flux * n, axis=2), np.sum(An * n, axis=2)
    stiff = PENALTY * k / size
    value, outflow = np.where(fixed, g - u, 0.0), np.where(fixed, 0.0, g - alpha * u - q)
    load = np.where(fixed, stiff * value, outflow)
    through = load
    distance, along = np.zeros_like(q), None
    if isinstance(answer, Elements):
        distance = np.sum((x - points.x) * n, axis=2)
        weak = flux - _flux(problem, piece, x, answer.strong_on_face(mesh, element, local, x, count)[1])
        load = load + np.sum(weak * n, axis=2)
        if np.any(np.abs(distance) > ON * size):
            more, along = _continued(problem, piece, x, n, distance, u, weak)
            load = load + more
    missed = np.where(fixed, distance**2 / size * np.sum(n * gradient, axis=2), 0.0)
    return Outer(np.where(fixed, stiff, alpha), load, along), OnBoundary(
        value, outflow / k, through, number.reshape(shape[:2]), missed
    )


def _flat(x: Array) -> Array:
    return x.reshape(-1, x.shape[-1])
