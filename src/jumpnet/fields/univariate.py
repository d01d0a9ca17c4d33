"""Functions of one variable, for polar and parametric curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jumpnet.expressions import Expression
from jumpnet.fields.callables import finite_number
from jumpnet.fields.scalar import (
    Array,
    CallableField,
    ConstantField,
    ExpressionField,
    Field,
    Spec,
    field_from_spec,
)


@dataclass(frozen=True)
class Univariate:
    """A function of one variable with its first two derivatives."""

    field: Field
    variable: str

    def value(self, t: ArrayLike) -> Array:
        """f(t) (n,)."""
        return self.field.value(_column(t))

    def derivative(self, t: ArrayLike) -> Array:
        """f'(t) (n,)."""
        return self.field.gradient(_column(t))[:, 0]

    def second(self, t: ArrayLike) -> Array:
        """f''(t) (n,)."""
        return self.field.hessian(_column(t))[:, 0, 0]

    def spec(self) -> Spec | None:
        """A JSON-able description, None for a callable."""
        inner = self.field.spec()
        return None if inner is None else {"variable": self.variable, "function": inner}

    @staticmethod
    def from_spec(spec: Spec) -> Univariate:
        """The function described by `spec()`."""
        return Univariate(field_from_spec(spec["function"]), spec["variable"])


def _column(t: ArrayLike) -> Array:
    return np.atleast_1d(np.asarray(t, dtype=np.float64))[:, None]


def univariate(source: Any, variable: str, *, what: str, constants: Mapping[str, float] | None = None) -> Univariate:
    """A number, a formula in `variable`, or a callable t (n,) -> (n,), as a function of one variable."""
    if isinstance(source, Univariate):
        return source
    if isinstance(source, str):
        field: Field = ExpressionField(Expression.parse_in(source, (variable,), constants, what=what))
    elif callable(source):
        field = CallableField(lambda x: source(x[:, 0]), 1, what)
    else:
        field = ConstantField(finite_number(source, what), 1)
    return Univariate(field, variable)
