"""The kernels of a step: assembling the Jacobian, and factoring it."""

from collections.abc import Callable, Iterator, Sequence

import jax.numpy as jnp
import numpy as np
from scipy.linalg import get_lapack_funcs
from threadpoolctl import threadpool_limits

from jumpnet._precision import float64
from jumpnet.experiments.bench import peers
from jumpnet.experiments.bench.plan import Plan
from jumpnet.experiments.bench.report import Comparison, Item, Row, Tell
from jumpnet.experiments.bench.systems import Family, by_autodiff, families, paper_system
from jumpnet.experiments.bench.timing import side_by_side
from jumpnet.models import System
from jumpnet.optim import LevenbergMarquardt

DAMPING = 1e-6  # arbitrary: it changes the numbers in the factorisation, not their count


def assembly(plan: Plan, tell: Tell) -> Iterator[Item]:
    """Residual and Jacobian in closed form against automatic differentiation of the same rows."""
    for name in plan.problems:
        tell(name)
        system = paper_system(name)
        theta = system.network.initial(np.random.default_rng(0))
        with threadpool_limits(1), float64():
            ours, sorted_rows, one_formula = side_by_side(
                lambda s=system, t=theta: s.linearised(t),
                _autodiff(system, theta, families(system.rows)),
                _autodiff(system, theta, families(system.rows, order=2)),
                repeats=plan.repeats,
            )
        row: Row = {
            "problem": name,
            "rows": len(system.rows),
            "parameters": system.size,
            "ours (ms)": ours,
            "JAX (ms)": sorted_rows,
            "ratio to JAX": sorted_rows / ours,
            "JAX, one formula (ms)": one_formula,
            "ratio to one formula": one_formula / ours,
        }
        try:
            peers.needs("torch")
            (found,) = peers.run("torch_assembly.py", name, "--repeats", str(plan.repeats), seconds=plan.peer_seconds)
            row |= {"torch (ms)": found["ms"], "ratio to torch": found["ms"] / ours}
        except peers.UnavailableError as why:
            yield str(why)
        yield row


def _autodiff(system: System, theta: np.ndarray, sorted_rows: Sequence[Family]) -> Callable[[], object]:
    """Automatic differentiation, checked to compute the same matrix."""
    differentiate, parameters = by_autodiff(system, sorted_rows), jnp.asarray(theta)
    order = np.concatenate([family.row for family in sorted_rows])
    np.testing.assert_allclose(differentiate(parameters), system.dense(theta)[1][order], rtol=1e-8, atol=1e-10)
    return lambda: differentiate(parameters).block_until_ready()


def one_step(system: System, theta: np.ndarray) -> Callable[[], object]:
    """The second step from theta by QR (the first one fits the output weights too), ready to be called."""
    optimizer = LevenbergMarquardt(step="qr", damping=DAMPING)
    state, _ = optimizer.advance(system, optimizer.init(system, theta), 1)
    return lambda: optimizer.advance(system, state, 1)


def lapack(system: System, theta: np.ndarray) -> Callable[[], np.ndarray]:
    """dgeqrf of the dense [J r; sqrt(mu) I 0] and the triangular solve, ready to be called."""
    r, J = system.dense(theta)
    m, n = J.shape
    geqrf, geqrf_lwork, trtrs = get_lapack_funcs(("geqrf", "geqrf_lwork", "trtrs"), dtype=np.float64)
    stacked = np.zeros((m + n, n + 1), order="F")
    stacked[:m, :n], stacked[:m, n] = J, r
    np.fill_diagonal(stacked[m:, :n], np.sqrt(DAMPING))
    work = int(geqrf_lwork(*stacked.shape)[0])

    def solve() -> np.ndarray:
        R = geqrf(stacked, lwork=work)[0]
        return trtrs(R[:n, :n], R[:n, n])[0]

    return solve


def step(plan: Plan, tell: Tell) -> Iterator[Item]:
    """A whole step against the factorisation alone."""
    for name in plan.problems:
        tell(name)
        system = paper_system(name)
        theta = system.network.initial(np.random.default_rng(0))
        with threadpool_limits(1):
            ours, theirs = side_by_side(one_step(system, theta), lapack(system, theta), repeats=plan.repeats)
        yield {
            "problem": name,
            "rows": len(system.rows),
            "parameters": system.size,
            "our step (ms)": ours,
            "dgeqrf + dtrtrs (ms)": theirs,
            "ratio": theirs / ours,
        }


ASSEMBLY = Comparison(
    "assembly",
    "Residual and Jacobian: closed form against automatic differentiation",
    "One evaluation of the paper's CE model on the paper's points, compiled; ours with the residual, theirs without. "
    "JAX and torch: vmap(jacrev) of the same rows, sorted so that no Hessian is taken where an equation has none. One "
    "formula: value, gradient and Hessian for every row, as where one function serves all equations.",
    assembly,
)
STEP = Comparison(
    "step",
    "One step: ours against LAPACK's factorisation",
    "Ours: factorisation, solve, and the next residual and Jacobian (QR, no normal equations). LAPACK: QR of the same "
    "augmented matrix and the triangular solve only. One BLAS thread.",
    step,
)
