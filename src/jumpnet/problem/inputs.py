"""Converts the user's input to one field per piece, one condition per part and one jump per interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from jumpnet.errors import ProblemError, warn
from jumpnet.expressions import Expression
from jumpnet.fields import Field, TensorField, Values, scalar_field, tensor_field
from jumpnet.geometry import Partition
from jumpnet.guard.text import shorten
from jumpnet.problem.conditions import (
    Assumed,
    BoundaryCondition,
    Jump,
    JumpCondition,
    Pair,
    Periodic,
    boundary_condition,
    jump_condition,
)

Names = dict[str, float]
REST = "rest"
"""The name for all parts of the boundary without a condition of their own."""


def partition(parts: Any) -> Partition:
    """The first argument, if it is a Partition."""
    if not isinstance(parts, Partition):
        raise ProblemError(
            f"partition is {shorten(parts)}; a Partition is wanted, e.g. Partition(Box(...), [Disk(...)])."
        )
    return parts


def constants(given: Any, parts: Partition) -> Names:
    """The user's named numbers, checked."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ProblemError(f"constants is {shorten(given)}; a mapping from names to numbers is wanted.")
    return dict(Expression.parse("0", parts.dim, given, what="constants").constants)


def is_list(source: Any) -> bool:
    """A list, tuple or array with entries; a formula is not one."""
    if isinstance(source, np.ndarray):
        return source.ndim > 0
    return isinstance(source, Sequence) and not isinstance(source, str | bytes)


def per_piece(source: Any, parts: Partition, what: str) -> list[Any]:
    """One source per piece."""
    if isinstance(source, Mapping):
        return _by_name(source, parts, what)
    if not is_list(source):
        return [source] * parts.size
    if len(source) != parts.size:
        raise ProblemError(
            f"{what} has {len(source)} entries for {parts.size} pieces; give one value for all "
            "pieces or a list of "
            f"{parts.size} (piece 0, the rest, comes first)."
        )
    return list(source)


def _by_name(source: Mapping[Any, Any], parts: Partition, what: str) -> list[Any]:
    """The values of a mapping from the names of all pieces, in their order."""
    unknown = [key for key in source if key not in parts.names]
    missing = [name for name in parts.names if name not in source]
    if unknown or missing:
        listed = ", ".join(repr(name) for name in parts.names[:8]) + (" ..." if parts.size > 8 else "")
        problem = f"the key {shorten(unknown[0])}" if unknown else f"no value for {missing[0]!r}"
        raise ProblemError(f"{what} has {problem}; give one value for each piece by its name: {listed}.")
    return [source[name] for name in parts.names]


def fields(source: Any, parts: Partition, what: str, names: Names) -> tuple[Field, ...]:
    """One scalar field per piece."""
    sources = per_piece(source, parts, what)
    return tuple(
        scalar_field(s, parts.dim, what=f"{what} in piece {i}", constants=names) for i, s in enumerate(sources)
    )


def values(source: Any, parts: Partition, what: str, names: Names) -> tuple[Values, ...]:
    """One scalar function per piece, of which only values are needed."""
    sources = [source] * parts.size if isinstance(source, Values) else per_piece(source, parts, what)
    return tuple(
        s if isinstance(s, Values) else scalar_field(s, parts.dim, what=f"{what} in piece {i}", constants=names)
        for i, s in enumerate(sources)
    )


def matrices(source: Any, divergence: Any, parts: Partition, names: Names) -> tuple[TensorField, ...]:
    """One matrix field per piece; a list of rows is one matrix for all pieces."""
    sources = [source] * parts.size if _depth(source) == 2 else per_piece(source, parts, "A")
    vector = is_list(divergence) and not any(is_list(s) or callable(s) or s is None for s in divergence)
    slopes = [divergence] * parts.size if vector else per_piece(divergence, parts, "div_A")
    return tuple(
        tensor_field(s, parts.dim, what=f"A in piece {i}", divergence=slope, constants=names)
        for i, (s, slope) in enumerate(zip(sources, slopes, strict=True))
    )


def _depth(source: Any) -> int:
    """How deeply lists are nested, all entries alike: 0 for a number, 1 per piece, 2 a matrix, 3 matrices."""
    if not is_list(source):
        return 0
    depths = {_depth(entry) for entry in source}
    return 1 + depths.pop() if len(depths) == 1 else 1


def stated_boundary(given: Any) -> Any:
    """What was given; a warning and u = 0 where nothing was."""
    if given is not None:
        return given
    warn("no boundary condition is given: u = 0 on the whole boundary; if that is meant, say boundary=jn.Dirichlet(0).")
    return Assumed(0.0)


