"""Models: networks on charts and labels, and the least-squares system they make with rows."""

from jumpnet.models.activations import ACTIVATIONS
from jumpnet.models.bycell import ByCell
from jumpnet.models.frozen import Frozen, LinearSystem
from jumpnet.models.specs import CategoricalEmbedding, Deep, Model, OneHot, ScalarEncoding, Separate
from jumpnet.models.storage import network_from_spec, network_spec
from jumpnet.models.system import Network, System, site_values

__all__ = [
    "ACTIVATIONS",
    "ByCell",
    "CategoricalEmbedding",
    "Deep",
    "Frozen",
    "LinearSystem",
    "Model",
    "Network",
    "OneHot",
    "ScalarEncoding",
    "Separate",
    "System",
    "network_from_spec",
    "network_spec",
    "site_values",
]
