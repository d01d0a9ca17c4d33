"""The answers that are judged, as the defect problem needs them: residuals in elements, values and slopes on faces."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from jaxtyping import Float

from jumpnet.fe.field import Field
from jumpnet.fe.mesh import Mesh
from jumpnet.fe.simplex import face_points
from jumpnet.judge.coefficients import Coefficients
from jumpnet.judge.cuts import CutDefects, cut_defects
from jumpnet.problem import Problem, Supplement
from jumpnet.problem.ambient import ambient
from jumpnet.solution import Solution

# Batches of points are padded to a multiple of this for networks, inside elements and on faces.
WHOLE, FACES = 8192, 2048

Array = Float[np.ndarray, "..."]


class Answer(Protocol):
    """An answer to be judged: its residual inside elements, and its values and gradients on faces."""

    weak: ClassVar[bool]
    """Whether its residual is taken in weak form."""

    def inside(self, mesh: Mesh, xi: Array, pde: Coefficients) -> tuple[Array, Array]:
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

    def inside(self, mesh: Mesh, xi: Array, pde: Coefficients) -> tuple[Array, Array]:
        shape, d = pde.x.shape[:2], mesh.dim
        piece = np.repeat(mesh.piece, shape[1]).astype(np.int32)
        parts = pde.x.reshape(-1, d), piece, -pde.lam.ravel(), pde.divergence.reshape(-1, d), pde.A.reshape(-1, d, d)
        left = self.solution.representation.functional(*self._padded(WHOLE, *parts))[: len(piece)]
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

    def inside(self, mesh: Mesh, xi: Array, pde: Coefficients) -> tuple[Array, Array]:
        # div(A grad u) is zero: the pieces of sources have a constant A.
        return -pde.lam * self.value(mesh, xi) - pde.f, np.zeros(0)

    def value(self, mesh: Mesh, xi: Array) -> Array:
        if not self.fields.given:
            return np.zeros((len(mesh), len(xi)))
        x = mesh.points(xi)
        return self.fields.functional(x.reshape(-1, mesh.dim), np.repeat(mesh.piece, len(xi)), 1.0, 0.0).reshape(
            x.shape[:2]
        )

    def on_face(self, mesh: Mesh, element: Array, local: Array, x: Array, count: int) -> tuple[Array, Array]:
        if not self.fields.given:
            return np.zeros(x.shape[:2]), np.zeros(x.shape)
        flat, piece = x.reshape(-1, mesh.dim), np.repeat(mesh.piece[element], x.shape[1])
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

    def inside(self, mesh: Mesh, xi: Array, pde: Coefficients) -> tuple[Array, Array]:
        return self.at(mesh, xi)

    def strong_inside(self, mesh: Mesh, xi: Array, pde: Coefficients) -> Array:
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
        return values @ basis.value(xi).T, mesh.gradients(basis.slopes(values, xi), xi, element)
