"""The outputs of a solved problem file: numbers, tables and pages."""

import csv
import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from jumpnet.files.asked import correction_of
from jumpnet.files.beside import Coarse, told
from jumpnet.files.problemfile import ProblemFile
from jumpnet.guard.text import spreadsheet
from jumpnet.reporting import Context, plot_domain, plot_solution, write_report
from jumpnet.reporting.figures.canvas import write_file
from jumpnet.reporting.quantities import decided
from jumpnet.solution import Solution
from jumpnet.solution.effective import EffectiveTensor

# Headings of the two numbers of a balance; True: fluxes are given as heat flow.
_BALANCE = {
    False: "A grad u . n out of each piece, what its sources ask for",
    True: "heat that leaves each piece, what its sources release",
}


def results(read: ProblemFile, solution: Solution, coarse: Coarse | None = None) -> dict[str, Any]:
    """Status, error, the wanted quantities, the balances and the comparison, if one is asked for; JSON can hold it.

    `coarse` gives the quantities at half the resolution of an image (beside.py); without it they are computed here.
    """
    report = solution.report(balances=True, reference=read.reference())
    return {
        "title": read.title,
        "fluxes": "heat flow, -A grad u" if read.file.heat else "A grad u",
        "status": solution.status.name.lower(),
        "converged": solution.status.ok,
        "alarm": report.alarm or None,
        "estimate": _finite(solution.estimate),
        "judged": None if report.judged is None else report.judged.as_json(),
        "held out loss": _finite(solution.held_out_loss),
        "error": None if report.errors is None else {"l2": report.errors.l2, "linf": report.errors.linf},
        "quantities": _quantities(read, solution, coarse),
        "effective tensors": {name: _tensor(found) for name, found in read.effective(solution).items()},
        "balances": {
            balance.name: {
                "outflow": read.sign * balance.outflow.value + 0.0,  # no -0
                "source": read.sign * balance.source.value + 0.0,
                "defect": balance.defect,
                "fails": balance.fails,
            }
            for balance in report.balances
        },
        "spread of seeds": _finite(report.spread),
        "compared": None
        if report.compared is None
        else {"with": report.reference, "l2": report.compared.l2, "relative": report.compared.relative_l2},
    }


def _quantities(read: ProblemFile, solution: Solution, coarse: Coarse | None) -> dict[str, dict[str, float | None]]:
    """The numbers that the file asks for, with their errors."""
    halved = (coarse or partial(told, read.coarse_quantities))() if solution.dim == 2 else {}
    found: dict[str, dict[str, float | None]] = {}
    for name, number in read.quantities(solution).items():
        value = number.value + correction_of(read.builder, solution, read.file.quantities[name], name, read.sign)
        found[name] = {
            "value": value,
            "error": _finite(number.error),
            "quadrature error": number.quadrature_error,
            "resolution error": abs(value - halved[name]) if name in halved else None,
        }
    return found


def _tensor(found: EffectiveTensor) -> dict[str, Any]:
    bounds = found.bounds
    return {
        "tensor": found.tensor.tolist(),
        "estimate": found.estimate,
        "asymmetry": found.asymmetry,
        "boundary": found.boundary,
        "resolution error": _finite(found.resolution),
        "voigt": bounds.voigt.tolist(),
        "reuss": None if bounds.reuss is None else bounds.reuss.tolist(),
        "hashin-shtrikman": None if bounds.hashin_shtrikman is None else list(bounds.hashin_shtrikman),
        "bounds broken": list(found.violated),
        "text": str(found),
    }


def described(read: ProblemFile, solution: Solution, found: dict[str, Any]) -> str:
    """The same in words: what was asked for, then how far it can be trusted."""
    lines = [f"{read.title}: {solution.status.name.lower().replace('_', ' ')}"]
    if found["quantities"]:
        lines += ["quantities, with their errors", *listed_quantities(found)]
    for name, of in found["effective tensors"].items():
        lines += [f"{name}: the effective tensor", *(f"  {line}" for line in of["text"].splitlines())]
    lines += ["trust", str(solution.report())]
    if found["compared"] is not None:
        lines.append(
            f"compared with {found['compared']['with']}: relative difference {found['compared']['relative']:.1e}"
        )
    lines.append(f"flux balance: {_BALANCE[read.file.heat]}, the relative difference")
    width = max(len(name) for name in found["balances"])
    for name, of in found["balances"].items():
        lines.append(f"  {name:<{width}}  {of['outflow']:.6g}  {of['source']:.6g}  {of['defect']:.1e}")
    return "\n".join(lines)


def listed_quantities(found: dict[str, Any]) -> list[str]:
    """The quantities in lines: name, value, error; where the error is that of the quadrature alone, that is said."""
    width = max((len(name) for name in found["quantities"]), default=0)
    lines = [
        f"  {name:<{width}}  {_digits(of)}  (± {_bar(of):.1e}{_alone(of)}{_pixels(of)})"
        for name, of in found["quantities"].items()
    ]
    if any(of["error"] is None for of in found["quantities"].values()):
        lines.append(f"  {BY_QUADRATURE}")
    return lines


