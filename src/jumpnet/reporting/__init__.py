"""Pictures and pages of solutions: draws what it is given, computes nothing of its own."""

from jumpnet.reporting.domain import plot_domain
from jumpnet.reporting.history import plot_history
from jumpnet.reporting.page import write_report
from jumpnet.reporting.solution import plot_solution

__all__ = ["plot_domain", "plot_history", "plot_solution", "write_report"]
