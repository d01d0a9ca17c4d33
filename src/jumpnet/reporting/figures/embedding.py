"""The labels that a network has learnt for the pieces."""

from os import PathLike

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from jumpnet._precision import float64
from jumpnet.errors import SolutionError
from jumpnet.reporting.figures.canvas import FAINT, INK, finished, new_figure, styled
from jumpnet.reporting.figures.domain import colour_of
from jumpnet.solution import Solution

MOST_NAMES = 40  # labels of more pieces would overlap


def label_vectors(solution: Solution) -> Float[np.ndarray, "pieces labels"]:
    """The label vector of each piece."""
    network = solution.network.shallow
    if network is None:
        raise SolutionError("this solution has no labels; only a network with an embedding or an encoding has them.")
    with float64():
        z, _ = network.label_vectors(network.unpack(solution.theta).e)  # pyright: ignore[reportArgumentType]
        return np.array(z).T


def plot_embedding(solution: Solution, path: str | PathLike[str] | None = None) -> Figure:
    """The label of every piece: on a line or in a plane; longer labels in the plane of their largest variation."""
    z = label_vectors(solution)
    names = solution.partition.names if solution.partition is not None else [f"piece {k}" for k in range(len(z))]
    flat, axis = _flattened(z)
    figure = new_figure(6.0, 1.9 if flat.shape[1] == 1 else 4.6)
    axes = styled(figure.subplots(), xlabel=axis.format(1), ylabel=axis.format(2) if flat.shape[1] > 1 else "")
    columns = [flat[:, 0], flat[:, 1] if flat.shape[1] > 1 else np.zeros(len(flat))]
    colours = [colour_of(k) for k in range(len(flat))]
    axes.scatter(*columns, s=90, c=colours, edgecolors=INK, linewidths=0.8, zorder=3)
    if len(flat) <= MOST_NAMES:
        order = np.argsort(np.argsort(flat[:, 0]))
        for k, name in enumerate(names):
            # On a line names stand above and below in turn, so that neighbours do not cover each other.
            up = 1 if flat.shape[1] > 1 or order[k] % 2 == 0 else -1
            axes.annotate(name, (columns[0][k], columns[1][k]), xytext=(0, 9 * up), textcoords="offset points",
                          ha="center", va="bottom" if up > 0 else "top", fontsize=8, color=INK)  # fmt: skip
    if flat.shape[1] == 1:
        axes.axhline(0, color=FAINT, linewidth=0.8, zorder=1)
        axes.set_ylim(-1, 1)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
    axes.margins(0.12)
    return finished(figure, path)


def _flattened(z: Float[np.ndarray, "pieces labels"]) -> tuple[Float[np.ndarray, "pieces k"], str]:
    """Labels of at most two numbers, and what these are called."""
    if z.shape[1] <= 2:
        return z, "$z_{{{}}}$" if z.shape[1] > 1 else "label $z$"
    centred = z - z.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    share = s[:2] ** 2 / max((s**2).sum(), 1e-300)
    return u[:, :2] * s[:2], f"principal axis {{}} ({share.sum():.0%} in both)"
