"""The cost of evaluating a trained solution: values, gradients and a map, compared with a matrix product."""

import warnings
from collections.abc import Callable, Iterator

import numpy as np

from jumpnet.engines.network import Network
from jumpnet.errors import JumpnetWarning
from jumpnet.experiments import problems, tables
from jumpnet.experiments.bench.plan import Plan
from jumpnet.experiments.bench.report import Comparison, Item, Tell
from jumpnet.experiments.bench.timing import side_by_side
from jumpnet.models.shallow import Shallow
from jumpnet.optim import LevenbergMarquardt
from jumpnet.solution import Solution
from jumpnet.solution.batches import LARGEST_BATCH
from jumpnet.solving import solve

NAMES = ("pde2", "pde4")  # the problems with smooth curved interfaces


def evaluation(plan: Plan, tell: Tell) -> Iterator[Item]:
    """The paper's CE models; how well they are trained makes no difference to the time."""
    for name in (name for name in NAMES if name in plan.problems):
        tell(f"{name}, {plan.evaluated} points")
        solution = _trained(name)
        if solution.partition is None or (network := solution.network.shallow) is None:
            continue
        x, piece = solution.partition.sample_interior(plan.evaluated, seed=0)
        side = round(plan.evaluated ** (1 / 2))
        calls = {
            "values": lambda s=solution, x=x, piece=piece: s(x, piece),
            "values, pieces found": lambda s=solution, x=x: s(x),
            "gradients": lambda s=solution, x=x, piece=piece: s.grad(x, piece),
            f"map {side} x {side}": lambda s=solution, side=side: s.plot(what="u", resolution=side),
        }
        for what, call in calls.items():
            flops = plan.evaluated * _operations(network) * (solution.dim if what == "gradients" else 1)
            ours, product = side_by_side(call, _product(network, flops), repeats=plan.repeats)
            yield {
                "problem": name,
                "what": what,
                "points": plan.evaluated,
                "neurons": network.neurons,
                "seconds": ours / 1e3,
                "matrix product (s)": product / 1e3,
                "ratio": ours / product,
            }


def _trained(name: str) -> Solution:
    points = tables.row(name, "CE").points
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JumpnetWarning)
        return solve(
            getattr(problems, name)(),
            method=Network(optimizer=LevenbergMarquardt(steps=3), points=points, preset="paper"),
        )


def _operations(network: Shallow) -> int:
    """Multiplications and additions of one value, without the activation."""
    return 2 * network.neurons * (network.inputs + network.labels + 2)


def _product(network: Shallow, flops: float) -> Callable[[], None]:
    """A product of matrices with as many operations, in batches of the same size."""
    k, n = network.inputs + network.labels + 2, network.neurons
    rows, weights = np.ones((LARGEST_BATCH, k)), np.ones((k, n))
    into = np.empty((LARGEST_BATCH, n))
    times = max(round(flops / (2 * LARGEST_BATCH * k * n)), 1)

    def product() -> None:
        for _ in range(times):
            np.matmul(rows, weights, out=into)

    return product


EVALUATION = Comparison(
    "evaluation",
    "Looking at a solution",
    "Values, gradients and a map with its colours of a trained network, after compilation, beside a NumPy matrix "
    "product of the same number of multiplications (the activation, most of the work, is not counted).",
    evaluation,
)
