"""The damped least-squares step of a Jacobian by cell: QR, one cell after the other, at a cost linear in their number.

Each cell's own columns are eliminated with the rows that touch the cell, starting from their block of sqrt(mu) I. What
is left of rows that touch no other cell concerns the shared parameters only; what is left of the others passes to the
neighbour whose turn comes next. Where many rows share a few columns of a neighbour, as on a cut, they are first turned
into as many rows as such columns and others without them: so a neighbour takes part in as few rows as it has columns.
The shared parameters come last, then everything is substituted back.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.linalg import get_lapack_funcs

from jumpnet.linalg.block_qr import ByCell, Group, Pattern
from jumpnet.linalg.factorisations import qr_step
from jumpnet.linalg.lapack import tpmqrt, tpqrt

_geqrf, _ormqr, _trtrs = get_lapack_funcs(("geqrf", "ormqr", "trtrs"), dtype=np.float64)

# Columns that LAPACK factorises at a time, as far as its workspace allows.
WORKSPACE = 32
# Rows are compressed if there are more than this many times as many rows as columns (heuristic).
MANY_MORE = 1.5


class Block(NamedTuple):
    """Rows on the columns of some cells, one cell after the other, then on shared columns and right-hand side."""

    cells: tuple[int, ...]
    rows: np.ndarray
    triangular: bool = False


class Eliminated(NamedTuple):
    """A front's rows of the triangular factor: R on its own columns, the rest on neighbours, shared and right side."""

    cells: tuple[int, ...]
    neighbours: tuple[int, ...]
    R: np.ndarray
    rest: np.ndarray


def by_cell_step(J: ByCell, r: Float[np.ndarray, " rows"], damping: float) -> np.ndarray | None:
    """The step d that minimises |J d + r|^2 + mu |d|^2; None where a factor is singular."""
    pattern = J.pattern
    widths, shared = [len(own) for own in pattern.own], len(pattern.shared)
    rows_of = _rows(J, r)
    left: dict[int, list[Block]] = defaultdict(list)  # to the cell whose turn comes next
    root, done = [np.zeros((0, shared + 1))], []
    for cells, neighbours, groups in pattern.plan:
        given = [part for one in cells for block in left.pop(one, ()) for part in _unfolded(block, cells, widths)]
        given += [part for group in groups for part in _parted(rows_of(group), cells, widths)]
        inner = set(cells)
        alone = [block for block in given if inner.issuperset(block.cells)]
        passing = [block for block in given if inner.isdisjoint(block.cells)]
        coupled = [block for block in given if not (inner.issuperset(block.cells) or inner.isdisjoint(block.cells))]
        width, beside = (sum(widths[one] for one in some) for some in (cells, neighbours))
        R, rest = np.sqrt(damping) * np.eye(width), np.zeros((width, beside + shared + 1), order="F")
        R, rest[:, beside:], over = _eliminated(R, rest[:, beside:], _stacked(alone, cells, widths, shared + 1))
        root.append(over)
        if neighbours:
            R, rest, over = _eliminated(R, rest, _stacked(coupled, (*cells, *neighbours), widths, shared + 1))
            over = _stacked([Block(neighbours, over), *passing], neighbours, widths, shared + 1)
            for block in _parted(Block(neighbours, over), (), widths):
                if block.cells:
                    left[block.cells[0]].append(block)
                else:
                    root.append(block.rows)
        done.append(Eliminated(cells, neighbours, R, rest))
    d = np.zeros(pattern.size)
    if shared:
        last = np.concatenate(root)
        found = qr_step(last[:, :shared], last[:, shared], damping)
        if found is None:
            return None
        d[pattern.shared] = found
    return _substituted(done, pattern, d)


def _rows(J: ByCell, r: np.ndarray) -> Callable[[Group], Block]:
    """How the rows of a group are found."""
    (blocks, place), tail = J.pattern.blocks(J.own), np.column_stack([J.shared, r])

    def found(group: Group) -> Block:
        columns = [blocks[one][place[pairs]] for one, pairs in zip(group.cells, group.pairs, strict=True)]
        return Block(group.cells, _beside([*columns, tail[group.rows]]))

    return found


