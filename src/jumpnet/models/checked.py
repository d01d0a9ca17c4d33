"""Saved models are read field by field: whole numbers within bounds, switches and finite numbers, or one sentence."""

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar, get_type_hints

from jumpnet.errors import SolutionError
from jumpnet.guard.text import shorten

# No model has so many functions, neurons or cells; a file that says more would keep its reader busy for ever.
LARGEST = 100_000

T = TypeVar("T")


def from_fields(kind: type[T], spec: Mapping[str, Any]) -> T:
    """An object of a dataclass whose fields are the entries of a description; numbers and switches are checked."""
    hints = get_type_hints(kind)
    read = {int: whole, bool: switch, float: finite, tuple[float, ...]: finite_list}
    names = [field.name for field in fields(kind)]  # pyright: ignore[reportArgumentType]
    for name in names:
        if name not in spec:
            raise SolutionError(
                f"the file does not say {name} of a {kind.__name__}; it is damaged, or of another version."
            )
    return kind(**{name: read.get(hints[name], _as_it_is)(name, spec[name]) for name in names})


def whole(name: str, value: Any, most: int = LARGEST) -> int:
    """A whole number from 0 to `most`."""
    if type(value) is not int or not 0 <= value <= most:
        raise _refused(name, value, f"a whole number from 0 to {most}")
    return value


def switch(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise _refused(name, value, "true or false")
    return value


def finite(name: str, value: Any) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _refused(name, value, "a finite number")
    return float(value)


def finite_list(name: str, value: Any) -> tuple[float, ...]:
    """Finite numbers, not too many."""
    if not isinstance(value, list | tuple) or len(value) > LARGEST:
        raise _refused(name, value, "a list of numbers")
    return tuple(finite(name, one) for one in value)


def _as_it_is(name: str, value: Any) -> Any:
    return value


def _refused(name: str, value: Any, wanted: str) -> SolutionError:
    return SolutionError(f"the file says {name} = {shorten(value)} where {wanted} is wanted; it is damaged or forged.")
