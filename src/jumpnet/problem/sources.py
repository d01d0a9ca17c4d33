"""Point sources, whose field is known in closed form, and measured values.

A source of strength q at a point of a piece with a constant A adds -q delta to the right-hand side f, and the field

    s = -q/(2 pi sqrt(det A)) log rho        in the plane,
    s = q/(4 pi sqrt(det A) rho)             in space,      rho^2 = z . A^-1 z,  z = x - x0,
    s = -q |z|/(2 A)                         on the line,

solves div(A grad s) = -q delta. Within that piece u = s + a smooth rest: no row ever sees the singularity.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jumpnet.errors import ProblemError
from jumpnet.fields import TensorField, point
from jumpnet.geometry.quadrature.integrals import over_boundary, over_interface
from jumpnet.geometry.quadrature.rules import Integral, total
from jumpnet.guard.text import shorten
from jumpnet.problem.conditions import Array, Labels

if TYPE_CHECKING:
    from jumpnet.fields import Field
    from jumpnet.geometry import Partition

CLOSE = 1e-6  # to an interface or the boundary, relative to the domain: nothing smooth is left to solve for
STEPS = 16  # directions in which that distance is checked


@dataclass(frozen=True)
class PointSource:
    """A source that releases `q` at the point `x`: it adds -q delta(x) to f, as a heat source q is f = -q.

    Args:
        x: The coordinates of the point, inside a piece with constant A.
        q: The strength.

    Example:
        >>> import jumpnet as jn
        >>> square, well = jn.Partition(jn.Box((0, 0), (1, 1))), jn.PointSource((0.5, 0.5), 2.0)
        >>> problem = jn.Problem(square, boundary=jn.Dirichlet(0), sources=[well])
        >>> problem.sources[0].q
        2.0
    """

    x: Sequence[float]
    q: float


@dataclass(frozen=True)
class Data:
    """Measured values u(x_i) = u_i, at points inside pieces.

    Args:
        x: The points (n, d).
        u: The values (n,).
        weight: One, or one for each. A weight of 1 makes the mean square of all measurements count as much as that of
            the boundary conditions.
        piece: The piece, by number or name, that points on an interface belong to.

    Example:
        >>> import jumpnet as jn
        >>> rod, ends = jn.Partition(jn.Interval(0, 1)), jn.Dirichlet(0)
        >>> problem = jn.Problem(rod, boundary=ends, data=jn.Data([[0.5]], [0.0]))
        >>> len(problem.data)
        1
    """

    x: ArrayLike
    u: ArrayLike
    weight: ArrayLike = 1.0
    piece: int | str | None = None


@dataclass(frozen=True, eq=False)
class Measured:
    """Checked measurements: points, pieces, values and weights."""

    x: Array
    piece: Labels
    u: Array
    weight: Array

    def __len__(self) -> int:
        return len(self.u)


@dataclass(frozen=True, eq=False)
class Singular:
    """The field of one point source in the piece that it lies in."""

    x: Array
    q: float
    piece: int
    inverse: Array
    """A^-1."""

    def value(self, x: Array) -> Array:
        """s (n,); infinite at the source itself, except on the line."""
        d, strength, rho = self._polar(x)
        with np.errstate(divide="ignore"):
            return {1: -strength * rho, 2: -strength * np.log(rho), 3: strength / rho}[d]

    def gradient(self, x: Array) -> Array:
        """grad s (n, d)."""
        d, strength, rho = self._polar(x)
        with np.errstate(divide="ignore", invalid="ignore"):
            return -strength * rho[:, None] ** -d * ((x - self.x) @ self.inverse)

    def integral(self, partition: Partition) -> Integral:
        """The integral of s over the piece, in two or three dimensions.

        By Gauss's theorem: s = div F, F = z G(rho), and F is smooth on the walls of the piece, s is not inside.
        """

        def outward(x: Array, normal: Array) -> Array:
            d, strength, rho = self._polar(x)
            G = 0.25 - 0.5 * np.log(rho) if d == 2 else 0.5 / rho
            return strength * G * np.einsum("ni,ni->n", x - self.x, normal)

        found = total(over_boundary(partition, piece=self.piece), outward)
        for pair in partition.walls.interfaces:
            if self.piece in pair:  # normals point from the second to the first
                sign = 1.0 if pair[1] == self.piece else -1.0
                found = found + total(over_interface(partition, pair), outward).scaled(sign)
        return found

    def _polar(self, x: Array) -> tuple[int, float, Array]:
        z = x - self.x
        d = z.shape[1]
        full = {1: 2.0, 2: 2 * np.pi, 3: 4 * np.pi}[d]
        strength = self.q * np.sqrt(np.linalg.det(self.inverse)) / full
        return d, float(strength), np.sqrt(np.einsum("ni,ij,nj->n", z, self.inverse, z))


@dataclass(frozen=True, eq=False)
class Supplement:
    """What a solution has in closed form beside its network: a constant, and the fields of point sources."""

    constant: float = 0.0
    singular: tuple[Singular, ...] = ()

    @property
    def given(self) -> bool:
        """Whether there is any."""
        return bool(self.constant or self.singular)

    def functional(self, x: Array, cell: Labels, a0: ArrayLike, a1: ArrayLike) -> Array:
        """a0 u + a1 . grad u at points seen from cells."""
        a0, a1 = np.broadcast_to(a0, len(x)), np.broadcast_to(a1, x.shape)
        total = a0 * self.constant
        for source in self.singular:
            mine = np.flatnonzero(cell == source.piece)
            if a0[mine].any():
                total[mine] += a0[mine] * source.value(x[mine])
            if a1[mine].any():
                total[mine] += np.sum(a1[mine] * source.gradient(x[mine]), axis=1)
        return total

    def spec(self) -> dict[str, Any]:
        """As JSON."""
        sources = [
            {"x": s.x.tolist(), "q": s.q, "piece": s.piece, "inverse": s.inverse.tolist()} for s in self.singular
        ]
        return {"constant": self.constant, "singular": sources}

    @staticmethod
    def from_spec(spec: dict[str, Any], dim: int, pieces: int) -> Supplement:
        """Read back from JSON."""
        found = []
        for s in spec["singular"]:
            x, inverse = np.array(s["x"], float), np.array(s["inverse"], float)
            if x.shape != (dim,) or inverse.shape != (dim, dim) or dim > 3 or not 0 <= s["piece"] < pieces:
                raise ValueError("a point source does not fit the problem")
            found.append(Singular(x, float(s["q"]), int(s["piece"]), inverse))
        return Supplement(float(spec["constant"]), tuple(found))


def point_sources(given: Any, parts: Partition, A: Sequence[TensorField], lam: Sequence[Field]) -> tuple[Singular, ...]:
    """The fields of the sources given, each in its piece."""
    if not _is_list_of(given, PointSource):
        raise ProblemError(f"sources is {shorten(given)}; a list of PointSource(x, q) is wanted.")
    if given and parts.dim > 3:
        raise ProblemError(f"sources: point sources are for up to 3 dimensions, not {parts.dim}; leave them out.")
    found = []
    for k, source in enumerate(given):
        what = f"sources[{k}]"
        x = _points([source.x] if np.ndim(source.x) else [[source.x]], parts.dim, f"{what}.x")
        q = one_number(source.q, f"{what}.q")
        piece = _piece_around(x[0], parts, what)
        if not A[piece].is_constant:
            raise ProblemError(
                f"{what} lies in piece {piece}, where A varies; a point source needs a constant A: surround it with a "
                "piece of its own where A is constant."
            )
        if lam[piece].value(x).any():
            raise ProblemError(
                f"{what} lies in piece {piece}, where lam is not zero; surround it with a piece of its own where it is."
            )
        try:
            found.append(Singular(x[0], q, piece, np.linalg.inv(A[piece].value(x)[0])))
        except np.linalg.LinAlgError:
            raise ProblemError(f"{what}: A in piece {piece} is singular at the point; it must be positive.") from None
    return tuple(found)


def _piece_around(x: Array, parts: Partition, what: str) -> int:
    """The piece of a point that is not too close to its edge."""
    rng = np.random.default_rng(0)
    turns = rng.normal(size=(STEPS, parts.dim))
    turns /= np.linalg.norm(turns, axis=1)[:, None]
    labels = np.unique(parts.label(np.concatenate([x[None], x + CLOSE * parts.domain.size * turns])))
    if len(labels) > 1 or labels[0] < 0:
        where = "outside the domain" if labels[-1] < 0 else "on an interface or on the boundary"
        raise ProblemError(f"{what} at {point(x)} lies {where}; a point source must lie inside a piece.")
    return int(labels[0])


def measured(given: Any, parts: Partition) -> Measured | None:
    """All measurements in one table, None if there are none."""
    sets = [given] if isinstance(given, Data) else given
    if not _is_list_of(sets, Data):
        raise ProblemError(f"data is {shorten(given)}; Data(x, u) or a list of them is wanted.")
    found = [_measured(one, parts, f"data[{k}]") for k, one in enumerate(sets)]
    if not found:
        return None
    return Measured(*(np.concatenate([getattr(one, name) for one in found]) for name in ("x", "piece", "u", "weight")))


def _measured(one: Data, parts: Partition, what: str) -> Measured:
    x = _points(one.x, parts.dim, f"{what}.x")
    u, weight = (_numbers(value, len(x), f"{what}.{name}") for name, value in (("u", one.u), ("weight", one.weight)))
    if not (weight > 0).all():
        raise ProblemError(f"{what}.weight is {weight.min():.4g} somewhere; weights are positive numbers.")
    if one.piece is not None:
        if isinstance(one.piece, str) and one.piece in parts.names:
            return Measured(x, np.full(len(x), parts.names.index(one.piece)), u, weight)
        if not isinstance(one.piece, int | np.integer) or not 0 <= one.piece < parts.size:
            raise ProblemError(f"{what}.piece is {shorten(one.piece)}; the pieces are 0 to {parts.size - 1}.")
        return Measured(x, np.full(len(x), int(one.piece)), u, weight)
    piece = parts.label(x)
    if (piece < 0).any():
        raise ProblemError(f"{what}.x has {point(x[int(np.argmax(piece < 0))])}, outside the domain; leave it out.")
    return Measured(x, piece, u, weight)


def _points(x: Any, dim: int, what: str) -> Array:
    try:
        found = np.asarray(x, float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if dim == 1 and found.ndim == 1:
        found = found[:, None]
    if found.ndim != 2 or found.shape[-1] != dim or not len(found) or not np.isfinite(found).all():
        raise ProblemError(f"{what} is {shorten(x)}; finite points with {dim} coordinates each are wanted.")
    return found


def _numbers(given: Any, count: int, what: str) -> Array:
    try:
        found = np.asarray(given, float)
    except (TypeError, ValueError):
        found = np.full(1, np.nan)
    if found.shape not in ((), (count,)) or not np.isfinite(found).all():
        raise ProblemError(
            f"{what} is {shorten(given)}; a finite number, or one for each of {count} points, is wanted."
        )
    return np.broadcast_to(found, count).copy()


def one_number(given: Any, what: str) -> float:
    """A finite number."""
    if isinstance(given, bool) or not isinstance(given, int | float | np.number) or not np.isfinite(given):
        raise ProblemError(f"{what} is {shorten(given)}; a finite number is wanted.")
    return float(given)


def _is_list_of(given: Any, kind: type) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, str) and all(isinstance(one, kind) for one in given)
