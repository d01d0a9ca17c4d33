"""Images by finite elements on their pixels: bilinear elements, one and several for each pixel.

    python benchmarks/peers/users_staircase.py IMAGE --A 0=1 --A 255=10 [--finer 1,2,4]

The left side of the unit square is held at 1, the right one at 0, the others are insulated; the interfaces are the
staircases of the pixels. Prints a line of JSON for each refinement: heat through the left side (by the energy, which is
twice as accurate as its gradient), means of u over each label, unknowns, CPU seconds. Nothing is shared with jumpnet.
"""

import argparse
import json
import time

import numpy as np
import scipy.sparse as sp
from PIL import Image
from scipy.sparse.linalg import cg, splu

MOST = 700_000  # unknowns for a direct solver


def local_matrices() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The integrals of dphi_i/dx dphi_j/dx, dphi_i/dy dphi_j/dy and the mixed ones; corners 00, 10, 01, 11."""
    g = np.array([0.5 - 0.5 / np.sqrt(3), 0.5 + 0.5 / np.sqrt(3)])
    x, y = (a.ravel() for a in np.meshgrid(g, g))
    dx = np.stack([-(1 - y), 1 - y, -y, y])
    dy = np.stack([-(1 - x), -x, 1 - x, x])
    return dx @ dx.T / 4, dy @ dy.T / 4, (dx @ dy.T + dy @ dx.T) / 4


def solve(labels: np.ndarray, tensors: dict[int, np.ndarray], finer: int) -> dict[str, object]:
    """Heat and means for an image indexed x, y."""
    began = time.process_time()
    cells = np.kron(labels, np.ones((finer, finer), int))
    nx, ny = cells.shape
    number = np.arange((nx + 1) * (ny + 1)).reshape(nx + 1, ny + 1)
    corners = np.stack([number[:-1, :-1], number[1:, :-1], number[:-1, 1:], number[1:, 1:]], axis=-1).reshape(-1, 4)
    A = np.array([tensors[label] for label in np.unique(cells)])[np.unique(cells, return_inverse=True)[1].ravel()]
    xx, yy, xy = local_matrices()
    ratio = nx / ny  # of the sides of the unit square's pixels, were they not square
    values = A[:, 0, 0, None, None] * xx * ratio + A[:, 1, 1, None, None] * yy / ratio + A[:, 0, 1, None, None] * xy
    rows, columns = np.repeat(corners, 4, axis=1).ravel(), np.tile(corners, (1, 4)).ravel()
    K = sp.coo_matrix((values.ravel(), (rows, columns)), shape=(number.size,) * 2).tocsr()
    u = np.zeros(number.size)
    u[number[0]] = 1.0
    free = number[1:-1].ravel()
    right = -(K @ u)[free]
    inner = K[free][:, free]
    if len(free) <= MOST:
        u[free] = splu(inner.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve(right)
    else:
        u[free], _ = cg(inner, right, rtol=1e-8, M=sp.diags(1 / inner.diagonal()))
    at_cells = u[corners].mean(axis=1)
    found = {str(label): float(at_cells[(cells == label).ravel()].mean()) for label in np.unique(labels).tolist()}
    return {
        "finer": finer,
        "heat": float(u @ (K @ u)),
        "means": found,
        "unknowns": len(free),
        "cpu": time.process_time() - began,
    }


def main() -> None:
    """Print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image")
    parser.add_argument("--A", action="append", required=True, metavar="LABELS=A", help="1,2=3 or 3=4:0.5:1 (xx:xy:yy)")
    parser.add_argument("--finer", default="1,2,4")
    given = parser.parse_args()
    labels = np.flip(np.asarray(Image.open(given.image)).astype(int), axis=0).T  # rows from the top
    tensors = {}
    for entry in given.A:
        names, _, text = entry.partition("=")
        numbers = [float(part) for part in text.split(":")]
        xx, xy, yy = numbers if len(numbers) == 3 else (numbers[0], 0.0, numbers[0])
        tensors |= dict.fromkeys(map(int, names.split(",")), np.array([[xx, xy], [xy, yy]]))
    for finer in map(int, given.finer.split(",")):
        print(json.dumps(solve(labels, tensors, finer)), flush=True)


if __name__ == "__main__":
    main()
