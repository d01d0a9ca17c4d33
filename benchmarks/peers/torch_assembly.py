"""The Jacobian of the paper's CE model by torch.func: vmap(jacrev) of each row, one thread.

    python benchmarks/peers/torch_assembly.py pde4 [--repeats 15]

The rows are jumpnet's, sorted by what they need, so that no Hessian is taken where an equation has none. The matrix
is checked against jumpnet's. Prints one line of JSON with the median milliseconds.
"""

import argparse
import json
import sys

import numpy as np

from jumpnet.experiments.bench.systems import families, paper_system
from jumpnet.experiments.bench.timing import side_by_side

try:
    import torch
    from torch.func import grad_and_value, hessian, jacrev, vmap
except ImportError:
    sys.exit("torch is not installed; pip install 'jumpnet[bench]' adds it.")


def differentiated(system):
    """theta -> Jacobian, its rows in the order of `families`."""
    network = system.network
    k, labels, n, cells = network.inputs, network.labels, network.neurons, network.cells
    sizes = [k * n, labels * n, n, n, labels * cells]

    def u(x, theta, cell):  # cell: its unit vector, as an integer cannot index under vmap
        w, v, b, c, e = torch.split(theta, sizes)
        label = e.reshape(labels, cells) @ cell
        return c @ torch.sigmoid(x @ w.reshape(k, n) + label @ v.reshape(labels, n) + b)

    def functional(order, theta, x, cell, a0, a1, a2):
        if order == 0:
            return a0 * u(x, theta, cell)
        slope, value = grad_and_value(u)(x, theta, cell)
        total = a0 * value + a1 @ slope
        return total + (a2 * hessian(u)(x, theta, cell)).sum() if order == 2 else total

    def block(family):
        units = np.eye(cells)[family.cell]
        data = [torch.tensor(np.asarray(part)) for part in (family.x, units, family.a0, family.a1, family.a2)]

        def row(theta, *sites):
            return sum(functional(family.order, theta, *(part[i] for part in sites)) for i in range(len(sites[0])))

        return vmap(jacrev(row), (None,) + (0,) * len(data)), data

    blocks = [block(family) for family in families(system.rows)]
    return lambda theta: torch.cat([jacobian(theta, *data) for jacobian, data in blocks])


def main():
    """Check, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problem", choices=("pde2", "pde3", "pde4", "pde5"))
    parser.add_argument("--repeats", type=int, default=15)
    given = parser.parse_args()
    torch.set_num_threads(1)
    system = paper_system(given.problem)
    theta = system.network.initial(np.random.default_rng(0))
    jacobian, parameters = differentiated(system), torch.tensor(theta)
    order = np.concatenate([family.row for family in families(system.rows)])
    np.testing.assert_allclose(jacobian(parameters).numpy(), system.dense(theta)[1][order], rtol=1e-8, atol=1e-10)
    (milliseconds,) = side_by_side(lambda: jacobian(parameters), repeats=given.repeats)
    print(json.dumps({"ms": milliseconds}))


if __name__ == "__main__":
    main()
