"""Residual and Jacobian in closed form against automatic differentiation of a plain formula for the network.

The reference below knows nothing of jets, pushed-forward functionals or layouts: it writes the network as a function of
one point x, differentiates that function with JAX, and sums the sites of each row by its number. It is compared for
every encoding x kind of row, every activation, in a box, in pole charts and in slit charts, in the plane and in space.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jumpnet as jn
from jumpnet._precision import float64
from jumpnet.charts import Atlas, Box, Chart, Pole, Slit
from jumpnet.models import CategoricalEmbedding, Deep, Model, OneHot, ScalarEncoding, Separate, System
from jumpnet.models.activations import ACTIVATIONS
from jumpnet.rows import ConditionKey, Kind, Rows, row_family, stack

EPS = np.finfo(float).eps
# Rounding: some hundred operations per entry (sums over neurons, sites and chart derivatives), each eps of the largest.
ROUNDING = 1000 * EPS
CELLS, NEURONS = 3, 4

PLAIN: dict[str, Callable[[Any], Any]] = {
    "sigmoid": lambda s: 1 / (1 + jnp.exp(-s)),
    "tanh": jnp.tanh,
    "sine": jnp.sin,
    "softplus": lambda s: jnp.log(1 + jnp.exp(s)),
    "gaussian": lambda s: jnp.exp(-(s**2)),
}

ENCODINGS: dict[str, Callable[[str], Model]] = {
    "CE, D = 1": lambda act: CategoricalEmbedding(dim=1, neurons=NEURONS, activation=act),
    "CE, D = 2": lambda act: CategoricalEmbedding(dim=2, neurons=NEURONS, activation=act),
    "SE": lambda act: ScalarEncoding(labels=(0.0, 1.0, 2.0), neurons=NEURONS, activation=act),
    "OH": lambda act: OneHot(neurons=NEURONS, activation=act),
    "s(E delta)": lambda act: CategoricalEmbedding(dim=2, neurons=NEURONS, activation=act, squash=act),
    "separate": lambda act: Separate(neurons=NEURONS, activation=act),
    "deep": lambda act: Deep(dim=1, widths=(4, 3), activation=act),
    "residual": lambda act: Deep(dim=2, widths=(4, 4), activation=act, residual=True),
}

# Networks see an activation through its jet alone: every encoding and every activation once; the other pairs are slow.
ONCE = dict(
    zip(ENCODINGS, ("sigmoid", "tanh", "sine", "softplus", "gaussian", "sigmoid", "sine", "sigmoid"), strict=True)
)
# Deep networks differentiate automatically and are slow to compile: two activations show that they are wired rightly.
AUTOMATIC = ("deep", "residual")
# Special cases of another encoding in the list: a deep network without shortcuts, labels of one number.
SPECIAL = ("deep", "CE, D = 1")
CASES = [
    pytest.param(e, a, marks=[] if ONCE[e] == a and e not in SPECIAL else pytest.mark.slow)
    for e in ENCODINGS
    for a in PLAIN
    if e not in AUTOMATIC or a in ("sigmoid", "sine")
]

# Charts act on rows, before the network: all of them with one encoding; each by itself and other networks are slow.
IN_CHARTS = [("CE, D = 2", "all"), ("CE, D = 2", "pole in space")]
IN_CHARTS += [
    pytest.param(*case, marks=pytest.mark.slow)
    for case in (*(("CE, D = 2", charts) for charts in ("box", "pole", "slit")), ("OH", "all"), ("separate", "all"))
]

KINDS = ("pde", "dirichlet", "neumann", "robin", "jump", "flux", "periodic", "many sites", "mixed counts")


# --- rows of every kind ----------------------------------------------------------------------------------------------


@cache
def all_kinds_of_rows(dim: int) -> Rows:
    """Every kind of row with random coefficients, at points with 0.5 < |x| < 1 so that charts about 0 are smooth."""
    rng = np.random.default_rng([7, dim])

    def points(m: int = 3) -> np.ndarray:
        z = rng.standard_normal((m, dim))
        return z / np.linalg.norm(z, axis=1, keepdims=True) * rng.uniform(0.5, 1.0, (m, 1))

    def side(*, m: int = 3, x: Any = None, cell: Any = None, value=False, slope=False, second=False) -> tuple:
        return (
            points(m) if x is None else x,
            rng.integers(0, CELLS, m) if cell is None else cell,
            rng.standard_normal(m) if value is True else float(value),
            rng.standard_normal((m, dim)) if slope else 0.0,
            rng.standard_normal((m, dim, dim)) if second else 0.0,  # not symmetric: only the symmetric part counts
        )

    def family(name: str, *sides: tuple) -> Rows:
        return row_family(ConditionKey(Kind.VALUE, part=name), rng.standard_normal(len(sides[0][0])), *sides)

    x, y = points(), points()
    full: dict[str, Any] = {"value": True, "slope": True, "second": True}
    rows = stack(
        [
            # Families of the same kind side by side: each change of kind is one more kernel to compile.
            family("pde", side(**full)),
            family("mixed counts", side(m=1, **full)),
            family("mixed counts", side(m=2, second=True)),
            family("dirichlet", side(value=1.0)),
            family("neumann", side(slope=True)),
            family("robin", side(value=True, slope=True)),
            family("jump", side(x=x, cell=0, value=1.0), side(x=x, cell=2, value=-1.0)),
            family("periodic", side(cell=0, value=1.0), side(cell=1, value=-1.0)),
            family("flux", side(x=y, cell=1, slope=True), side(x=y, cell=2, slope=True)),
            family("mixed counts", side(m=1, value=True), side(m=1, slope=True)),
            family("mixed counts", *(side(m=2, **full) for _ in range(3))),
            family("many sites", *(side(m=2, **full) for _ in range(7))),
        ]
    )
    return rows.weighted(rng.uniform(0.1, 2.0, len(rows)))


# --- charts, and the same charts written in JAX ----------------------------------------------------------------------

PlainChart = Callable[[Any, Any], Any]
TURN = np.array([[1.2, 0.3], [0.3, 0.9]])
TURN3 = np.array([[1.2, 0.3, 0.1], [0.3, 0.9, -0.2], [0.1, -0.2, 1.1]])


@dataclass(frozen=True)
class Coordinates:
    """An atlas, and the same functions of one point in JAX."""

    dim: int
    atlas: Atlas
    plain: PlainChart


def plain_pole(center: Any, transform: Any, radius: float, cells: tuple[int, ...]) -> PlainChart:
    def y(x: Any, cell: Any) -> Any:
        z = jnp.asarray(transform) @ (x - jnp.asarray(center))
        q = radius ** (len(center) - 1) * z / jnp.sqrt(jnp.sum(z * z)) ** len(center)
        return jnp.where(jnp.isin(cell, jnp.array(cells)), q, 0.0)

    return y


def plain_slit(center: Any, transform: Any, focus: complex, axes_sum: float, cells: tuple[int, ...]) -> PlainChart:
    def y(x: Any, cell: Any) -> Any:
        z = jnp.asarray(transform) @ (x - jnp.asarray(center))
        zeta = (z[0] + 1j * z[1]) / (focus / abs(focus))
        root = jnp.sqrt(zeta - abs(focus)) * jnp.sqrt(zeta + abs(focus))
        w = axes_sum / ((zeta + root) * (focus / abs(focus)))
        return jnp.where(jnp.isin(cell, jnp.array(cells)), jnp.stack([w.real, w.imag]), 0.0)

    return y


@cache
def coordinates(name: str) -> Coordinates:
    dim = 3 if name == "pole in space" else 2
    box = Box(
        np.linspace(-0.2, 0.3, CELLS * dim).reshape(CELLS, dim), np.linspace(0.8, 1.7, CELLS * dim).reshape(CELLS, dim)
    )
    charts: list[Chart] = [box]
    plain: list[PlainChart] = [lambda x, cell: (x - jnp.asarray(box.center)[cell]) / jnp.asarray(box.halfwidth)[cell]]
    if name == "x":
        charts = [Box(np.zeros((CELLS, dim)), np.ones((CELLS, dim)))]
        plain = [lambda x, cell: x]
    if name in ("pole", "all", "pole in space"):
        center, transform = np.linspace(-0.05, 0.1, dim), TURN if dim == 2 else TURN3
        charts.append(Pole((0, 2), center, transform, 0.4))
        plain.append(plain_pole(center, transform, 0.4, (0, 2)))
    if name in ("slit", "all"):
        slit = Slit((0, 1), np.array([0.03, -0.05]), TURN, 0.2 + 0.15j, 0.7)
        charts.append(slit)
        plain.append(plain_slit(slit.center, slit.transform, slit.focus, slit.axes_sum, slit.cells))

    def y(x: Any, cell: Any) -> Any:
        return jnp.concatenate([part(x, cell) for part in plain])

    return Coordinates(dim, Atlas(tuple(charts)), y)


# --- the plain network -----------------------------------------------------------------------------------------------


def plain_network(model: Any, inputs: int) -> Callable[[Any, Any, Any], Any]:
    """u(theta, y, cell) as one would write it down, with the documented order of parameters: W, b, c (by layer), E."""
    s = PLAIN[model.activation]
    n = NEURONS
    if isinstance(model, Separate):

        def separate(theta: Any, y: Any, cell: Any) -> Any:
            own = theta.reshape(CELLS, -1)[cell]
            W, b, c = own[: inputs * n].reshape(inputs, n), own[inputs * n : -n], own[-n:]
            return jnp.sum(c * s(y @ W + b))

        return separate
    widths = model.widths if isinstance(model, Deep) else (n,)
    labels = CELLS if isinstance(model, OneHot) else 1 if isinstance(model, ScalarEncoding) else model.dim

    def u(theta: Any, y: Any, cell: Any) -> Any:
        if isinstance(model, OneHot):
            z = jnp.eye(CELLS)[cell]
        elif isinstance(model, ScalarEncoding):
            z = jnp.asarray(model.labels)[cell][None]
        else:
            z = theta[-labels * CELLS :].reshape(labels, CELLS) @ jnp.eye(CELLS)[cell]
            squash = getattr(model, "squash", None)
            z = PLAIN[squash](z) if squash else z
        h, at = jnp.concatenate([y, z]), 0
        for width in widths:
            W = theta[at : at + len(h) * width].reshape(len(h), width)
            b = theta[at + W.size : at + W.size + width]
            at += W.size + width
            out = s(h @ W + b)
            h = out + h if getattr(model, "residual", False) and len(h) == width else out
        return jnp.sum(theta[at : at + widths[-1]] * h)

    return u


def reference(model: Any, where: Coordinates, rows: Rows, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted residual and Jacobian by automatic differentiation of the plain network."""
    network = plain_network(model, where.atlas.inputs)

    def site(theta: Any, x: Any, cell: Any, a0: Any, a1: Any, a2: Any) -> Any:
        def u(point: Any) -> Any:
            return network(theta, where.plain(point, cell), cell)

        return a0 * u(x) + a1 @ jax.grad(u)(x) + jnp.sum(a2 * jax.hessian(u)(x))

    s = rows.sites
    row = np.repeat(np.arange(len(rows)), rows.counts)

    def residual(theta: Any) -> Any:
        of_site = jax.vmap(site, (None, 0, 0, 0, 0, 0))(theta, s.x, s.cell, s.a0, s.a1, s.a2)
        return rows.weight * (jax.ops.segment_sum(of_site, row, len(rows)) - rows.rhs)

    with float64():
        t = jnp.asarray(theta)
        r, J = jax.jit(lambda t: (residual(t), jax.jacfwd(residual)(t)))(t)
        return np.asarray(r), np.asarray(J)


