"""Parameters from measured values: `fit`, and the `Fit` that it returns."""

from jumpnet.studies.fitting.call import fit
from jumpnet.studies.fitting.result import Fit

__all__ = ["Fit", "fit"]
