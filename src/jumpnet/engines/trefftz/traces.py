"""Traces on the skeleton between the cells of a piece: value and flux on each cut, as polynomials along it.

The number of polynomials on a cut follows from geometry and from the degree of the neighbouring cells. Fields along a
cut converge at a known rate, so that all cuts get the same accuracy, which improves with the degree of the cells.
"""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Int

from jumpnet.charts import Affine
from jumpnet.geometry.cells.power_diagram import PowerDiagram
from jumpnet.models.families.polynomials import Legendre
from jumpnet.models.frozen import Features

# The accuracy on cuts is exp(-PER_DEGREE * degree). More polynomials cost time and did not lower the held-out residuals
# of 100 disks (benchmarks/many.py).
PER_DEGREE = 0.9
# Polynomials on a cut: at least FEWEST, at most MOST_PER_DEGREE times the degree, which bounds circles that nearly
# touch.
FEWEST, MOST_PER_DEGREE = 3, 4


def polynomials(cut: PowerDiagram, degree: Int[np.ndarray, " cells"]) -> Int[np.ndarray, " cuts"]:
    """How many polynomials each cut gets for value and for flux, from the degree of each cell."""
    highest = degree[cut.lines.cells].max(axis=1)
    wanted = np.ceil(PER_DEGREE * highest / cut.lines.rate)
    return np.minimum(FEWEST + wanted, MOST_PER_DEGREE * highest).astype(int)


def points(
    cut: PowerDiagram, polynomials: Int[np.ndarray, " cuts"], unknowns: Int[np.ndarray, " cells"]
) -> Int[np.ndarray, " cuts"]:
    """How many points each cut needs: two equations for each unknown of the cells and of the cuts around them.

    `unknowns` counts those of each cell that only its cuts determine. A point gives two equations, for value and flux,
    on each side.
    """
    around = np.bincount(cut.lines.cells.ravel(), np.repeat(polynomials, 2), cut.size)
    of_cell = unknowns / np.maximum(around, 1)
    return np.ceil(polynomials * (1 + of_cell[cut.lines.cells].max(axis=1))).astype(int)


def functions(cut: PowerDiagram, polynomials: Int[np.ndarray, " cuts"]) -> Iterator[Features]:
    """The trace functions of value and of flux, cut by cut."""
    lines = cut.lines
    along = (lines.end - lines.start) / lines.length[:, None]
    for line, count in enumerate(polynomials.tolist()):
        transform = np.array([along[line], [-along[line, 1], along[line, 0]]])
        middle, half = (lines.start[line] + lines.end[line]) / 2, lines.length[line] / 2
        for number in range(2):
            chart = Affine((cut.size + 2 * line + number,), middle, transform, float(half))
            yield Features(((chart, Legendre(1, count - 1)),))
