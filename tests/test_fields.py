"""Fields from numbers, formulas and callables: the three must agree, in values and in every derivative."""

import json
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jumpnet.errors import JumpnetError, ProblemError
from jumpnet.fields import (
    Univariate,
    field_from_spec,
    scalar_field,
    tensor_field,
    tensor_from_spec,
    univariate,
)

PAIRS = {  # formula: the same with jax.numpy
    "exp(x1)*cos(x2) + abs(x1)": lambda x: jnp.exp(x[:, 0]) * jnp.cos(x[:, 1]) + jnp.abs(x[:, 0]),
    "r**3 + atan2(x2, x1 + 3)": lambda x: jnp.sum(x**2, axis=1) ** 1.5 + jnp.arctan2(x[:, 1], x[:, 0] + 3),
    "sqrt(x1**2 + 0.1)*tanh(3*x2)": lambda x: jnp.sqrt(x[:, 0] ** 2 + 0.1) * jnp.tanh(3 * x[:, 1]),
    "max(x1, x2)*sinh(x1)/(2 + x2)": lambda x: jnp.maximum(x[:, 0], x[:, 1]) * jnp.sinh(x[:, 0]) / (2 + x[:, 1]),
    "where(x1 < x2, x1**2, x2**3)": lambda x: jnp.where(x[:, 0] < x[:, 1], x[:, 0] ** 2, x[:, 1] ** 3),
    "2.5": lambda x: jnp.full(x.shape[0], 2.5),
}
POINTS = np.random.default_rng(2).uniform(-1.0, 1.0, (40, 2))
EPS = np.finfo(float).eps


@pytest.mark.parametrize("text", PAIRS)
@pytest.mark.parametrize("what", ["value", "gradient", "hessian"])
def test_formula_and_automatic_differentiation_agree(text, what):
    formula = getattr(scalar_field(text, 2, what="u"), what)(POINTS)
    traced = getattr(scalar_field(PAIRS[text], 2, what="u"), what)(POINTS)
    assert formula.dtype == traced.dtype == np.float64
    assert formula.shape == traced.shape == (40, *(2,) * ["value", "gradient", "hessian"].index(what))
    np.testing.assert_allclose(formula, traced, atol=200 * EPS, rtol=200 * EPS)


def test_a_number_is_a_field():
    field = scalar_field(np.float64(2.0), 3, what="f")
    x = np.zeros((4, 3))
    np.testing.assert_array_equal(field.value(x), 2.0)
    assert field.gradient(x).shape == (4, 3) and field.hessian(x).shape == (4, 3, 3)
    assert scalar_field(field, 3, what="f") is field


MATRIX = [["(x1 + x2)**2 + 1", "x2**2 - k*x1**2"], ["x2**2 - k*x1**2", 3]]


def matrix(x):
    a, b = x[:, 0], x[:, 1]
    off = b**2 - 0.3 * a**2
    rows = [jnp.stack([(a + b) ** 2 + 1, off], axis=-1), jnp.stack([off, jnp.full_like(a, 3.0)], axis=-1)]
    return jnp.stack(rows, axis=-2)


def test_matrix_of_formulas_and_callable_agree():
    formula = tensor_field(MATRIX, 2, what="A", constants={"k": 0.3})
    traced = tensor_field(matrix, 2, what="A")
    assert formula.value(POINTS).shape == (40, 2, 2) and formula.divergence(POINTS).shape == (40, 2)
    np.testing.assert_allclose(formula.value(POINTS), traced.value(POINTS), rtol=10 * EPS, atol=10 * EPS)
    np.testing.assert_allclose(formula.divergence(POINTS), traced.divergence(POINTS), rtol=10 * EPS, atol=10 * EPS)


