"""The report of a solution as one HTML file: nothing is fetched, every figure, number and script is inside."""

import base64
import math
import platform
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from os import PathLike

from matplotlib.figure import Figure

from jumpnet.errors import JumpnetError, SolutionError
from jumpnet.reporting.assets import asset
from jumpnet.reporting.figures.canvas import FINER, image, write_file
from jumpnet.reporting.figures.cuts import plot_cuts
from jumpnet.reporting.figures.domain import plot_domain
from jumpnet.reporting.figures.embedding import plot_embedding
from jumpnet.reporting.figures.history import plot_history
from jumpnet.reporting.figures.jumps import plot_jumps
from jumpnet.reporting.figures.points import plot_points
from jumpnet.reporting.figures.solution import plot_solution
from jumpnet.reporting.figures.streams import plot_streamlines
from jumpnet.reporting.page.escaping import escape
from jumpnet.reporting.page.interactive import script, viewer
from jumpnet.reporting.page.statement import statement
from jumpnet.reporting.page.tables import residuals, seeds, table, tables
from jumpnet.reporting.quantities import decided
from jumpnet.solution import Solution, TrustReport
from jumpnet.solution.advice import advice
from jumpnet.solution.diagnostics import Judged

SHOWN_ELSEWHERE = ("method", "trials", "seconds")  # settings that have their own place on the page
# The page may run its own script and show its own pictures; whatever else it might try, the browser refuses.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
VERSIONS = ("jax", "numpy", "scipy")  # packages whose versions the page names


@dataclass(frozen=True)
class Context:
    """What a page shows beyond the solution: a text, where the solution is stored, how it was made.

    `quantities` are the numbers that were asked for, by name, each with its error; they come first. `tables` are
    further numbers, by heading: rows of a name and its text. `heat` gives fluxes as heat flow, -A grad u. `picture` and
    `domain` are the figures of the solution and of its pieces if they have been written already, as the content of PNG
    files, and `alarm` the headline of what fails (empty if nothing does), if that is known already.
    """

    about: str = ""
    saved: str | None = None
    command: str | None = None
    quantities: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    picture: bytes | None = None
    domain: bytes | None = None
    alarm: str | None = None
    heat: bool = False


def write_report(
    solution: Solution, path: str | PathLike[str], *, title: str | None = None, context: Context = Context()
) -> None:
    """Write a page about the solution: statement, interactive maps, how far to trust it, figures, provenance.

    The page is one file that opens anywhere, offline.
    """
    write_file(path, page(solution, title, context).encode("utf-8", errors="backslashreplace"))


def page(solution: Solution, title: str | None = None, context: Context = Context()) -> str:
    """The page as text."""
    report = solution.report() if context.alarm is not None else checked_report(solution)
    alarm = report.alarm if context.alarm is None else context.alarm
    name = escape(title or f"Interface problem in {solution.dim}-D with {solution.pieces} pieces")
    sections = {
        "Solution": _solution(solution, context),
        "Trust": tables(context.tables) + residuals(report) + seeds(report),
        "Problem": _problem(solution, context.domain),
        "Course of the solve": _history(solution),
        "Provenance": _provenance(solution, context),
    }
    shown = {heading: text for heading, text in sections.items() if text}
    links = "".join(f'<a href="#{_anchor(heading)}">{heading}</a>' for heading in shown)
    about = f"<p>{escape(' '.join(context.about.split()))}</p>" if context.about.strip() else ""
    body = [
        f"<h1>{name}</h1>",
        _method(report),
        about,
        _verdict(report, alarm, advice(solution) if alarm else ""),
        _asked(context),
        _figures(report),
        f"<nav>{links}</nav>",
    ]
    body += [f'<h2 id="{_anchor(heading)}">{heading}</h2>\n{text}' for heading, text in shown.items()]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{name}</title>\n<style>{asset('report.css')}</style>\n</head>\n<body>\n"
        + "\n".join(part for part in body if part)
        + f"\n{script()}\n</body>\n</html>\n"
    )


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def checked_report(solution: Solution) -> TrustReport:
    """The trust report, with the balances where they can be had: where the equations and the geometry are known."""
    if solution.problem is not None and solution.dim <= 3:  # beyond, integrals are samples that take long
        try:
            return solution.report(balances=True)
        except JumpnetError:  # such as data without values at the points of a quadrature
            pass
    return solution.report()


