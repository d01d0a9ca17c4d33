"""Functionals of complex-differentiable functions: what harmonic functions of the plane are made of."""

import numpy as np

from jumpnet.rows import Sites


def complex_functional(sites: Sites) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """z and a0, b1, b2 as columns: a0 f + b1 f' + b2 f'' is the functional of a complex-differentiable f."""
    y, a0, a1, a2 = (np.asarray(part) for part in (sites.x, sites.a0, sites.a1, sites.a2))
    # d/dy1 = f', d/dy2 = i f'.
    b1 = a1[:, 0] + 1j * a1[:, 1]
    b2 = a2[:, 0, 0] - a2[:, 1, 1] + 2j * a2[:, 0, 1] if sites.order == 2 else np.zeros(len(b1), complex)
    return (y[:, 0] + 1j * y[:, 1])[:, None], a0[:, None], b1[:, None], b2[:, None]
