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
from jumpnet.optim.lapack import tpmqrt, tpqrt

_geqrf, _trtrs = get_lapack_funcs(("geqrf", "trtrs"), dtype=np.float64)

# Columns that LAPACK factorises at a time, as far as its workspace allows.
WORKSPACE = 32
# Rows over columns from which on rows are compressed: for a few more of them it is not worth its cost.
MANY_MORE = 1.5


class Eliminated(NamedTuple):
    """A cell's rows of the triangular factor: R on its own columns, the rest on neighbours, shared and right side."""

    cell: int
    neighbours: tuple[int, ...]
    R: np.ndarray
    rest: np.ndarray


def by_cell_step(J: ByCell, r: Float[np.ndarray, " rows"], damping: float) -> np.ndarray | None:
    """The step d that minimises |J d + r|^2 + mu |d|^2; None where a factor is singular."""
    pattern = J.pattern
    widths, shared = [len(own) for own in pattern.own], len(pattern.shared)
    (blocks, place), tail = pattern.blocks(J.own), np.column_stack([J.shared, r])

    def front(pairs: Pairs, cells: tuple[int, ...]) -> np.ndarray:
        """The rows of a front as a matrix: own columns cell by cell, then shared columns and right-hand side."""
        matrix = np.zeros((len(pairs.rows), sum(widths[one] for one in cells) + tail.shape[1]), order="F")
        at = 0
        for one, (places, which) in zip(cells, pairs.touched, strict=True):
            matrix[places, at : at + widths[one]] = blocks[one][place[which]]
            at += widths[one]
        matrix[:, at:] = tail[pairs.rows]
        return matrix

    # Left over to a cell by earlier ones: (neighbours besides that cell, rows).
    left: dict[int, list[tuple[tuple[int, ...], np.ndarray]]] = defaultdict(list)
    root, done = [np.zeros((0, shared + 1))], []
    for cell, neighbours, alone, coupled in pattern.plan:
        width = widths[cell]
        R, rest = np.sqrt(damping) * np.eye(width), np.zeros((width, shared + 1))
        given = [rows for others, rows in left[cell] if not others]
        R, rest, over = _eliminated(R, rest, np.concatenate([front(alone, (cell,)), *given]))
        root.append(over)
        if neighbours:
            columns = [widths[one] for one in (cell, *neighbours)]
            rest = np.column_stack([np.zeros((width, sum(columns[1:]))), rest])
            given = [
                _spread(rows, (cell, *others), (cell, *neighbours), columns) for others, rows in left[cell] if others
            ]
            R, rest, over = _eliminated(R, rest, np.concatenate([front(coupled, (cell, *neighbours)), *given]))
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


def _eliminated(R: np.ndarray, rest: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """QR of [R rest; rows] on the columns of R: the new R and rest, and the rows without these columns."""
    width = len(R)
    if len(rows) == 0 or width == 0:
        return R, rest, rows[:, width:]
    R, V, T, _ = tpqrt(0, min(32, width), R, rows[:, :width], overwrite_a=1)
    rest, rows, _ = tpmqrt(0, V, T, rest, rows[:, width:], side="L", trans="T")
    return R, rest, rows


def _spread(rows: np.ndarray, cells: tuple[int, ...], front: tuple[int, ...], widths: list[int]) -> np.ndarray:
    """Rows left over on the columns of some cells, in the columns of a front that has more of them."""
    ends = np.cumsum([0, *widths])
    tail = rows.shape[1] - sum(widths[front.index(one)] for one in cells)
    out, taken = np.zeros((len(rows), ends[-1] + tail)), 0
    for one in cells:
        at = front.index(one)
        out[:, ends[at] : ends[at + 1]] = rows[:, taken : taken + widths[at]]
        taken += widths[at]
    out[:, ends[-1] :] = rows[:, taken:]
    return out


def _compressed(rows: np.ndarray) -> np.ndarray:
    """As many rows as columns, with the same least-squares problem in them, once there are many more."""
    m, n = rows.shape
    if m <= MANY_MORE * n:
        return rows
    # With the least workspace, which is what SciPy gives it, LAPACK works column by column.
    return np.triu(_geqrf(rows, lwork=WORKSPACE * n)[0][:n])
