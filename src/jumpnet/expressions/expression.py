"""The `Expression`: a checked formula with its symbolic derivatives and its compiled values."""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jumpnet.errors import ExpressionError
from jumpnet.expressions.names import FUNCTION_NAMES
from jumpnet.expressions.syntax import Builder
from jumpnet.guard.text import shorten

Array = NDArray[np.float64]

_ALIASES = ("x", "y", "z")  # of x1, x2, x3
MOST_OPERATIONS = 1000
"""Of a gradient that is differentiated again, which takes some milliseconds for each; an ellipse's field has 650."""


def coordinate_names(dim: int) -> tuple[str, ...]:
    """x1, ..., xd."""
    return tuple(f"x{i + 1}" for i in range(dim))


class Recompiled:
    """Dataclasses that keep compiled code beside their fields; copies and pickles have the fields and compile again."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True)
class Expression(Recompiled):
    """A checked formula in `variables`; equal texts with equal constants are equal expressions."""

    text: str
    variables: tuple[str, ...]
    constants: tuple[tuple[str, float], ...] = ()
    what: str = "expression"

    @classmethod
    def parse(
        cls, text: str, dim: int, constants: Mapping[str, float] | None = None, *, what: str = "expression"
    ) -> Expression:
        """The formula `text` in x1..xd; ExpressionError says what is wrong with it."""
        return cls.parse_in(text, coordinate_names(dim), constants, what=what)

    @classmethod
    def parse_in(
        cls,
        text: str,
        variables: tuple[str, ...],
        constants: Mapping[str, float] | None = None,
        *,
        what: str = "expression",
    ) -> Expression:
        """The formula `text` in the variables named."""
        expression = cls(text, variables, _checked_constants(constants or {}, variables, what), what)
        _ = expression.symbolic
        return expression

    @cached_property
    def symbols(self) -> tuple[Any, ...]:
        """One real sympy symbol per variable."""
        import sympy

        return tuple(sympy.Symbol(name, real=True) for name in self.variables)

    @cached_property
    def _built(self) -> tuple[Any, dict[Any, float]]:
        return Builder(self.text, _names(self), self.what, dict(self.constants)).result()

    @property
    def symbolic(self) -> Any:
        """The sympy expression in `symbols` and `parameters`."""
        return self._built[0]

    @property
    def parameters(self) -> dict[Any, float]:
        """Symbols that stand for the user's constants and decimal numbers, with their values.

        Formulas that differ only in these share derivatives and compiled code, as the pieces of a problem
        often do.
        """
        return self._built[1]

    @cached_property
    def is_constant(self) -> bool:
        """Whether no variable occurs in it."""
        return not self.symbolic.free_symbols & set(self.symbols)

    def derivatives(self, order: int) -> tuple[Any, ...]:
        """Sympy expressions: the value (order 0), the gradient (1) or the Hessian row by row (2)."""
        from jumpnet.expressions.symbolic import derivative

        if order == 0:
            return (self.symbolic,)
        gradient = tuple(derivative(self.symbolic, s) for s in self.symbols)
        if order == 1:
            return gradient
        largest = max(int(entry.count_ops()) for entry in gradient)
        if largest > MOST_OPERATIONS:
            raise ExpressionError(
                f"{self.what} = {shorten(self.text)}: its gradient has {largest} operations, too many for second "
                f"derivatives (at most {MOST_OPERATIONS}); write a shorter formula, or use a callable."
            )
        d = len(self.symbols)
        upper = {(i, j): derivative(gradient[i], self.symbols[j]) for i in range(d) for j in range(i, d)}
        return tuple(upper[min(i, j), max(i, j)] for i in range(d) for j in range(d))

    def compiled(self, order: int = 0) -> Callable[[Array], Array]:
        """x (n, d) -> (n, 1 | d | d*d), NumPy only."""
        from jumpnet.expressions.symbolic import compile_vector

        code = compile_vector(self.derivatives(order), (*self.symbols, *self.parameters))
        values = tuple(self.parameters.values())
        return lambda x: code(x, values)

    @cached_property
    def _value(self) -> Callable[[Array], Array]:
        return self.compiled(0)

    def __call__(self, x: Array) -> Array:
        """Values (n,) at the points x (n, d)."""
        return self._value(x)[:, 0]


def _checked_constants(
    constants: Mapping[str, float], variables: tuple[str, ...], what: str
) -> tuple[tuple[str, float], ...]:
    reserved = {*variables, *FUNCTION_NAMES, "pi", "e", "r", "theta", *_ALIASES}
    for name, value in constants.items():
        if not (
            isinstance(name, str)
            and name.isascii()
            and name.isidentifier()
            and name[0] != "_"
            and not keyword.iskeyword(name)
        ):
            raise ExpressionError(f"{what}: {shorten(name)} cannot name a constant; use letters, digits and _.")
        if name in reserved:
            raise ExpressionError(f"{what}: the constant {name!r} would hide a built-in name; rename it.")
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not math.isfinite(value):
            raise ExpressionError(f"{what}: the constant {name!r} is {shorten(value)}; a finite number is wanted.")
    return tuple((name, float(value)) for name, value in sorted(constants.items()))


def _names(expression: Expression) -> dict[str, Any]:
    """Every name the expression may use, with its sympy meaning."""
    import sympy

    symbols = expression.symbols
    names: dict[str, Any] = {"pi": sympy.pi, "e": sympy.E}
    # x1, ..., xd and perhaps one more variable: u where data depend on it, or a parameter.
    dim = len(symbols) - (expression.variables != coordinate_names(len(symbols)))
    if dim > 0 and expression.variables[:dim] == coordinate_names(dim):
        x = symbols[:dim]
        if dim <= 3:
            names.update(zip(_ALIASES, x, strict=False))
        names["r"] = sympy.sqrt(sum(s**2 for s in x))
        if dim == 2:
            names["theta"] = sympy.atan2(x[1], x[0])
    names.update(zip(expression.variables, symbols, strict=True))
    return names
