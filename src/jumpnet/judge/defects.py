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

import numpy as np
from jaxtyping import Float, Int

from jumpnet.errors import GeometryError
from jumpnet.fe.assembly import PENALTY, Contact, Outer, Volume
from jumpnet.fe.mesh import Mesh, on_faces
from jumpnet.fe.meshing.fitted import projected
from jumpnet.fe.simplex import gauss
from jumpnet.geometry import Shape
from jumpnet.judge.answers import Answer, Elements
from jumpnet.judge.coefficients import coefficients
from jumpnet.problem import Problem

# Faces closer than this to the exact surface, relative to their element, count as exact.
ON = 1e-10

Array = Float[np.ndarray, "..."]


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

    That is A grad e . n = through - alpha e; the flux of finite elements themselves is g - alpha u_h where a condition
    gives it (`Solution.net_flux`). `part` numbers the parts of the boundary. `continued` is as on interfaces. `uneven`
    is the largest ratio of A in the middle of an element to A on its face where values are given.
    """

    value: Array
    outflow: Array
    through: Array
    part: Int[np.ndarray, "faces q"]
    continued: Array
    uneven: float


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


def _volume(problem: Problem, mesh: Mesh, count: int, answer: Answer) -> tuple[Volume, Array]:
    xi = gauss(mesh.dim, count)[0]
    pde = coefficients(problem, mesh, xi)
    value, gradient = answer.inside(mesh, xi, pde)
    if not isinstance(answer, Elements):
        return Volume(pde.A, pde.lam, value), value
    if pde.A.strides[1] == 0:  # one tensor for all points of an element
        flux = np.matmul(gradient, -pde.A[:, 0].transpose(0, 2, 1))
    else:
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


def _in_the_middle(problem: Problem, mesh: Mesh, element: Array, normal: Array) -> Array:
    """A along the normals of faces in the middle of their elements: it may vanish on a face, and penalties with it."""
    middle = mesh.points(np.full((1, mesh.dim), 1.0 / (mesh.dim + 1)), element)
    x = np.broadcast_to(middle, normal.shape)
    return np.sum(_flux(problem, mesh.piece[element], x, normal) * normal, axis=2)


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


@dataclass(frozen=True, eq=False)
class _Side:
    """Faces on interfaces as elements of one side have them, and their points on the exact surface."""

    mesh: Mesh
    element: Int[np.ndarray, " faces"]
    local: Int[np.ndarray, " faces"]
    x: Float[np.ndarray, "faces q d"]

    @property
    def piece(self) -> Int[np.ndarray, " faces"]:
        """The pieces that see them."""
        return self.mesh.piece[self.element]


@dataclass(frozen=True, eq=False)
class _Interfaces:
    """Interfaces from the sides of the lower and the higher pieces, and the data of their conditions.

    `normal` points from the higher to the lower piece, and `distance` along it from the faces to the exact surface.
    """

    a: _Side
    b: _Side
    normal: Array
    size: Array
    distance: Array
    v: Array
    w: Array
    R: Array


def _interfaces(problem: Problem, mesh: Mesh, count: int) -> _Interfaces:
    """The faces on interfaces, their points moved to the exact surfaces, and the data there."""
    faces = mesh.interfaces
    (a, b), (ka, kb) = faces.element.T, faces.local.T
    first, second = on_faces(mesh, a, ka, count), on_faces(mesh, b, kb, count)
    low, high = mesh.piece[a], mesh.piece[b]
    size = np.minimum(mesh.size[a], mesh.size[b])[:, None]
    xa, xb, n = first.x.copy(), second.x.copy(), -first.normal
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
    distance = np.sum((xa - first.x) * n, axis=2)
    return _Interfaces(_Side(mesh, a, ka, xa), _Side(mesh, b, kb, xb), n, size, distance, v, w, R)


def _contact(problem: Problem, mesh: Mesh, count: int, answer: Answer) -> tuple[Contact, OnInterfaces]:
    """The conditions on interfaces for e, and the defects; k is the conductivity along n, q the flux of u_h."""
    on = _interfaces(problem, mesh, count)
    a, b, n, v, w, R = on.a, on.b, on.normal, on.v, on.w, on.R
    (ua, ga), (ub, gb) = (answer.on_face(mesh, side.element, side.local, side.x, count) for side in (a, b))
    ka, kb = (np.sum(_flux(problem, side.piece, side.x, n) * n, axis=2) for side in (a, b))
    flux_a, flux_b = _flux(problem, a.piece, a.x, ga), _flux(problem, b.piece, b.x, gb)
    qa, qb = np.sum(flux_a * n, axis=2), np.sum(flux_b * n, axis=2)
    to_a = (ka >= kb).astype(float)
    jump, flux = v - (ua - ub) + R * (qa + qb) / 2, w - (qa - qb)
    ma, mb = (np.maximum(k, _in_the_middle(problem, mesh, side.element, n)) for k, side in ((ka, a), (kb, b)))
    s = 1.0 / np.maximum(R, on.size / (PENALTY * np.minimum(ma, mb)))
    # m, the flux of the side that conducts worse, is known + s ([e] - wanted).
    known, rest = (np.where(to_a > 0, qb, qa), w) if answer.weak else (np.zeros_like(w), flux)
    wanted = (v - (ua - ub) if answer.weak else jump) + R * (known + (to_a - 0.5) * rest)
    contact = Contact(s, s * wanted - known - to_a * rest, -s * wanted + known - (1 - to_a) * rest)
    if isinstance(answer, Elements):
        contact = _of_elements(problem, count, answer, on, contact, (ua, ub), (flux_a, flux_b))
    # The flux of e is that of u minus that of u_h.
    qa, qb = (qa, qb) if answer.weak else (0.0, 0.0)
    first, second = known + to_a * rest - qa - s * wanted, known - (1 - to_a) * rest - qb - s * wanted
    magnitude = max(float(np.abs(part).max(initial=0.0)) for part in (v, ua, ub, jump - v + (ua - ub)))
    distance = on.distance if answer.weak else np.zeros_like(on.distance)
    missed = distance**2 / on.size * np.sum(n * (ga - gb), axis=2)
    swept = distance[..., None] * (flux_b - flux_a)
    return contact, OnInterfaces(jump, flux / np.maximum(ka, kb), first, second, magnitude, missed, swept)


def _of_elements(
    problem: Problem,
    count: int,
    answer: Elements,
    on: _Interfaces,
    contact: Contact,
    values: tuple[Array, Array],
    fluxes: tuple[Array, Array],
) -> Contact:
    """The conditions for weak residuals: with the fluxes of the strong part, and continued to the exact surface."""
    a, b, n = on.a, on.b, on.normal
    strong_a, strong_b = (
        _flux(problem, s.piece, s.x, answer.strong_on_face(s.mesh, s.element, s.local, s.x, count)[1]) for s in (a, b)
    )
    of_a, of_b = np.sum(strong_a * n, axis=2), np.sum(strong_b * n, axis=2)
    contact = Contact(contact.stiffness, contact.first + of_a, contact.second - of_b)
    if not np.any(np.abs(on.distance) > ON * on.size):
        return contact
    more_a, along_a = _continued(problem, a.piece, a.x, n, -on.distance, values[0], fluxes[0] - strong_a)
    more_b, along_b = _continued(problem, b.piece, b.x, n, on.distance, values[1], fluxes[1] - strong_b)
    return Contact(contact.stiffness, contact.first + more_a, contact.second + more_b, (along_a, along_b))


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
    q = np.sum(flux * n, axis=2)
    there, middle = np.sum(An * n, axis=2), _in_the_middle(problem, mesh, element, n)
    k, uneven = np.maximum(there, middle), float(np.where(fixed, middle / there, 0.0).max(initial=0.0))
    stiff = PENALTY * k / size
    value, outflow = np.where(fixed, g - u, 0.0), np.where(fixed, 0.0, g - alpha * u - q)
    load = np.where(fixed, stiff * value, outflow)
    through = np.where(fixed, load, 0.0) if answer.weak else load
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
        value, outflow / there, through, number.reshape(shape[:2]), missed, uneven
    )


def _flat(x: Array) -> Array:
    return x.reshape(-1, x.shape[-1])
