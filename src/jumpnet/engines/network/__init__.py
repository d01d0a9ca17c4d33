"""The network engine: networks trained on rows, the paper's method and its relatives."""

from jumpnet.engines.network.engine import NetworkEngine
from jumpnet.engines.network.options import Network

__all__ = ["Network", "NetworkEngine"]
