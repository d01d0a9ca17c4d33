"""Functions of the point: scalar fields, matrix fields and functions of one variable.

A number, a formula or a callable becomes an object with values and derivatives. Formulas are differentiated
by sympy; callables are written with jax.numpy and differentiated by JAX, in float64 and only when a
derivative is asked for.
"""

from jumpnet.fields.callables import call_checked, finite_number, point
from jumpnet.fields.grid import GridField, spline_coefficients
from jumpnet.fields.scalar import (
    CallableField,
    ConstantField,
    ExpressionField,
    Field,
    Values,
    field_from_spec,
    is_zero,
    scalar_field,
)
from jumpnet.fields.tensor import TensorField, tensor_field, tensor_from_spec
from jumpnet.fields.univariate import Univariate, univariate

__all__ = [
    "CallableField",
    "ConstantField",
    "ExpressionField",
    "Field",
    "GridField",
    "TensorField",
    "Univariate",
    "Values",
    "call_checked",
    "field_from_spec",
    "finite_number",
    "is_zero",
    "point",
    "scalar_field",
    "spline_coefficients",
    "tensor_field",
    "tensor_from_spec",
    "univariate",
]
