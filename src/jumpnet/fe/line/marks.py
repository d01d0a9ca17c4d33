"""Points that formulas name: zeros of the polynomials in x that occur in them.

`where(x1 < 0.3, 1, 2)` jumps at 0.3, `exp(-((x1 - 0.3)/1e-9)**2)` is narrow there: no sampling finds that, but the text
of the formula shows it. Callables have no text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from jaxtyping import Float

from jumpnet.expressions import Expression
from jumpnet.fields import ConstantField, ExpressionField

FORMULAS = 100  # that are read: each takes about a millisecond
MOST = 200  # the most marks: a formula with more is not a description of a few features
DEGREE = 6  # of polynomials whose zeros are looked for


def marks_of(functions: Iterable[Any]) -> Float[np.ndarray, " s"]:
    """The marks of fields and of what they are made of, in order."""
    different = {(one.text, one.constants): one for function in functions for one in _expressions(function)}
    found = np.unique([zero for one in list(different.values())[:FORMULAS] for zero in _zeros(one)])
    return found if len(found) <= MOST else np.zeros(0)


def _expressions(function: Any) -> Iterator[Expression]:
    """The formulas in a field: its own, its entries', those of the fields from which it is derived."""
    if isinstance(function, ExpressionField):
        yield function.expression
    elif not isinstance(function, ConstantField):
        parts = [getattr(function, name, None) for name in ("field", "matrix", "u", "A", "lam")]
        for part in (*parts, *getattr(function, "entries", ())):
            if part is not None and not callable(part):
                yield from _expressions(part)


def _zeros(expression: Expression) -> Iterator[float]:
    """Real zeros of polynomials among the sums and comparisons in a formula."""
    import sympy
    from sympy.core.relational import Relational

    x = expression.symbols[0]
    formula = expression.symbolic.subs(dict(expression.parameters))
    part: Any
    for part in sympy.preorder_traversal(formula):
        if isinstance(part, Relational):
            lhs, rhs = (one for one in part.args)
            part = lhs - rhs  # pyright: ignore[reportOperatorIssue]
        elif part == x:
            yield 0.0
        if not getattr(part, "is_Add", False) or not part.has(x) or not part.is_polynomial(x):
            continue
        terms = sympy.Poly(part, x)
        if 1 <= terms.degree() <= DEGREE:
            roots = np.roots([float(c) for c in terms.all_coeffs()])
            yield from roots.real[np.abs(roots.imag) <= 1e-9 * np.abs(roots)].tolist()