@cache
def compared(encoding: str, activation: str, charts: str) -> tuple[Rows, tuple, tuple]:
    """The rows; residual and Jacobian as the package computes them, and as the reference does."""
    where, model = coordinates(charts), ENCODINGS[encoding](activation)
    rows = all_kinds_of_rows(where.dim)
    system = System(model.network(where.atlas.inputs, CELLS), where.atlas.push_rows(rows))
    theta = np.random.default_rng(3).uniform(-1, 1, system.size)
    r, J = system.linearised(theta)
    return rows, (r, J), reference(model, where, rows, theta)


def check_family(kind: str, rows: Rows, ours: tuple, plain: tuple) -> None:
    mine = rows.term == rows.terms.index(ConditionKey(Kind.VALUE, part=kind))
    r, J = (part[mine] for part in ours)
    r_plain, J_plain = (part[mine] for part in plain)
    size = np.abs(J_plain).max()
    assert size > 1e-3, "an empty comparison proves nothing"
    np.testing.assert_allclose(r, r_plain, rtol=0, atol=ROUNDING * max(size, np.abs(r_plain).max()))
    np.testing.assert_allclose(J, J_plain, rtol=0, atol=ROUNDING * size)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("encoding, activation", CASES)
def test_every_encoding_activation_and_kind_of_row(encoding: str, activation: str, kind: str) -> None:
    check_family(kind, *compared(encoding, activation, "x"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("encoding, charts", IN_CHARTS)
def test_every_chart_and_kind_of_row(encoding: str, charts: str, kind: str) -> None:
    check_family(kind, *compared(encoding, "tanh", charts))


@pytest.mark.parametrize("encoding", [e for e in ENCODINGS if e not in SPECIAL])
def test_the_residual_alone_is_that_of_the_linearisation(encoding: str) -> None:
    system = System(ENCODINGS[encoding](ONCE[encoding]).network(2, CELLS), all_kinds_of_rows(2))
    theta = np.random.default_rng(3).uniform(-1, 1, system.size)
    r, J = system.linearised(theta)
    np.testing.assert_allclose(system.residual(theta), r, rtol=0, atol=ROUNDING * np.abs(J).max())


def test_every_activation_is_compared() -> None:
    assert set(PLAIN) == set(ACTIVATIONS)


@pytest.mark.parametrize("name", PLAIN)
def test_activation_jets(name: str) -> None:
    """s, s', s'', s''' where it saturates too; nothing overflows."""
    with float64():
        s = jnp.concatenate([jnp.linspace(-6, 6, 41), jnp.array([-40.0, 40.0])])
        f = PLAIN[name]
        jets = [f]
        for _ in range(3):
            jets.append(jax.grad(jets[-1]))
        ours = ACTIVATIONS[name](s)
        for jet, mine in zip(jets, ours, strict=True):
            np.testing.assert_allclose(np.asarray(mine), np.asarray(jax.vmap(jet)(s)), rtol=1e-12, atol=100 * EPS)
        far = ACTIVATIONS[name](jnp.array([-800.0, 800.0]))
        assert all(np.isfinite(np.asarray(part)).all() for part in far)


# --- the paper's relations between encodings -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "activation", ["tanh", *(pytest.param(a, marks=pytest.mark.slow) for a in PLAIN if a != "tanh")]
)
def test_a_deep_network_of_one_layer_is_the_shallow_one(activation: str) -> None:
    rows = all_kinds_of_rows(2)
    shallow = System(CategoricalEmbedding(2, NEURONS, activation).network(2, CELLS), rows)
    deep = System(Deep(2, (NEURONS,), activation).network(2, CELLS), rows)
    assert deep.size == shallow.size
    theta = shallow.network.initial(np.random.default_rng(0))
    (r, J), (r_deep, J_deep) = shallow.linearised(theta), deep.linearised(theta)
    np.testing.assert_allclose(r_deep, r, rtol=0, atol=ROUNDING * np.abs(J).max())
    np.testing.assert_allclose(J_deep, J, rtol=0, atol=ROUNDING * np.abs(J).max())


FROZEN = {
    "SE": (ScalarEncoding((0.0, 1.0, 2.0), NEURONS), CategoricalEmbedding(1, NEURONS, encoding=((0.0, 1.0, 2.0),))),
    "SE by index": (ScalarEncoding("index", NEURONS), CategoricalEmbedding(1, NEURONS, encoding=((-1.0, 0.0, 1.0),))),
    "OH": (OneHot(NEURONS), CategoricalEmbedding(3, NEURONS, encoding=((1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0)))),
}


@pytest.mark.parametrize("named, frozen", FROZEN.values(), ids=FROZEN)
def test_a_frozen_embedding_is_the_named_encoding_bit_for_bit(named: Any, frozen: Any) -> None:
    rows = all_kinds_of_rows(2)
    one, other = (System(model.network(2, CELLS), rows) for model in (named, frozen))
    thetas = [system.network.initial(np.random.default_rng(5)) for system in (one, other)]
    assert np.array_equal(thetas[0], thetas[1])
    for a, b in zip(one.linearised(thetas[0]), other.linearised(thetas[1]), strict=True):
        assert np.array_equal(a, b)
    assert np.array_equal(one.residual(thetas[0]), other.residual(thetas[1]))


@pytest.mark.parametrize("named, frozen", FROZEN.values(), ids=FROZEN)
def test_a_trained_embedding_starts_from_the_same_weights_and_has_the_same_jacobian(named: Any, frozen: Any) -> None:
    """E is drawn last; with E at the labels the other columns of J agree (to rounding: it is other compiled code)."""
    rows = all_kinds_of_rows(2)
    fixed = System(named.network(2, CELLS), rows)
    trained = System(replace(frozen, encoding=None).network(2, CELLS), rows)
    theta = fixed.network.initial(np.random.default_rng(5))
    start = trained.network.initial(np.random.default_rng(5))
    assert np.array_equal(start[: len(theta)], theta)
    assert np.abs(start[len(theta) :]).max() <= 1
    r, J = fixed.linearised(theta)
    r_trained, J_trained = trained.linearised(np.r_[theta, np.ravel(frozen.encoding)])
    np.testing.assert_allclose(r_trained, r, rtol=0, atol=ROUNDING * np.abs(J).max())
    np.testing.assert_allclose(J_trained[:, : len(theta)], J, rtol=0, atol=ROUNDING * np.abs(J).max())


@pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")
@pytest.mark.parametrize("named, frozen", [FROZEN["OH"]], ids=["OH"])  # the same bits at every theta: see above
def test_a_frozen_embedding_trains_like_the_named_encoding_bit_for_bit(named: Any, frozen: Any) -> None:
    parts = jn.Partition.chain([0.0, 0.4, 0.7, 1.0])
    problem = jn.manufactured(parts, ["x**2", "exp(x)", "1 - x"], A=[1.0, 10.0, 2.0])
    few = jn.optim.LevenbergMarquardt(steps=20)
    one, other = (
        jn.solve(
            problem, seed=4, verify=False, method=jn.Network(model, points=(60, 2, 1), optimizer=few, charts="box")
        )
        for model in (named, frozen)
    )
    assert np.array_equal(one.theta, other.theta)
    assert np.array_equal(one.history.loss, other.history.loss)


# --- parameter counts ------------------------------------------------------------------------------------------------

# (inputs, pieces, neurons, model with those neurons, N_p in the paper's tables of sections 5.1 and 5.2)
PAPER_COUNTS = [
    *[(2, 5, model, count) for model, count in ((("CE", 1), 255), (("SE", 0), 250), (("OH", 0), 450))],
    *[(2, 2, model, count) for model, count in ((("CE", 1), 252), (("SE", 0), 250), (("OH", 0), 300))],
    *[(3, 5, model, count) for model, count in ((("CE", 1), 605), (("SE", 0), 600), (("OH", 0), 1000))],
    *[
        (1, 5, model, count)
        for model, count in ((("CE", 1), 205), (("CE", 2), 260), (("SE", 0), 200), (("OH", 0), 400))
    ],
    *[(1, 10, ("CE", D), count) for D, count in ((1, 210), (2, 270), (5, 450))],
    *[(1, 50, ("CE", D), count) for D, count in ((1, 250), (2, 350), (5, 650), (10, 1150))],
    *[(1, 100, ("CE", D), count) for D, count in ((1, 300), (2, 450), (5, 900), (10, 1650))],
    *[(1, pieces, ("OH", 0), count) for pieces, count in ((10, 650), (50, 2650), (100, 5150))],
    *[(1, pieces, ("SE", 0), 200) for pieces in (10, 50, 100)],
]


@pytest.mark.parametrize("inputs, pieces, method, count", PAPER_COUNTS)
def test_parameter_counts_are_the_papers(inputs: int, pieces: int, method: tuple[str, int], count: int) -> None:
    n = 100 if inputs == 3 else 50
    kind, D = method
    model = {"SE": ScalarEncoding(neurons=n), "OH": OneHot(n), "CE": CategoricalEmbedding(max(D, 1), n)}[kind]
    network = model.network(inputs, pieces)
    assert network.size == count
    assert network.initial(np.random.default_rng(0)).shape == (count,)


def test_other_parameter_counts() -> None:
    assert Separate(10).network(2, 3).size == 3 * 10 * (2 + 2)
    assert Deep(2, (5, 7)).network(2, 3).size == (4 * 5 + 5) + (5 * 7 + 7) + 7 + 2 * 3


@pytest.mark.parametrize(
    "model",
    [
        CategoricalEmbedding(dim=4),
        CategoricalEmbedding(dim=1, encoding=((1.0, 2.0),)),
        ScalarEncoding((1.0, 2.0)),
        ScalarEncoding((1.0, 1.0, 2.0)),
        ScalarEncoding("mean-u"),
    ],
    ids=str,
)
def test_models_that_do_not_fit_are_refused_in_one_sentence(model: Model) -> None:
    with pytest.raises(jn.ModelError) as refused:
        model.network(2, CELLS)
    assert str(refused.value).endswith(".") and "\n" not in str(refused.value)
