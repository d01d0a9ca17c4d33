"""The sample points of the predecessor's example in six dimensions, a ball in a ball.

The notebook of its authors (DCSNN_EX5_LM.ipynb, in the repository that accompanies arXiv:2106.05587) has a Latin
hypercube in the square of the radius and in the angles, for the points of the training and for those of the error. Such
points are uniform in a disk. In more dimensions they are denser near the axes, and much denser near the centre: 31 % of
them are in the outer piece, which has 67 % of the volume of the ball.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from jaxtyping import Float
from scipy.stats.qmc import LatinHypercube

from jumpnet.collocation import Collocation, Points, Stream, collocate
from jumpnet.fields.piecewise import piecewise_values
from jumpnet.geometry import Partition
from jumpnet.optim import LevenbergMarquardt, Record
from jumpnet.optim.levenberg_marquardt import Step
from jumpnet.optim.loop import LeastSquares
from jumpnet.solution import Solution

# How many points the error is measured at, as in the notebook.
TEST_POINTS = 200_000

Array = Float[np.ndarray, "n d"]


@dataclass(frozen=True)
class HypercubePoints:
    """A point rule for concentric balls: the given numbers of points of each kind, drawn as above."""

    interior: int
    boundary: int
    interface: int

    def __call__(self, partition: Partition, seed: int, stream: Stream) -> Collocation:
        """The points of a seed and stream: those drawn uniformly, with other places on the same spheres."""
        counts = Points(self.interior, self.boundary, self.interface)
        drawn = collocate(partition, counts, seed=seed, stream=stream)
        rng = np.random.default_rng([seed, int(stream), 3])
        x = in_ball(partition, self.interior, rng)
        outward = directions(rng.spawn(1)[0], self.boundary, partition.dim)
        interfaces = {}
        for pair, (at, normal) in drawn.interfaces.items():
            across = directions(rng.spawn(1)[0], self.interface, partition.dim)
            radius, sign = np.linalg.norm(at[0]), np.sign(at[0] @ normal[0])
            interfaces[pair] = radius * across, sign * across
        return replace(
            drawn,
            interior=x,
            piece=partition.label(x),
            boundary=np.linalg.norm(drawn.boundary[0]) * outward,
            boundary_normal=outward,
            interfaces=interfaces,
        )


@dataclass(frozen=True)
class SlowDamping(LevenbergMarquardt):
    """Levenberg-Marquardt as in the notebook: all parameters at once, no correction, damping from 1e5 down to 1e-9.

    Every second step the damping is divided by 1.3 if the loss fell, else tripled.
    """

    step: Literal["qr", "cholesky", "auto"] | Step = "qr"
    steps: int = 3001
    tol: float = 1e-12
    polish: int = 0
    stall: int | None = None
    output_damping: float = 1.0
    max_step: float = np.inf
    bend: bool = False

    def advance(self, system: LeastSquares, state: Any, limit: int) -> tuple[Any, list[Record]]:
        """One step."""
        damping = state.damping if state.steps else 1e5
        after, made = super().advance(system, replace(state, damping=damping), limit)
        if after.steps % 2 == 1:
            damping = max(damping / 1.3, 1e-9) if after.loss < state.loss else min(3 * damping, 1e8)
        return replace(after, damping=damping), made

    def _projected(self, system: LeastSquares, theta: np.ndarray, damping: float) -> np.ndarray:
        return theta


def in_ball(partition: Partition, count: int, rng: np.random.Generator) -> Array:
    """A Latin hypercube in the square of the radius and the angles of the domain, a ball about the origin."""
    square, angles = np.split(LatinHypercube(partition.dim, rng=rng).random(count), [1], axis=1)
    return partition.bounds[1][0] * np.sqrt(square) * _at_angles(angles)


def directions(rng: np.random.Generator, count: int, dim: int) -> Array:
    """A Latin hypercube in the angles."""
    return _at_angles(LatinHypercube(dim - 1, rng=rng).random(count))


def _at_angles(shares: Float[np.ndarray, "n d-1"]) -> Array:
    """Points of the unit sphere from their angles as shares: of pi, the last of 2 pi."""
    angles = np.pi * shares
    angles[:, -1] *= 2
    x = np.ones((len(angles), angles.shape[1] + 1))
    for k, angle in enumerate(angles.T):
        x[:, k] *= np.cos(angle)
        x[:, k + 1 :] *= np.sin(angle)[:, None]
    return x


def hypercube_error(solution: Solution) -> float:
    """The relative L2 error at points that are drawn like this."""
    parts, exact = solution.partition, solution.exact
    assert parts is not None and exact is not None
    x = in_ball(parts, TEST_POINTS, np.random.default_rng([solution.seed, int(Stream.TEST), 3]))
    piece = parts.label(x)
    u = piecewise_values(exact, x, piece)
    return float(np.linalg.norm(solution(x, piece) - u) / np.linalg.norm(u))
