"""Held-out residuals by family of equations, which every solution reports."""

import numpy as np
from jaxtyping import Float

from jumpnet.rows import Rows
from jumpnet.solution import Residual


def held_out_residuals(rows: Rows, residual: Float[np.ndarray, " rows"], scale: float) -> tuple[Residual, ...]:
    """The weighted residual of scaled rows by family, physical and scaled; the physical mean is over its own rows."""
    families = len(rows.terms)
    count = np.bincount(rows.term, minlength=families)
    scaled = np.sqrt(np.bincount(rows.term, weights=residual**2, minlength=families))
    squares = np.bincount(rows.term, weights=(residual / rows.weight) ** 2, minlength=families)
    physical = scale * np.sqrt(squares / count)
    return tuple(
        Residual(label, int(count[index]), float(physical[index]), float(scaled[index]))
        for index, label in enumerate(rows.labels)
    )
