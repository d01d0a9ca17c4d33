"""The functions and comparisons that formulas may use, and how they are written."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

import numpy as np

DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+(e[-+]?\d+)?")  # a decimal comma, "0,5", for the error message
# A number and what looks like a unit: "5 mm", "10 W/(m K)", "20 °C", "1%".
WITH_UNIT = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-zµμΩ°%][A-Za-z]*)[\w\s/*^().·²³⁻-]*")
# The functions that a formula may call.
FUNCTION_NAMES = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh"),
    *("exp", "log", "ln", "sqrt", "abs", "sign", "min", "max", "where"),
)
# The functions on numbers, in float64.
NUMERIC: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "sign")},
    **{"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "ln": np.log, "abs": np.abs},
    **{"min": lambda *numbers: np.min(numbers), "max": lambda *numbers: np.max(numbers)},
}
# Comparisons: the name in SymPy, and the NumPy function.
RELATIONS: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Lt: ("Lt", np.less),
    ast.LtE: ("Le", np.less_equal),
    ast.Gt: ("Gt", np.greater),
    ast.GtE: ("Ge", np.greater_equal),
}
