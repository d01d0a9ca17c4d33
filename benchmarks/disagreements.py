"""Random problems of every kind, each solved twice: do the two answers agree within what each says of itself?

    .venv/bin/python -m benchmarks.disagreements [--count 60] [--first 0] [--dims 1,2,3] [--limit 40]

Each problem follows from its number: dimension, domain, pieces (disks, ellipses, stars, polygons, boxes, rings, moons,
layers), coefficients (numbers, matrices, formulas, contrasts to 1e8), lam of either sign, sources, point sources,
conditions by side, jumps, contact resistances, partition coefficients, tolerance. It is solved by the default call and
by finite elements at a hundredth of the tolerance; compared are u, the mean of every piece and the net flux across
every interface and side. Two answers that share a mistake agree: `benchmarks.adversary` has closed forms. Reported are

- FALSE: both converged, and u differs by more than three times the tolerance, relative to its variation;
- BAR: a mean or flux differs by more than the sum of the two error bars;
- ERROR: an exception that is not ours, or a warning of another library.
"""

import argparse
import dataclasses
import sys
import time
import traceback
import warnings

import numpy as np

import jumpnet as jn

NOISE = 1e-11
"""Differences below this, relative to the size of the quantities of a problem, are rounding."""


def layers(rng: np.random.Generator, dim: int, lower: np.ndarray, upper: np.ndarray) -> list[jn.HalfSpace]:
    """One to four parallel cuts through the box."""
    normal = rng.normal(size=dim) if rng.random() < 0.5 else np.eye(dim)[rng.integers(dim)]
    normal /= np.linalg.norm(normal)
    middle, half = (lower + upper) / 2, float(np.abs(normal) @ (upper - lower) / 2)
    cuts = np.sort(rng.uniform(-0.8, 0.8, int(rng.integers(1, 5)))) * half + float(normal @ middle)
    return [jn.HalfSpace(tuple(normal), float(c)) for c in cuts]


def shape_in_plane(rng: np.random.Generator, c: np.ndarray, r: float) -> jn.Disk:
    """A shape within a distance r of c."""
    turn, (x, y) = float(rng.uniform(0, 2 * np.pi)), c.tolist()
    kind = rng.choice(["disk", "ellipse", "star", "polygon", "box", "ring", "moon", "superellipse", "cross"])
    if kind == "ellipse":
        return jn.Ellipse((x, y), (r, r * float(10 ** rng.uniform(-1.3, 0))), angle=turn)
    if kind == "star":
        depth, lobes = float(rng.uniform(0.05, 0.4)), int(rng.integers(2, 8))
        return jn.Star((x, y), f"{r / (1 + depth)!r}*(1 + {depth!r}*cos({lobes}*theta + {turn!r}))")
    if kind == "polygon":
        n = int(rng.integers(3, 9))
        angle = turn + (np.arange(n) + rng.uniform(-0.3, 0.3, n)) * 2 * np.pi / n
        radius = r * rng.uniform(0.4, 1.0, n)
        return jn.Polygon((c + radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])).tolist())
    if kind in ("box", "cross"):
        half = r * np.array([np.cos(t := rng.uniform(0.1, 1.4)), np.sin(t)])
        box = jn.Box(tuple(c - half), tuple(c + half))
        return box | jn.Box(tuple(c - half[::-1]), tuple(c + half[::-1])) if kind == "cross" else box
    if kind == "ring":
        return jn.Disk((x, y), r) - jn.Disk((x, y), r * float(rng.uniform(0.3, 0.97)))
    if kind == "moon":
        return jn.Disk((x, y), r) - jn.Disk((x + r * 0.7, y), r * float(rng.uniform(0.4, 0.9)))
    if kind == "superellipse":
        return jn.Superellipse((x, y), (r / 1.5, r * float(rng.uniform(0.3, 0.66))), float(rng.choice([1.0, 3.0, 6.0])))
    return jn.Disk((x, y), r)


def shape_in_space(rng: np.random.Generator, c: np.ndarray, r: float) -> jn.Ball:
    """A body within a distance r of c."""
    kind = rng.choice(["ball", "ellipsoid", "box"])
    if kind == "ellipsoid":
        return jn.Ellipsoid(tuple(c), tuple(r * rng.uniform(0.4, 1.0, 3)))
    if kind == "box":
        half = r * np.array([0.5, 0.6, 0.6])
        return jn.Box(tuple(c - half), tuple(c + half))
    return jn.Ball(tuple(c), r)


