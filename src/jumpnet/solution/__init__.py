"""Solutions: evaluate, differentiate, look at an interface from both sides, measure, save and load."""

from jumpnet.solution.diagnostics import (
    Diagnostics,
    LeastSquares,
    MeshSize,
    PointCounts,
    Residual,
    TrainingSettings,
    Trial,
)
from jumpnet.solution.report import Errors, TrustReport
from jumpnet.solution.representation import Representation
from jumpnet.solution.solution import Solution
from jumpnet.solution.statement import Statement
from jumpnet.solution.storage import load

__all__ = [
    "Diagnostics",
    "Errors",
    "LeastSquares",
    "MeshSize",
    "PointCounts",
    "Representation",
    "Residual",
    "Solution",
    "Statement",
    "TrainingSettings",
    "Trial",
    "TrustReport",
    "load",
]
