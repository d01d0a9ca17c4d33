"""What an enrichment is: it proposes basis blocks from the problem, the trial space and the marked conditions."""

from collections.abc import Sequence
from typing import Protocol

from jumpnet.engines.trefftz.trial_space import BasisBlock, TrialSpace
from jumpnet.problem import Problem
from jumpnet.rows import ConditionKey


class Enrichment(Protocol):
    """Functions that a trial space may have beside the polynomials and harmonic functions of its pieces.

    A proposal is accepted if at most the part `acceptance` of the held-out residual remains with it (heuristic; in
    `benchmarks/direct.py` useful proposals leave 4e-5 to 3e-3, others 0.06 to 1.4). The order at which the residual
    falls with the number of unknowns, as one rule for all, does not tell them apart: useful ones have 2.6 to 19, others
    -4 to 16. A proposal that is made `once` is not made again, whether it was accepted or not.
    """

    @property
    def acceptance(self) -> float: ...

    @property
    def once(self) -> bool: ...

    def begin(self, problem: Problem, space: TrialSpace) -> Sequence[BasisBlock]:
        """The blocks that the first space has."""
        ...

    def propose(self, problem: Problem, space: TrialSpace, marked: Sequence[ConditionKey]) -> Sequence[BasisBlock]:
        """Blocks that may lower the residuals of the marked conditions, the worst first; none where it has none."""
        ...