def partition(rng: np.random.Generator, dim: int) -> jn.Partition:
    """A domain with pieces."""
    scale = float(10 ** rng.choice([0.0, 0.0, rng.uniform(-6, 4)]))
    lower = np.where(rng.random(dim) < 0.5, -1.0, rng.uniform(-3, 3, dim)) * scale
    upper = lower + scale * np.where(rng.random(dim) < 0.5, 2.0, rng.uniform(0.3, 3, dim))
    if dim == 1:
        count = int(rng.choice([0, 1, 2, 5, 20]))
        ends = np.sort(rng.uniform(lower[0], upper[0], 2 * count)).reshape(-1, 2)
        return jn.Partition(jn.Interval(float(lower[0]), float(upper[0])), [jn.Interval(*map(float, e)) for e in ends])
    middle, small = (lower + upper) / 2, float(np.min(upper - lower)) / 2
    domain = jn.Box(tuple(lower), tuple(upper))
    kind = rng.choice(["box", "box", "box", "disk", "holed", "corner"]) if dim == 2 else "box"
    if kind == "disk":
        domain = jn.Disk(tuple(middle), small)
    if kind == "holed":
        domain = domain - jn.Disk(tuple(lower + 0.15 * (upper - lower)), 0.1 * small)
    if kind == "corner":
        domain = domain - jn.Box(tuple(middle + 0.75 * (upper - middle)), tuple(upper + 0.1 * (upper - lower)))
    if kind == "box" and rng.random() < 0.3:
        return jn.Partition(domain, layers(rng, dim, lower, upper))
    count = int(rng.choice([0, 1, 1, 2, 4, 7])) if dim == 2 else int(rng.choice([0, 1, 2]))
    columns = max(1, int(np.ceil(np.sqrt(count))))
    cell = small * 0.7 / columns * (1.0 if kind == "disk" else 1.4)
    shapes, make = [], shape_in_plane if dim == 2 else shape_in_space
    for at in range(count):
        offset = (np.array([at % columns, at // columns] + [0] * (dim - 2)) - (columns - 1) / 2) * 2 * cell
        offset[2:] = 0
        reach = float(rng.choice([0.95, 0.99, rng.uniform(0.3, 0.9), 0.05]))
        shapes.append(
            make(
                rng, middle + offset / (1.0 if kind != "disk" else 1.45), cell * reach / (1.45 if kind == "disk" else 1)
            )
        )
    return jn.Partition(domain, shapes)


def shares(lower: np.ndarray, upper: np.ndarray) -> list[str]:
    """Formulas of the coordinates that run from 0 to 1 through the domain."""
    ends = zip(lower.tolist(), upper.tolist(), strict=True)
    return [f"((x{k} - {a!r})/{b - a!r})" for k, (a, b) in enumerate(ends, 1)]


def coefficient(rng: np.random.Generator, dim: int, lower: np.ndarray, upper: np.ndarray) -> object:
    """A number, a matrix or a formula."""
    k = float(10 ** rng.choice([0.0, rng.uniform(-1, 1), rng.uniform(-4, 4)]))
    kind = rng.choice(["number", "number", "matrix", "formula"])
    if kind == "matrix":
        q, _ = np.linalg.qr(rng.normal(size=(dim, dim)))
        return (k * q @ np.diag(10 ** rng.uniform(-1.5, 0, dim)) @ q.T).tolist()
    if kind == "formula":
        at = "+".join(f"{rng.uniform(0.5, 4)!r}*{t}" for t in shares(lower, upper))
        return f"{k!r}*exp(sin({at}))" if rng.random() < 0.5 else f"{k!r}*(1.1 + cos({at}))"
    return k


def condition(rng: np.random.Generator, u: float, flux: float, formula: str) -> object:
    """One of a part of the boundary."""
    kind = rng.choice(["value", "value", "formula", "flux", "insulated", "convection"])
    return {
        "value": jn.Dirichlet(float(rng.normal()) * u),
        "formula": jn.Dirichlet(f"{u!r}*{formula}"),
        "flux": jn.Neumann(float(rng.normal()) * flux),
        "insulated": jn.Neumann(0.0),
        "convection": jn.Convection(float(10 ** rng.uniform(-2, 2)) * flux / u, ambient=float(rng.normal()) * u),
    }[str(kind)]


def problem_of(number: int, dims: tuple[int, ...]) -> tuple[jn.Problem, float]:
    """The problem of a number and its tolerance."""
    rng = np.random.default_rng([20261119, number])
    dim = int(rng.choice(dims))
    parts = partition(rng, dim)
    lower, upper = (np.asarray(end, float) for end in parts.domain.bounds)
    length = float(np.max(upper - lower))
    A = [coefficient(rng, dim, lower, upper) for _ in range(parts.size)]
    k = 1.0
    u = float(10 ** rng.choice([0.0, 0.0, rng.uniform(-4, 4)]))
    offset = float(rng.choice([0.0, 0.0, 300.0])) * u
    wave = "(" + "*".join(f"cos({rng.uniform(0, 5)!r}*{t})" for t in shares(lower, upper)) + ")"
    f = rng.choice(["none", "none", "constant", "wave", "some"])
    load = k * u / length**2
    source: object = {
        "none": 0.0,
        "constant": load,
        "wave": f"{5 * load!r}*{wave}",
        "some": [float(rng.choice([0.0, 10 * load])) for _ in range(parts.size)],
    }[str(f)]
    lam = float(rng.choice([0.0, 0.0, 0.0, 1.0, 1e3, -3.0])) * k / length**2
    names = list(parts.boundary_parts)
    boundary: object = jn.Dirichlet(f"{offset!r} + {u!r}*{wave}")
    if names and rng.random() < 0.6:
        boundary = {name: condition(rng, u, k * u / length, wave) for name in names}
        if dim == 2 and parts.domain.__class__ is jn.Box and rng.random() < 0.15:
            boundary = {"x1": jn.Periodic(float(rng.choice([0.0, u]))), "x2": condition(rng, u, k * u / length, wave)}
    jump = jn.Jump()
    if parts.size > 1 and rng.random() < 0.3:
        jump = jn.Jump(f"{u!r}*{wave}", float(rng.normal()) * k * u / length, float(rng.choice([0.0, length / k])))
    K: object = 1.0
    if parts.size > 1 and rng.random() < 0.1:
        K = (10 ** rng.uniform(-1, 1, parts.size)).tolist()
    wells = []
    if dim > 1 and rng.random() < 0.1:
        wells = [jn.PointSource(tuple(lower + (0.31, 0.47, 0.55)[:dim] * (upper - lower)), load * length**dim)]
    tol = float(rng.choice([1e-3, 1e-5, 1e-7] if dim < 3 else [1e-2, 1e-3]))
    return jn.Problem(parts, A=A, lam=lam, f=source, boundary=boundary, jumps=jump, K=K, sources=wells), tol


@dataclasses.dataclass
class Quantities:
    """Means and net fluxes with their error bars."""

    values: dict[object, float]
    bars: dict[object, float]


def quantities(solution: jn.Solution) -> Quantities:
    """As the program gives them, each with its error; infinite where that is not known."""
    problem = solution.problem
    pieces = range(problem.partition.size)
    found = {("mean", piece): solution.mean(piece) for piece in pieces}
    found |= {("flux", over): solution.net_flux(over) for over in [*problem.jumps, *problem.boundary]}
    bars = {key: np.inf if np.isnan(number.error) else number.error for key, number in found.items()}
    return Quantities({key: number.value for key, number in found.items()}, bars)


def compare(number: int, dims: tuple[int, ...], limit: float) -> str:
    """A line about a problem; what is wrong stands at its end."""
    problem, tol = problem_of(number, dims)
    what = f"{problem.partition.dim}-D, {problem.partition.size} pieces, tol {tol:g}"
    began = time.process_time()
    ours = jn.solve(problem, tol=tol, time_limit=limit, verify=True)
    middle = time.process_time()
    other = jn.solve(problem, tol=tol / 100, method="fem", time_limit=3 * limit, verify=True)
    times = f"{middle - began:.1f} s, {time.process_time() - middle:.1f} s"
    x, piece = problem.partition.sample_interior(3000, seed=1)
    u, v = ours(x, piece), other(x, piece)
    variation = float(np.std(v))
    apart = float(np.sqrt(np.mean((u - v) ** 2)))
    size = max(variation, NOISE * float(np.max(np.abs(v), initial=0)))
    both = ours.status is jn.Status.CONVERGED and other.status is jn.Status.CONVERGED
    found = []
    if both and apart > 3 * tol * size:
        found.append(f"FALSE {apart / size:.1e}")
    if ours.status.ok and other.status.ok:
        mine, theirs = quantities(ours), quantities(other)
        for kind in ("mean", "flux"):
            keys = [key for key in mine.values if key[0] == kind]
            noise = NOISE * max((abs(theirs.values[key]) for key in keys if key in theirs.values), default=0.0) + (
                1e-3 * tol * variation if kind == "mean" else 0.0
            )
            for key in filter(theirs.values.__contains__, keys):
                gap = abs(mine.values[key] - theirs.values[key])
                bar = mine.bars[key] + theirs.bars[key]
                if gap > bar + noise:
                    said = f"{mine.values[key]:.10g}, {theirs.values[key]:.10g}"
                    found.append(f"BAR {key}: {said}, {gap / max(bar, 1e-300):.1e} bars")
    ends = " ".join(f"{one.status.name.lower():14s}" for one in (ours, other))
    estimates = f"estimates {ours.estimate / size:.1e} {other.estimate / size:.1e}"
    return f"{number:5d}  {what:32s} {ends} apart {apart / size:.1e} {estimates}  {times}  {'; '.join(found)}"


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--dims", default="1,2,3")
    parser.add_argument(
        "--limit", type=float, default=40.0, help="seconds for each solve; the reference has three times"
    )
    arguments = parser.parse_args()
    dims = tuple(int(d) for d in arguments.dims.split(","))
    for number in range(arguments.first, arguments.first + arguments.count):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", jn.JumpnetWarning)
                line = compare(number, dims, arguments.limit)
        except jn.JumpnetError as refused:
            line = f"{number:5d}  refused: {refused}"
        except Exception:
            line = f"{number:5d}  ERROR {traceback.format_exc()}"
        print(line, flush=True)
    sys.exit(0)


if __name__ == "__main__":
    main()
