"""Boundary conditions and jumps: what the user writes, and what it is turned into.

`Dirichlet`, `Neumann`, `Robin`, `Periodic` and `Jump` hold the user's data as given. `BoundaryCondition` and
`JumpCondition` are the same after checking, with data that can be evaluated; in a manufactured problem
these depend on the normal and on the piece too, which a user's data never do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from jumpnet.errors import ProblemError
from jumpnet.fields import ConstantField, Field, Values, scalar_field
from jumpnet.guard.text import shorten

Array = NDArray[np.float64]
Labels = NDArray[np.int_]
Kind = Literal["dirichlet", "neumann", "robin", "periodic"]
Source = float | str | Callable[[Any], Any] | Values
Pair = tuple[int, int]


@dataclass(frozen=True)
class Dirichlet:
    """u = g on a part of the boundary.

    Args:
        g: A number, a formula in x1, x2, ..., or a callable of x (n, d).

    Example:
        >>> import jumpnet as jn
        >>> ends = {"x1-": jn.Dirichlet(0), "x1+": jn.Dirichlet(1)}
        >>> problem = jn.Problem(jn.Partition(jn.Interval(0, 1)), boundary=ends)
        >>> round(float(jn.solve(problem)([[0.25]])[0]), 9)
        0.25
    """

    g: Source | BoundaryData = 0.0
    kind: ClassVar[Kind] = "dirichlet"


@dataclass(frozen=True)
class Assumed(Dirichlet):
    """u = 0 on the whole boundary, because no condition was given."""


@dataclass(frozen=True)
class Neumann:
    """A grad u . n = g on a part of the boundary, n pointing outward.

    Args:
        g: A number, a formula in x1, x2, ..., or a callable of x (n, d).

    Example:
        >>> import jumpnet as jn
        >>> ends = {"x1-": jn.Dirichlet(0), "x1+": jn.Neumann(2)}
        >>> problem = jn.Problem(jn.Partition(jn.Interval(0, 1)), boundary=ends)
        >>> round(float(jn.solve(problem)([[0.5]])[0]), 9)
        1.0
    """

    g: Source | BoundaryData = 0.0
    kind: ClassVar[Kind] = "neumann"


@dataclass(frozen=True)
class Robin:
    """alpha u + A grad u . n = g on a part of the boundary, n pointing outward.

    Args:
        alpha: The coefficient, such as one of heat transfer: a number, formula or callable.
        g: The data; alpha times the temperature outside, if heat is what flows.

    Example:
        >>> import jumpnet as jn
        >>> sides = {"x1-": jn.Dirichlet(0), "x1+": jn.Robin(1.0, 4.0)}
        >>> round(float(jn.solve(jn.Problem(jn.Partition(jn.Interval(0, 1)), boundary=sides))([[1.0]])[0]), 9)
        2.0
    """

    alpha: Source
    g: Source | BoundaryData = 0.0
    kind: ClassVar[Kind] = "robin"


@dataclass(frozen=True)
class Convection:
    """Heat exchange with a medium on a part of the boundary: -A grad u . n = h (u - ambient), n pointing outward.

    Args:
        h: The coefficient of heat transfer: a number, formula or callable.
        ambient: The temperature of the medium, likewise.

    Example:
        >>> import jumpnet as jn
        >>> sides = {"x1-": jn.Dirichlet(0), "x1+": jn.Convection(1.0, ambient=4.0)}
        >>> round(float(jn.solve(jn.Problem(jn.Partition(jn.Interval(0, 1)), boundary=sides))([[1.0]])[0]), 9)
        2.0
    """

    h: Source
    ambient: Source = 0.0
    kind: ClassVar[Kind] = "robin"

    def as_robin(self, dim: int, part: str, constants: Mapping[str, float] | None) -> Robin:
        """The same as a Robin condition: alpha = h, g = h ambient (a formula, where both are: it can be saved)."""
        h, ambient = (
            scalar_field(source, dim, what=f"{name} of Convection on {part!r}", constants=constants)
            for name, source in (("h", self.h), ("ambient", self.ambient))
        )
        if all(isinstance(source, int | float | str) for source in (self.h, self.ambient)):
            return Robin(self.h, f"({self.h})*({self.ambient})")
        return Robin(h, Exchanged(h, ambient))


@dataclass(frozen=True)
class Periodic:
    """Two opposite sides of a box are one: u(x + L e) - u(x) = v from the lower to the upper, with the same flux.

    Args:
        v: A number, or a function of the lower point; L is the length of the box along the axis e.

    Example:
        >>> import jumpnet as jn
        >>> problem = jn.Problem(jn.Partition(jn.Interval(0, 1)), boundary={"x1": jn.Periodic(1.0)})
        >>> round(float(jn.solve(problem).flux([[0.5]])[0, 0]), 9)
        1.0
    """

    v: Source = 0.0
    kind: ClassVar[Kind] = "periodic"


Condition = Dirichlet | Neumann | Robin | Convection | Periodic


@dataclass(frozen=True)
class Jump:
    """[u] = v + R A grad u . n and [A grad u . n] = w on the interface of pieces a < b: [q] = q_a - q_b, n from b to a.

    Args:
        v: The jump of u: a number, formula or callable.
        w: The jump of the flux.
        R: A contact resistance, zero or more: the temperature falls by R times the heat that crosses. Where w makes the
            two sides' fluxes differ, it acts on their mean.

    With partition coefficients (`Problem(K=...)`) u/K takes the place of u in the first condition.

    Example:
        >>> import jumpnet as jn
        >>> parts = jn.Partition.chain([0, 1, 2])
        >>> sides = {"x1-": jn.Dirichlet(0), "x1+": jn.Dirichlet(3)}
        >>> solution = jn.solve(jn.Problem(parts, jumps={(0, 1): jn.Jump(R=1.0)}, boundary=sides))
        >>> round(float(solution.jump([[1.0]])[0]), 9)
        -1.0
    """

    v: Source | JumpData = 0.0
    w: Source | JumpData = 0.0
    R: Source = 0.0


class BoundaryData(ABC):
    """The right-hand side of a boundary condition."""

    @abstractmethod
    def value(self, x: Array, normals: Array, labels: Labels) -> Array:
        """g (n,) at boundary points with outward normals and the pieces that they bound."""

    def spec(self) -> dict[str, Any] | None:
        """A JSON-able description, None if there is none."""
        return None


class JumpData(ABC):
    """The right-hand side of a jump condition on one interface."""

    @abstractmethod
    def value(self, x: Array, normals: Array) -> Array:
        """v or w (n,) at interface points with normals from b to a."""

    def spec(self) -> dict[str, Any] | None:
        """A JSON-able description, None if there is none."""
        return None


@dataclass(frozen=True)
class GivenOnBoundary(BoundaryData):
    """A user's function of x."""

    function: Values

    def value(self, x: Array, normals: Array, labels: Labels) -> Array:
        return self.function.value(x)

    def spec(self) -> dict[str, Any] | None:
        return self.function.spec()


