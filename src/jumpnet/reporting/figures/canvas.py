"""Figures without global state: made, styled and written here, never through pyplot, so no display is needed."""

import io
import re
from os import PathLike
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import ScalarFormatter

from jumpnet.errors import SolutionError
from jumpnet.guard.writing import write_atomically
from jumpnet.solution.files import file_path

DPI = 112  # on a page
FINER = 2  # the factor of resolution of separate picture files, which may be printed
PACKED = 3  # the level of compression of PNG files: half the time of the default, 6, for a tenth more bytes
INK = "#22262b"
FAINT = "#9aa3ad"
# Soft colours for pieces; the first is the background's.
PIECES = ("#e9ecef", "#7fb7d6", "#f2b872", "#92c9a0", "#d89aa9", "#b3a6d8", "#d9cf77", "#8fc7c2", "#c9a98b", "#a9b4c2")
# Line colours with equal weight on white, distinct for colour-blind readers (Okabe and Ito).
LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
# What matplotlib says of an axis: a power of ten, and what is added.
OFFSET = re.compile(r"(?:1e([+-]?\d+))?([+-][\d.]+(?:e[+-]?\d+)?)?")
LARGEST_SIDE = 20.0  # inches; a figure of a very flat domain is cut down to this


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches, with a canvas of its own."""
    figure = Figure(
        figsize=(min(width, LARGEST_SIDE), min(height, LARGEST_SIDE)),
        dpi=DPI,
        layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1),
        facecolor="white",
    )
    FigureCanvasAgg(figure)
    return figure


def styled(axes: Axes, *, title: str = "", xlabel: str = "", ylabel: str = "") -> Axes:
    """The house style: no frame above and at the right, small dark text."""
    axes.set_title(title, fontsize=10, color=INK)
    axes.set_xlabel(xlabel, fontsize=9, color=INK)
    axes.set_ylabel(ylabel, fontsize=9, color=INK)
    axes.tick_params(which="both", labelsize=8, color=FAINT, labelcolor=INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(FAINT)
    return axes


class Apart(ScalarFormatter):
    """Tick labels as differences from a common value, where they share many digits: "+ 25" stands beside the axis."""

    def get_offset(self) -> str:
        """What all numbers of the axis are to be multiplied by, and what is added to them."""
        text = super().get_offset().replace("\N{MINUS SIGN}", "-")
        found = OFFSET.fullmatch(text)
        if found is None:
            return text
        factor = f"× 1e{found[1]}" if found[1] else ""
        added = f"{found[2][0]} {abs(float(found[2])):.12g}" if found[2] else ""
        return " ".join(part for part in (factor, added) if part)


def finished(figure: Figure, path: str | PathLike[str] | None) -> Figure:
    """The figure, written to `path` if there is one; the format is that of the file's name."""
    if path is not None:
        kind = file_path(path).suffix.removeprefix(".").lower() or "png"
        write_file(path, image(figure, kind, finer=FINER))
    return figure


def image(figure: Figure, kind: str = "png", finer: float = 1.0) -> bytes:
    """The figure as the content of an image file, with `finer` times the figure's own number of dots per inch."""
    known = figure.canvas.get_supported_filetypes()
    if kind not in known:
        raise SolutionError(f"figures cannot be written as .{kind}; use one of {', '.join(sorted(known))}.")
    buffer = io.BytesIO()
    # No date and no version inside: the same figure gives the same file.
    nameless = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    if (layout := figure.get_layout_engine()) is not None:  # once: a figure may be written twice, to a file and a page
        layout.execute(figure)
        figure.set_layout_engine(None)  # "none" would leave a placeholder, for which savefig draws twice
    with rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}):  # TrueType: journals refuse the default's Type 3
        packed: dict[str, Any] = {"pil_kwargs": {"compress_level": PACKED}} if kind == "png" else {}
        figure.savefig(buffer, format=kind, dpi=finer * figure.dpi, metadata=nameless, **packed)
    return buffer.getvalue()


def write_file(path: str | PathLike[str], content: bytes) -> None:
    """Write a file; SolutionError in one sentence where that is impossible."""
    try:
        write_atomically(file_path(path), content)
    except (OSError, ValueError) as problem:  # ValueError: a null character in the name
        reason = getattr(problem, "strerror", None) or problem
        raise SolutionError(f"{str(path)!r} cannot be written ({reason}); give another path.") from None
