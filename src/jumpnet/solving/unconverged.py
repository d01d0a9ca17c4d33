"""The warning about a solution that has not converged."""

import numpy as np

from jumpnet.errors import warn
from jumpnet.solution import Solution
from jumpnet.solution.advice import advice, word


def warn_if_unconverged(solution: Solution) -> None:
    """Warn, with the reasons and advice, unless the solution has converged."""
    if solution.status.ok:
        return
    why = list(solution.diagnostics.reasons)
    if not why and solution.held_out:
        worst = max(solution.held_out, key=lambda residual: residual.scaled)
        why = [f"the largest residual is that of {worst.term} ({worst.scaled:.1e} of the size of the data)"]
    known = f"estimated error {solution.estimate:.1e}" if np.isfinite(solution.estimate) else "error unknown"
    warn(
        f"not converged: {solution.status}; {'; '.join([*why[:3], known])}. Try {advice(solution)}; {word('report')}.",
    )
