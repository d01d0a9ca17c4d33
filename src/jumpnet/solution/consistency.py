"""Whether the parts of a loaded solution fit together."""

import numpy as np

from jumpnet.errors import SolutionError
from jumpnet.fe.storage import element_functions
from jumpnet.rows import Sites
from jumpnet.solution.solution import Solution


def fitting(solution: Solution) -> Solution:
    """The solution, if its parts fit together: then no question about it fails for what was in the file."""
    network, parts = solution.network, solution.partition
    if not (
        0 < solution.pieces <= network.pieces
        and solution.representation.atlas.inputs == (network.inputs or solution.dim)
        and (parts is None or (parts.dim, parts.size) == (solution.dim, solution.pieces))
        and (solution.exact is None or len(solution.exact) == solution.pieces)
        and solution.theta.dtype == float
        and len(solution.representation.factors) in (0, solution.pieces)
    ):
        raise SolutionError("the parts of the file do not fit together; it is damaged or forged.")
    _probe(solution)
    return solution


def _probe(solution: Solution) -> None:
    """Charts and frozen functions at the origin, seen from each piece: shapes that do not fit raise an error.

    Finite elements are not evaluated, as they are defined in their pieces only; their arrays are checked one by one.
    """
    d, expansion = solution.dim, solution.network.expansion

    def site(cell: int) -> Sites:
        return Sites(np.zeros((1, d)), np.array([cell]), np.ones(1), np.ones((1, d)), np.zeros((1, d, d)))

    with np.errstate(all="ignore"):  # the origin may be a pole
        for piece in range(solution.pieces):
            solution.representation.atlas.push(site(piece))
        if expansion is not None:
            if expansion.cut is not None and expansion.cut.dim != d:
                raise SolutionError("the parts of the file do not fit together; it is damaged or forged.")
            for cell, features in enumerate(() if element_functions(expansion) else expansion.of_cell):
                features.functionals(site(cell))
