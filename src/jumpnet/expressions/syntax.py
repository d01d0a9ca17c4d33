"""From text to a sympy expression by way of Python's syntax tree; whatever is not a formula is refused."""

from __future__ import annotations

import ast
import difflib
import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from jumpnet.errors import ExpressionError

MAX_LENGTH = 10_000
MAX_DEPTH = 150  # nesting; Python's recursion limit is 1,000 and each level costs up to three frames
MAX_EXPONENT = 100
MAX_BITS = 1_000  # of an integer: more would not fit a float64

FUNCTION_NAMES = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh"),
    *("exp", "log", "ln", "sqrt", "abs", "sign", "min", "max", "where"),
)


def shorten(text: object, limit: int = 60) -> str:
    """`repr` of what the user gave, on one line and not longer than an error message can bear."""
    shown = " ".join(repr(text).split())
    return shown if len(shown) <= limit else shown[: limit - 4] + "..." + shown[-1]


class Builder:
    """Walks the syntax tree of one text and builds the sympy expression, or says why not."""

    def __init__(self, text: str, names: Mapping[str, Any], what: str, constants: Mapping[str, float]) -> None:
        import sympy

        self.text, self.what = text, what
        self.parameters = {sympy.Symbol(name, real=True): value for name, value in constants.items()}
        self.names = {**names, **{str(symbol): symbol for symbol in self.parameters}}

    def fail(self, reason: str) -> NoReturn:
        raise ExpressionError(f"{self.what} = {shorten(self.text)}: {reason}")

    def result(self) -> tuple[Any, dict[Any, float]]:
        """The expression, and the symbols in it that stand for numbers."""
        import sympy

        value = self.build(self.tree(), 0)
        if value.has(sympy.zoo, sympy.oo, -sympy.oo, sympy.nan):
            self.fail("it divides by zero; a finite formula is wanted.")
        if value.has(sympy.I):
            self.fail("it is not real, e.g. a root or logarithm of a negative number; a real formula is wanted.")
        return value, self.parameters

    def tree(self) -> ast.expr:
        if not isinstance(self.text, str) or not self.text.strip():
            self.fail("it is empty; a formula such as 'x1**2 + 1' is wanted.")
        if len(self.text) > MAX_LENGTH:
            self.fail(f"it has {len(self.text)} characters; at most {MAX_LENGTH} are read, use a callable instead.")
        if not self.text.isascii():
            odd = next(c for c in self.text if not c.isascii())
            self.fail(f"the character {odd!r} is not ASCII; write names and operators in plain letters.")
        if "#" in self.text:
            self.fail("# is not allowed; leave comments out of formulas.")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(" ".join(self.text.split()), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.fail("it cannot be read as a formula; write products with * and powers with **, e.g. '2*x1**2'.")

    def build(self, node: ast.expr, depth: int) -> Any:
        if depth > MAX_DEPTH:
            self.fail(f"it is nested more than {MAX_DEPTH} deep; use a callable instead.")
        builders: dict[type, Callable[[Any, int], Any]] = {
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

    def bounded(self, value: Any) -> Any:
        if value.is_Rational and max(value.p.bit_length(), value.q.bit_length()) > MAX_BITS:
            self.fail(f"it contains an integer of more than {MAX_BITS} bits; write it as a decimal, e.g. 1e300.")
        if value.is_number and value.is_extended_real is False and value.is_finite:
            self.fail("it is not real, e.g. a root or logarithm of a negative number; a real formula is wanted.")
        return value

    def constant(self, node: ast.Constant, depth: int) -> Any:
        import sympy

        from jumpnet.expressions.symbolic import number

        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            self.fail(f"{shorten(node.value)} is not a real number; use numbers such as 2 or 1.5e-3.")
        if isinstance(node.value, float) and not math.isfinite(node.value):
            self.fail("it contains a number too large for float64; write a smaller one.")
        value = number(node.value)
        if not value.is_Float:
            return value
        symbol = sympy.Symbol(f"_decimal{len(self.parameters)}", real=True)
        self.parameters[symbol] = node.value
        return symbol

    def name(self, node: ast.Name, depth: int) -> Any:
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

    def unary(self, node: ast.UnaryOp, depth: int) -> Any:
        if isinstance(node.op, ast.USub):
            return -self.build(node.operand, depth + 1)
        if isinstance(node.op, ast.UAdd):
            return self.build(node.operand, depth + 1)
        self.fail(f"{_kind(node.op)} is not allowed; use numbers, names, + - * / ** and functions only.")

    def binary(self, node: ast.BinOp, depth: int) -> Any:
        left, right = self.build(node.left, depth + 1), self.build(node.right, depth + 1)
        match node.op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div():
                return left / right
            case ast.Pow():
                return self.power(left, right)
            case ast.BitXor():
                self.fail("^ is not a power here; write **.")
        self.fail(f"{_kind(node.op)} is not allowed; use + - * / and ** only.")

    def power(self, base: Any, exponent: Any) -> Any:
        from jumpnet.expressions.symbolic import number

        # A symbol as exponent would differentiate x**k to k*x**k/x, not finite at 0: its number goes in.
        exponent = exponent.subs({symbol: number(value) for symbol, value in self.parameters.items()})
        if exponent.is_number and not abs(exponent) <= MAX_EXPONENT:
            self.fail(f"an exponent is larger than {MAX_EXPONENT}; use exp(...) or a smaller one.")
        return base**exponent

    def call(self, node: ast.Call, depth: int) -> Any:
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
            return where(self.condition(node.args[0], depth + 1), a, b)
        if name not in FUNCTIONS:
            if name in self.names:
                self.fail(f"{name} is not a function; write products with *, e.g. {name}*(...).")
            self.fail(f"the function {shorten(name)} is unknown; {self.suggest(name, FUNCTION_NAMES, 'functions')}")
        function, fewest, most = FUNCTIONS[name]
        if not fewest <= len(node.args) <= most:
            wanted = f"{fewest} argument{'s' * (fewest > 1)}" if fewest == most else f"{fewest} to {most} arguments"
            self.fail(f"{name} takes {wanted} and was given {len(node.args)}.")
        return function(*(self.build(arg, depth + 1) for arg in node.args))

    def condition(self, node: ast.expr, depth: int) -> Any:
        import sympy

        if depth > MAX_DEPTH:
            self.fail(f"it is nested more than {MAX_DEPTH} deep; use a callable instead.")
        if isinstance(node, ast.BoolOp):
            join = sympy.And if isinstance(node.op, ast.And) else sympy.Or
            return join(*(self.condition(v, depth + 1) for v in node.values))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return sympy.Not(self.condition(node.operand, depth + 1))
        relations = {ast.Lt: sympy.Lt, ast.LtE: sympy.Le, ast.Gt: sympy.Gt, ast.GtE: sympy.Ge}
        if not isinstance(node, ast.Compare) or any(type(op) not in relations for op in node.ops):
            self.fail("the condition of where must compare by < <= > >=, joined by and, or, not.")
        terms = [self.build(term, depth + 1) for term in (node.left, *node.comparators)]
        pairs = zip(node.ops, terms[:-1], terms[1:], strict=True)
        return sympy.And(*(relations[type(op)](a, b) for op, a, b in pairs))


def _kind(node: ast.AST) -> str:
    """A word for a piece of syntax, for error messages."""
    words = {
        ast.Attribute: "attribute access",
        ast.Subscript: "indexing",
        ast.IfExp: "if/else",
        ast.Lambda: "lambda",
    }
    return words.get(type(node), type(node).__name__)
