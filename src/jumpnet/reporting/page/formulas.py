"""Formulas as MathML, drawn by the browser itself: what the user wrote, not what sympy made of it."""

import ast
from collections.abc import Callable

from jumpnet.reporting.page.escaping import escape

LONGEST = 120  # characters of a formula; a longer one is shown as it was typed
GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "theta": "θ", "kappa": "κ", "lam": "λ",
    "lambda_": "λ", "mu": "μ", "nu": "ν", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "omega": "ω",
}  # fmt: skip
SUM, PRODUCT, SIGN, POWER, ATOM = range(5)  # how tightly an operation binds
# Comparison operators as HTML.
COMPARISONS = {ast.Lt: "&lt;", ast.LtE: "≤", ast.Gt: "&gt;", ast.GtE: "≥", ast.Eq: "=", ast.NotEq: "≠"}

Drawn = tuple[str, int]


def formula(text: str) -> str:
    """A formula in x1, x2, ... as a math element, or as it was typed where that is long or unusual."""
    text = " ".join(text.split())
    if len(text) <= LONGEST:
        try:
            return f"<math>{_drawn(ast.parse(text, mode='eval').body)[0]}</math>"
        except (SyntaxError, KeyError, RecursionError, ValueError):
            pass
    return f"<code>{escape(text)}</code>"


def number(value: float) -> str:
    """A number as a math element, with powers of ten where it has them."""
    return f"<math>{_number(value)}</math>"


def _number(value: float) -> str:
    digits, _, power = f"{value:.8g}".partition("e")
    if not power:
        return f"<mn>{digits.replace('-', '−')}</mn>"
    base = "" if digits == "1" else f"<mn>{digits.replace('-', '−')}</mn><mo>·</mo>"
    return f"<mrow>{base}<msup><mn>10</mn><mn>{str(int(power)).replace('-', '−')}</mn></msup></mrow>"


def name(text: str) -> str:
    """A name: Greek where it is, digits at its end as an index."""
    stem = text.rstrip("0123456789").rstrip("_")
    index = text[len(text.rstrip("0123456789")) :]
    shown = f"<mi>{escape(GREEK.get(stem, stem))}</mi>"
    return f"<msub>{shown}<mn>{index}</mn></msub>" if index and stem else f"<mi>{escape(text)}</mi>" if index else shown


def _drawn(node: ast.expr) -> Drawn:
    """MathML of a node, and how tightly its outermost operation binds; KeyError for what is not a formula."""
    kinds: dict[type, Callable[..., Drawn]] = {
        ast.Constant: _constant,
        ast.Name: lambda n: (name(n.id), ATOM),
        ast.UnaryOp: _unary,
        ast.BinOp: _binary,
        ast.Call: _call,
        ast.Compare: _compare,
    }
    return kinds[type(node)](node)


def _constant(node: ast.Constant) -> Drawn:
    if isinstance(node.value, bool) or not isinstance(node.value, int | float):
        raise KeyError(node.value)
    shown = _number(node.value)
    return shown, ATOM if shown.startswith("<mn>") else PRODUCT


def _within(node: ast.expr, least: int) -> str:
    """A part, in brackets where it binds less tightly than what stands around it."""
    shown, binds = _drawn(node)
    return shown if binds >= least else _bracketed(shown)


def _bracketed(shown: str) -> str:
    """In brackets, which are as tall as what they hold only around fractions and matrices."""
    tall = "<mfrac" in shown or "<mtable" in shown
    left, right = (f"<mo>{c}</mo>" if tall else f'<mo stretchy="false">{c}</mo>' for c in "()")
    return f"<mrow>{left}{shown}{right}</mrow>"


def _unary(node: ast.UnaryOp) -> Drawn:
    sign = {ast.USub: "−", ast.UAdd: "+"}[type(node.op)]
    return f"<mrow><mo>{sign}</mo>{_within(node.operand, PRODUCT)}</mrow>", SUM


def _binary(node: ast.BinOp) -> Drawn:
    kind = type(node.op)
    if kind in (ast.Add, ast.Sub):
        sign = "+" if kind is ast.Add else "−"
        right = _within(node.right, SUM if kind is ast.Add else PRODUCT)
        return f"<mrow>{_within(node.left, SUM)}<mo>{sign}</mo>{right}</mrow>", SUM
    if kind is ast.Mult:
        # Between two numbers a dot is needed, between letters a thin space reads better.
        dot = "·" if isinstance(node.right, ast.Constant) else "\u2062"
        return f"<mrow>{_within(node.left, PRODUCT)}<mo>{dot}</mo>{_within(node.right, PRODUCT)}</mrow>", PRODUCT
    if kind is ast.Div:
        return f"<mfrac>{_drawn(node.left)[0]}{_drawn(node.right)[0]}</mfrac>", ATOM
    if kind is ast.Pow:
        return f"<msup>{_within(node.left, ATOM)}{_drawn(node.right)[0]}</msup>", POWER
    raise KeyError(kind)


def _call(node: ast.Call) -> Drawn:
    if not isinstance(node.func, ast.Name) or node.keywords:
        raise KeyError("call")
    function, parts = node.func.id, [_drawn(part)[0] for part in node.args]
    if function == "sqrt" and len(parts) == 1:
        return f"<msqrt>{parts[0]}</msqrt>", ATOM
    if function == "abs" and len(parts) == 1:
        return f"<mrow><mo>|</mo>{parts[0]}<mo>|</mo></mrow>", ATOM
    if function == "exp" and len(parts) == 1:
        return f"<msup><mi>e</mi>{parts[0]}</msup>", POWER
    if function == "where" and len(parts) == 3:
        condition, yes, no = parts
        rows = f"<mtr><mtd>{yes}</mtd><mtd><mtext>if&nbsp;</mtext>{condition}</mtd></mtr>"
        rows += f"<mtr><mtd>{no}</mtd><mtd><mtext>else</mtext></mtd></mtr>"
        return f"<mrow><mo>{{</mo><mtable>{rows}</mtable></mrow>", SUM
    inner = "<mo>,</mo>".join(parts)
    return f"<mrow><mi>{escape(function)}</mi>{_bracketed(inner)}</mrow>", ATOM


def _compare(node: ast.Compare) -> Drawn:
    shown = _within(node.left, SUM)
    for operator, right in zip(node.ops, node.comparators, strict=True):
        shown += f"<mo>{COMPARISONS[type(operator)]}</mo>{_within(right, SUM)}"
    return f"<mrow>{shown}</mrow>", SUM
