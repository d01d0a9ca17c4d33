"""Models: networks on charts and labels, and the least-squares system they make with rows."""

from jumpnet.linalg.block_qr import ByCell
from jumpnet.models.activations import ACTIVATIONS, register_activation
from jumpnet.models.frozen import Frozen, LinearSystem
from jumpnet.models.nonlinear import NonlinearSystem
from jumpnet.models.specs import (
    CategoricalEmbedding,
    Deep,
    FrozenModel,
    Harmonics,
    Model,
    OneHot,
    Polynomials,
    RandomFeatures,
    ScalarEncoding,
    Separate,
    Unlabelled,
    suggested_dim,
)
from jumpnet.models.storage import network_from_spec, network_spec
from jumpnet.models.sums import frozen_values
from jumpnet.models.system import Network, System, site_values

__all__ = [
    "ACTIVATIONS",
    "ByCell",
    "CategoricalEmbedding",
    "Deep",
    "Frozen",
    "FrozenModel",
    "Harmonics",
    "LinearSystem",
    "Model",
    "Network",
    "NonlinearSystem",
    "OneHot",
    "Polynomials",
    "RandomFeatures",
    "ScalarEncoding",
    "Separate",
    "System",
    "Unlabelled",
    "network_from_spec",
    "network_spec",
    "frozen_values",
    "register_activation",
    "site_values",
    "suggested_dim",
]
