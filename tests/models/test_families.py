"""Frozen functions: functionals against automatic differentiation, harmonicity, storage, elimination."""

import json
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jumpnet._precision import float64
from jumpnet.charts import Affine, Pole, Slit
from jumpnet.errors import SolutionError
from jumpnet.models import Frozen, LinearSystem, network_from_spec, network_spec
from jumpnet.models.families import family_from_spec, family_spec
from jumpnet.models.families.harmonic import Powers
from jumpnet.models.families.poles import Poles
from jumpnet.models.families.polynomials import Combination, Legendre
from jumpnet.models.families.products import Products
from jumpnet.models.families.ridges import Ridges
from jumpnet.models.families.solid import Solid
from jumpnet.models.families.wedges import BranchCutPotential, Wedge
from jumpnet.models.frozen import Features
from jumpnet.optim import Direct
from jumpnet.rows import ConditionKey, Kind, Sites, row_family, stack

RNG = np.random.default_rng(7)
FAMILIES = {
    "Legendre 1-D": (Legendre(1, 5), 1),
    "Legendre 2-D": (Legendre(2, 5), 2),
    "Legendre 3-D, no constant": (Legendre(3, 3, constant=False), 3),
    "powers": (Powers(5, constant=True), 2),
    "powers with log": (Powers(1, logarithm=True), 2),
    "products": (Products(3), 4),
    "solid": (Solid(4), 3),
    "solid, exterior": (Solid(4, exterior=True), 3),
    "ridges": (Ridges(2, 6, 0.7, seed=3), 2),
    "wedge": (Wedge((2 / 3, 4 / 3, 2.0)), 2),
    "wedge, complex powers": (Wedge((0.7, 0.7, 2.0), (0.3, -0.3, 0.0)), 2),
    "wedge, logarithms": (Wedge((0.0, 1.5, 1.5)), 2),
    "wedge, squares of logarithms": (Wedge((2.0, 2.0, 2.0)), 2),
    "crack, logarithms": (BranchCutPotential((0.0, 1.5, 1.5), opening=np.pi / 3), 2),
    "crack": (BranchCutPotential((2 / 3, 4 / 3, 2.0), opening=np.pi / 3), 2),
    "crack, complex powers": (BranchCutPotential((0.7, 0.7), (0.3, -0.3), np.pi / 3), 2),
    "poles": (Poles((-0.4, 1.5, 0.3), (0.2, 0.5, -0.6)), 2),
    "combination": (Combination(2, 2, (0.5, -1.0, 2.0, 0.25, 3.0, -0.75)), 2),
}


def plain(family: Any) -> Any:
    """The functions of a family, written down anew: all of them at one point y."""
    if isinstance(family, Legendre):
        n = family.degree + 1
        # The order within a total degree is the family's affair; the test compares sets of columns.
        degrees = [d for d in np.ndindex(*[n] * family.inputs) if sum(d) < n and (family.constant or sum(d))]
        coefficients = np.array([np.r_[c := np.polynomial.legendre.leg2poly(e), [0] * (n - len(c))] for e in np.eye(n)])

        def products(y: Any) -> Any:
            powers = jnp.stack([jnp.ones_like(y), *(y**k for k in range(1, n))])
            return jnp.prod((coefficients @ powers)[np.array(degrees), np.arange(family.inputs)], axis=1)

        return products
    return lambda y: parts_and_more(family, y[0] + 1j * y[1])


def parts_and_more(family: Any, z: Any) -> Any:
    """Real parts, then imaginary parts, then what has only one of them."""
    alone = []
    if isinstance(family, Powers):
        f = jnp.stack([z**n for n in range(1, family.degree + 1)])
        alone = [1.0 + 0 * z.real] if family.constant else [0.5 * jnp.log(z.real**2 + z.imag**2)]
    elif isinstance(family, Poles):
        f = 1 / (z - (np.array(family.across) + 1j * np.array(family.up)))
    elif isinstance(family, Wedge):
        p = np.array(family.powers) + 1j * np.array(family.imaginary or (0, 0, 0))
        before = np.array([0 if family.imaginary else family.powers[:k].count(q.real) for k, q in enumerate(p)])
        whole = np.abs(p - np.round(p.real)) < 1e-12
        f = jnp.stack([z**q * jnp.log(z) ** int(m) for q, m in zip(p, before + whole, strict=True)])
    else:
        raise AssertionError(family)
    return jnp.concatenate([f.real, f.imag, *(jnp.atleast_1d(one) for one in alone)])


