"""Pictures and pages of solutions: draws what it is given, computes nothing of its own."""

from jumpnet.reporting.cuts import plot_cuts
from jumpnet.reporting.domain import plot_domain
from jumpnet.reporting.embedding import plot_embedding
from jumpnet.reporting.history import plot_history
from jumpnet.reporting.jumps import plot_jumps
from jumpnet.reporting.page import Context, write_report
from jumpnet.reporting.points import plot_points
from jumpnet.reporting.solution import plot_solution
from jumpnet.reporting.streams import plot_streamlines

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