def _parted(block: Block, own: tuple[int, ...], widths: Sequence[int]) -> Iterator[Block]:
    """The rows of a front, turned so that only as many touch other cells as these have columns, if there are more."""
    mine = tuple(one for one in block.cells if one in own)  # they come first
    start = sum(widths[one] for one in mine)
    few = sum(widths[one] for one in block.cells) - start
    if few == 0 or len(block.rows) <= MANY_MORE * few:
        yield block
        return
    # With the least workspace, which is what SciPy gives it, LAPACK works column by column.
    V, tau, _, _ = _geqrf(block.rows[:, start : start + few], lwork=WORKSPACE * few)
    others = _beside([block.rows[:, :start], block.rows[:, start + few :]])
    others, _, _ = _ormqr("L", "T", V, tau, others, lwork=WORKSPACE * max(others.shape[1], WORKSPACE), overwrite_c=1)
    turned = _beside([others[:few, :start], np.triu(V[:few]), others[:few, start:]])
    yield Block(block.cells, turned, triangular=not mine)
    yield Block(mine, others[few:])


def _unfolded(block: Block, own: tuple[int, ...], widths: Sequence[int]) -> Iterator[Block]:
    """A triangle in two: the rows that touch the cells of a front, which come first, and those that do not."""
    if not block.triangular:
        yield block
        return
    others = tuple(one for one in block.cells if one not in own)
    start = sum(widths[one] for one in block.cells if one in own)
    yield Block(block.cells, block.rows[:start])
    if others:
        yield Block(others, block.rows[start:, start:])


def _beside(matrices: Sequence[np.ndarray]) -> np.ndarray:
    """Matrices side by side, stored column after column as LAPACK wants it."""
    return np.concatenate([matrix.T for matrix in matrices]).T


def _stacked(blocks: list[Block], cells: tuple[int, ...], widths: Sequence[int], tail: int) -> np.ndarray:
    """Blocks of rows as one matrix with the columns of all these cells."""
    if len(blocks) == 1 and blocks[0].cells == cells:
        return blocks[0].rows
    ends = list(accumulate((widths[one] for one in cells), initial=0))
    start = dict(zip(cells, ends, strict=False))
    matrix = np.zeros((sum(len(block.rows) for block in blocks), ends[-1] + tail), order="F")
    top = 0
    for block_cells, rows, _ in blocks:
        mine, taken = matrix[top : top + len(rows)], 0
        for one in block_cells:
            mine[:, start[one] : start[one] + widths[one]] = rows[:, taken : taken + widths[one]]
            taken += widths[one]
        mine[:, ends[-1] :] = rows[:, taken:]
        top += len(rows)
    return matrix


def _eliminated(R: np.ndarray, rest: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """QR of [R rest; rows] on the columns of R: the new R and rest, and the rows without these columns."""
    width = len(R)
    if len(rows) == 0 or width == 0:
        return R, rest, rows[:, width:]
    R, V, T, _ = tpqrt(0, min(32, width), R, rows[:, :width], overwrite_a=1, overwrite_b=1)
    rest, rows, _ = tpmqrt(0, V, T, rest, rows[:, width:], side="L", trans="T", overwrite_b=1)
    return R, rest, rows


def _substituted(done: list[Eliminated], pattern: Pattern, d: np.ndarray) -> np.ndarray | None:
    """The step from the triangular factor, the last front first; the shared parameters are known."""
    for cells, neighbours, R, rest in reversed(done):
        known = np.concatenate([*(d[pattern.own[one]] for one in neighbours), d[pattern.shared], [1.0]])
        mine, singular = _trtrs(R, rest @ known)
        if singular:
            return None
        d[np.concatenate([pattern.own[one] for one in cells])] = -mine
    return d
