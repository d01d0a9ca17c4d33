"""How the cost of a step grows with parameters, points and dimension."""

from collections.abc import Iterator

import numpy as np
from threadpoolctl import threadpool_limits

from jumpnet.experiments import problems, tables
from jumpnet.experiments.bench.kernels import one_step
from jumpnet.experiments.bench.plan import Plan
from jumpnet.experiments.bench.report import Comparison, Fit, Item, Row, Tell
from jumpnet.experiments.bench.systems import ball_system, least_squares
from jumpnet.experiments.bench.timing import exponent, side_by_side
from jumpnet.models import CategoricalEmbedding, System

QUANTITIES = ("assembly (ms)", "step (ms)")  # the columns that are drawn


def growth(plan: Plan, tell: Tell) -> Iterator[Item]:
    """One size at a time is varied, the others are those of the paper's CE model of pde4."""
    problem, points = problems.pde4(), tables.row("pde4", "CE").points
    varied = {
        "parameters": [
            lambda n=n: least_squares(problem, CategoricalEmbedding(neurons=n), points) for n in plan.neurons
        ],
        "rows": [
            lambda k=k: least_squares(problem, CategoricalEmbedding(), [k * count for count in points])
            for k in plan.point_factors
        ],
        "dimension": [lambda d=d: ball_system(d) for d in plan.dimensions],
    }
    for against, systems in varied.items():
        done: list[Row] = []
        for number, make in enumerate(systems):
            tell(f"{against}, {number + 1} of {len(systems)}")
            row = _measured(make(), plan.repeats)
            if against == "dimension":
                row["dimension"] = plan.dimensions[number]
            done.append(row)
            yield {"varied": against, **row}
        for quantity in QUANTITIES:
            yield Fit(quantity, against, exponent([row[against] for row in done], [row[quantity] for row in done]))


def _measured(system: System, repeats: int) -> Row:
    theta = system.network.initial(np.random.default_rng(0))
    with threadpool_limits(1):
        assembly, step = side_by_side(lambda: system.linearised(theta), one_step(system, theta), repeats=repeats)
    return {
        "dimension": system.rows.sites.x.shape[1],
        "rows": len(system.rows),
        "parameters": system.size,
        "assembly (ms)": assembly,
        "step (ms)": step,
    }


GROWTH = Comparison(
    "growth",
    "Cost against parameters, points and dimension",
    "Assembly of residual and Jacobian, and a whole step (QR). Parameters and rows: CE on pde4; dimension: CE on a "
    "ball in a ball, 900 rows, where more dimensions also mean more parameters. One BLAS thread.",
    growth,
)
