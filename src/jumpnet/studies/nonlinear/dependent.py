"""Functions of x and of one more variable, u or a parameter, with their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from jumpnet.errors import ModelError
from jumpnet.expressions import Expression, coordinate_names
from jumpnet.fields import CallableField, ConstantField, ExpressionField, Field, Values, finite_number

Array = Float[np.ndarray, "..."]
# The message where derivatives of such data are asked for.
VALUES_ONLY = "data that depend on u are known by their values; methods that need derivatives of them cannot be used."


class ValuesOnly(Field):
    """A field of which only values are known."""

    def gradient(self, x: Array) -> Array:
        raise ModelError(VALUES_ONLY)

    def hessian(self, x: Array) -> Array:
        raise ModelError(VALUES_ONLY)


@dataclass(frozen=True, eq=False)
class Dependent:
    """A function of x and u, with its derivatives, from a number, a formula in x1, ..., u, or a callable of (x, u).

    In formulas the last variable may have another name: that of a parameter.
    """

    field: Field
    dim: int

    @staticmethod
    def of(source: Any, dim: int, what: str, names: Mapping[str, float], variable: str = "u") -> Dependent:
        """What the user wrote."""
        if isinstance(source, Dependent):
            return source
        if isinstance(source, ConstantField):
            return Dependent(ConstantField(source.number, dim + 1), dim)
        if isinstance(source, Values):
            return Dependent(_OfX(source), dim)
        if isinstance(source, str):
            return Dependent(
                ExpressionField(Expression.parse_in(source, (*coordinate_names(dim), variable), names, what=what)), dim
            )
        if callable(source):
            return Dependent(CallableField(_Joined(source, dim), dim + 1, what), dim)
        return Dependent(ConstantField(finite_number(source, what), dim + 1), dim)

    @property
    def number(self) -> float | None:
        """The number, where it is one."""
        return self.field.number if isinstance(self.field, ConstantField) else None

    @property
    def plain(self) -> bool:
        """Whether it does not depend on u."""
        if isinstance(self.field, ExpressionField):
            return self.field.expression.symbols[-1] not in self.field.expression.symbolic.free_symbols
        return isinstance(self.field, ConstantField | _OfX)

    def value(self, x: Array, u: Array) -> Array:
        """Values (n,)."""
        return self.field.value(np.column_stack([x, u]))

    def by_u(self, x: Array, u: Array) -> Array:
        """The derivative by u (n,)."""
        return np.zeros(len(x)) if self.plain else self.slopes(x, u)[1]

    def curvatures(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Derivatives of the derivative by u: by x (n, d) and by u (n,)."""
        if self.plain:
            return np.zeros((len(x), self.dim)), np.zeros(len(x))
        found = self.field.hessian(np.column_stack([x, u]))
        return found[:, self.dim, : self.dim], found[:, self.dim, self.dim]

    def slopes(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Derivatives by x (n, d) and by u (n,)."""
        found = self.field.gradient(np.column_stack([x, u]))
        return found[:, : self.dim], found[:, self.dim]


@dataclass(frozen=True)
class _Joined:
    """A callable of (x, u) as one of (x, u) in one array."""

    function: Callable[..., Any]
    dim: int

    def __call__(self, z: Any) -> Any:
        return self.function(z[..., : self.dim], z[..., self.dim])


@dataclass(frozen=True)
class _OfX(Field):
    """A field of x as one of (x, u)."""

    inner: Values

    def value(self, x: Array) -> Array:
        return self.inner.value(x[:, :-1])

    def gradient(self, x: Array) -> Array:
        if not isinstance(self.inner, Field):
            raise ModelError(VALUES_ONLY)
        return np.column_stack([self.inner.gradient(x[:, :-1]), np.zeros(len(x))])

    def hessian(self, x: Array) -> Array:
        raise ModelError(VALUES_ONLY)
