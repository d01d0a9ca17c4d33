"""The finite-element engine: hp elements on the line, in the plane and in space, on meshes made by the program."""

from jumpnet.engines.fem.engine import FemEngine, solve_fem
from jumpnet.engines.fem.options import FEM
from jumpnet.engines.fem.voxels import VoxelEngine, voxel_solution

__all__ = ["FEM", "FemEngine", "VoxelEngine", "solve_fem", "voxel_solution"]