def probed(read: ProblemFile, solution: Solution) -> str:
    """The probes as CSV: probe, coordinates, piece, u, flux (or heat flow), and the error of u where it was judged."""
    d, verdict = solution.dim, decided(solution)
    buffer = io.StringIO()
    table = csv.writer(buffer, lineterminator="\n")
    flux = "heat" if read.file.heat else "flux"
    heads = ["probe", *(f"x{k + 1}" for k in range(d)), "piece", "u", *(f"{flux}{k + 1}" for k in range(d))]
    table.writerow(heads if verdict is None else [*heads, "error"])
    for name, (x, given) in read.probes().items():
        piece = read.problem.partition.label(x) if given is None else given
        columns = [solution(x, piece), read.sign * solution.flux(x, piece)]
        if verdict is not None:
            columns.append(verdict.safety * np.abs(verdict.error(x, piece)))
        rows = np.column_stack(columns)
        for point, label, values in zip(x.tolist(), piece.tolist(), rows.tolist(), strict=True):
            table.writerow([spreadsheet(name), *point, spreadsheet(read.problem.partition.names[label]), *values])
    return buffer.getvalue()


def write(
    read: ProblemFile,
    solution: Solution,
    found: dict[str, Any],
    folder: Path,
    keep: Callable[[Path], None],
    command: str | None = None,
) -> None:
    """Writes all files but the solution itself; `keep` is called with each that was written."""

    def text(name: str, content: str) -> None:
        write_file(folder / name, content.encode(errors="backslashreplace"))
        keep(folder / name)

    text("report.txt", described(read, solution, found) + "\n")
    text("quantities.json", json.dumps(found, indent=2) + "\n")
    if read.file.probes:
        text("probes.csv", probed(read, solution))
    if solution.dim <= 3:
        exchanged = folder / f"{read.name}{'.csv' if solution.dim == 1 else '.vtu'}"
        solution.export(exchanged)
        keep(exchanged)
    picture, domain = folder / f"{read.name}.png", folder / "domain.png"
    plot_solution(solution, picture)
    keep(picture)
    if solution.dim <= 3:
        plot_domain(read.problem.partition, domain)
        keep(domain)
    about = Context(
        about=read.file.about or "",
        saved=f"{read.name}.jumpnet",
        command=command,
        quantities=shown_quantities(found),
        tables=tables(found, read.file.heat),
        picture=picture.read_bytes(),
        domain=domain.read_bytes() if solution.dim <= 3 else None,
        alarm=found["alarm"] or "",
        heat=read.file.heat,
    )
    write_report(solution, folder / "report.html", title=read.title, context=about)
    keep(folder / "report.html")


def shown_quantities(found: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """The quantities as the report shows them: name, value, error; tensors row by row."""
    shown = {
        name: (_digits(of), f"± {_bar(of):.1e}{_alone(of)}{_pixels(of)}") for name, of in found["quantities"].items()
    }
    for name, of in found["effective tensors"].items():
        rows = "; ".join(" ".join(f"{entry:.6g}" for entry in row) for row in of["tensor"])
        shown[name] = (rows, f"± {of['estimate']:.1e}{_pixels(of)}")
    return shown


def tables(found: dict[str, Any], heat: bool) -> dict[str, dict[str, str]]:
    """The balances and effective tensors as the report shows them."""
    words = "leaves, sources release" if heat else "leaves, sources ask for"
    balances = {
        name: f"{of['outflow']:.6g} {words} {of['source']:.6g}, off by {of['defect']:.1e}"
        for name, of in found["balances"].items()
    }
    tensors = {name: of["text"] for name, of in found["effective tensors"].items()}
    return {"Effective tensors": tensors, "Flux balance": balances}


def _digits(of: dict[str, Any]) -> str:
    """The value, to one digit beyond those that its error leaves; to six where its error is not known."""
    value, bar = of["value"], max(_bar(of), of["resolution error"] or 0.0)
    if of["error"] is None or not (np.isfinite(bar) and bar > 0 and np.isfinite(value) and value):
        return f"{value:.6g}"
    kept = int(np.floor(np.log10(abs(value)))) - int(np.floor(np.log10(bar))) + 2
    return f"{value:#.{min(max(kept, 2), 12)}g}".removesuffix(".")


BY_QUADRATURE = (
    'of the quadrature alone: the error of the solution comes on top; [solve] verify = "always" solves for it'
)


def _alone(of: dict[str, Any]) -> str:
    return " of the quadrature alone" if of["error"] is None else ""


def _bar(of: dict[str, Any]) -> float:
    """The error to show beside a quantity: as judged, or of the quadrature alone."""
    return of["quadrature error"] if of["error"] is None else of["error"]


def _pixels(of: dict[str, Any]) -> str:
    """The estimated error from the resolution of the image, if it was computed."""
    return "" if of["resolution error"] is None else f"; pixels ± {of['resolution error']:.1e}"


def _finite(number: float) -> float | None:
    return number if np.isfinite(number) else None
