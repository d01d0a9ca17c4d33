"""The protocol of enrichments, which propose basis blocks from problem, trial space and marked conditions."""

from collections.abc import Sequence
from typing import Protocol

from jumpnet.engines.trefftz.trial_space import BasisBlock, TrialSpace
from jumpnet.problem import Problem
from jumpnet.rows import ConditionKey


class Enrichment(Protocol):
    """Functions that a trial space may have beside the polynomials and harmonic functions of its pieces.

    The adaptive loop accepts all proposals by one rule, gain per cost (`adaptivity.cost`). An enrichment that proposes
    `once` is not asked again, whether its blocks were accepted or not.
    """

    @property
    def once(self) -> bool: ...

    def begin(self, problem: Problem, space: TrialSpace) -> Sequence[BasisBlock]:
        """The blocks that the first space has."""
        ...

    def propose(self, problem: Problem, space: TrialSpace, marked: Sequence[ConditionKey]) -> Sequence[BasisBlock]:
        """Blocks that may lower the residuals of the marked conditions, which come with the largest residual first."""
        ...
