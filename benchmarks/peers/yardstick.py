"""What the afternoon's scripts share: the data of the equations, the damping rule, the clock and the command line.

jumpnet supplies the data only (points, coefficients, right-hand sides), which nobody's clock sees. The rule is the best
simple one that we know: every finite step is accepted, mu is halved or doubled every second step, steps are at most 3
long, rows are divided by the size of their coefficients, the best parameters are kept. The clock runs during steps;
the first evaluation (compilation) is timed apart, and the error at test points is looked at while the clock stands.
"""

import argparse
import json
import time

import numpy as np

from jumpnet.collocation import Points, Stream, collocate
from jumpnet.experiments import tables
from jumpnet.fields.piecewise import piecewise_values


def equations(problem, counts, seed):
    """(kind of equation, its data) as arrays over rows; the last one is the row's weight."""
    points = collocate(problem.partition, Points.of(counts), seed=seed)
    x, piece = points.interior, points.piece
    A, div_A, lam, f = zip(*(problem.pde(l, y[None]) for l, y in zip(piece, x, strict=True)), strict=True)
    A, div_A, lam, f = (np.concatenate(part) for part in (A, div_A, lam, f))
    yield "pde", (x, piece, A, div_A, lam, f, 1 / np.abs(A).max(axis=(1, 2)) / np.sqrt(len(x)))
    x, piece = points.boundary, points.boundary_piece
    yield "boundary", (x, piece, piecewise_values(problem.exact, x, piece), np.full(len(x), 1 / np.sqrt(len(x))))
    for (a, b), (x, n) in points.interfaces.items():
        v, w = problem.jump_data((a, b), x, n)
        sides = np.full(len(x), a), np.full(len(x), b)
        An_a, An_b = (np.einsum("nij,nj->ni", problem.A[l].value(x), n) for l in (a, b))
        weight = np.full(len(x), 1 / np.sqrt(len(x)))
        yield "jump", (x, *sides, v, weight)
        yield "flux", (x, *sides, An_a, An_b, w, weight / np.maximum(np.abs(An_a), np.abs(An_b)).max(axis=1))


def test_points(problem, counts, seed):
    """Ten times as many points as interior ones, their pieces, and the exact values."""
    x, piece = problem.partition.sample_interior(10 * counts[0], seed=[seed, int(Stream.TEST)])
    return x, piece, piecewise_values(problem.exact, x, piece)


def initial(size, pieces, seed):
    """Random parameters; the last ones are the labels of the pieces."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.standard_normal(size - pieces), rng.uniform(-1, 1, pieces)])


def train(theta, residual, step, error, target, steps, limit):
    """One training until the error is below the target: (clock, error of the best so far) after each step."""
    mu = 1.0
    began = time.perf_counter()
    r = residual(theta)
    float(step(theta, r, mu)[0])
    compiling = time.perf_counter() - began
    loss = best_loss = float(r @ r)
    clock, count, best, curve = 0.0, 0, float(error(theta)), []
    while count < steps and clock < limit and not best <= target:
        began = time.perf_counter()
        theta = theta + step(theta, r, mu)
        r = residual(theta)
        new = float(r @ r)
        count += 1
        if count % 2 == 0:
            mu = max(mu / 2, 1e-16) if new < loss else min(mu * 2, 1e8)
        loss = new
        clock += time.perf_counter() - began
        if not np.isfinite(loss):
            break
        if loss < best_loss:
            best_loss, best = loss, float(error(theta))
        curve.append((clock, best))
    return {"compiling": compiling, "curve": curve}


def main(description, made):
    """Train for each seed and print a line of JSON; `made(problem, neurons, counts, seed)` gives what `train` takes."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("problem", choices=("pde2", "pde3", "pde4", "pde5"))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--target", type=float, help="the error to reach; the paper's if not given")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--limit", type=float, default=300, help="seconds of steps for each seed")
    given = parser.parse_args()
    row = tables.row(given.problem, "CE")
    problem, target = row.stated(), row.l2 if given.target is None else given.target
    for seed in range(given.seeds):
        parts = made(problem, row.neurons, row.points, seed)
        print(json.dumps({"seed": seed} | train(*parts, target, given.steps, given.limit)), flush=True)
