"""The public names, all imported; `jumpnet` itself loads this file when the first of them is used."""

from jumpnet import charts, models, optim
from jumpnet.collocation import Points
from jumpnet.driver import approximate, solve
from jumpnet.errors import (
    ExpressionError,
    GeometryError,
    JumpnetError,
    JumpnetWarning,
    ModelError,
    ProblemError,
    SolutionError,
)
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
    Partition,
    Star,
    Superellipse,
    Superquadric,
)
from jumpnet.optim import Status
from jumpnet.problem import Dirichlet, Jump, Neumann, Problem, Robin, manufactured
from jumpnet.solution import Solution, load

__all__ = [
    "Ball", "Box", "Curve", "Dirichlet", "Disk", "Ellipse", "Ellipsoid", "ExpressionError", "GeometryError",
    "HalfSpace", "Interval", "Jump", "JumpnetError", "JumpnetWarning", "LevelSet", "ModelError", "Neumann",
    "Partition", "Points", "Problem", "ProblemError", "Robin", "Solution", "SolutionError", "Star", "Status",
    "Superellipse", "Superquadric", "approximate", "charts", "load", "manufactured", "models", "optim", "solve",
]  # fmt: skip
