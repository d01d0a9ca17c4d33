"""One function made of several: a field for each piece, evaluated by label."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from jumpnet.fields.scalar import Field


def piecewise_values(
    fields: Sequence[Field], x: Float[np.ndarray, "n d"], labels: Int[np.ndarray, " n"]
) -> Float[np.ndarray, " n"]:
    """The values at points, each of the field of its label."""
    values = np.empty(len(x))
    for piece, field in enumerate(fields):
        mine = labels == piece
        if mine.any():
            values[mine] = field.value(x[mine])
    return values
