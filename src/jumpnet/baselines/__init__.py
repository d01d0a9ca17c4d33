"""Independent answers to the same problem by existing software, to check with."""

from jumpnet.baselines.fem import fem

__all__ = ["fem"]
