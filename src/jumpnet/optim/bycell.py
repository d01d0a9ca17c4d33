"""The damped least-squares step of a Jacobian by cell: QR, one cell after the other, at a cost linear in their number.

Each cell's own columns are eliminated with the rows that touch the cell, starting from their block of sqrt(mu) I. What
is left of rows that touch no other cell concerns the shared parameters only; what is left of the others passes to the
neighbour whose turn comes next. The shared parameters come last, then everything is substituted back.
"""

from collections import defaultdict
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.linalg import get_lapack_funcs

from jumpnet.models import ByCell
from jumpnet.models.bycell import Pairs
from jumpnet.optim.factorisations import qr_step

_tpqrt, _tpmqrt, _geqrf, _trtrs = get_lapack_funcs(("tpqrt", "tpmqrt", "geqrf", "trtrs"), dtype=np.float64)


class Eliminated(NamedTuple):
    """A cell's rows of the triangular factor: R on its own columns, the rest on neighbours, shared and right side."""

    cell: int
    neighbours: tuple[int, ...]
    R: np.ndarray
    rest: np.ndarray


def by_cell_step(J: ByCell, r: Float[np.ndarray, " rows"], damping: float) -> np.ndarray | None:
    """The step d that minimises |J d + r|^2 + mu |d|^2; None where a factor is singular."""
    pattern = J.pattern
    width, shared = pattern.own.shape[1], len(pattern.shared)
    own, tail = pattern.of_pairs(J.own), np.column_stack([J.shared, r])
    # Left over to a cell by earlier ones: (neighbours besides that cell, rows).
    left: dict[int, list[tuple[tuple[int, ...], np.ndarray]]] = defaultdict(list)
    root, done = [np.zeros((0, shared + 1))], []
    for cell, neighbours, alone, coupled in pattern.plan:
        R, rest = np.sqrt(damping) * np.eye(width), np.zeros((width, shared + 1))
        given = [rows for others, rows in left[cell] if not others]
        R, rest, over = _eliminated(R, rest, np.concatenate([_front(alone, own, tail), *given]))
        root.append(over)
        if neighbours:
            columns = {one: (1 + at) * width for at, one in enumerate(neighbours)}
            rest = np.column_stack([np.zeros((width, len(neighbours) * width)), rest])
            given = [_spread(rows, others, columns, width) for others, rows in left[cell] if others]
            R, rest, over = _eliminated(R, rest, np.concatenate([_front(coupled, own, tail), *given]))
            left[neighbours[0]].append((neighbours[1:], _compressed(over)))
        done.append(Eliminated(cell, neighbours, R, rest))
    d = np.zeros(pattern.size)
    if shared:
        last = np.concatenate(root)
        found = qr_step(last[:, :shared], last[:, shared], damping)
        if found is None:
            return None
        d[pattern.shared] = found
    for cell, neighbours, R, rest in reversed(done):
        known = np.concatenate([*(d[pattern.own[one]] for one in neighbours), d[pattern.shared], [1.0]])
        mine, singular = _trtrs(R, rest @ known)
        if singular:
            return None
        d[pattern.own[cell]] = -mine
    return d


def _front(pairs: Pairs, own: np.ndarray, tail: np.ndarray) -> np.ndarray:
    """The rows of a front as a matrix: own columns cell by cell, then shared columns and right-hand side."""
    width = own.shape[1]
    matrix = np.zeros((len(pairs.rows), len(pairs.touched) * width + tail.shape[1]), order="F")
    for at, (places, which) in enumerate(pairs.touched):
        matrix[places, at * width : (at + 1) * width] = own[which]
    matrix[:, len(pairs.touched) * width :] = tail[pairs.rows]
    return matrix


def _eliminated(R: np.ndarray, rest: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """QR of [R rest; rows] on the columns of R: the new R and rest, and the rows without these columns."""
    width = len(R)
    if len(rows) == 0:
        return R, rest, rows[:, width:]
    R, V, T, _ = _tpqrt(0, min(32, width), R, rows[:, :width], overwrite_a=1)
    rest, rows, _ = _tpmqrt(0, V, T, rest, rows[:, width:], side="L", trans="T")
    return R, rest, rows


def _spread(rows: np.ndarray, others: tuple[int, ...], columns: dict[int, int], width: int) -> np.ndarray:
    """Rows left over by a front with some neighbours, in the columns of a front with more of them."""
    tail = rows.shape[1] - (1 + len(others)) * width
    out = np.zeros((len(rows), (1 + len(columns)) * width + tail))
    out[:, :width], out[:, out.shape[1] - tail :] = rows[:, :width], rows[:, rows.shape[1] - tail :]
    for at, one in enumerate(others, start=1):
        out[:, columns[one] : columns[one] + width] = rows[:, at * width : (at + 1) * width]
    return out


def _compressed(rows: np.ndarray) -> np.ndarray:
    """As many rows as columns at most, with the same least-squares problem in them."""
    m, n = rows.shape
    return rows if m <= n else np.triu(_geqrf(rows)[0][:n])
