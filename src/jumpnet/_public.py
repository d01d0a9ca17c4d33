"""The public names, all imported; `jumpnet` itself loads this file when the first of them is used."""

from jumpnet import baselines, charts, models, optim
from jumpnet.collocation import Collocation, Points, Stream, collocate
from jumpnet.engines.fem import FEM
from jumpnet.engines.network import Network
from jumpnet.engines.trefftz import Trefftz
from jumpnet.errors import (
    BudgetError,
    ExpressionError,
    GeometryError,
    JumpnetError,
    JumpnetWarning,
    ModelError,
    ProblemError,
    SolutionError,
)
from jumpnet.files import ProblemFile, read_file, read_problem
from jumpnet.geometry import (
    Ball,
    Box,
    Curve,
    Disk,
    Ellipse,
    Ellipsoid,
    HalfSpace,
    Interval,
    LevelSet,
    Mesh,
    Partition,
    Path,
    Polygon,
    Star,
    Superellipse,
    Superquadric,
    shapes,
)
from jumpnet.guard.budget import Budget
from jumpnet.judge import Verdict, judge
from jumpnet.optim import Status
from jumpnet.problem import (
    Convection,
    Data,
    Dirichlet,
    Jump,
    Neumann,
    Periodic,
    PointSource,
    Problem,
    Robin,
    manufactured,
)
from jumpnet.solution import Solution, load
from jumpnet.solving import approximate, solve
from jumpnet.studies import Fit, NonlinearProblem, Span, Sweep, effective_tensor, fit, solve_nonlinear, sweep

__all__ = [
    "Ball", "Box", "Budget", "BudgetError", "Collocation", "Convection", "Curve", "Data", "Dirichlet", "Disk",
    "Ellipse", "Ellipsoid",
    "ExpressionError", "FEM", "Fit", "GeometryError", "HalfSpace", "Interval", "Jump", "JumpnetError",
    "JumpnetWarning", "LevelSet", "Mesh", "ModelError", "Network", "Neumann", "NonlinearProblem", "Partition",
    "Path", "Periodic", "PointSource", "Points", "Polygon", "Problem", "ProblemError", "ProblemFile", "Robin",
    "Solution", "SolutionError", "Span", "Star", "Status", "Stream", "Superellipse", "Superquadric", "Sweep",
    "Trefftz", "Verdict", "approximate", "baselines", "charts", "collocate", "effective_tensor", "fit", "judge",
    "load", "manufactured", "models", "optim", "read_file", "read_problem", "shapes", "solve", "solve_nonlinear",
    "sweep",
]  # fmt: skip
