"""The coordinates in which meshes are made.

The tolerances of OpenCASCADE and netgen are absolute (1e-7 for points that are one). In metres a chip of a millimetre
has corners that fall together; so domains are meshed with sides of about one, near the origin.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from jumpnet.geometry import Partition

# Of the longest side: a domain that is farther from the origin is moved there, as digits would be lost otherwise.
FAR = 8.0


@dataclass(frozen=True, eq=False)
class Frame:
    """Coordinates (x - origin)/unit; the unit is a power of two, so that scaling does not round."""

    origin: Float[np.ndarray, " d"]
    unit: float = 1.0

    @staticmethod
    def of(partition: Partition) -> "Frame":
        """The frame in which the longest side of a domain is between one and two."""
        lower, upper = (np.asarray(end, float) for end in partition.bounds)
        longest = float(np.max(upper - lower))
        unit = 2.0 ** np.floor(np.log2(longest))
        far = np.max(np.abs([lower, upper])) > FAR * longest
        return Frame((lower + upper) / 2 if far else np.zeros(len(lower)), unit)

    @staticmethod
    def identity(dim: int) -> "Frame":
        """Coordinates as they are."""
        return Frame(np.zeros(dim))

    def inward(self, x: Float[np.ndarray, "*n d"]) -> Float[np.ndarray, "*n d"]:
        """The mesher's coordinates of points."""
        return (np.asarray(x, float) - self.origin) / self.unit

    def outward(self, x: Float[np.ndarray, "*n d"]) -> Float[np.ndarray, "*n d"]:
        """The points of the mesher's coordinates."""
        return np.asarray(x, float) * self.unit + self.origin