def boundary(given: Any, parts: Partition, names: Names) -> Mapping[str, BoundaryCondition]:
    """One condition per boundary part, in the partition's order."""
    if not isinstance(given, Mapping):
        if is_list(given) or isinstance(given, str) or not hasattr(given, "kind"):
            raise ProblemError(
                f"boundary is {shorten(given)}; one of Dirichlet(g), Neumann(g), Robin(alpha, g), Convection(h, "
                "ambient), Periodic(v), or a mapping from part names to them is wanted."
            )
        given = dict.fromkeys(parts.boundary_parts, given)
    chosen = named_parts(given, parts)
    _check_periodic(chosen)
    return MappingProxyType({p: boundary_condition(chosen[p], parts.dim, p, names) for p in parts.boundary_parts})


def named_parts(given: Mapping[Any, Any], parts: Partition) -> dict[str, Any]:
    """The mapping with aliases resolved; every part must be there once, `rest` is all that are not named."""
    chosen: dict[str, Any] = {}
    for key, condition in given.items():
        if key == REST:
            continue
        if not isinstance(key, str):
            raise ProblemError(
                f"boundary has the key {shorten(key)}; a part name such as {parts.boundary_parts[0]!r} is wanted."
            )
        sides = [part for part in (f"{key}-", f"{key}+") if part in parts.boundary_parts]
        for name in sides or [parts.part_name(key)]:  # an axis stands for both of its sides
            if name in chosen:
                raise ProblemError(f"boundary names the part {name!r} twice, the second time as {key!r}; name it once.")
            chosen[name] = condition
    missing = [p for p in parts.boundary_parts if p not in chosen]
    if missing and REST not in given:
        raise ProblemError(
            f"boundary has no condition on {', '.join(repr(p) for p in missing)}; every part of the boundary needs "
            f"one, {REST!r} stands for all that are not named."
        )
    return chosen | dict.fromkeys(missing, given.get(REST))


def _check_periodic(chosen: Mapping[str, Any]) -> None:
    """Periodic sides come in pairs."""
    for name, condition in chosen.items():
        if isinstance(condition, Periodic) and chosen.get(opposite(name)) != condition:
            if not name.endswith(("-", "+")):
                raise ProblemError(
                    f"boundary[{name!r}] is Periodic, but only whole opposite sides of a Box can be: make the domain a "
                    "Box, or choose another condition."
                )
            raise ProblemError(
                f"boundary is periodic on {name!r} but not in the same way on {opposite(name)!r}; name both sides at "
                f'once, {{"{name[:-1]}": Periodic(...)}}.'
            )


def opposite(part: str) -> str:
    """The side across the box."""
    return part[:-1] + ("+" if part.endswith("-") else "-")


def jumps(given: Any, parts: Partition, names: Names) -> Mapping[Pair, JumpCondition]:
    """One jump per interface; a pair that is not mentioned has none."""
    pairs = [interface.pair for interface in parts.interfaces]
    if isinstance(given, Mapping):
        by_number = {numbered(key, parts): jump for key, jump in given.items()}
        for key in by_number:
            _check_pair(key, parts, pairs)
        chosen = {pair: by_number.get(pair, Jump()) for pair in pairs}
    elif isinstance(given, Jump):
        chosen = dict.fromkeys(pairs, given)
    else:
        raise ProblemError(
            f"jumps is {shorten(given)}; Jump(v=..., w=..., R=...) or a mapping from pairs (a, b) to Jumps is wanted."
        )
    return MappingProxyType({pair: jump_condition(jump, parts.dim, pair, names) for pair, jump in chosen.items()})


def numbered(key: Any, parts: Partition) -> Any:
    """A pair of pieces by their numbers; names are looked up."""
    if not isinstance(key, tuple):
        return key
    return tuple(parts.names.index(one) if isinstance(one, str) and one in parts.names else one for one in key)


def _check_pair(key: Any, parts: Partition, pairs: list[Pair]) -> None:
    whole = isinstance(key, tuple) and len(key) == 2
    if not whole or not all(isinstance(k, int | np.integer) and not isinstance(k, bool) for k in key):
        raise ProblemError(f"jumps has the key {shorten(key)}; a pair of pieces, (0, 1) or their names, is wanted.")
    a, b = key
    if not (0 <= a < parts.size and 0 <= b < parts.size):
        raise ProblemError(f"jumps has the pair {key}; the pieces are numbered 0 to {parts.size - 1}.")
    if a == b:
        raise ProblemError(f"jumps has the pair {key}; an interface lies between two different pieces.")
    if a > b:
        raise ProblemError(
            f"jumps has the pair {key}; write ({b}, {a}), the smaller number first: [q] = q_{b} - q_{a}."
        )
    if (a, b) not in pairs:
        touching = ", ".join(str(p) for p in pairs) or "none"
        raise ProblemError(f"jumps has the pair {key}, but these pieces do not touch; the interfaces are: {touching}.")
