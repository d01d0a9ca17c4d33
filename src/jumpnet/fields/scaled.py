"""Multiples of fields: constants stay constants and formulas stay formulas, with all their properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jumpnet.expressions import Expression
from jumpnet.fields.scalar import Array, ConstantField, ExpressionField, Field, Values
from jumpnet.fields.tensor import EntriesTensor, ScalarTensor, TensorField


@dataclass(frozen=True)
class ScaledValues(Values):
    """A number times a function of which only values are known."""

    function: Values
    factor: float

    def value(self, x: Array) -> Array:
        return self.factor * self.function.value(x)


@dataclass(frozen=True)
class ScaledField(Field):
    """A number times a field."""

    field: Field
    factor: float

    def value(self, x: Array) -> Array:
        return self.factor * self.field.value(x)

    def gradient(self, x: Array) -> Array:
        return self.factor * self.field.gradient(x)

    def hessian(self, x: Array) -> Array:
        return self.factor * self.field.hessian(x)


@dataclass(frozen=True)
class ScaledTensor(TensorField):
    """A number times a matrix field."""

    matrix: TensorField
    factor: float

    def value(self, x: Array) -> Array:
        return self.factor * self.matrix.value(x)

    def divergence(self, x: Array) -> Array:
        return self.factor * self.matrix.divergence(x)

    def drift(self, x: Array) -> Array | None:
        c = self.matrix.drift(x)
        return None if c is None else self.factor * c

    @property
    def is_constant(self) -> bool:
        return self.matrix.is_constant


def scaled_values(function: Values, factor: float) -> Values:
    """A number times a function."""
    if factor == 1.0:
        return function
    return scaled_field(function, factor) if isinstance(function, Field) else ScaledValues(function, factor)


def scaled_field(field: Field, factor: float) -> Any:
    """A number times a field: a constant of a constant, a formula of a formula."""
    if factor == 1.0:
        return field
    if isinstance(field, ConstantField):
        return ConstantField(factor * field.number, field.dim)
    if isinstance(field, ExpressionField):
        e = field.expression
        text = f"({factor!r})*({e.text})"
        return ExpressionField(Expression.parse_in(text, e.variables, dict(e.constants), what=e.what))
    return ScaledField(field, factor)


def scaled_tensor(matrix: TensorField, factor: float) -> TensorField:
    """A number times a matrix field."""
    if factor == 1.0:
        return matrix
    if isinstance(matrix, ScalarTensor):
        return ScalarTensor(scaled_field(matrix.field, factor), matrix.dim)
    if isinstance(matrix, EntriesTensor):
        return EntriesTensor(tuple(scaled_field(entry, factor) for entry in matrix.entries), matrix.dim)
    return ScaledTensor(matrix, factor)
