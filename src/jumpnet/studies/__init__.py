"""Loops around `solve`: effective tensors, sweeps over parameters."""

from jumpnet.studies.effective import effective_tensor
from jumpnet.studies.sweeps import Span, Sweep, sweep

__all__ = ["Span", "Sweep", "effective_tensor", "sweep"]
