"""Saved models are read field by field: whole numbers within bounds, switches and finite numbers, or one sentence."""

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar, get_type_hints

from jumpnet.errors import SolutionError
from jumpnet.guard.text import clean, shorten

# The largest number of functions, neurons or cells that a file may state: reading more would not end.
LARGEST = 100_000
# Characters of a name of ours, such as that of a family of equations; nesting and integers in notes.
LONGEST, DEEPEST, LARGEST_NUMBER = 1000, 8, 2**64

T = TypeVar("T")  # the class that is read


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


def number(name: str, value: Any) -> float:
    """A number, also nan or infinite: what was not found."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _refused(name, value, "a number")
    try:
        return float(value)
    except OverflowError:  # an integer of hundreds of digits
        raise _refused(name, value, "a number") from None


def text(name: str, value: Any) -> str:
    """A line of visible characters."""
    if not isinstance(value, str) or len(value) > LONGEST or not value.isprintable():
        raise _refused(name, value, f"a text of at most {LONGEST} printable characters")
    return value


def listed(name: str, value: Any, most: int = LARGEST) -> list[Any]:
    """A list, not too long."""
    if not isinstance(value, list) or len(value) > most:
        raise _refused(name, value, f"a list of at most {most} entries")
    return value


def plain(name: str, value: Any, depth: int = 0) -> Any:
    """JSON of bounded depth, length and numbers, its texts cleaned: notes that are shown and not computed with."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list | tuple | dict) and (depth > DEEPEST or len(value) > LARGEST):
        raise _refused(name, value, "something shorter")
    if isinstance(value, list | tuple):
        return [plain(name, one, depth + 1) for one in value]
    if isinstance(value, dict):
        return {clean(key, LONGEST): plain(clean(key, LONGEST), one, depth + 1) for key, one in value.items()}
    if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
        raise _refused(name, value, "a smaller number")
    return value


def finite_list(name: str, value: Any) -> tuple[float, ...]:
    """Finite numbers, not too many."""
    if not isinstance(value, list | tuple) or len(value) > LARGEST:
        raise _refused(name, value, "a list of numbers")
    return tuple(finite(name, one) for one in value)


def _as_it_is(name: str, value: Any) -> Any:
    return value


def _refused(name: str, value: Any, wanted: str) -> SolutionError:
    return SolutionError(f"the file says {name} = {shorten(value)} where {wanted} is wanted; it is damaged or forged.")
