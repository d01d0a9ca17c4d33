"""Whether a formula is smooth on a box, by interval arithmetic, and which arguments to search if it may not be.

Narrow structure of a formula comes from a function whose argument is large or changes sign: exp of a steep parabola is
a narrow peak, tanh of a steep line is a layer, `where` is a jump. The arguments themselves are smooth far more often
than the formula is. So bounds of the arguments (interval arithmetic) tell which formulas need no look at all, and the
extrema and zeros of the arguments tell where the others change fastest.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import islice
from typing import Any

from jumpnet.expressions.expression import Expression

# A function is smooth where its argument varies by no more than this over the box: five half-waves of a sine, or a
# Gaussian not narrower than a fifth of the box; one that is singular at zero, where the argument varies by no more than
# a factor of LEVEL. Heuristic: ordinary collocation points resolve that.
GENTLE, LEVEL = 16.0, 100.0
# Arguments with more parts than this together are not searched: compiling them would take tens of milliseconds.
MOST_PARTS = 200

Interval = tuple[float, float]
# Bounds of an argument of which nothing is known.
EVERYTHING: Interval = (-math.inf, math.inf)
# Functions that are smooth for all real arguments, with bounded values.
BOUNDED = {"sin", "cos", "tanh", "atan"}
# All functions that are smooth for all real arguments.
SMOOTH = BOUNDED | {"exp", "sinh", "cosh"}


@lru_cache(maxsize=4096)
def rough_arguments(
    expression: Expression, lower: tuple[float, ...], upper: tuple[float, ...]
) -> tuple[Any, ...] | None:
    """The arguments (sympy) that may give a formula narrow structure on a box; none if it is smooth there.

    None if there are too many to be searched.
    """
    import sympy

    if expression.is_constant:
        return ()
    known: dict[Any, Interval] = dict(zip(expression.symbols, zip(lower, upper, strict=True), strict=True))
    known |= {symbol: (value, value) for symbol, value in expression.parameters.items()}
    walk = _Walk(known)
    walk.bounds(expression.symbolic)
    found = tuple(dict.fromkeys(walk.rough))
    parts = (part for q in found for part in sympy.preorder_traversal(q))
    return found if sum(1 for _ in islice(parts, MOST_PARTS + 1)) <= MOST_PARTS else None


class _Walk:
    """Bounds of the parts of one formula on one box, and the arguments of functions that may be rough there."""

    def __init__(self, known: dict[Any, Interval]) -> None:
        self.known, self.rough = known, list[Any]()

    def bounds(self, node: Any) -> Interval:
        """Bounds of a part, everything if there are none."""
        if node not in self.known:
            try:
                low, high = self._bounds(node)
            except (OverflowError, ValueError, TypeError, ZeroDivisionError):
                low, high = EVERYTHING
            self.known[node] = EVERYTHING if math.isnan(low) or math.isnan(high) else (low, high)
        return self.known[node]

    def _bounds(self, node: Any) -> Interval:
        if node.is_number:
            value = float(node)
            return value, value
        if node.is_Pow:
            return self._power(node)
        if node.is_Add or node.is_Mul:
            low, high = self.bounds(node.args[0])
            for other in node.args[1:]:
                a, b = self.bounds(other)
                corners = (low + a, high + b) if node.is_Add else (low * a, low * b, high * a, high * b)
                low, high = min(corners), max(corners)
            return low, high
        return self._function(type(node).__name__, node)

    def _power(self, node: Any) -> Interval:
        low, high = self.bounds(node.base)
        if node.exp.is_Integer and node.exp.p >= 0:
            power = node.exp.p
            ends = low**power, high**power
            return (0.0 if power % 2 == 0 and low <= 0 <= high else min(ends)), max(ends)
        p, q = self.bounds(node.exp)
        if node.exp.is_Integer and high < 0:
            low, high = -high, -low
        if not 0 < low <= high <= LEVEL * low:
            if low < high:
                self.rough.append(node.base)
            return EVERYTHING
        sizes = [abs(y * math.log(x)) for x in (low, high) for y in (p, q)]
        if q > p and max(sizes) > GENTLE:
            self.rough.append(node.exp)
        ends = [x**y for x in (low, high) for y in (p, q)]
        return -max(ends), max(ends)

    def _function(self, name: str, node: Any) -> Interval:
        """Bounds of functions; kinks and jumps are smooth where their argument keeps its sign."""
        if name == "Where":
            return self._where(node)
        low, high = self.bounds(node.args[0])
        if name in ("Larger", "atan2"):
            return self._of_two(name, node, (low, high))
        if name in ("RealAbs", "RealSign", "Step"):
            if low < 0 < high:
                self.rough.append(node.args[0])
            largest = max(abs(low), abs(high)) if name == "RealAbs" else 1.0
            return (0.0 if name == "RealAbs" else -1.0), largest
        if name == "log" and 0 < low <= high <= LEVEL * low:
            return math.log(low), math.log(high)
        if (name not in SMOOTH and low < high) or not high - low <= GENTLE:
            self.rough.append(node.args[0])
            if name not in SMOOTH:
                return EVERYTHING
        if name in BOUNDED:
            return -2.0, 2.0
        if name == "exp":
            return math.exp(low), math.exp(high)
        largest = math.cosh(max(abs(low), abs(high)))
        return -largest, largest

    def _of_two(self, name: str, node: Any, first: Interval) -> Interval:
        (low, high), (a, b) = first, self.bounds(node.args[1])
        if name == "atan2":
            if a <= 0 and low <= 0 <= high:  # the branch cut, or the origin
                self.rough += node.args
            return -math.pi, math.pi
        if low < b and a < high:
            self.rough.append(node.args[0] - node.args[1])
        return max(low, a), max(high, b)

    def _where(self, node: Any) -> Interval:
        import sympy

        for relation in node.atoms(sympy.core.relational.Relational):
            difference = relation.lhs - relation.rhs
            low, high = self.bounds(difference)
            if low < 0 < high:
                self.rough.append(difference)
        branches = [self.bounds(value) for value, _ in node.args]
        return min(low for low, _ in branches), max(high for _, high in branches)
