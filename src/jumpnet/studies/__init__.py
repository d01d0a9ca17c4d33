"""Loops around `solve`: effective tensors, sweeps over parameters, fits to data, problems whose data depend on u."""

from jumpnet.studies.effective import effective_tensor
from jumpnet.studies.fitting import Fit, fit
from jumpnet.studies.nonlinear.call import solve_nonlinear
from jumpnet.studies.nonlinear.problem import NonlinearProblem
from jumpnet.studies.sweeping.call import sweep
from jumpnet.studies.sweeping.result import Sweep
from jumpnet.studies.sweeping.spans import Span

__all__ = ["Fit", "NonlinearProblem", "Span", "Sweep", "effective_tensor", "fit", "solve_nonlinear", "sweep"]
