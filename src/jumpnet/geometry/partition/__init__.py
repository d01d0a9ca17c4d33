"""A domain cut into pieces."""

from jumpnet.geometry.partition.partition import Interface, Partition

__all__ = ["Interface", "Partition"]