@pytest.mark.parametrize(
    "source", [2.0, "x1*x2 + 2", lambda x: x[:, 0] * x[:, 1] + 2, np.diag([4.0, 1.0]), MATRIX, matrix]
)
def test_divergence_against_finite_differences(source):
    field = tensor_field(source, 2, what="A", constants={"k": 0.3})
    h = 1e-6
    expected = np.zeros((40, 2))
    for i, step in enumerate(h * np.eye(2)):  # (div A)_j = sum_i dA_ij/dx_i
        expected += (field.value(POINTS + step) - field.value(POINTS - step))[:, i, :] / (2 * h)
    np.testing.assert_allclose(field.divergence(POINTS), expected, atol=1e-8)


def test_divergence_of_an_unsymmetric_matrix_sums_over_the_first_index():
    field = tensor_field([["x1**2", "x1*x2"], ["0", "x2**3"]], 2, what="A")
    x1, x2 = POINTS.T
    np.testing.assert_allclose(field.divergence(POINTS), np.stack([2 * x1, x2 + 3 * x2**2], axis=1), rtol=1e-14)


def test_constants_are_recognised():
    assert tensor_field(2.0, 2, what="A").is_constant
    assert tensor_field("2*pi", 2, what="A").is_constant
    assert tensor_field(np.eye(2), 2, what="A").is_constant
    assert tensor_field([["k", 0], [0, "2*k"]], 2, what="A", constants={"k": 1.1}).is_constant
    assert not tensor_field("x1", 2, what="A").is_constant


def test_entries_keep_their_own_constants():
    one, two = (scalar_field("k*x1", 2, what="a", constants={"k": k}) for k in (1.1, 2.2))
    field = tensor_field([[one, 0.7], ["0.7", two]], 2, what="A")
    expected = np.empty((40, 2, 2))
    expected[:] = 0.7
    expected[:, 0, 0], expected[:, 1, 1] = 1.1 * POINTS[:, 0], 2.2 * POINTS[:, 0]
    np.testing.assert_array_equal(field.value(POINTS), expected)


@pytest.mark.parametrize("divergence", [lambda x: np.cos(x), ["cos(x1)", "cos(x2)"]])
def test_a_divergence_may_be_given(divergence):
    field = tensor_field(lambda x: np.sin(x[:, 0]) + np.sin(x[:, 1]) + 3, 2, what="A", divergence=divergence)
    np.testing.assert_allclose(field.divergence(POINTS), np.cos(POINTS), rtol=1e-15)


@pytest.mark.parametrize("source", ["0.3 - 0.1*cos(5*theta)", lambda t: 0.3 - 0.1 * jnp.cos(5 * t)])
def test_functions_of_one_variable(source):
    radius = univariate(source, "theta", what="radius")
    t = np.linspace(0, 6, 20)
    np.testing.assert_allclose(radius.value(t), 0.3 - 0.1 * np.cos(5 * t), rtol=1e-14)
    np.testing.assert_allclose(radius.derivative(t), 0.5 * np.sin(5 * t), atol=1e-14)
    np.testing.assert_allclose(radius.second(t), 2.5 * np.cos(5 * t), atol=1e-14)
    np.testing.assert_array_equal(univariate(2, "t", what="r").second(t), 0.0)


def test_specs_survive_json_bit_for_bit():
    for source in (2.5, "k*exp(x1)/3 + 0.1*x2"):
        field = scalar_field(source, 2, what="f", constants={"k": 1 / 3})
        again = field_from_spec(json.loads(json.dumps(field.spec())))
        np.testing.assert_array_equal(again.value(POINTS), field.value(POINTS))
    for source in (2.5, "k*x1 + 2", MATRIX, np.diag([4.0, 1.0])):
        field = tensor_field(source, 2, what="A", constants={"k": 1 / 3})
        again = tensor_from_spec(json.loads(json.dumps(field.spec())))
        np.testing.assert_array_equal(again.value(POINTS), field.value(POINTS))
        np.testing.assert_array_equal(again.divergence(POINTS), field.divergence(POINTS))
    radius = univariate("0.3*t", "t", what="r")
    spec = json.loads(json.dumps(radius.spec()))
    np.testing.assert_array_equal(Univariate.from_spec(spec).value([1.0, 2.0]), [0.3, 0.6])
    assert scalar_field(lambda x: x[:, 0], 2, what="f").spec() is None
    assert tensor_field(matrix, 2, what="A").spec() is None


