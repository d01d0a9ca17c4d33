"""The language of formulas: values and derivatives against NumPy and differences, and what it refuses."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jumpnet import expressions
from jumpnet.errors import ExpressionError, JumpnetError
from jumpnet.expressions import Expression

POINTS = np.random.default_rng(0).uniform(-1.0, 1.0, (50, 2))
X, Y = POINTS.T

VALUES = {
    "0.1*x1": 0.1 * X,
    "1.2345678901234567*x2": 1.2345678901234567 * Y,
    "x + y": X + Y,
    "-x1 + +x2": Y - X,
    "x1**2/3 - 2**x2": X**2 / 3 - 2**Y,
    "r*cos(theta)": X,
    "r*sin(theta)": Y,
    "abs(x1 - 0.3)**1.5": np.abs(X - 0.3) ** 1.5,
    "max(x1, 0, x2)": np.maximum(np.maximum(X, 0), Y),
    "min(0.1, x1)": np.minimum(0.1, X),
    "sign(x1)*sqrt(x1**2)": X,
    "ln(x1 + 3) + log(x2 + 3)": np.log(X + 3) + np.log(Y + 3),
    "sin(x1) + cos(x2) + tan(x1)": np.sin(X) + np.cos(Y) + np.tan(X),
    "asin(x1) + acos(x2) + atan(x1) + atan2(x2, x1 + 3)": np.arcsin(X)
    + np.arccos(Y)
    + np.arctan(X)
    + np.arctan2(Y, X + 3),
    "sinh(x1)*cosh(x2) + tanh(x1)": np.sinh(X) * np.cosh(Y) + np.tanh(X),
    "where(x1 < 0 and -0.7 < x2 <= 0.7 or not x1 < 0.5, x1, exp(x2))": np.where(
        ((X < 0) & (Y > -0.7) & (Y <= 0.7)) | (X >= 0.5), X, np.exp(Y)
    ),
    "where(1 < 2, x1, x2)": X,
    "3": np.full(50, 3.0),
    "pi*e": np.full(50, np.pi * np.e),
    "1e300*x1/1e300": X,
    "10**20*x1": 1e20 * X,
    "x1\n  + x2": X + Y,
    "0*x1": np.zeros(50),
}


@pytest.mark.parametrize("text", VALUES)
def test_values_are_those_of_numpy(text):
    expression = Expression.parse(text, 2)
    value = expression(POINTS)
    assert value.shape == (50,) and value.dtype == np.float64
    np.testing.assert_allclose(value, VALUES[text], rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("text", VALUES)
def test_derivatives_against_finite_differences(text):
    expression = Expression.parse(text, 2)
    gradient, hessian = expression.compiled(1), expression.compiled(2)
    h, step = 1e-6, np.eye(2)
    scale = 1.0 + np.abs(expression(POINTS)).max()
    for i in range(2):
        up, down = POINTS + h * step[i], POINTS - h * step[i]
        slope = (expression(up) - expression(down)) / (2 * h)
        np.testing.assert_allclose(gradient(POINTS)[:, i] / scale, slope / scale, atol=1e-8)
        slopes = (gradient(up) - gradient(down)) / (2 * h)
        np.testing.assert_allclose(hessian(POINTS).reshape(-1, 2, 2)[:, i] / scale, slopes / scale, atol=1e-7)


def test_every_decimal_keeps_all_its_digits():
    numbers = np.random.default_rng(1).uniform(-1e3, 1e3, 30).tolist() + [1 / 3, 1e-300, 1.1e300, 0.5, 2.0]
    for number in numbers:
        assert Expression.parse(repr(number), 1)(np.zeros((1, 1)))[0] == number


def test_powers_are_finite_at_zero_with_named_and_decimal_exponents():
    zero = np.zeros((1, 1))
    for text in ("x**k", "x**1.7", "x**(k + 0.3)", "abs(x)**k"):
        expression = Expression.parse(text, 1, {"k": 1.7})
        assert expression(zero)[0] == 0.0
        assert expression.compiled(1)(zero)[0, 0] == 0.0


def test_constants_are_numbers_with_names():
    expression = Expression.parse("k*x1 + depth", 2, {"k": 2.5, "depth": -1.0})
    np.testing.assert_array_equal(expression(POINTS), 2.5 * X - 1.0)
    assert not expression.is_constant
    assert Expression.parse("k*2", 2, {"k": 2.5}).is_constant


def test_formulas_that_differ_in_numbers_share_their_code():
    from jumpnet.expressions.symbolic import compile_vector

    Expression.parse("0.3*exp(sin(0.7*x1))", 2).compiled(2)
    before = compile_vector.cache_info().misses
    other = Expression.parse("0.31*exp(sin(0.71*x1))", 2).compiled(2)
    assert compile_vector.cache_info().misses == before
    curve = 0.31 * np.exp(np.sin(0.71 * X)) * 0.71**2 * (np.cos(0.71 * X) ** 2 - np.sin(0.71 * X))
    np.testing.assert_allclose(other(POINTS)[:, 0], curve, rtol=1e-13)


WRONG = {
    "x3": "x3",
    "sinn(x1)": "sin",
    "kappa*x1": "kappa",
    "x1.real": "attribute",
    "__import__('os')": "__import__",
    "(lambda: 1)()": "by name",
    "x1^2": "**",
    "2x1": "*",
    "9**9**9": "exponent",
    "x1**1e9": "exponent",
    "((9**99)**99)**99": "too large for float64",
    "1/0": "zero",
    "0/0": "zero",
    "0**-1": "zero",
    "sqrt(-1)": "real",
    "log(-2)*x1": "real",
    "(-8)**(1/3)": "real",
    "'a'": "number",
    "True": "True",
    "1j": "1j",
    "x1[0]": "indexing",
    "[x1]": "List",
    "": "empty",
    "   ": "empty",
    "x1 < 0": "where",
    "where(x1, 1, 2)": "condition",
    "where(x1 == 0, 1, 2)": "condition",
    "where(x1 < 0, 1)": "3 arguments",
    "sin(x1, x2)": "1 argument",
    "max(x1)": "arguments",
    "sin": "sin(...)",
    "x1(2)": "function",
    "sin(*x1)": "plain",
    "sin(x=x1)": "plain",
    "x1 if x2 else 3": "if/else",
    "x1 % 2": "Mod",
    "~x1": "Invert",
    "x1; x2": "formula",
    "x1 # comment": "#",
    "é*x1": "ASCII",
    "1e999": "float64",
    "-" * 400 + "x1": "nested",
    "(" * 300 + "x1" + ")" * 300: "formula",
    "+".join(["x1"] * 1000): "nested",
    "x1+" * 4000 + "1": "characters",
    "7" * 5000: "formula",
}


@pytest.mark.parametrize("text", WRONG, ids=lambda text: text[:20])
def test_what_is_not_a_formula_is_refused_in_one_sentence(text):
    with pytest.raises(ExpressionError) as caught:
        Expression.parse(text, 2, what="f in piece 1")
    message = str(caught.value)
    assert WRONG[text] in message and message.startswith("f in piece 1 = ")
    assert "\n" not in message and message[-1] in ".?" and len(message) < 300


@pytest.mark.parametrize(
    "constants",
    [{"x1": 1.0}, {"sin": 1.0}, {"pi": 3}, {"a b": 1.0}, {"_a": 1.0}, {"k": np.nan}, {"k": "1"}, {"k": True}],
)
def test_constants_are_checked(constants):
    with pytest.raises(ExpressionError, match=r"constant"):
        Expression.parse("x1", 2, constants)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="x12+-*/().,<'=[]{}:;%@^~ esinlogqrtabwh_", max_size=30))
def test_any_text_gives_finite_work_or_an_expression_error(text):
    try:
        expression = Expression.parse(text, 2)
    except JumpnetError as error:
        assert "\n" not in str(error)
    else:
        assert expression(POINTS[:3]).shape == (3,)


def test_importing_the_layer_imports_neither_sympy_nor_jax():
    # A bare `jumpnet` stands in for the package, whose own __init__ brings every layer and so JAX.
    folder = str(Path(expressions.__file__).parents[1])
    code = f"""
import sys, types
sys.modules["jumpnet"] = bare = types.ModuleType("jumpnet")
bare.__path__ = [{folder!r}]
import jumpnet.expressions, jumpnet.fields
sys.exit("sympy" in sys.modules or "jax" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
