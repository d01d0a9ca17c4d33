"""What a family of functions is, and how families are named in saved solutions.

A family evaluates, for all its functions at once, the functional a0 f + a1 . grad f + a2 : hess f at sites: a matrix
(sites, functions). Plain NumPy: a Trefftz solve takes milliseconds, compiling for it would take seconds.
"""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Protocol, TypeVar

import numpy as np
from jaxtyping import Float

from jumpnet.errors import SolutionError
from jumpnet.models.checked import LARGEST, from_fields
from jumpnet.rows import Sites

Matrix = Float[np.ndarray, "sites functions"]


class Family(Protocol):
    """A finite family of functions of given coordinates."""

    @property
    def inputs(self) -> int: ...

    @property
    def size(self) -> int: ...

    def functionals(self, sites: Sites) -> Matrix: ...


# By their names in saved solutions; filled by `saved_as`.
FAMILIES: dict[str, Any] = {}

F = TypeVar("F", bound=type)  # a class of functions


def saved_as(name: str) -> Callable[[F], F]:
    """A decorator: saved solutions call the family by this name, with its fields."""

    def registered(family: F) -> F:
        FAMILIES[name] = family
        return family

    return registered


def family_spec(family: Any) -> dict[str, Any]:
    """The family as JSON."""
    name = next((name for name, kind in FAMILIES.items() if isinstance(family, kind)), None)
    if name is None:
        raise SolutionError(
            "a solution by unfitted finite elements cannot be stored; solve again, or keep its values at points."
        )
    return {"family": name, **asdict(family)}


def family_from_spec(spec: dict[str, Any]) -> Family:
    """The family read back from JSON."""
    kind = FAMILIES.get(spec.get("family", ""))
    if kind is None:
        raise SolutionError(
            f"the file names functions {spec.get('family')!r}, which this version of jumpnet does not know; "
            "upgrade jumpnet."
        )
    family = from_fields(kind, spec)
    if family.size > LARGEST:
        raise SolutionError(
            f"the file asks for more than {LARGEST} functions in one family ({family}); it is damaged or forged."
        )
    return family
