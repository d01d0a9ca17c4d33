"""Formulas given as text: a small language, checked on Python's syntax tree and never evaluated as code.

Names are x1..xd (also x, y, z up to three dimensions), r = |x|, theta in the plane, pi, e and the user's
constants; functions are those of `FUNCTION_NAMES`, and `where(x1 < 0, a, b)` chooses between two formulas.
Derivatives come from sympy, values from the NumPy code it writes; sympy is imported with the first formula.
"""

from jumpnet.expressions.expression import Expression, Recompiled, coordinate_names
from jumpnet.expressions.names import FUNCTION_NAMES

__all__ = ["FUNCTION_NAMES", "Expression", "Recompiled", "coordinate_names"]
