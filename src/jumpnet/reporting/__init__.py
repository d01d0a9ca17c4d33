"""Pictures and pages of solutions: draws what it is given, computes nothing of its own."""

from jumpnet.reporting.figures.cuts import plot_cuts
from jumpnet.reporting.figures.domain import plot_domain
from jumpnet.reporting.figures.embedding import plot_embedding
from jumpnet.reporting.figures.history import plot_history
from jumpnet.reporting.figures.jumps import plot_jumps
from jumpnet.reporting.figures.points import plot_points
from jumpnet.reporting.figures.solution import plot_solution
from jumpnet.reporting.figures.streams import plot_streamlines
from jumpnet.reporting.page.page import Context, write_report

__all__ = [
    "Context",
    "plot_cuts",
    "plot_domain",
    "plot_embedding",
    "plot_history",
    "plot_jumps",
    "plot_points",
    "plot_solution",
    "plot_streamlines",
    "write_report",
]
