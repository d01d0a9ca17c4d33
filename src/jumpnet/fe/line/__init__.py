"""hp finite elements on the line: any one-dimensional problem, or the equations of its error, to a tolerance."""

from jumpnet.fe.line.adaptivity import LineOptions, LineResult, solve_line, solve_statement
from jumpnet.fe.line.expansion import LineExpansion
from jumpnet.fe.line.statement import LineStatement, PieceFunction, statement_of

__all__ = [
    "LineExpansion",
    "LineOptions",
    "LineResult",
    "LineStatement",
    "PieceFunction",
    "solve_line",
    "solve_statement",
    "statement_of",
]
