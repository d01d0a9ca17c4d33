"""The errors of the quantities that a problem file asks for, from the error of the solution where it was judged."""

import numpy as np

from jumpnet.errors import SolutionError
from jumpnet.files.problemfile import ProblemFile
from jumpnet.files.schema import FluxEntry, IntegralEntry
from jumpnet.judge import Verdict
from jumpnet.solution import Solution
from jumpnet.solution.quantities import added_energy


def quantity_errors(read: ProblemFile, solution: Solution) -> dict[str, float]:
    """The error of each quantity, by name: the judged error, times the judge's safety factor.

    Where the solution was not judged, means and integrals are bounded by its estimate. Quantities whose error is not
    known are left out.
    """
    verdict = solution.verdict
    if verdict is None or not verdict.decided:
        return _bounded(read, solution)
    found = {}
    for name, entry in read.file.quantities.items():
        if isinstance(entry, FluxEntry | IntegralEntry):
            try:
                found[name] = verdict.safety * sum(map(abs, _lacking(read, verdict, entry, f"quantities.{name}")))
            except SolutionError:  # a flux through a part of the boundary that the judge has not kept
                continue
    return found


def _bounded(read: ProblemFile, solution: Solution) -> dict[str, float]:
    """Bounds by Cauchy and Schwarz: a root mean square error e of the domain is at most e sqrt(domain/piece) in one."""
    if not (solution.status.ok and np.isfinite(solution.estimate)):
        return {}
    parts = read.problem.partition
    whole = sum(parts.measure(piece) for piece in range(parts.size))
    found = {}
    for name, entry in read.file.quantities.items():
        if isinstance(entry, IntegralEntry) and entry.kind != "energy":
            pieces = range(parts.size) if entry.over is None else read.builder.pieces(entry.over, f"quantities.{name}")
            mine = sum(parts.measure(piece) for piece in pieces)
            mean = solution.estimate * float(np.sqrt(whole / mine))
            found[name] = mean if entry.kind == "mean" else mean * mine
    return found


def flux_corrections(read: ProblemFile, solution: Solution) -> dict[str, float]:
    """Corrections of the fluxes of finite elements, by name, where their error was judged.

    Gradients of elements are their least accurate part, at singular points above all; the fluxes of the judged error
    come from the equations of the elements, which balance.
    """
    verdict = solution.verdict
    if solution.representation.elements is None or verdict is None or not verdict.decided:
        return {}
    found = {}
    for name, entry in read.file.quantities.items():
        if isinstance(entry, FluxEntry):
            try:
                found[name] = read.sign * sum(_lacking(read, verdict, entry, f"quantities.{name}"))
            except SolutionError:
                continue
    return found


def _lacking(read: ProblemFile, verdict: Verdict, entry: FluxEntry | IntegralEntry, key: str) -> list[float]:
    """The errors of the quantity: one for each part of the boundary that it is taken over, else one."""
    if isinstance(entry, FluxEntry):
        if entry.boundary is not None:
            return [verdict.error_of_net_flux(part) for part in read.builder.parts(entry.boundary)]
        pairs = read.builder.pairs(entry.between or [], f"{key}.between")
        return [sum(verdict.error_of_net_flux((a, b) if forward else (b, a)) for a, b, forward in pairs)]
    if entry.kind == "energy":
        function = lambda piece: added_energy(verdict.solution, verdict.error, verdict.gradient, piece)  # noqa: E731
    else:
        function = verdict.error_of_mean if entry.kind == "mean" else verdict.error_of_integral
    if entry.over is None:
        return [function(None)]
    pieces = read.builder.pieces(entry.over, f"{key}.over")
    if entry.kind != "mean":
        return [sum(function(piece) for piece in pieces)]
    volume = verdict.finding.volume
    return [sum(function(piece) * volume[piece] for piece in pieces) / sum(volume[piece] for piece in pieces)]
