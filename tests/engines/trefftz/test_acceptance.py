"""Enrichments are accepted by their gain per cost."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from jumpnet.engines.trefftz.adaptivity import cost


def of_size(unknowns: int) -> Any:
    return SimpleNamespace(network=SimpleNamespace(size=unknowns))


def test_a_proposal_costs_two_levels_and_more_for_more_unknowns() -> None:
    assert cost(of_size(100), of_size(100)) == 2.0
    assert cost(of_size(100), of_size(200)) == pytest.approx(2.0 + np.log(2.0))
    assert cost(of_size(50), of_size(100)) == cost(of_size(500), of_size(1000))
