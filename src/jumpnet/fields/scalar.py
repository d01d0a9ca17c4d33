"""Scalar fields: a number, a formula or a callable, with value, gradient and Hessian."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jumpnet.errors import ProblemError
from jumpnet.expressions import Expression, Recompiled
from jumpnet.fields.callables import call_checked, differentiate, finite_number

Array = NDArray[np.float64]
Spec = dict[str, Any]


class Values(ABC):
    """A scalar function of x of which only values are wanted; points are (n, d) float64 arrays."""

    @abstractmethod
    def value(self, x: Array) -> Array:
        """Values (n,)."""

    def spec(self) -> Spec | None:
        """A JSON-able description, None if there is none (a callable)."""
        return None


class Field(Values):
    """A scalar function of x with its first two derivatives."""

    @abstractmethod
    def gradient(self, x: Array) -> Array:
        """du/dx_i (n, d)."""

    @abstractmethod
    def hessian(self, x: Array) -> Array:
        """d2u/dx_i dx_j (n, d, d)."""


@dataclass(frozen=True)
class ConstantField(Field):
    """The same number everywhere."""

    number: float
    dim: int

    def value(self, x: Array) -> Array:
        return np.full(x.shape[0], self.number)

    def gradient(self, x: Array) -> Array:
        return np.zeros((x.shape[0], self.dim))

    def hessian(self, x: Array) -> Array:
        return np.zeros((x.shape[0], self.dim, self.dim))

    def spec(self) -> Spec:
        return {"kind": "constant", "value": self.number, "dim": self.dim}


@dataclass(frozen=True)
class ExpressionField(Recompiled, Field):
    """A formula, with its symbolic derivatives."""

    expression: Expression

    @property
    def dim(self) -> int:
        """Number of variables."""
        return len(self.expression.variables)

    @cached_property
    def _gradient(self) -> Callable[[Array], Array]:
        return self.expression.compiled(1)

    @cached_property
    def _hessian(self) -> Callable[[Array], Array]:
        return self.expression.compiled(2)

    def value(self, x: Array) -> Array:
        return self.expression(x)

    def gradient(self, x: Array) -> Array:
        return self._gradient(x)

    def hessian(self, x: Array) -> Array:
        return self._hessian(x).reshape(-1, self.dim, self.dim)

    def spec(self) -> Spec:
        return {"kind": "expression", **_expression_spec(self.expression)}


@dataclass(frozen=True)
class CallableField(Field):
    """A user's function x (n, d) -> (n,)."""

    function: Callable[..., Any]
    dim: int
    what: str

    def value(self, x: Array) -> Array:
        return call_checked(self.function, x, [(), (x.shape[0],)], self.what)

    def gradient(self, x: Array) -> Array:
        return differentiate(self.function, x, 1, self.what)

    def hessian(self, x: Array) -> Array:
        return differentiate(self.function, x, 2, self.what)


def is_zero(function: Values) -> bool:
    """Whether a function is known to be zero everywhere, without looking at points."""
    return isinstance(function, ConstantField) and function.number == 0.0


def scalar_field(source: Any, dim: int, *, what: str, constants: Mapping[str, float] | None = None) -> Field:
    """The field meant by a number, a formula, a callable or a Field; `what` names it in error messages."""
    if isinstance(source, Field):
        found = getattr(source, "dim", dim)
        if found != dim:
            raise ProblemError(f"{what} is a field in {found} dimensions; one in {dim} dimensions is wanted.")
        return source
    if isinstance(source, str):
        return ExpressionField(Expression.parse(source, dim, constants, what=what))
    if callable(source):
        return CallableField(source, dim, what)
    return ConstantField(finite_number(source, what), dim)


def field_from_spec(spec: Spec) -> Field:
    """The field described by `Field.spec()`."""
    if spec["kind"] == "constant":
        return ConstantField(float(spec["value"]), int(spec["dim"]))
    if spec["kind"] == "grid":
        from jumpnet.fields.grid import grid_field_from_spec  # which derives from Field itself

        return grid_field_from_spec(spec)
    return ExpressionField(_expression_from_spec(spec))


def _expression_spec(expression: Expression) -> Spec:
    return {
        "text": expression.text,
        "variables": list(expression.variables),
        "constants": dict(expression.constants),
        "what": expression.what,
    }


def _expression_from_spec(spec: Spec) -> Expression:
    variables = tuple(spec["variables"])
    return Expression.parse_in(spec["text"], variables, spec["constants"], what=spec["what"])
