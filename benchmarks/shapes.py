"""How temperature and flux converge when a disk or a ball is given by data: pixels, polygons, voxels, triangles.

    python benchmarks/shapes.py [--only NAME] [--places 3]

A disk or ball of conductivity 10 in a uniform field has a closed form; its values on the outer boundary are the data.
The same problem is solved with the disk from a label image, as a polygon, from points on it, and with the ball from
a label volume and from an STL file. Printed are relative errors (root mean square, over the points that carry the same
label, and over several places of the centre) of temperature and flux, and of the mean flux inside; the last line of
each table is the order in the resolution, fitted over all lines.
"""

import argparse
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import jumpnet as jn

RADIUS, CONTRAST = 0.55, 10.0


@dataclass(frozen=True)
class Truth:
    """A ball of the contrast in a field of one along x1."""

    center: np.ndarray

    @property
    def dim(self) -> int:
        return len(self.center)

    @property
    def box(self) -> jn.Box:
        return jn.Box((-1.0,) * self.dim, (1.0,) * self.dim)

    @property
    def dipole(self) -> float:
        return (CONTRAST - 1) / (CONTRAST + self.dim - 1) * RADIUS**self.dim

    @property
    def outside(self) -> str:
        r2 = " + ".join(f"(x{k + 1} - ({c!r}))**2" for k, c in enumerate(self.center.tolist()))
        return f"(x1 - ({float(self.center[0])!r}))*(1 - {self.dipole!r}/({r2})**({self.dim}/2))"

    def inside(self, x: np.ndarray) -> np.ndarray:
        return np.linalg.norm(x - self.center, axis=1) < RADIUS

    def values(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Temperature (n,) and flux (n, d)."""
        y, d = x - self.center, self.dim
        r = np.linalg.norm(y, axis=1)
        along = np.eye(d)[0]
        out = y[:, 0] * (1 - self.dipole / r**d)
        slope = along * (1 - self.dipole / r**d)[:, None] + d * self.dipole * (y[:, 0] / r ** (d + 2))[:, None] * y
        share = d / (CONTRAST + d - 1)
        inside = self.inside(x)
        u = np.where(inside, share * y[:, 0], out)
        return u, np.where(inside[:, None], CONTRAST * share * along, slope)


def errors(parts: jn.Partition, truth: Truth) -> tuple[float, float, float]:
    """Relative errors of temperature, flux and mean flux inside."""
    problem = jn.Problem(parts, A=[1.0, CONTRAST], boundary=jn.Dirichlet(truth.outside))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.JumpnetWarning)  # data of limited resolution need not reach the tolerance
        solution = jn.solve(problem, tol=1e-6, method="trefftz")
    x = np.random.default_rng(1).uniform(-1, 1, (4000, truth.dim))
    x = x[(parts.label(x) == 1) == truth.inside(x)]
    (u, flux), found = truth.values(x), solution.flux(x)
    inside = truth.inside(x)
    mean = np.linalg.norm((found - flux)[inside].mean(axis=0)) / np.linalg.norm(flux[inside][0])
    return (
        float(np.linalg.norm(solution(x) - u) / np.linalg.norm(u)),
        float(np.linalg.norm(found - flux) / np.linalg.norm(flux)),
        float(mean),
    )


def image(truth: Truth, n: int) -> jn.Partition:
    axes = [(np.arange(n) + 0.5) / n * 2 - 1] * truth.dim
    x = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)
    labels = truth.inside(x).astype(int).reshape((n,) * truth.dim)
    return jn.Partition.from_labels(labels, pixel=2 / n, origin=truth.box.lower, order="xyz")


def circle(truth: Truth, n: int) -> np.ndarray:
    t = 2 * np.pi * np.arange(n) / n
    return truth.center + RADIUS * np.stack([np.cos(t), np.sin(t)], axis=1)


def polygon(truth: Truth, n: int) -> jn.Partition:
    return jn.Partition(truth.box, [jn.Polygon(circle(truth, n))])


def points(truth: Truth, n: int) -> jn.Partition:
    return jn.Partition(truth.box, [jn.shapes.from_points(circle(truth, n))])


def stl(truth: Truth, subdivisions: int, smooth: bool = True) -> jn.Partition:
    import trimesh

    ball = trimesh.creation.icosphere(subdivisions=subdivisions, radius=RADIUS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ball.stl"
        ball.export(path)
        return jn.Partition(truth.box, [jn.shapes.from_mesh(path, offset=truth.center, smooth=smooth)])


def facets(truth: Truth, subdivisions: int) -> jn.Partition:
    return stl(truth, subdivisions, smooth=False)


# The family, the dimension, the resolutions, and what a resolution counts (a subdivision halves the edges).
FAMILIES = {
    "image": (image, 2, (32, 64, 128, 256, 512), "pixels a side"),
    "polygon": (polygon, 2, (16, 32, 64, 128, 256), "sides"),
    "points": (points, 2, (8, 16, 32, 64, 128), "points"),
    "volume": (image, 3, (16, 32, 64, 128), "voxels a side"),
    "stl": (stl, 3, (1, 2, 3, 4), "subdivisions of an icosahedron, smoothed"),
    "stl-facets": (facets, 3, (1, 2, 3, 4), "subdivisions of an icosahedron, triangles kept"),
}


def table(name: str, places: int, most: int | None = None) -> tuple[list[tuple[float, np.ndarray]], np.ndarray]:
    """Resolutions with errors, and the fitted orders."""
    make, dim, resolutions, _ = FAMILIES[name]
    rng = np.random.default_rng(0)
    centers = rng.uniform(-0.05, 0.05, (places, dim))
    lines = []
    for n in resolutions[:most]:
        found = np.array([errors(make(Truth(center), n), Truth(center)) for center in centers])
        lines.append((float(n), np.sqrt(np.mean(found**2, axis=0))))
    fine = np.array([2.0**n if name.startswith("stl") else n for n, _ in lines])
    orders = -np.polyfit(np.log(fine), np.log(np.array([e for _, e in lines])), 1)[0]
    return lines, orders


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=FAMILIES)
    parser.add_argument("--places", type=int, default=3)
    arguments = parser.parse_args()
    for name in [arguments.only] if arguments.only else FAMILIES:
        lines, orders = table(name, arguments.places)
        print(f"\n{name}\n\n| {FAMILIES[name][3]} | temperature | flux | mean flux inside |\n|---|---|---|---|")
        for n, found in lines:
            print(f"| {n:g} | " + " | ".join(f"{e:.1e}" for e in found) + " |", flush=True)
        print("| order | " + " | ".join(f"{o:.1f}" for o in orders) + " |", flush=True)


if __name__ == "__main__":
    main()
