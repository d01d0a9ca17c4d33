"""Solutions: evaluate, differentiate, look at an interface from both sides, measure, save and load."""

from jumpnet.solution.report import Errors, Residual, TrustReport
from jumpnet.solution.solution import Solution
from jumpnet.solution.storage import load

__all__ = ["Errors", "Residual", "Solution", "TrustReport", "load"]
