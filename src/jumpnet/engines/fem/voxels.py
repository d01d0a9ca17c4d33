"""Label volumes: finite volumes on the voxels as a solution."""

import time
from dataclasses import dataclass

import numpy as np

from jumpnet.engines.fem.solutions import finite_element_solution
from jumpnet.engines.protocol import Request
from jumpnet.errors import SolutionError
from jumpnet.fe.voxel import VoxelFunction, solve_voxels, voxels_refused
from jumpnet.guard.memory import too_much
from jumpnet.optim import Status
from jumpnet.problem import Problem
from jumpnet.solution import Diagnostics, MeshSize, Solution

# Of memory for each voxel, the judge included: 1.9 GB for 128^3.
BYTES = 900


@dataclass(frozen=True)
class VoxelEngine:
    """Finite volumes on the voxels of a label volume, judged by those of twice the size."""

    def suits(self, problem: Problem) -> str | float:
        """Label volumes only."""
        return voxels_refused(problem) or np.inf

    def solve(self, problem: Problem, request: Request) -> Solution:
        """The answer on the voxels; ModelError where a tensor is not along the axes."""
        return request.accept(voxel_solution(problem), True)


def voxel_solution(problem: Problem) -> Solution:
    """The solution on the voxels that the partition was made of; its error is not known yet."""
    began, image = time.perf_counter(), problem.partition.image
    assert image is not None
    cells = image.cells
    if lacking := too_much(BYTES * cells.pieces.size):
        raise SolutionError(
            f"{cells.pieces.size} voxels need about {lacking}; solve a coarser volume (Partition.coarsened)."
        )
    field = solve_voxels(problem, cells.pieces, cells.origin, cells.size)
    sizes = " x ".join(map(str, cells.pieces.shape))
    functions = [VoxelFunction(field, piece) for piece in range(problem.partition.size)]
    method, seconds = f"finite volumes on {sizes} voxels", time.perf_counter() - began
    return finite_element_solution(
        problem, functions, Diagnostics(Status.CONVERGED, method, seconds, mesh=MeshSize(int(field.values.size)))
    )
