"""Parses text to a sympy expression through Python's syntax tree, and refuses everything that is not a formula.

Every part without variables has its value in float64 beside the symbols, and all decisions about numbers (signs,
comparisons, exponents) are made with that: sympy would evaluate sin(exp(exp(20))) to as many digits as it needs.
"""

from __future__ import annotations

import ast
import difflib
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from jumpnet.errors import ExpressionError
from jumpnet.expressions.names import DECIMAL_COMMA, FUNCTION_NAMES, NUMERIC, RELATIONS, WITH_UNIT
from jumpnet.guard.text import shorten

MAX_LENGTH = 10_000  # characters of a formula
MAX_DEPTH = 150  # nesting; Python's recursion limit is 1,000 and each level costs up to three frames
MAX_EXPONENT = 100  # larger powers overflow float64 for all but a narrow range of arguments
MAX_BITS = 1_000  # of an integer: more would not fit a float64
EXACT_BITS = 64  # longer ones are decimals: sympy would expand 2**(9**99 + x1)


@dataclass(frozen=True)
class Term:
    """A part of a formula: as sympy has it, and its value in float64 where no variable is in it."""

    symbolic: Any
    value: float | None = None

    @property
    def number(self) -> float | None:
        """The value of a part in which sympy has left no symbol at all: a fraction, pi, e, and sums and products."""
        if not self.symbolic.is_number:
            return None
        return float(self.symbolic) if self.value is None else self.value