def verdict(report: TrustReport, alarm: str | None = None, remedy: str = "") -> str:
    """What the numbers mean, in plain words; `alarm` is the report's own if it is not given."""
    alarm = report.alarm if alarm is None else alarm
    words = [alarm or f"Converged: {report.status}."]
    if alarm:
        words.append(f"Treat the numbers below as provisional{f': try {remedy}' if remedy else ''}.")
    if report.judged is not None:
        words.append(_of_judge(report.judged))
    elif math.isfinite(report.estimate):
        words.append(f"The estimated error is {report.estimate:.1e} in the root mean square.")
    if (worst := report.worst) is not None:
        words.append(
            f"At points that the solve never saw, the largest residual, of {worst.term}, is "
            f"{worst.scaled:.1e} of the size of the data."
        )
    if report.errors is not None:
        words.append(
            f"The exact solution is known: at {report.errors.points} random points the difference from it is "
            f"{report.errors.l2:.1e} in the root mean square and {report.errors.linf:.1e} at most."
        )
    return " ".join(words)


def _of_judge(judged: Judged) -> str:
    """What the judge found, in a sentence."""
    if not judged.decided:
        return f"Its error could not be told by solving for it: {judged.reason.rstrip('.')}."
    return (
        f"Its error was solved for: {judged.rms:.1e} in the root mean square. The estimate to rely on is "
        f"{judged.estimate:.1e}: {judged.safety:g} times that"
        + (f" and {judged.unresolved:.1e} for what was not resolved." if judged.unresolved > 0 else ".")
    )


def _method(report: TrustReport) -> str:
    """How it was solved, in the solver's own words."""
    method = report.diagnostics.method
    return f'<p class="method">{escape(method[:1].upper() + method[1:])}</p>' if method else ""


def _verdict(report: TrustReport, alarm: str, remedy: str) -> str:
    """The verdict; a headline in red where something fails."""
    words = verdict(report, alarm, remedy)
    if not alarm:
        return f'<p class="verdict">{escape(words)}</p>'
    rest = words.removeprefix(alarm).lstrip()
    return f'<p class="verdict bad"><strong>{escape(alarm)}</strong> {escape(rest)}</p>'


def _figures(report: TrustReport) -> str:
    """The most important numbers."""
    shown = {}
    if math.isfinite(report.estimate):
        shown["estimated L2 error"] = f"{report.estimate:.1e}"
    if report.judged is not None and report.judged.decided:
        shown["judged L2 error"] = f"{report.judged.rms:.1e}"
    if report.errors is not None:
        shown |= {"L2 error": f"{report.errors.l2:.2e}", "largest error": f"{report.errors.linf:.2e}"}
        shown |= {"relative L2 error": f"{report.errors.relative_l2:.2e}"}
    done = report.diagnostics
    if done.fit is not None:
        shown |= {"held-out loss": f"{done.fit.held_out_loss:.2e}", "loss": f"{done.fit.loss:.2e}"}
        shown |= {"parameters": str(report.parameters), f"{report.unit}s": str(done.fit.steps)}
    if done.mesh is not None:
        shown["unknowns"] = str(done.mesh.unknowns)
    if math.isfinite(done.seconds):
        shown["seconds"] = f"{done.seconds:.1f}"
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in shown.items())
    return f"<dl>{items}</dl>"


def _problem(solution: Solution, picture: bytes | None) -> str:
    """The equations, and the geometry."""
    parts = [] if solution.problem is None else [statement(solution.problem)]
    if solution.partition is not None and solution.dim <= 3:
        drawn = picture or plot_domain(solution.partition)
        parts.append(_embedded(drawn, "The domain and its pieces"))
    return "\n".join(parts)


def _asked(context: Context) -> str:
    """The numbers that were asked for, each with its error."""
    if not context.quantities:
        return ""
    sign = "heat flow, −A∇u: what leaves through the boundary is positive" if context.heat else "A∇u, with this sign"
    shown = table(("", "value", "error"), ((name, *number) for name, number in context.quantities.items()))
    return f'<h2 id="numbers">Numbers</h2>\n{shown}\n<p class="note">Fluxes are {sign}.</p>'


def _solution(solution: Solution, context: Context) -> str:
    """The interactive map, other pictures, and the map as a still picture, folded away."""
    if solution.partition is None:
        return "<p>The geometry was a callable and could not be stored, so the solution cannot be drawn here.</p>"
    drawn = context.picture or plot_solution(solution)
    judged = solution.exact is None and decided(solution) is not None
    words = "The solution, and its error as judged" if judged else "The solution and, where it is known, its error"
    still = f"<details><summary>The same as a picture</summary>{_embedded(drawn, words)}</details>"
    others = "\n".join(_embedded(figure, text) for figure, text in _pictures(solution, context.heat))
    return viewer(solution) + others + still