@dataclass(frozen=True)
class Exchanged(BoundaryData):
    """h times the ambient temperature."""

    h: Field
    ambient: Field

    def value(self, x: Array, normals: Array, labels: Labels) -> Array:
        return self.h.value(x) * self.ambient.value(x)


@dataclass(frozen=True)
class GivenOnInterface(JumpData):
    """A user's function of x."""

    function: Values

    def value(self, x: Array, normals: Array) -> Array:
        return self.function.value(x)

    def spec(self) -> dict[str, Any] | None:
        return self.function.spec()


@dataclass(frozen=True)
class BoundaryCondition:
    """alpha u + beta A grad u . n = g with beta = 0 for Dirichlet (alpha = 1) and 1 otherwise.

    On a periodic side alpha is 0 and g the difference v from the lower to the upper side. `factor` multiplies alpha
    at points of each piece, where it is given.
    """

    kind: Kind
    alpha: Field
    g: BoundaryData
    factor: tuple[float, ...] = ()


@dataclass(frozen=True)
class JumpCondition:
    """[u] = v + R A grad u . n (the mean of both sides) and [A grad u . n] = w on one interface."""

    v: JumpData
    w: JumpData
    R: Field


def boundary_condition(condition: Any, dim: int, part: str, constants: Mapping[str, float] | None) -> BoundaryCondition:
    """What the user gave for one part of the boundary, ready to be evaluated."""
    if isinstance(condition, type) and issubclass(condition, Condition):
        raise ProblemError(
            f"boundary[{part!r}] is the class {condition.__name__}; give it data, e.g. {_example(condition)}."
        )
    if not isinstance(condition, Condition):
        raise ProblemError(
            f"boundary[{part!r}] is {shorten(condition)}; Dirichlet(g), Neumann(g), Robin(alpha, g), Convection(h, "
            "ambient) or Periodic(v) is wanted."
        )
    if isinstance(condition, Convection):
        condition = condition.as_robin(dim, part, constants)
    where = f"of {type(condition).__name__} on {part!r}"
    alpha: Field = ConstantField(1.0 if condition.kind == "dirichlet" else 0.0, dim)
    if isinstance(condition, Robin):
        alpha = scalar_field(condition.alpha, dim, what=f"alpha {where}", constants=constants)
    name = "v" if isinstance(condition, Periodic) else "g"
    g = getattr(condition, name)
    if not isinstance(g, BoundaryData):
        g = GivenOnBoundary(scalar_field(g, dim, what=f"{name} {where}", constants=constants))
    return BoundaryCondition(condition.kind, alpha, g)


def jump_condition(jump: Any, dim: int, pair: Pair, constants: Mapping[str, float] | None) -> JumpCondition:
    """What the user gave for one interface, ready to be evaluated."""
    if not isinstance(jump, Jump):
        raise ProblemError(f"jumps[{pair}] is {shorten(jump)}; Jump(v=..., w=..., R=...) is wanted.")

    def resolved(source: Any, name: str) -> JumpData:
        if isinstance(source, JumpData):
            return source
        return GivenOnInterface(scalar_field(source, dim, what=f"{name} on interface {pair}", constants=constants))

    R = scalar_field(jump.R, dim, what=f"R on interface {pair}", constants=constants)
    return JumpCondition(resolved(jump.v, "v"), resolved(jump.w, "w"), R)


def _example(condition: type) -> str:
    return "Robin(1.0, 0.0)" if condition is Robin else f"{condition.__name__}(0.0)"
