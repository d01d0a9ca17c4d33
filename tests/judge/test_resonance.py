"""Near resonance (lam < 0 and an eigenvalue near zero) an answer is right or undecided, never wrong and converged."""

import numpy as np
import pytest
from scipy.special import jn_zeros

import jumpnet as jn

U = "exp(x1)*cos(2*x2 + 0.3) + x1*x2"
DOMAINS = {  # with an eigenvalue of -div grad under Dirichlet conditions
    "square": (jn.Box((0, 0), (1, 1)), 5 * np.pi**2),
    "disk": (jn.Disk((0, 0), 1.0), jn_zeros(0, 1)[0] ** 2),
    "L-shape": (jn.Polygon([(-1, -1), (0, -1), (0, 0), (1, 0), (1, 1), (-1, 1)]), 9.6397238440219),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::jumpnet.errors.JumpnetWarning")
@pytest.mark.parametrize("off", [1e-2, 1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("name", DOMAINS)
def test_right_or_undecided(name: str, off: float) -> None:
    domain, eigenvalue = DOMAINS[name]
    parts = jn.Partition(domain, [jn.Disk((0.4, 0.4), 0.1)])
    problem = jn.manufactured(parts, [U, U], lam=-eigenvalue * (1 + off))
    found = jn.solve(problem, method="fem", tol=1e-4, time_limit=60)
    x, piece = parts.sample_interior(2000, seed=1)
    error = np.sqrt(np.mean((found(x, piece) - problem.exact_values(x, piece)) ** 2))
    print(name, off, found.status.name, f"estimate {found.estimate:.1e}, error {error:.1e}")
    assert not found.status.ok or error <= found.estimate
    assert found.status.ok or off <= 1e-4
