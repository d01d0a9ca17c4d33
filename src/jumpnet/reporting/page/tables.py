"""Tables of the page: residuals, seeds, quantities."""

import math
from collections.abc import Iterable, Mapping

from jumpnet.reporting.page.escaping import escape
from jumpnet.solution import TrustReport


def residuals(report: TrustReport) -> str:
    """Residuals at held-out points, by family of equations."""
    if not report.held_out:
        return ""
    rows = ((r.term, str(r.rows), f"{r.physical:.2e}", f"{r.scaled:.2e}") for r in report.held_out)
    return (
        "<h3>Residuals at points that the solve never saw</h3>\n"
        "<p>Root mean square of each family of equations: in its own units, and relative to the size of its "
        "coefficients and of the data.</p>\n" + table(("equations", "rows", "residual", "scaled"), rows)
    )


def seeds(report: TrustReport) -> str:
    """The results of several seeds, if there were several."""
    if not report.seeds:
        return ""
    estimated = any(not math.isnan(seed.estimate) for seed in report.seeds)
    heads = ("seed", *(("estimated L2 error",) if estimated else ()), "held-out loss", f"{report.unit}s", "status")
    rows = (
        (
            str(seed.seed),
            *((f"{seed.estimate:.1e}",) if estimated else ()),
            f"{seed.held_out_loss:.1e}",
            str(seed.steps),
            seed.status.name.lower().replace("_", " "),
        )
        for seed in report.seeds
    )
    return f"<h3>Seeds</h3>\n<p>The best of {len(report.seeds)} by {report.chosen_by}.</p>\n" + table(heads, rows)


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of numbers; the first column is text, at the left."""

    def line(tag: str, cells: tuple[str, ...]) -> str:
        classes = ("", *[' class="n"'] * (len(cells) - 1))
        return "".join(f"<{tag}{kind}>{escape(cell)}</{tag}>" for cell, kind in zip(cells, classes, strict=True))

    body = "".join(f"<tr>{line('td', cells)}</tr>" for cells in rows)
    return f'<div class="wide"><table><tr>{line("th", heads)}</tr>{body}</table></div>'


def tables(tables: Mapping[str, Mapping[str, str]]) -> str:
    """Further numbers, such as the quantities that a problem file asks for."""
    return "\n".join(f"<h3>{escape(heading)}</h3>\n" + _sentences(rows) for heading, rows in tables.items() if rows)


def _sentences(rows: Mapping[str, str]) -> str:
    """A table of names and texts; texts of several lines keep their lines."""
    body = "".join(
        f"<tr><td>{escape(name)}</td><td>{f'<pre>{escape(text)}</pre>' if chr(10) in text else escape(text)}</td></tr>"
        for name, text in rows.items()
    )
    return f'<div class="wide"><table>{body}</table></div>'