def _pictures(solution: Solution, heat: bool = False) -> Iterator[tuple[Figure, str]]:
    """Further pictures that fit the solution, each with its caption."""
    known = solution.statement.has_tensors
    in_planes = " (in 3-D: in planes)" if solution.dim > 2 else ""
    lines = f"Lines of the {'heat flow −A∇u' if heat else 'flux A∇u'} over u{in_planes}"
    beside = decided(solution) is not None and solution.exact is not None  # else the first figure has it
    offered = [
        (partial(plot_solution, what="judged"), beside, "The error as judged, without the exact solution"),
        (plot_cuts, solution.dim == 3, "The solution on three planes"),
        (partial(plot_streamlines, heat=heat), known and solution.dim in (2, 3), lines),
        (plot_jumps, solution.dim in (2, 3), "Both sides of the interfaces and the jumps, along the arc length"),
        (plot_embedding, solution.network.shallow is not None, "The label that the network uses for each piece"),
    ]
    for plot, fits, words in offered:
        if fits:
            try:
                yield plot(solution), words
            except SolutionError:  # such as: no interface lies in this plane
                continue


def _history(solution: Solution) -> str:
    if len(solution.history) == 0:
        return ""
    drawn = plot_history(solution.history, unit=solution.unit)
    shown = [(drawn, f"The loss over the {solution.unit}s")]
    fit = solution.diagnostics.fit
    if solution.partition is not None and solution.dim <= 3 and fit is not None and fit.points is not None:
        words = {"step": "The points at which the equations were asked for",
                 "level": "As many points as the last level used, spread as evenly"}[solution.unit]  # fmt: skip
        with suppress(SolutionError):  # such as: more points than can be drawn
            shown.append((plot_points(solution), words))
    return "\n".join(_embedded(figure, text) for figure, text in shown)


def _provenance(solution: Solution, context: Context) -> str:
    """How the solution was computed, and how to load it."""
    from jumpnet import __version__

    shown = {"command": context.command} if context.command else {}
    shown |= {"seed": solution.seed} | {n: v for n, v in solution.settings.items() if n not in SHOWN_ELSEWHERE}
    if missing := solution.statement.missing:
        shown |= {"not stored": ", ".join(missing)}
    shown["versions"] = f"jumpnet {__version__}, Python {platform.python_version()}, " + ", ".join(
        f"{package} {version(package)}" for package in VERSIONS
    )
    rows = "".join(
        f'<tr><td>{escape(str(name))}</td><td class="long">{_lines(value)}</td></tr>' for name, value in shown.items()
    )
    return (
        f'<div class="wide"><table>{rows}</table></div>\n<h3>Load it in Python</h3>\n'
        f'<pre id="snippet">{escape(snippet(solution, context.saved))}</pre>\n'
        '<button data-copies="snippet">copy</button>\n'
        f"<footer>jumpnet {escape(__version__)}; this page is complete in itself and opens offline.</footer>"
    )


def _lines(value: object) -> str:
    """A setting as HTML: of a list, each entry on a line of its own."""
    return "<br>".join(escape(str(entry)) for entry in (value if isinstance(value, list | tuple) else [value]))


def snippet(solution: Solution, saved: str | None) -> str:
    """Python code that loads the solution and evaluates it."""
    file = saved or "solution.jumpnet"
    lines = [] if saved else ['# after solution.save("solution.jumpnet") where it was computed']
    lines += ["import jumpnet as jn", "", f"solution = jn.load({file!r})", "print(solution.report())"]
    if (partition := solution.partition) is not None:
        x = partition.sample_interior(1, seed=0)[0].round(3).tolist()
        lines += [f"x = {x}", "print(solution(x), solution.grad(x))"]
        if partition.interfaces:
            pair = partition.interfaces[0].pair
            lines += [
                f"x, n = solution.partition.sample_interface({pair}, 5, seed=0)",
                f"print(solution.side(x, {pair[0]}), solution.side(x, {pair[1]}), solution.jump(x))",
            ]
    return "\n".join(lines)


def _embedded(figure: Figure | bytes, words: str) -> str:
    """A figure, or the PNG file it was written to: as large as on a page, with more dots."""
    content = figure if isinstance(figure, bytes) else image(figure)
    width = f' width="{int.from_bytes(content[16:20]) // FINER}"' if isinstance(figure, bytes) else ""
    data = base64.b64encode(content).decode("ascii")
    drawn = f'<img alt="{escape(words)}"{width} src="data:image/png;base64,{data}">'
    return f"<figure>{drawn}<figcaption>{escape(words)}</figcaption></figure>"
