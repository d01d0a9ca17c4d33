"""Pictures and pages of solutions: draws what it is given, computes nothing of its own."""

from jumpnet.reporting.domain import plot_domain
from jumpnet.reporting.history import plot_history
from jumpnet.reporting.page import Context, write_report
from jumpnet.reporting.solution import plot_solution

__all__ = ["Context", "plot_domain", "plot_history", "plot_solution", "write_report"]
