"""Sums of frozen features against all of them times their weights."""

import numpy as np
import pytest

from jumpnet.models.families.harmonic import Powers
from jumpnet.models.families.polynomials import Combination, Legendre
from jumpnet.models.families.products import Products
from jumpnet.models.families.solid import Solid
from jumpnet.models.families.wedges import BranchCutPotential, Wedge
from jumpnet.models.sums import summed
from jumpnet.rows import Sites

FAMILIES = [
    Legendre(1, 9),
    Legendre(2, 7),
    Legendre(2, 7, constant=False),
    Legendre(3, 5),
    Legendre(4, 3),
    Powers(8),
    Powers(8, constant=True),
    Powers(5, constant=True, logarithm=True),
    Powers(0, constant=True),
    Products(3),
    Solid(3),
    Wedge((2 / 3, 4 / 3, 2.0)),
    BranchCutPotential((2 / 3, 4 / 3, 2.0), opening=1.0),
    Combination(2, 1, (0.5, -1.0, 2.0)),
]


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_sums_are_those_of_all_functions(family):
    rng = np.random.default_rng(2)
    y, weights = rng.uniform(-1, 1, (40, family.inputs)), rng.standard_normal(family.size)
    n, k = y.shape
    sites = Sites(y, np.zeros(n, np.int32), np.ones(n), np.zeros((n, k)), np.zeros((n, k, k)))
    expected = family.functionals(sites) @ weights
    scale = np.abs(expected).max()
    np.testing.assert_allclose(summed(family, y, weights), expected, rtol=0, atol=1e-13 * max(scale, 1) * family.size)