def test_callables_run_in_float64_and_the_users_jax_stays_as_it_was():
    before = jax.config.jax_enable_x64
    field = scalar_field(lambda x: jnp.sin(x[:, 0]), 2, what="f")
    np.testing.assert_allclose(field.value(POINTS), np.sin(POINTS[:, 0]), rtol=1e-15)
    assert jax.config.jax_enable_x64 == before


def test_a_callable_without_a_hash_and_any_number_of_points():
    @dataclass  # eq without frozen: no hash
    class Wave:
        k: float

        def __call__(self, x):
            return jnp.sin(self.k * x[:, 0])

    field = scalar_field(Wave(2.0), 2, what="f")
    for n in (0, 1, 32, 33, 40):
        assert field.hessian(POINTS[:n]).shape == (n, 2, 2)
        np.testing.assert_allclose(field.gradient(POINTS[:n])[:, 0], 2 * np.cos(2 * POINTS[:n, 0]), rtol=1e-14)


def test_a_callable_may_return_one_number():
    field = scalar_field(lambda x: 1.5, 2, what="f")
    np.testing.assert_array_equal(field.value(POINTS), 1.5)
    np.testing.assert_array_equal(field.gradient(POINTS), 0.0)


WRONG = {
    "none": lambda: scalar_field(None, 2, what="f"),
    "bool": lambda: scalar_field(True, 2, what="f"),
    "complex": lambda: scalar_field(1j, 2, what="f"),
    "nan": lambda: scalar_field(float("nan"), 2, what="f"),
    "vector": lambda: scalar_field(np.ones(2), 2, what="f"),
    "other dimension": lambda: scalar_field(scalar_field(1.0, 3, what="f"), 2, what="f"),
    "shape": lambda: scalar_field(lambda x: x, 2, what="f").value(POINTS),
    "not finite": lambda: scalar_field(lambda x: jnp.log(x[:, 0]), 2, what="f").value(POINTS),
    "boolean values": lambda: scalar_field(lambda x: x[:, 0] > 0, 2, what="f").value(POINTS),
    "too few coordinates": lambda: scalar_field(lambda x, y: x + y, 2, what="f").value(POINTS),
    "index": lambda: scalar_field(lambda x: np.take(x, [7], axis=1)[:, 0], 2, what="f").value(POINTS),
    "numpy callable": lambda: scalar_field(lambda x: np.sin(x[:, 0]), 2, what="f").gradient(POINTS),
    "diagonal": lambda: tensor_field([4.0, 1.0], 2, what="f"),
    "3 x 3": lambda: tensor_field(np.eye(3), 2, what="f"),
    "ragged": lambda: tensor_field([[1.0, 0.0], [1.0]], 2, what="f"),
    "callable entry": lambda: tensor_field([[1.0, 0.0], [0.0, lambda x: 1.0]], 2, what="f"),
    "matrix shape": lambda: tensor_field(lambda x: x, 2, what="f").value(POINTS),
    "divergence": lambda: tensor_field(1.0, 2, what="f", divergence=["x1"]),
    "divergence shape": lambda: tensor_field(1.0, 2, what="f", divergence=lambda x: x[:, 0]).divergence(POINTS),
    "variable": lambda: univariate("cos(x1)", "theta", what="f"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_sources_are_refused_in_one_sentence(kind):
    with pytest.raises(JumpnetError) as caught:
        WRONG[kind]()
    message = str(caught.value)
    assert "f" in message and "\n" not in message and message.endswith(".")


def test_the_remedy_for_an_untraceable_callable_is_named():
    field = tensor_field(lambda x: np.sin(x[:, 0]) + 2, 2, what="A in piece 1")
    assert field.value(POINTS).shape == (40, 2, 2)
    with pytest.raises(ProblemError, match="div_A="):
        field.divergence(POINTS)
