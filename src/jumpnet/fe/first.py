"""The first mesh of a problem, as plain arrays."""

from jumpnet.errors import GeometryError
from jumpnet.fe.mesh import Mesh
from jumpnet.fe.meshing import arrays_of, curved_mesh
from jumpnet.problem import Problem

# Where no mesh comes of a size, or its elements fold, this part of it is tried, then a lower order.
SMALLER = 0.5


def first_mesh(problem: Problem, size: float, order: int) -> Mesh:
    """A mesh with elements of about `size`, curved to `order` or half of it; GeometryError where none can be made."""
    parts = problem.partition
    kinds = {name: condition.kind for name, condition in problem.boundary.items()}
    axes = [axis for axis in range(problem.dim) if kinds.get(f"x{axis + 1}-") == "periodic"]
    why = ""
    for part, curved in ((1.0, order), (SMALLER, order), (SMALLER, max(order // 2, 2)), (SMALLER**2, 2)):
        try:
            mesh = arrays_of(curved_mesh(parts, part * size, curved, axes), curved, parts, axes)
        except GeometryError:
            raise
        except Exception as error:  # whatever netgen raises
            why = f"no mesh could be made ({error})."
            continue
        if mesh.sound:
            return mesh
        why = "the curved elements of the mesh fold."
    raise GeometryError(why)
