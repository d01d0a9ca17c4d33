"""What a problem file asks for beside the solution: integrals and probes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jumpnet.errors import ProblemError
from jumpnet.files.values import at
from jumpnet.geometry import Partition
from jumpnet.geometry.quadrature.rules import NOTHING, Integral
from jumpnet.problem.steps import FINITE, why_infinite
from jumpnet.solution import Solution, quantities

if TYPE_CHECKING:  # pydantic is loaded with the first file
    from jumpnet.files.building import Builder
    from jumpnet.files.problemfile import ProblemFile
    from jumpnet.files.schema import FluxEntry, IntegralEntry, Probe


def integral_of(
    builder: Builder, solution: Solution, entry: FluxEntry | IntegralEntry, name: str, sign: float
) -> Integral:
    """An integral that a file asks for; fluxes are multiplied by `sign`."""
    key = f"quantities.{name}"
    if entry.kind == "flux":
        if entry.boundary is not None:
            through = (solution.net_flux(part) for part in builder.parts(entry.boundary))
            return sum(through, NOTHING).scaled(sign)
        pairs = builder.pairs(entry.between or [], f"{key}.between")
        found = (solution.net_flux((a, b) if forward else (b, a)) for a, b, forward in pairs)
        return sum(found, NOTHING).scaled(sign)
    function = {"mean": quantities.mean, "integral": quantities.integral, "energy": quantities.energy}[entry.kind]
    if entry.over is None:
        return function(solution)
    pieces = builder.pieces(entry.over, f"{key}.over")
    if entry.kind == "mean":
        return quantities.mean_over(solution, pieces)
    return sum((function(solution, piece) for piece in pieces), NOTHING)


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
