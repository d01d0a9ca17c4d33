"""Studies: loops around `solve`. Sweeps over parameters, fits of parameters to data, nonlinear problems by Newton."""

from jumpnet.studies.sweep import Span, Sweep, sweep

__all__ = ["Span", "Sweep", "sweep"]
