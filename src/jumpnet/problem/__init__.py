"""The equations: coefficients per piece, boundary conditions, jumps on the interfaces, all checked once."""

from jumpnet.problem.conditions import Convection, Dirichlet, Jump, Neumann, Periodic, Robin
from jumpnet.problem.manufactured import manufactured
from jumpnet.problem.problem import Problem
from jumpnet.problem.sources import Data, PointSource, Supplement

__all__ = [
    "Convection",
    "Data",
    "Dirichlet",
    "Jump",
    "Neumann",
    "Periodic",
    "PointSource",
    "Problem",
    "Robin",
    "Supplement",
    "manufactured",
]
