"""What a problem file asks for beside the solution: integrals and probes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from jumpnet.errors import ProblemError, SolutionError
from jumpnet.files.values import at
from jumpnet.geometry import Partition
from jumpnet.problem.steps import FINITE, why_infinite
from jumpnet.solution import Solution
from jumpnet.solution.numbers import Number, fluxes, over_pieces

if TYPE_CHECKING:  # pydantic is loaded with the first file
    from jumpnet.files.building import Builder
    from jumpnet.files.problemfile import ProblemFile
    from jumpnet.files.schema import AnyQuantity, FluxEntry, IntegralEntry, Probe

    Entry = FluxEntry | IntegralEntry


def number_of(builder: Builder, solution: Solution, entry: Entry, name: str, sign: float) -> Number:
    """A number that a file asks for; fluxes are multiplied by `sign`."""
    key = f"quantities.{name}"
    if entry.kind == "flux":
        return fluxes(solution, _through(builder, entry, key)).scaled(sign)
    pieces = None if entry.over is None else sorted(builder.pieces(entry.over, f"{key}.over"))
    return over_pieces(solution, entry.kind, pieces)


def correction_of(builder: Builder, solution: Solution, entry: AnyQuantity, name: str, sign: float) -> float:
    """What is added to a flux of finite elements: its judged error, where it is known; 0 for other numbers.

    Gradients of elements are their least accurate part, at singular points above all; the fluxes of the judged error
    come from the equations of the elements, which balance.
    """
    verdict = solution.verdict
    if entry.kind != "flux" or solution.representation.elements is None or verdict is None or not verdict.decided:
        return 0.0
    with suppress(SolutionError):  # a flux through a part of the boundary that the judge has not kept
        return sign * sum(map(verdict.error_of_net_flux, _through(builder, entry, f"quantities.{name}")))
    return 0.0


def _through(builder: Builder, entry: FluxEntry, key: str) -> Sequence[tuple[int, int] | str]:
    """The parts of the boundary, or the pairs of pieces, that a flux is taken over."""
    if entry.boundary is not None:
        return builder.parts(entry.boundary)
    pairs = builder.pairs(entry.between or [], f"{key}.between")
    return [(a, b) if forward else (b, a) for a, b, forward in pairs]


def probe_points(builder: Builder, parts: Partition, entry: Probe, key: str) -> tuple[np.ndarray, np.ndarray | None]:
    """The points (n, d) of a probe, and the piece they are seen from if the file names one."""
    scope = builder.scope
    if (entry.line is None) == (entry.points is None):
        raise ProblemError(f"{key} has {'neither' if entry.line is None else 'both'} of points and line; give one.")
    if entry.line is not None:
        start = scope.point(entry.line.start, f"{key}.line.start")
        end = scope.point(entry.line.end, f"{key}.line.end")
        if start == end:
            raise ProblemError(f"{key}.line begins and ends at {start}; give two points, or `points`.")
        x = np.linspace(np.array(start), np.array(end), entry.line.count)
    else:
        x = np.array([scope.point(p, f"{key}.points[{k}]") for k, p in enumerate(entry.points or [])])
    if entry.piece is not None:
        pieces = builder.pieces(entry.piece, f"{key}.piece")
        if len(pieces) > 1:
            raise ProblemError(f"{key}.piece is {entry.piece!r}, which is {len(pieces)} pieces; leave it out.")
        return x, np.full(len(x), min(pieces))
    outside = parts.label(x) < 0
    if outside.any():
        raise ProblemError(f"{key}: the point {x[outside][0].tolist()} lies outside the domain; leave it out.")
    return x, None


def check_outputs(found: ProblemFile) -> None:
    """Names, parts and points of the outputs, before a long computation."""
    found.probes()
    for name, entry in found.file.quantities.items():
        key = f"quantities.{name}"
        if entry.kind == "effective":
            found.builder.check_cell(key)
        elif entry.kind != "flux":
            if entry.over is not None:
                found.builder.pieces(entry.over, f"{key}.over")
        elif (entry.between is None) == (entry.boundary is None):
            raise ProblemError(f"{key} is a flux through an interface or the boundary; give one: between or boundary.")
        elif entry.between is not None:
            found.builder.pairs(entry.between, f"{key}.between")
        else:
            with at(f"{key}.boundary"):
                found.builder.parts(str(entry.boundary))
        if entry.kind != "effective" and (why := _why_infinite(found, entry, key)):
            raise ProblemError(f"{key} is infinite: {why}; {FINITE}.")


def _why_infinite(found: ProblemFile, entry: FluxEntry | IntegralEntry, key: str) -> str:
    """Why a flux or an energy that a file asks for is infinite; empty if it is not."""
    problem, build = found.problem, found.builder
    if entry.kind == "flux":
        if entry.boundary is not None:
            return next(filter(None, (why_infinite(problem, part) for part in build.parts(entry.boundary))), "")
        pairs = build.pairs(entry.between or [], f"{key}.between")
        return next(filter(None, (why_infinite(problem, (a, b)) for a, b, _ in pairs)), "")
    if entry.kind != "energy":
        return ""
    pieces = [None] if entry.over is None else build.pieces(entry.over, f"{key}.over")
    return next(filter(None, (why_infinite(problem, piece=piece) for piece in pieces)), "")
