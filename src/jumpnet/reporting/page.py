"""The report of a solution as one HTML file: no scripts, nothing fetched, every figure inside."""

import base64
import math
from collections.abc import Iterable
from html import escape
from os import PathLike

from matplotlib.figure import Figure

from jumpnet.reporting.canvas import image, write_file
from jumpnet.reporting.domain import plot_domain
from jumpnet.reporting.history import plot_history
from jumpnet.reporting.solution import plot_solution
from jumpnet.solution import Solution, TrustReport

STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; color: #22262b; background: #fff; max-width: 62rem; margin: 2.5rem auto;
       padding: 0 1.2rem; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p.method { margin: .2rem 0 1rem; color: #66707a; }
p.verdict { padding: .8rem 1rem; border-left: .35rem solid #2f9e63; background: #f1f9f4; }
p.verdict.bad { border-color: #cf6a1c; background: #fdf4ec; }
dl { display: flex; flex-wrap: wrap; gap: .8rem 1.4rem; margin: 1.2rem 0; }
dt { font-size: .8rem; color: #66707a; } dd { margin: 0; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { text-align: left; padding: .28rem 1.4rem .28rem 0; border-bottom: 1px solid #e4e8ec; vertical-align: top; }
td.n, th.n { text-align: right; } th { color: #66707a; font-weight: 500; }
td.long { overflow-wrap: anywhere; }
img { max-width: 100%; height: auto; } footer { margin-top: 3rem; font-size: .8rem; color: #66707a; }
"""
# What to do about a solution that is not converged.
REMEDIES = {
    "step": "try another seed, more steps or several trials",
    "level": "try another seed, a larger tolerance, or a network (model=)",
}
SHOWN_ELSEWHERE = ("method", "trials", "seconds")


def write_report(
    solution: Solution, path: str | PathLike[str], *, title: str | None = None, picture: Figure | None = None
) -> None:
    """Write a page about the solution: what came out, how far to trust it, figures, settings.

    `picture` is the figure of the solution if it has been drawn already.
    """
    write_file(path, page(solution, title, picture).encode("utf-8", errors="replace"))


def page(solution: Solution, title: str | None = None, picture: Figure | None = None) -> str:
    """The page as text."""
    report = solution.report()
    name = escape(title or f"Interface problem in {solution.dim}-D with {solution.pieces} pieces")
    sections = [
        f"<h1>{name}</h1>",
        _method(report),
        _verdict(report),
        _figures(report),
        _pictures(solution, picture),
        _residuals(report),
        _seeds(report),
        _history(solution),
        _settings(solution),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{name}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(sections)
        + "\n</body>\n</html>\n"
    )


def verdict(report: TrustReport) -> str:
    """What the numbers mean, in plain words."""
    words = [f"{'Converged' if report.status.ok else 'Not converged'}: {report.status}."]
    if not report.status.ok:
        words.append(f"Treat the numbers below as provisional: {REMEDIES[report.unit]}.")
    if math.isfinite(report.estimate):
        words.append(f"The estimated error is {report.estimate:.1e} in the root mean square.")
    if (worst := report.worst) is not None:
        words.append(
            f"At points that the solve never saw, the equations that are met worst ({worst.term}) are off by "
            f"{worst.scaled:.1e} of the size of the data."
        )
    if report.errors is not None:
        words.append(
            f"The exact solution is known: at {report.errors.points} random points the difference from it is "
            f"{report.errors.l2:.1e} in the root mean square and {report.errors.linf:.1e} at most."
        )
    return " ".join(words)


def _method(report: TrustReport) -> str:
    """How it was solved, in the solver's own words."""
    method = str(report.settings.get("method", ""))
    return f'<p class="method">{escape(method[:1].upper() + method[1:])}</p>' if method else ""


def _verdict(report: TrustReport) -> str:
    kind = "verdict" if report.status.ok else "verdict bad"
    return f'<p class="{kind}">{escape(verdict(report))}</p>'


def _figures(report: TrustReport) -> str:
    """The numbers one looks for first."""
    shown = {}
    if math.isfinite(report.estimate):
        shown["estimated L2 error"] = f"{report.estimate:.1e}"
    if report.errors is not None:
        shown |= {"L2 error": f"{report.errors.l2:.2e}", "largest error": f"{report.errors.linf:.2e}"}
        shown |= {"relative L2 error": f"{report.errors.relative_l2:.2e}"}
    shown |= {"loss": f"{report.loss:.2e}", "held-out loss": f"{report.held_out_loss:.2e}"}
    shown |= {"parameters": str(report.parameters), f"{report.unit}s": str(report.steps)}
    if isinstance(seconds := report.settings.get("seconds"), int | float):
        shown["seconds"] = f"{seconds:.1f}"
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in shown.items())
    return f"<dl>{items}</dl>"


def _pictures(solution: Solution, picture: Figure | None) -> str:
    if solution.partition is None:
        return "<p>The geometry was a callable and could not be stored, so the solution cannot be drawn here.</p>"
    drawn = picture or plot_solution(solution)
    parts = ["<h2>Solution</h2>", _embedded(drawn, "The solution and, where it is known, its error")]
    if solution.dim <= 3:
        parts += ["<h2>Domain</h2>", _embedded(plot_domain(solution.partition), "The domain and its pieces")]
    return "\n".join(parts)


def _residuals(report: TrustReport) -> str:
    if not report.held_out:
        return ""
    rows = ((r.term, str(r.rows), f"{r.physical:.2e}", f"{r.scaled:.2e}") for r in report.held_out)
    return (
        "<h2>Residuals at points that the solve never saw</h2>\n"
        "<p>Root mean square of each family of equations: in its own units, and relative to the size of its "
        "coefficients and of the data.</p>\n" + _table(("equations", "rows", "residual", "scaled"), rows)
    )


def _seeds(report: TrustReport) -> str:
    """How the seeds came out, where there were several: one seed proves little."""
    if not report.seeds:
        return ""
    estimated = any("estimate" in seed for seed in report.seeds)
    heads = ("seed", *(("estimated L2 error",) if estimated else ()), "held-out loss", f"{report.unit}s", "status")
    rows = (
        (
            str(seed["seed"]),
            *((f"{seed.get('estimate', math.nan):.1e}",) if estimated else ()),
            f"{seed['held_out_loss']:.1e}",
            str(seed["steps"]),
            str(seed["status"]).replace("_", " "),
        )
        for seed in report.seeds
    )
    return f"<h2>Seeds</h2>\n<p>The best of {len(report.seeds)} by {report.chosen_by}.</p>\n" + _table(heads, rows)


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of numbers; the first column is text, at the left."""

    def line(tag: str, cells: tuple[str, ...]) -> str:
        classes = ("", *[' class="n"'] * (len(cells) - 1))
        return "".join(f"<{tag}{kind}>{escape(cell)}</{tag}>" for cell, kind in zip(cells, classes, strict=True))

    body = "".join(f"<tr>{line('td', cells)}</tr>" for cells in rows)
    return f"<table><tr>{line('th', heads)}</tr>{body}</table>"


def _history(solution: Solution) -> str:
    if len(solution.history) == 0:
        return ""
    drawn = plot_history(solution.history, unit=solution.unit)
    return "<h2>Course of the solve</h2>\n" + _embedded(drawn, f"The loss over the {solution.unit}s")


def _settings(solution: Solution) -> str:
    shown = {"seed": solution.seed} | {n: v for n, v in solution.settings.items() if n not in SHOWN_ELSEWHERE}
    if solution.missing:
        shown |= {"not stored": ", ".join(solution.missing)}
    rows = "".join(
        f'<tr><td>{escape(str(name))}</td><td class="long">{escape(str(value))}</td></tr>'
        for name, value in shown.items()
    )
    from jumpnet import __version__

    return f"<h2>Settings</h2>\n<table>{rows}</table>\n<footer>jumpnet {escape(__version__)}</footer>"


def _embedded(figure: Figure, words: str) -> str:
    data = base64.b64encode(image(figure)).decode("ascii")
    return f'<img alt="{escape(words)}" src="data:image/png;base64,{data}">'
