"""Integrals of a user's own function of u over pieces, interfaces and parts of the boundary."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jumpnet.errors import SolutionError
from jumpnet.expressions import Expression
from jumpnet.geometry import Partition
from jumpnet.geometry.quadrature.integrals import outer_pieces
from jumpnet.geometry.quadrature.rules import NOTHING, Integral
from jumpnet.guard.text import shorten
from jumpnet.solution.places import Density, Places, places_of
from jumpnet.solution.solution import Solution

MOST_ARGUMENTS = 3  # x, u, grad u


def integral(
    solution: Solution, f: Any = None, over: Any = None, seen: Callable[[Places], Places] = lambda at: at
) -> Integral:
    """The integral of f over pieces, an interface or a part of the boundary; see `Solution.integral`.

    `seen` may replace the places at which f is evaluated by others, where u is another function.
    """
    parts, places, own = solution.statement.known_partition, places_of(solution), _density(solution, f)
    density: Density = lambda at: own(seen(at))  # noqa: E731
    if isinstance(over, tuple):
        pair = _pair(parts, over)
        return places.on_interface(pair, density)
    if not is_pieces(solution, over):
        part = _part(parts, over)
        pieces = outer_pieces(parts)
        return sum((places.on_boundary(part, piece, density) for piece in pieces), NOTHING)
    return sum((places.in_piece(piece, density) for piece in pieces_of(solution, over)), NOTHING)


def is_pieces(solution: Solution, over: Any) -> bool:
    """Whether pieces are meant (or all of them), not an interface or a part of the boundary."""
    known = isinstance(over, str) and over in solution.statement.known_partition.names
    return known or not isinstance(over, str | tuple)


def pieces_of(solution: Solution, over: Any) -> Sequence[int]:
    """The pieces that are meant, each once."""
    parts = solution.statement.known_partition
    if over is None:
        return range(parts.size)
    return list(dict.fromkeys(parts.piece_number(one) for one in (over if isinstance(over, list) else [over])))


def _pair(parts: Partition, over: tuple[Any, ...]) -> tuple[int, int]:
    """The two pieces of an interface, by numbers or names."""
    if len(over) != 2:
        raise SolutionError(
            f"over is {over!r}; an interface is a pair of pieces such as (0, 1), several pieces a list."
        )
    a, b = (parts.piece_number(one) for one in over)
    parts.interface_pair((a, b))
    return a, b


def _part(parts: Partition, over: str) -> str:
    try:
        return parts.part_name(over)
    except ValueError:
        raise SolutionError(
            f"over is {over!r}; give a piece ({', '.join(parts.names[:8])}), a part of the boundary "
            f"({', '.join(parts.boundary_parts[:8])}), or a pair of pieces."
        ) from None


def _density(solution: Solution, f: Any) -> Density:
    """What is integrated, at the points of a rule."""
    if f is None:
        return lambda at: at.u()
    if isinstance(f, int | float) and not isinstance(f, bool):
        return lambda at: np.full(len(at.x), float(f))
    if isinstance(f, str):
        return _formula(f, solution.dim)
    if not callable(f):
        raise SolutionError(
            f"f is {shorten(f)}; give a formula in x1, ... and u, or a function of (x, u) or (x, u, grad)."
        )
    return _called(f)


def _formula(text: str, dim: int) -> Density:
    names = tuple(f"x{k + 1}" for k in range(dim))
    expression = Expression.parse_in(text, (*names, "u"), what="f")

    def density(at: Places) -> np.ndarray:
        return np.asarray(expression(np.column_stack([at.x, at.u()])), float)

    return density


def depends_on_u(f: Any) -> bool:
    """Whether the integral of f changes with u: not that of a number, or of a function of x alone."""
    return not isinstance(f, int | float) and not (callable(f) and _arguments(f) == 1)


def _arguments(f: Callable[..., Any]) -> int:
    """How many of x, u, grad u a function takes."""
    try:
        wanted = [p for p in inspect.signature(f).parameters.values() if p.default is p.empty]
    except (TypeError, ValueError):
        return 2
    return MOST_ARGUMENTS if any(p.kind is p.VAR_POSITIONAL for p in wanted) else len(wanted)


def _called(f: Callable[..., Any]) -> Density:
    """A function of as many of x, u, grad u as it has arguments."""
    count = _arguments(f)
    if not 1 <= count <= MOST_ARGUMENTS:
        raise SolutionError(f"f has {count} arguments; it is called with (x), (x, u) or (x, u, grad u).")

    def density(at: Places) -> np.ndarray:
        given = (at.x, at.u() if count > 1 else None, at.gradient() if count > 2 else None)
        found = np.asarray(f(*given[:count]), float)
        if found.shape not in ((), (len(at.x),)):
            raise SolutionError(f"f returns an array {found.shape} for {len(at.x)} points; give ({len(at.x)},).")
        return np.broadcast_to(found, len(at.x))

    return density
