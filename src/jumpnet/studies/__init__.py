"""Loops around `solve`: effective tensors, sweeps over parameters, fits of parameters to data."""

from jumpnet.studies.effective import effective_tensor
from jumpnet.studies.fits import Fit, fit
from jumpnet.studies.sweeps import Span, Sweep, sweep

__all__ = ["Fit", "Span", "Sweep", "effective_tensor", "fit", "sweep"]