def sites(n: int, dim: int, a0: Any = 1.0, a1: Any = 0.0, a2: Any = 0.0, x: Any = None) -> Sites:
    x = RNG.uniform(0.2, 0.9, (n, dim)) if x is None else x
    return Sites(
        x, np.zeros(n, int), np.broadcast_to(a0, n) * 1.0, np.broadcast_to(a1, (n, dim)) * 1.0,
        np.broadcast_to(a2, (n, dim, dim)) * 1.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        "Legendre 1-D",
        "Legendre 2-D",
        "Legendre 3-D, no constant",
        "powers",
        "powers with log",
        "wedge",
        "wedge, complex powers",
        "wedge, logarithms",
        "wedge, squares of logarithms",
        "poles",
    ],
)
def test_functionals_are_those_of_the_functions_written_down(name: str) -> None:
    family, dim = FAMILIES[name]
    a0, a1, a2 = RNG.standard_normal(6), RNG.standard_normal((6, dim)), RNG.standard_normal((6, dim, dim))
    a2 = a2 + np.swapaxes(a2, 1, 2)
    at = sites(6, dim, a0, a1, a2)
    found = family.functionals(at)
    assert found.shape == (6, family.size)
    f = plain(family)
    with float64():
        jets = jax.jit(jax.vmap(lambda y: (f(y), jax.jacfwd(f)(y), jax.jacfwd(jax.jacfwd(f))(y))))
        values, slopes, seconds = (np.asarray(jet) for jet in jets(jnp.asarray(at.x)))
    expected = a0[:, None] * values + np.einsum("si,sfi->sf", a1, slopes) + np.einsum("sij,sfij->sf", a2, seconds)
    if isinstance(family, Legendre):
        found, expected = (part[:, np.lexsort(part)] for part in (found, expected))
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", FAMILIES)
def test_derivatives_against_differences(name: str) -> None:
    family, dim = FAMILIES[name]
    x, h = RNG.uniform(0.3, 0.8, (5, dim)), 1e-4

    def values(x: np.ndarray) -> np.ndarray:
        return family.functionals(sites(5, dim, x=x))

    for i, e in enumerate(np.eye(dim)):
        slope = (8 * (values(x + h * e) - values(x - h * e)) - values(x + 2 * h * e) + values(x - 2 * h * e)) / (12 * h)
        found = family.functionals(sites(5, dim, 0.0, e, x=x))
        np.testing.assert_allclose(found, slope, rtol=0, atol=1e-9 * np.abs(slope).max())
        for f in np.eye(dim)[: i + 1]:
            second = np.outer(e, f) / 2 + np.outer(f, e) / 2
            found = family.functionals(sites(5, dim, 0.0, 0.0, second, x=x))
            plus, minus = (family.functionals(sites(5, dim, 0.0, e, x=x + s * h * f)) for s in (1, -1))
            np.testing.assert_allclose(found, (plus - minus) / (2 * h), rtol=0, atol=1e-5 * (1 + np.abs(plus).max()))


@pytest.mark.parametrize(
    "name", ["powers", "powers with log", "solid", "solid, exterior", "crack", "crack, logarithms", "poles"]
)
def test_harmonic_functions_are_harmonic_and_independent(name: str) -> None:
    family, dim = FAMILIES[name]
    many = sites(60, dim, 0.0, 0.0, np.eye(dim))
    values = family.functionals(sites(60, dim, x=np.asarray(many.x)))
    assert np.abs(family.functionals(many)).max() <= 1e-11 * np.abs(values).max()
    normalised = values / np.linalg.norm(values, axis=0)
    assert np.linalg.matrix_rank(normalised, tol=1e-10) == family.size


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"family": "wedge", "powers": [0.7], "imaginary": [0.1, 0.2]}, "2 imaginary parts"),
        ({"family": "wedge", "degree": 3, "first": 0.7, "step": 0.7}, "does not say powers"),
        ({"family": "crack", "powers": [0.7], "imaginary": []}, "does not say opening"),
    ],
)
def test_powers_that_are_not_as_they_must_be_are_refused(spec: dict[str, Any], said: str) -> None:
    with pytest.raises(SolutionError, match=said):
        family_from_spec(spec)


def test_a_crack_is_a_power_beside_a_smooth_function() -> None:
    """Around the corner, from one bank of the cut to the other, it changes by a multiple of t^p."""
    powers = np.array([0.7, 2.0, 3.4])
    # z = -t on both banks is the end of what the functions are for; their continuation goes by the residue.
    t = np.geomspace(1e-6, 0.02, 9)
    angle = 0.9 * np.pi
    x = np.stack([t * np.cos(angle), t * np.sin(angle)], axis=1)
    crack = BranchCutPotential(tuple(powers), opening=0.1 * np.pi)
    values = crack.functionals(sites(9, 2, x=x))
    z, smooth = (x[:, 0] + 1j * x[:, 1])[:, None], np.arange(8)
    # Least squares by z^p (z^p log z) and a Taylor polynomial leaves nothing.
    singular = np.where(powers == 2, z**2 * np.log(z), z**powers)
    for k in range(3):
        f = values[:, k] + 1j * values[:, 3 + k]
        columns = np.concatenate([singular[:, k : k + 1], z**smooth], axis=1)
        weights = np.linalg.lstsq(columns / np.abs(columns).max(axis=0), f, rcond=1e-15)[0]
        assert np.abs(columns / np.abs(columns).max(axis=0) @ weights - f).max() < 1e-11 * np.abs(f).max()


