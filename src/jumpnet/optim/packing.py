"""The state of any optimiser as plain arrays, and back: what a checkpoint needs to go on bit for bit.

A state is a frozen dataclass of arrays, numbers and pytrees of them. The linearisation (`r`, `J`) is not packed: it is
by far the largest part, and `init` computes the very same one again from theta.
"""

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jumpnet._precision import float64
from jumpnet.errors import ModelError, SolutionError
from jumpnet.guard.text import shorten
from jumpnet.optim.loop import LeastSquares, Optimizer

RECOMPUTED = ("r", "J")  # fields of a state that follow from its parameters


@dataclass(frozen=True, eq=False)
class Packed:
    """A state as arrays by name."""

    arrays: dict[str, np.ndarray]

    @property
    def best(self) -> np.ndarray:
        """The best parameters so far."""
        return self.arrays["best"]

    @property
    def best_loss(self) -> float:
        """Their loss."""
        return float(self.arrays["best_loss"])

    @property
    def steps(self) -> int:
        """The steps so far."""
        return int(self.arrays["steps"])


def pack(state: Any) -> Packed:
    """A state without what can be computed again."""
    if not is_dataclass(state) or not hasattr(state, "theta"):
        raise ModelError(
            f"an optimiser whose state is a {type(state).__name__} cannot be kept in a checkpoint; "
            "make the state a dataclass with theta, or leave out checkpoint=."
        )
    return Packed({_name(path): np.asarray(leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(_kept(state))})


def unpack(optimizer: Optimizer, system: LeastSquares, packed: Packed) -> Any:
    """The state, with its linearisation computed anew."""
    check_parameters(packed, system, "theta")
    fresh = optimizer.init(system, packed.arrays["theta"])

    def stored(path: Any, leaf: Any) -> Any:
        """A JAX array, a NumPy array or a number, whichever it was."""
        value = packed.arrays.get(_name(path))
        if value is None or value.shape != np.shape(leaf) or value.dtype.kind not in "fiub":
            raise _unfit(_name(path))
        if isinstance(leaf, jax.Array):
            return jnp.asarray(value, dtype=leaf.dtype)
        return value if isinstance(leaf, np.ndarray) else value.item()

    with float64():
        return replace(fresh, **jax.tree_util.tree_map_with_path(stored, _kept(fresh)))


def check_parameters(packed: Packed, system: LeastSquares, name: str) -> None:
    """Refuse parameters that are not those of a system: a file may be forged."""
    value = packed.arrays.get(name)
    if value is None or value.shape != (system.size,) or value.dtype != float:
        raise _unfit(name)


def _unfit(name: str) -> SolutionError:
    return SolutionError(
        f"the checkpoint does not fit this training: {shorten(name)} has another shape or is missing; delete the file."
    )


def _kept(state: Any) -> dict[str, Any]:
    return {field.name: getattr(state, field.name) for field in fields(state) if field.name not in RECOMPUTED}


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")
