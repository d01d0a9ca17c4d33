"""Numbers and functions in problem files, and the constants they may use.

Everything is checked by functions of our own, so that a message says what is wanted in words and not in types; pydantic
keeps the place. Text is parsed by `jumpnet.expressions` and never executed.
"""

import os
import re
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import PlainValidator, WithJsonSchema

from jumpnet.errors import ExpressionError, GeometryError, JumpnetError
from jumpnet.expressions import Expression
from jumpnet.fields import Field, TensorField, Univariate, scalar_field, tensor_field, univariate
from jumpnet.guard import budget
from jumpnet.guard.text import shorten
from jumpnet.studies.nonlinear.dependent import Dependent

# Far beyond any coordinate or coefficient; squares and products stay finite.
LARGEST_NUMBER = 1e100
MOST_CHARACTERS = 2000  # of a formula; limits as in schema.py
MOST_COORDINATES = 6  # dimensions of a problem in a file
# The name of the solution in a formula.
_U = re.compile(r"\bu\b")
# The start of the message about data that must not depend on u.
DEPENDS = "A, lam, f, R of jumps, g of neumann, alpha and g of robin, h and ambient of convection may"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _checked(value: Any, wanted: str) -> float | str:
    """A finite number or a text, within the limits."""
    if isinstance(value, str):
        if len(value) > MOST_CHARACTERS:
            raise ValueError(f"a formula may have {MOST_CHARACTERS} characters, not {len(value)}; shorten it")
        if not value.strip():
            raise ValueError(f"it is empty; {wanted} is wanted")
        return value
    if not _is_number(value):
        raise ValueError(f"{wanted} is wanted")
    if not abs(value) <= LARGEST_NUMBER:  # nan too; no conversion, which an integer of 400 digits refuses
        raise ValueError(f"a finite number of at most {LARGEST_NUMBER:g} is wanted")
    return float(value)


def _number(value: Any) -> float | str:
    return _checked(value, "a number, or a formula in the constants as text,")


def _formula(value: Any) -> float | str:
    return _checked(value, "a number, or a formula as text,")


def _vector(value: Any) -> list[float | str]:
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_COORDINATES:
        raise ValueError(f"a list of one number per coordinate is wanted, at most {MOST_COORDINATES}, e.g. [0.0, 0.5]")
    return [_checked(entry, "a list of numbers, or formulas in the constants as text,") for entry in value]


def _matrix(value: Any) -> list[list[float | str]]:
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_COORDINATES:
        raise ValueError("a matrix as a list of rows is wanted, e.g. [[2.0, 0.5], [0.5, 1.0]]")
    if not all(isinstance(row, list) for row in value):
        raise ValueError("a matrix as a list of rows is wanted, e.g. [[2.0, 0.5], [0.5, 1.0]]")
    rows = [_vector(row) for row in value]
    if any(len(row) != len(rows) for row in rows):
        raise ValueError("a square matrix is wanted, as many rows as columns, e.g. [[2.0, 0.5], [0.5, 1.0]]")
    return rows


def _coefficient(value: Any) -> float | str | list[list[float | str]]:
    return _matrix(value) if isinstance(value, list) else _checked(value, "a number, a formula as text, or a matrix")


# JSON schemas of a coefficient: a number or formula, a vector, a matrix.
_SCALAR = {"anyOf": [{"type": "number"}, {"type": "string"}]}
_ROW = {"type": "array", "items": _SCALAR, "minItems": 1, "maxItems": MOST_COORDINATES}  # a vector
_ROWS = {"type": "array", "items": _ROW, "minItems": 1, "maxItems": MOST_COORDINATES}  # a matrix

Number = Annotated[float | str, PlainValidator(_number), WithJsonSchema(_SCALAR)]
"""A number, or a formula in the constants."""
Formula = Annotated[float | str, PlainValidator(_formula), WithJsonSchema(_SCALAR)]
"""A number, or a formula in the coordinates (or the parameter of a curve) and the constants."""
Vector = Annotated[list[float | str], PlainValidator(_vector), WithJsonSchema(_ROW)]
Matrix = Annotated[list[list[float | str]], PlainValidator(_matrix), WithJsonSchema(_ROWS)]
Coefficient = Annotated[
    float | str | list[list[float | str]], PlainValidator(_coefficient), WithJsonSchema({"anyOf": [_SCALAR, _ROWS]})
]
"""A number, a formula, or a square matrix of these."""


@contextmanager
def at(key: str) -> Any:
    """Errors raised inside name the key of the file."""
    try:
        with budget.key(key):
            yield
    except JumpnetError as problem:
        message = str(problem).replace("a formula, a callable or a ", "a formula or a ")  # files have no callables
        raise type(problem)(message if key in message else f"{key}: {message}") from None