@pytest.mark.parametrize("name", FAMILIES)
def test_families_and_their_charts_are_stored(name: str) -> None:
    family, dim = FAMILIES[name]
    assert family_from_spec(json.loads(json.dumps(family_spec(family)))) == family
    chart = Affine((0,), np.full(dim, 0.1), np.eye(dim), 0.7)
    network = Frozen((Features(((chart, family),)),))
    again = network_from_spec(json.loads(json.dumps(network_spec(network))))
    theta = RNG.standard_normal(network.size)
    assert np.array_equal(again.values(theta, at := sites(4, dim)), network.values(theta, at))


@pytest.mark.parametrize("degree", [3, 100_000])
def test_weights_that_do_not_go_with_their_degree_are_refused(degree: int) -> None:
    forged = family_spec(FAMILIES["combination"][0]) | {"degree": degree, "inputs": degree}
    with pytest.raises(SolutionError, match="damaged or forged"):
        family_from_spec(forged)


@pytest.mark.parametrize("across", [[0.1], [0.1, 2.0, "3"], [0.1, 2.0, float("nan")], [0.0] * 100_001])
def test_forged_poles_are_refused(across: list[Any]) -> None:
    with pytest.raises(SolutionError, match="damaged or forged"):
        family_from_spec(family_spec(FAMILIES["poles"][0]) | {"across": across})


def test_an_unknown_family_is_refused_in_one_sentence() -> None:
    with pytest.raises(SolutionError, match="does not know"):
        family_from_spec({"family": "wavelets"})


def features(cell: int) -> Features:
    poles = Slit((cell,), np.array([2.0, 0.0]), np.eye(2), 0.2 + 0j, 0.5)
    return Features(
        ((Affine((cell,), np.zeros(2), np.eye(2), 1.0), Legendre(2, 3 + cell)), (poles, Powers(2, logarithm=True)))
    )


def rows(n: int = 60):
    x = RNG.uniform(-1, 1, (n, 2))
    normal = np.tile([1.0, 0.0], (n, 1))
    return stack(
        [
            row_family(ConditionKey(Kind.VALUE, (0,)), np.sin(x[:, 0]), (x, 0, 1.0, 0.0, 0.0)),
            row_family(ConditionKey(Kind.VALUE, (1,)), np.cos(x[:, 1]), (x, 1, 1.0, 0.0, 0.0)),
            row_family(ConditionKey(Kind.JUMP, (0, 1)), np.zeros(n), (x, 0, 1.0, 0.0, 0.0), (x, 1, -1.0, 0.0, 0.0)),
            row_family(
                ConditionKey(Kind.FLUX, (0, 1)), np.zeros(n), (x, 0, 0.0, normal, 0.0), (x, 1, 0.0, -2 * normal, 0.0)
            ),
        ]
    )


def test_the_direct_solution_is_that_of_dense_least_squares() -> None:
    network = Frozen((features(0), features(1)))
    system = LinearSystem(network, rows())
    theta = Direct(refinements=1).solve(system)
    dense = np.zeros((len(system.rhs), network.size))
    for k in range(network.size):
        dense[:, k] = system.residual(np.eye(network.size)[k]) + system.rhs
    expected = np.linalg.lstsq(dense, system.rhs, rcond=1e-13)[0] / system.column_size
    np.testing.assert_allclose(
        dense @ (theta * system.column_size), dense @ (expected * system.column_size), atol=1e-11
    )
    np.testing.assert_allclose(
        system.residual(theta * system.column_size), dense @ (theta * system.column_size) - system.rhs, atol=1e-13
    )


def test_dependent_features_are_no_obstacle() -> None:
    """The same polynomials twice: the weights are shared between them, the values are right."""
    twice = Affine((0,), np.zeros(2), np.eye(2), 1.0)
    network = Frozen((Features(((twice, Legendre(2, 4)), (twice, Legendre(2, 4)))),))
    x = RNG.uniform(-1, 1, (80, 2))
    system = LinearSystem(
        network, row_family(ConditionKey(Kind.VALUE, (0,)), x[:, 0] * x[:, 1] ** 2, (x, 0, 1.0, 0.0, 0.0))
    )
    theta = Direct().solve(system)
    assert np.abs(system.residual(theta * system.column_size)).max() <= 1e-12
    assert np.abs(theta).max() <= 10


def test_poles_in_space_are_stored_too() -> None:
    chart = Pole((0,), np.zeros(3), np.eye(3), 0.5)
    network = Frozen((Features(((chart, Legendre(3, 2, constant=False)),)),))
    assert network_from_spec(json.loads(json.dumps(network_spec(network)))).size == network.size == 9


def test_a_corner_function_has_a_value_at_its_corner_but_no_slope() -> None:
    """Pictures and probes evaluate there."""
    corner = Wedge((2 / 3,))
    value, slope = (
        corner.functionals(
            Sites(np.zeros((1, 2)), np.zeros(1, int), np.array([a0]), np.array([a1]), np.zeros((1, 2, 2)))
        )
        for a0, a1 in ((1.0, (0.0, 0.0)), (0.0, (1.0, 0.0)))
    )
    assert np.abs(value).max() < 1e-90
    assert np.isnan(slope).all()
