"""Matrix fields: the coefficient A(x), d x d, with the divergence that the equation needs.

The divergence is (div A)_j = sum_i dA_ij/dx_i, so that div(A grad u) = A : hess u + div A . grad u.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from jumpnet.errors import ProblemError
from jumpnet.expressions import Recompiled
from jumpnet.fields.callables import call_checked, differentiate
from jumpnet.fields.scalar import (
    Array,
    ConstantField,
    ExpressionField,
    Field,
    Spec,
    field_from_spec,
    scalar_field,
)
from jumpnet.guard.text import shorten


class TensorField(ABC):
    """A matrix function of x."""

    @abstractmethod
    def value(self, x: Array) -> Array:
        """A (n, d, d)."""

    @abstractmethod
    def divergence(self, x: Array) -> Array:
        """(div A)_j = sum_i dA_ij/dx_i, (n, d)."""

    @property
    @abstractmethod
    def is_constant(self) -> bool:
        """The same matrix at every point."""

    def drift(self, x: Array) -> Array | None:
        """c (n, d) where A was taken at a state u0 and a small change e of it changes the flux by A grad e + c e."""
        return None

    def spec(self) -> Spec | None:
        """A JSON-able description, None if there is none (a callable)."""
        return None


@dataclass(frozen=True)
class ScalarTensor(TensorField):
    """a(x) times the identity."""

    field: Field
    dim: int

    def value(self, x: Array) -> Array:
        return self.field.value(x)[:, None, None] * np.eye(self.dim)

    def divergence(self, x: Array) -> Array:
        return self.field.gradient(x)

    @property
    def is_constant(self) -> bool:
        return _is_constant(self.field)

    def spec(self) -> Spec | None:
        inner = self.field.spec()
        return None if inner is None else {"kind": "scalar", "dim": self.dim, "field": inner}


@dataclass(frozen=True)
class EntriesTensor(Recompiled, TensorField):
    """A matrix whose entries are numbers and formulas; all of them are compiled into one function."""

    entries: tuple[ConstantField | ExpressionField, ...]  # row by row
    dim: int

    @cached_property
    def _matrix(self) -> Array:
        return np.array([e.number if isinstance(e, ConstantField) else np.nan for e in self.entries])

    @cached_property
    def _formulas(self) -> tuple[tuple[Any, ...], tuple[Any, ...], dict[Any, float]]:
        """All entries as sympy expressions, the variables, and the parameters, kept apart by entry."""
        import sympy

        from jumpnet.expressions.symbolic import number

        formulas, symbols, parameters = [], (), {}
        for m, entry in enumerate(self.entries):
            if isinstance(entry, ConstantField):
                formulas.append(number(entry.number))
                continue
            expression = entry.expression
            own = {s: sympy.Symbol(f"{s}_{m}", real=True) for s in expression.parameters}
            formulas.append(expression.symbolic.xreplace(own))
            parameters |= {own[s]: value for s, value in expression.parameters.items()}
            symbols = expression.symbols
        return tuple(formulas), symbols, parameters

    @cached_property
    def _values(self) -> Callable[[Array], Array]:
        from jumpnet.expressions.symbolic import compile_vector

        formulas, symbols, parameters = self._formulas
        code, values = compile_vector(formulas, (*symbols, *parameters)), tuple(parameters.values())
        return lambda x: code(x, values)

    @cached_property
    def _divergence(self) -> Callable[[Array], Array]:
        from jumpnet.expressions.symbolic import compile_vector, derivative

        formulas, symbols, parameters = self._formulas
        d, values = self.dim, tuple(parameters.values())
        slopes = [sum(derivative(formulas[i * d + j], symbols[i]) for i in range(d)) for j in range(d)]
        code = compile_vector(tuple(slopes), (*symbols, *parameters))
        return lambda x: code(x, values)

    def value(self, x: Array) -> Array:
        shape = (x.shape[0], self.dim, self.dim)
        if all(isinstance(e, ConstantField) for e in self.entries):
            return np.broadcast_to(self._matrix.reshape(self.dim, self.dim), shape).copy()
        return np.ascontiguousarray(self._values(x)).reshape(shape)

    def divergence(self, x: Array) -> Array:
        if self.is_constant:
            return np.zeros((x.shape[0], self.dim))
        return np.ascontiguousarray(self._divergence(x))

    @property
    def is_constant(self) -> bool:
        return all(_is_constant(e) for e in self.entries)

    def spec(self) -> Spec:
        return {"kind": "entries", "dim": self.dim, "entries": [e.spec() for e in self.entries]}


@dataclass(frozen=True)
class CallableTensor(TensorField):
    """A user's function x (n, d) -> (n,) or (n, d, d)."""

    function: Callable[..., Any]
    dim: int
    what: str

    def value(self, x: Array) -> Array:
        n, d = x.shape[0], self.dim
        values = call_checked(self.function, x, [(n, d, d), (), (n,)], self.what)
        return values if values.ndim == 3 else values[:, None, None] * np.eye(d)

    def divergence(self, x: Array) -> Array:
        slopes = differentiate(self.function, x, 1, self.what)
        return slopes if slopes.ndim == 2 else np.einsum("niji->nj", slopes)

    @property
    def is_constant(self) -> bool:
        return False


