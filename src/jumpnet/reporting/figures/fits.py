"""A fit as a figure: measured against predicted values, and the profile of each parameter."""

from os import PathLike

import numpy as np
from matplotlib.figure import Figure

from jumpnet.reporting.figures.canvas import FAINT, LINES, finished, new_figure, styled
from jumpnet.studies.fitting import Fit


def plot_fit(fit: Fit, path: str | PathLike[str] | None = None, *, profiles: bool = True) -> Figure:
    """Residuals in units of the noise, and for each parameter the rise of the sum of squares about its estimate.

    The dashed line of a profile is the parabola of the standard deviation. Written to `path` if given.
    """
    names = list(fit.values) if profiles else []
    figure = new_figure(3.2 * (1 + len(names)) + 0.6, 2.9)
    places = figure.subplots(1, 1 + len(names), squeeze=False)[0]
    scaled = fit.residuals / fit.noise if fit.noise > 0 else fit.residuals
    places[0].axhline(0.0, color=FAINT, linewidth=0.8)
    places[0].plot(scaled, ".", color=LINES[0], markersize=4)
    styled(places[0], xlabel="measured value", ylabel="residual / noise")
    for axes, name in zip(places[1:], names, strict=True):
        x, chi2 = fit.profile(name)
        lowest = float(fit.residuals @ fit.residuals) / fit.noise**2 if fit.noise > 0 else 0.0
        axes.plot(x, chi2 - lowest, ".-", color=LINES[0])
        z = np.linspace(x[0], x[-1], 61)
        axes.plot(z, ((z - fit.values[name]) / fit.deviations[name]) ** 2, "--", color=FAINT, linewidth=1)
        styled(axes, xlabel=name, ylabel="rise of chi squared")
    return finished(figure, path)
