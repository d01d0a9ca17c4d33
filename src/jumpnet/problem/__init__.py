"""The equations: coefficients per piece, boundary conditions, jumps on the interfaces, all checked once."""

from jumpnet.problem.conditions import Dirichlet, Jump, Neumann, Robin
from jumpnet.problem.manufactured import manufactured
from jumpnet.problem.problem import Problem

__all__ = ["Dirichlet", "Jump", "Neumann", "Problem", "Robin", "manufactured"]