@dataclass(frozen=True)
class GivenDivergence(TensorField):
    """A matrix field whose divergence the user supplies."""

    matrix: TensorField
    given: Callable[[Array], Array]

    def value(self, x: Array) -> Array:
        return self.matrix.value(x)

    def divergence(self, x: Array) -> Array:
        return self.given(x)

    @property
    def is_constant(self) -> bool:
        return self.matrix.is_constant

    def spec(self) -> Spec | None:
        return self.matrix.spec()  # a matrix with a description can be differentiated


def tensor_field(
    source: Any, dim: int, *, what: str, divergence: Any = None, constants: Mapping[str, float] | None = None
) -> TensorField:
    """A number or formula (times I), a (d, d) matrix of them, an array or a callable, as a matrix field."""
    if isinstance(source, TensorField):
        field = source
    elif _is_list(source):
        field = _from_entries(source, dim, what, constants)
    elif callable(source) and not isinstance(source, Field):
        field = CallableTensor(source, dim, what)
    else:
        field = ScalarTensor(scalar_field(source, dim, what=what, constants=constants), dim)
    return field if divergence is None else GivenDivergence(field, _vector(divergence, dim, f"div_{what}", constants))


def tensor_from_spec(spec: Spec) -> TensorField:
    """The matrix field described by `TensorField.spec()`."""
    if spec["kind"] == "scalar":
        return ScalarTensor(field_from_spec(spec["field"]), int(spec["dim"]))
    entries = tuple(field_from_spec(e) for e in spec["entries"])
    return EntriesTensor(entries, int(spec["dim"]))  # type: ignore[arg-type]


def _is_list(source: Any) -> bool:
    """A list, tuple or array with entries; a formula is not one."""
    if isinstance(source, np.ndarray):
        return source.ndim > 0
    return isinstance(source, Sequence) and not isinstance(source, str)


def _from_entries(source: Any, dim: int, what: str, constants: Mapping[str, float] | None) -> TensorField:
    rows = [
        list(row) if isinstance(row, Sequence | np.ndarray) and not isinstance(row, str) else None for row in source
    ]
    if len(rows) != dim or any(row is None or len(row) != dim for row in rows):
        raise ProblemError(
            f"{what} is {shorten(source)}; a number, a formula, a callable or a {dim} x {dim} matrix "
            "of numbers and formulas is wanted."
        )
    entries = []
    for i, row in enumerate(rows):
        for j, entry in enumerate(row or ()):
            field = scalar_field(entry, dim, what=f"entry ({i + 1}, {j + 1}) of {what}", constants=constants)
            if not isinstance(field, ConstantField | ExpressionField):
                raise ProblemError(
                    f"entry ({i + 1}, {j + 1}) of {what} is a callable; entries are numbers or formulas, "
                    "or give one callable that returns the matrices (n, d, d)."
                )
            entries.append(field)
    return EntriesTensor(tuple(entries), dim)


def _vector(source: Any, dim: int, what: str, constants: Mapping[str, float] | None) -> Callable[[Array], Array]:
    """A callable x -> (n, d), or d numbers and formulas, as a function."""
    if callable(source):
        return lambda x: call_checked(source, x, [(x.shape[0], dim)], what)
    if isinstance(source, str) or not isinstance(source, Sequence | np.ndarray) or len(source) != dim:
        raise ProblemError(
            f"{what} is {shorten(source)}; a callable that returns (n, {dim}) or {dim} formulas is wanted."
        )
    parts = [scalar_field(s, dim, what=f"entry {j + 1} of {what}", constants=constants) for j, s in enumerate(source)]
    return lambda x: np.stack([p.value(x) for p in parts], axis=1)


def _is_constant(field: Field) -> bool:
    return isinstance(field, ConstantField) or (isinstance(field, ExpressionField) and field.expression.is_constant)