@dataclass(frozen=True)
class Scope:
    """The constants of a file and its dimension: turns what was written into numbers and fields."""

    constants: Mapping[str, float] = field(default_factory=dict)
    dim: int = 0
    folder: Path | None = None
    """The folder of the file; None if it was read from text."""
    allowed: tuple[Path, ...] = ()
    """Other folders that the user lets it read data from."""
    drawings: dict[tuple[str, Path, float], Mapping[str, Any]] = field(default_factory=dict, compare=False, repr=False)
    """The regions of drawings that were read: each file is read once, however many of its regions are named."""

    def number(self, value: float | str, key: str) -> float:
        """A number or formula as a float."""
        if not isinstance(value, str):
            return float(value)
        with budget.key(key):
            return self._constant(Expression.parse_in(value, (), self.constants, what=key), key)

    @staticmethod
    def _constant(expression: Expression, key: str) -> float:
        result = float(expression(np.zeros((1, len(expression.variables))))[0])
        if not (isfinite(result) and abs(result) <= LARGEST_NUMBER):
            raise ExpressionError(f"{key} = {shorten(expression.text)}: it is {result}; a finite number is wanted.")
        return result

    def vector(self, values: list[float | str], key: str) -> list[float]:
        """The numbers of a list."""
        return [self.number(value, key) for value in values]

    def point(self, values: list[float | str], key: str) -> list[float]:
        """A list with one number per coordinate."""
        if len(values) != self.dim:
            raise GeometryError(f"{key} has {len(values)} numbers; {self.dim} are wanted, one per coordinate.")
        return self.vector(values, key)

    def pair(self, values: list[float | str], key: str) -> list[float]:
        """A point of the plane."""
        return replace(self, dim=2).point(values, key)

    def beside(self, name: str, key: str) -> Path:
        """The path of a file in the folder of the problem file or in one that is allowed, or below: no other is read.

        Names are relative to the folder of the problem file; what is not there is looked for in those allowed.
        """
        folders = (() if self.folder is None else (self.folder,)) + self.allowed
        found = []
        if folders and "\0" not in name:
            with suppress(OSError, ValueError, RuntimeError):
                roots = [folder.resolve() for folder in folders]
                places = [(folder / name).resolve() for folder in folders]
                found = [place for place in places if any(place.is_relative_to(root) for root in roots)]
        if not found:
            raise GeometryError(
                f"{key} is {shorten(name)}; a file in the folder of the problem file is wanted, or in one that you "
                "allow: --allow DIR, in Python allow=[DIR]."
            )
        return next((place for place in found if os.path.exists(place)), found[0])  # False where the name is too long

    def field(self, source: float | str, key: str) -> Field:
        """A function of the coordinates."""
        with budget.key(key):
            return scalar_field(self._plain(source, key), self.dim, what=key, constants=self.constants)

    def tensor(self, source: float | str | list[list[float | str]], key: str) -> TensorField:
        """A matrix function of the coordinates."""
        with at(key):
            if isinstance(source, list):
                plain: Any = [[self._plain(entry, key) for entry in row] for row in source]
            else:
                plain = self._plain(source, key)
            return tensor_field(plain, self.dim, what=key, constants=self.constants)

    def law(self, source: float | str, key: str) -> Field | Dependent:
        """A function of the coordinates, and of u where the formula uses it."""
        if not self.depends(source):
            return self.field(source, key)
        with budget.key(key):
            return Dependent.of(source, self.dim, key, self.constants)

    def tensor_law(self, source: float | str | list[list[float | str]], key: str) -> Any:
        """A matrix function of the coordinates, and of u where a formula uses it."""
        if not isinstance(source, list):
            return self.law(source, key) if self.depends(source) else self.tensor(source, key)
        if not any(self.depends(entry) for row in source for entry in row):
            return self.tensor(source, key)
        return [[self.law(entry, key) for entry in row] for row in source]

    def depends(self, source: Any) -> bool:
        """Whether a formula uses u, the solution; a constant of that name hides it."""
        return isinstance(source, str) and "u" not in self.constants and _U.search(source) is not None

    def _plain(self, source: float | str, key: str) -> float | str:
        """A formula without coordinates as its number: solvers treat constant coefficients better."""
        if self.depends(source):
            raise ExpressionError(f"{key} = {shorten(source)}: this may not depend on u; {DEPENDS}.")
        if isinstance(source, str):
            expression = Expression.parse(source, self.dim, self.constants, what=key)
            return self._constant(expression, key) if expression.is_constant else source
        return source

    def univariate(self, source: float | str, variable: str, key: str) -> Univariate:
        """A function of one variable."""
        with budget.key(key):
            return univariate(source, variable, what=key, constants=self.constants)


def constants(given: Mapping[str, float | str], instead: Mapping[str, float]) -> dict[str, float]:
    """The constants as numbers; a formula may use those before it. `instead` replaces some of them."""
    unknown = [name for name in instead if name not in given]
    if unknown:
        known = ", ".join(given) or "none"
        raise ExpressionError(f"constants.{unknown[0]} is not in the file; its constants are: {known}.")
    found: dict[str, float] = {}
    for name, value in given.items():
        found[name] = Scope(found).number(instead.get(name, value), f"constants.{name}")
        with at(f"constants.{name}"):
            Expression.parse("0", 1, found, what="constants")  # refuses names that are taken
    return found