class Builder:
    """Walks the syntax tree of one text and builds the sympy expression, or says why not."""

    def __init__(self, text: str, names: Mapping[str, Any], what: str, constants: Mapping[str, float]) -> None:
        import sympy

        self.text, self.what = text, what
        # Names of their own: a constant may be called like a function in the code that is written from the formula.
        symbols = {name: sympy.Symbol(f"_constant_{name}", real=True) for name in constants}
        self.parameters = {symbols[name]: value for name, value in constants.items()}
        known = {"pi": math.pi, "e": math.e, **constants}
        self.names = {name: Term(symbol, known.get(name)) for name, symbol in {**names, **symbols}.items()}

    def fail(self, reason: str) -> NoReturn:
        raise ExpressionError(f"{self.what} = {shorten(self.text)}: {reason}")

    def result(self) -> tuple[Any, dict[Any, float]]:
        """The expression, and the symbols in it that stand for numbers."""
        import sympy

        from jumpnet.expressions.symbolic import real_numbers

        tree = self.tree()
        try:
            with np.errstate(all="ignore"), real_numbers():
                value = self.build(tree, 0).symbolic
        except ExpressionError as problem:
            if problem.__cause__ is None:
                raise
            self.fail("it is not real or not finite somewhere; a real formula is wanted.")
        if value.has(sympy.zoo, sympy.oo, -sympy.oo, sympy.nan):
            self.fail("it divides by zero; a finite formula is wanted.")
        if value.has(sympy.I):
            self.fail("it is not real, e.g. a root or logarithm of a negative number; a real formula is wanted.")
        return value, self.parameters

    def decimal(self, value: float) -> Term:
        """A number that is not a fraction, as a symbol with this value."""
        import sympy

        symbol = sympy.Symbol(f"_decimal{len(self.parameters)}", real=True)
        self.parameters[symbol] = value
        return Term(symbol, value)

    def tree(self) -> ast.expr:
        if not isinstance(self.text, str) or not self.text.strip():
            self.fail("it is empty; a formula such as 'x1**2 + 1' is wanted.")
        if len(self.text) > MAX_LENGTH:
            self.fail(f"it has {len(self.text)} characters; at most {MAX_LENGTH} are read, use a callable instead.")
        unit = WITH_UNIT.fullmatch(self.text.strip())
        if unit and unit[2] not in (*self.names, *FUNCTION_NAMES):
            self.fail(f"numbers stand without units; convert all data to units that fit, and write {unit[1]}.")
        if not self.text.isascii():
            odd = next(c for c in self.text if not c.isascii())
            self.fail(f"the character {odd!r} is not ASCII; write names and operators in plain letters.")
        if "#" in self.text:
            self.fail("# is not allowed; leave comments out of formulas.")
        if DECIMAL_COMMA.fullmatch(self.text.strip()):
            self.fail("it has a decimal comma; write a point.")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(" ".join(self.text.split()), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.fail("it cannot be read as a formula; write products with * and powers with **, e.g. '2*x1**2'.")

    def build(self, node: ast.expr, depth: int) -> Term:
        if depth > MAX_DEPTH:
            self.fail(f"it is nested more than {MAX_DEPTH} deep; use a callable instead.")
        builders: dict[type, Callable[[Any, int], Term]] = {
            ast.Constant: self.constant,
            ast.Name: self.name,
            ast.UnaryOp: self.unary,
            ast.BinOp: self.binary,
            ast.Call: self.call,
        }
        builder = builders.get(type(node))
        if builder is None:
            if isinstance(node, ast.Compare | ast.BoolOp):
                self.fail("a comparison may stand only as the first argument of where(condition, a, b).")
            self.fail(f"{_kind(node)} is not allowed; use numbers, names, + - * / ** and functions only.")
        return self.bounded(builder(node, depth))

    def bounded(self, term: Term) -> Term:
        symbolic = term.symbolic
        bits = max(symbolic.p.bit_length(), symbolic.q.bit_length()) if symbolic.is_Rational else 0
        if bits > MAX_BITS:
            self.fail(f"it contains an integer of more than {MAX_BITS} bits; write it as a decimal, e.g. 1e300.")
        if bits > EXACT_BITS:
            return self.decimal(float(symbolic))
        if term.value is not None and math.isnan(term.value):
            self.fail("it is not real, e.g. a root or logarithm of a negative number; a real formula is wanted.")
        return term

    def constant(self, node: ast.Constant, depth: int) -> Term:
        from jumpnet.expressions.symbolic import number

        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            self.fail(f"{shorten(node.value)} is not a real number; use numbers such as 2 or 1.5e-3.")
        if isinstance(node.value, int) and node.value.bit_length() > MAX_BITS:
            self.fail(f"it contains an integer of more than {MAX_BITS} bits; write it as a decimal, e.g. 1e300.")
        if not math.isfinite(node.value):
            self.fail("it contains a number too large for float64; write a smaller one.")
        value = number(node.value)
        return self.decimal(node.value) if value.is_Float else Term(value, float(node.value))

    def name(self, node: ast.Name, depth: int) -> Term:
        if node.id in self.names:
            return self.names[node.id]
        if node.id in FUNCTION_NAMES:
            self.fail(f"the function {node.id} has no argument; write {node.id}(...).")
        self.fail(f"the name {shorten(node.id)} is unknown; {self.suggest(node.id, tuple(self.names), 'names')}")

    @staticmethod
    def suggest(name: str, known: tuple[str, ...], kind: str) -> str:
        coordinates = [k for k in known if k[0] == "x" and k[1:].isdigit()]
        if name[0] == "x" and name[1:].isdigit() and coordinates:
            return f"the coordinates are {coordinates[0]} to {coordinates[-1]}."
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        return f"did you mean {near[0]!r}?" if near else f"known {kind} are {', '.join(known)}."

    def unary(self, node: ast.UnaryOp, depth: int) -> Term:
        if not isinstance(node.op, ast.USub | ast.UAdd):
            self.fail(f"{_kind(node.op)} is not allowed; use numbers, names, + - * / ** and functions only.")
        term = self.build(node.operand, depth + 1)
        if isinstance(node.op, ast.UAdd):
            return term
        return Term(-term.symbolic, None if term.value is None else -term.value)

    def binary(self, node: ast.BinOp, depth: int) -> Term:
        left, right = self.build(node.left, depth + 1), self.build(node.right, depth + 1)
        known = left.value is not None and right.value is not None
        a, b = np.float64(left.value or 0.0), np.float64(right.value or 0.0)
        match node.op:
            case ast.Add():
                return Term(left.symbolic + right.symbolic, float(a + b) if known else None)
            case ast.Sub():
                return Term(left.symbolic - right.symbolic, float(a - b) if known else None)
            case ast.Mult():
                return Term(left.symbolic * right.symbolic, float(a * b) if known else None)
            case ast.Div():
                if right.number == 0:
                    self.fail("it divides by zero; a finite formula is wanted.")
                return Term(left.symbolic / right.symbolic, float(a / b) if known else None)
            case ast.Pow():
                return self.power(left, right)
            case ast.BitXor():
                self.fail("^ is not a power here; write **.")
        self.fail(f"{_kind(node.op)} is not allowed; use + - * / and ** only.")

    def power(self, base: Term, exponent: Term) -> Term:
        from jumpnet.expressions.symbolic import number

        power = exponent.number if exponent.value is None else exponent.value
        if power is None:
            return Term(base.symbolic ** self.small(exponent.symbolic))
        if not abs(power) <= MAX_EXPONENT:
            self.fail(f"an exponent is larger than {MAX_EXPONENT}; use exp(...) or a smaller one.")
        # A symbol as exponent would differentiate x**k to k*x**k/x, not finite at 0: its number goes in.
        written = exponent.symbolic if exponent.symbolic.is_Rational else number(power)
        value = None if base.value is None else float(np.float64(base.value) ** power)
        if base.number == 0 and power < 0:
            self.fail("it divides by zero; a finite formula is wanted.")
        if value is not None and math.isinf(value):
            self.fail("it contains a number too large for float64; write a smaller one.")
        if base.number is None or value is None or (base.symbolic.is_Rational and written.is_Integer):
            return Term(base.symbolic**written, value)
        return self.decimal(value)

    def small(self, exponent: Any) -> Any:
        """An exponent with variables; its large numbers are decimals, since sympy expands 2**(10**9 + x1)."""
        return exponent.replace(
            lambda part: part.is_Rational and abs(part) > MAX_EXPONENT, lambda part: self.decimal(float(part)).symbolic
        )

    def call(self, node: ast.Call, depth: int) -> Term:
        from jumpnet.expressions.symbolic import FUNCTIONS, where

        if not isinstance(node.func, ast.Name):
            self.fail("only functions by name may be called, e.g. sin(x1).")
        name = node.func.id
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            self.fail(f"{name} takes plain arguments only, e.g. {name}(x1).")
        if name == "where":
            if len(node.args) != 3:
                self.fail(f"where takes 3 arguments, where(condition, a, b), and was given {len(node.args)}.")
            a, b = (self.build(arg, depth + 1) for arg in node.args[1:])
            condition, holds = self.condition(node.args[0], depth + 1)
            return Term(where(condition, a.symbolic, b.symbolic)) if holds is None else a if holds else b
        if name not in FUNCTIONS:
            if name in self.names:
                self.fail(f"{name} is not a function; write products with *, e.g. {name}*(...).")
            self.fail(f"the function {shorten(name)} is unknown; {self.suggest(name, FUNCTION_NAMES, 'functions')}")
        function, fewest, most = FUNCTIONS[name]
        if not fewest <= len(node.args) <= most:
            wanted = f"{fewest} argument{'s' * (fewest > 1)}" if fewest == most else f"{fewest} to {most} arguments"
            self.fail(f"{name} takes {wanted} and was given {len(node.args)}.")
        return self.applied(name, function, [self.build(arg, depth + 1) for arg in node.args])

    def applied(self, name: str, function: Callable[..., Any], args: list[Term]) -> Term:
        """A function of parts; one of numbers alone is a number."""
        numbers = [term.number for term in args]
        if None not in numbers:
            if name in ("log", "ln") and numbers[0] == 0:
                self.fail("it divides by zero; a finite formula is wanted.")
            value = float(NUMERIC[name](*map(np.float64, numbers)))
            return self._whole(value)
        values = [term.value for term in args]
        value = None if None in values else float(NUMERIC[name](*map(np.float64, values)))
        return Term(function(*(term.symbolic for term in args)), value)

    def _whole(self, value: float) -> Term:
        """A number found in float64; as itself if it is whole and small, so that sqrt(4) is 2."""
        from jumpnet.expressions.symbolic import number

        return Term(number(int(value)), value) if value.is_integer() and abs(value) < 2**20 else self.decimal(value)

    def condition(self, node: ast.expr, depth: int) -> tuple[Any, bool | None]:
        """A condition as sympy has it, and whether it holds, where only numbers are compared."""
        import sympy

        if depth > MAX_DEPTH:
            self.fail(f"it is nested more than {MAX_DEPTH} deep; use a callable instead.")
        if isinstance(node, ast.BoolOp):
            every = isinstance(node.op, ast.And)
            return _joined([self.condition(v, depth + 1) for v in node.values], every)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            symbolic, holds = self.condition(node.operand, depth + 1)
            return sympy.Not(symbolic), None if holds is None else not holds
        if not isinstance(node, ast.Compare) or any(type(op) not in RELATIONS for op in node.ops):
            self.fail("the condition of where must compare by < <= > >=, joined by and, or, not.")
        terms = [self.build(term, depth + 1) for term in (node.left, *node.comparators)]
        pairs = zip(node.ops, terms[:-1], terms[1:], strict=True)
        return _joined([_compared(type(op), a, b) for op, a, b in pairs], True)


def _compared(kind: type, a: Term, b: Term) -> tuple[Any, bool | None]:
    import sympy

    name, numeric = RELATIONS[kind]
    if a.number is not None and b.number is not None:
        holds = bool(numeric(a.number, b.number))
        return sympy.true if holds else sympy.false, holds
    found = getattr(sympy, name)(a.symbolic, b.symbolic)
    return found, bool(found) if found in (sympy.true, sympy.false) else None


def _joined(found: list[tuple[Any, bool | None]], every: bool) -> tuple[Any, bool | None]:
    """Conditions joined by `and` (every) or `or`."""
    import sympy

    known = [holds for _, holds in found if holds is not None]
    if (not every) in known:
        return sympy.false if every else sympy.true, not every
    open_ = [symbolic for symbolic, holds in found if holds is None]
    if not open_:
        return sympy.true if every else sympy.false, every
    joined = (sympy.And if every else sympy.Or)(*open_)
    return joined, bool(joined) if joined in (sympy.true, sympy.false) else None


def _kind(node: ast.AST) -> str:
    """A word for a piece of syntax, for error messages."""
    words = {
        ast.Attribute: "attribute access",
        ast.Subscript: "indexing",
        ast.IfExp: "if/else",
        ast.Lambda: "lambda",
    }
    return words.get(type(node), type(node).__name__)
