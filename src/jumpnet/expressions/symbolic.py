"""Everything that needs sympy: named functions, derivatives, and compilation to NumPy.

Imported lazily by its neighbours, because importing sympy takes longer than solving a small problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, reduce
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray
from sympy.printing.numpy import NumPyPrinter

from jumpnet.errors import ExpressionError, JumpnetError
from jumpnet.guard.text import one_line

Compiled = Callable[[NDArray[np.float64], Sequence[float]], NDArray[np.float64]]
CACHE = 1024  # compiled vectors and derivatives kept; the many pieces of one problem often share a formula

# sympy's own Abs, sign, Max and Min differentiate to complex parts and Dirac deltas; these four differentiate
# to what holds almost everywhere on the real line, which is what collocation needs. Their `eval` is sympy's name for
# what a function makes of numbers; it is given expressions that the whitelist let through, never text.


class RealSign(sympy.Function):
    """-1, 0 or 1; its derivative is taken to be 0."""

    @classmethod
    def eval(cls, arg: Any) -> Any:  # type: ignore[override]
        return sympy.sign(arg) if arg.is_Rational else None

    def fdiff(self, argindex: int = 1) -> Any:
        return sympy.Integer(0)


class RealAbs(sympy.Function):
    """|u| of a real u."""

    @classmethod
    def eval(cls, arg: Any) -> Any:  # type: ignore[override]
        return sympy.Abs(arg) if arg.is_Rational else None

    def fdiff(self, argindex: int = 1) -> Any:
        return RealSign(self.args[0])


class Step(sympy.Function):
    """0 below zero, 1/2 at zero, 1 above; its derivative is taken to be 0."""

    def fdiff(self, argindex: int = 1) -> Any:
        return sympy.Integer(0)


class Larger(sympy.Function):
    """The larger of two real numbers."""

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:  # type: ignore[override]
        return sympy.Max(a, b) if a.is_Rational and b.is_Rational else None

    def fdiff(self, argindex: int = 1) -> Any:
        a, b = self.args
        return Step(a - b) if argindex == 1 else Step(b - a)  # type: ignore[operator]


def larger(*args: Any) -> Any:
    """The largest of the arguments."""
    result = args[0]
    for other in args[1:]:
        result = Larger(result, other)
    return result


def smaller(*args: Any) -> Any:
    """The smallest of the arguments."""
    return -larger(*(-a for a in args))


FUNCTIONS: dict[str, tuple[Callable[..., Any], int, int]] = {  # name: (function, fewest, most arguments)
    "sin": (sympy.sin, 1, 1),
    "cos": (sympy.cos, 1, 1),
    "tan": (sympy.tan, 1, 1),
    "asin": (sympy.asin, 1, 1),
    "acos": (sympy.acos, 1, 1),
    "atan": (sympy.atan, 1, 1),
    "atan2": (sympy.atan2, 2, 2),
    "sinh": (sympy.sinh, 1, 1),
    "cosh": (sympy.cosh, 1, 1),
    "tanh": (sympy.tanh, 1, 1),
    "exp": (sympy.exp, 1, 1),
    "log": (sympy.log, 1, 1),
    "ln": (sympy.log, 1, 1),
    "sqrt": (sympy.sqrt, 1, 1),
    "abs": (RealAbs, 1, 1),
    "sign": (RealSign, 1, 1),
    "min": (smaller, 2, 16),
    "max": (larger, 2, 16),
}


def number(value: int | float) -> Any:
    """A sympy number equal to `value` bit for bit; 0.5 becomes 1/2, so that x**0.5 is a root."""
    if isinstance(value, int):
        return sympy.Integer(value)
    numerator, denominator = value.as_integer_ratio()
    if denominator <= 1024 and abs(numerator) < 2**53:
        return sympy.Rational(numerator, denominator)
    return sympy.Float(value)


class Where(sympy.Piecewise):
    """Cases that are not folded into one another: sympy's way to do so does not end for some of them."""

    @classmethod
    def eval(cls, *cases: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return cases[0].expr if cases[0].cond == sympy.true else None


def where(condition: Any, a: Any, b: Any) -> Any:
    """`a` where the condition holds, `b` elsewhere."""
    return Where((a, condition), (b, True))


def _fraction(p: int, q: int) -> str:
    """A fraction of large integers, which may be beyond float64, as code."""
    try:
        return f"({p / q!r})"
    except OverflowError:
        return "inf" if p > 0 else "(-inf)"


@contextmanager
def real_numbers() -> Iterator[None]:
    """A context for sympy and its code, which raise many things where a formula has no real value; ExpressionError."""
    try:
        yield
    except JumpnetError:
        raise
    except (TypeError, ValueError, ArithmeticError, AttributeError, RecursionError) as problem:
        raise ExpressionError(
            f"a formula has no real values somewhere, or too large ones ({one_line(problem, 200)}); write a formula "
            "that is finite and real, or use a callable."
        ) from problem


class _Printer(NumPyPrinter):
    """NumPy code with every float at full precision (sympy prints 15 digits) and the functions above."""

    def _print_Float(self, expr: Any) -> str:
        return repr(float(expr))

    def _print_Integer(self, expr: Any) -> str:
        return str(expr.p) if abs(expr.p) < 2**53 else _fraction(expr.p, 1)

    def _print_Rational(self, expr: Any) -> str:
        small = max(abs(expr.p), expr.q) < 2**53
        return f"({expr.p}/{expr.q})" if small else _fraction(expr.p, expr.q)

    # In derivatives, where a part divides by zero.
    def _print_ComplexInfinity(self, expr: Any) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        return "nan"

    def _print_RealAbs(self, expr: Any) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_RealSign(self, expr: Any) -> str:
        return f"_sign({self._print(expr.args[0])})"

    def _print_Step(self, expr: Any) -> str:
        return f"_heaviside({self._print(expr.args[0])}, 0.5)"

    def _print_Larger(self, expr: Any) -> str:
        a, b = (self._print(arg) for arg in expr.args)
        return f"_maximum({a}, {b})"

    # Numbers beside arrays: sympy's own code for these three wants arrays of one shape everywhere.

    def _print_And(self, expr: Any) -> str:
        return reduce(lambda a, b: f"_and({a}, {b})", (self._print(arg) for arg in expr.args))

    def _print_Or(self, expr: Any) -> str:
        return reduce(lambda a, b: f"_or({a}, {b})", (self._print(arg) for arg in expr.args))

    def _print_Where(self, expr: Any) -> str:
        text = "nan"
        for value, condition in reversed(expr.args):
            chosen = self._print(value)
            text = chosen if condition == sympy.true else f"_where({self._print(condition)}, {chosen}, {text})"
        return text


# The NumPy functions that compiled formulas call, by name.
_NAMES = {
    **{"_sign": np.sign, "_heaviside": np.heaviside, "_maximum": np.maximum},
    **{"_where": np.where, "_and": np.logical_and, "_or": np.logical_or, "nan": np.nan, "inf": np.inf},
}


@lru_cache(maxsize=CACHE)
def compile_vector(expressions: tuple[Any, ...], symbols: tuple[Any, ...]) -> Compiled:
    """(x (n, d), parameters) -> (n, k), a column per expression; symbols are variables, then parameters."""
    printer = _Printer(
        {
            "fully_qualified_modules": False,
            "inline": True,
            "allow_unknown_functions": True,
            "user_functions": {},
        }
    )
    # Without the docstring, which prints every expression once more, it takes two thirds of the time.
    with real_numbers():
        function = sympy.lambdify(
            list(symbols), list(expressions), [_NAMES, "numpy"], printer=printer, cse=True, docstring_limit=0
        )

    def run(x: NDArray[np.float64], parameters: Sequence[float]) -> NDArray[np.float64]:
        out = np.empty((len(expressions), x.shape[0]))
        with np.errstate(all="ignore"), real_numbers():
            columns = function(*np.ascontiguousarray(x.T), *(np.float64(p) for p in parameters))
            for row, column in zip(out, columns, strict=True):
                # Derivatives of a power of a negative number are complex, which counts as not a number.
                row[:] = np.where(np.imag(column) == 0, np.real(column), np.nan) if np.iscomplexobj(column) else column
        return out.T

    return run


@lru_cache(maxsize=CACHE)
def derivative(expression: Any, symbol: Any) -> Any:
    """d expression / d symbol almost everywhere."""
    with real_numbers():
        return sympy.diff(expression, symbol).replace(sympy.DiracDelta, lambda *_: sympy.Integer(0))
