"""One call for trainings: options of the network and of the call together."""

from dataclasses import fields
from typing import Any

import jumpnet as jn


def trained(call: Any, *given: Any, **options: Any) -> jn.Solution:
    """What `jn.solve` or `jn.approximate` returns for options of a network beside those of the call."""
    names = [one.name for one in fields(jn.Network)]
    network = jn.Network(**{name: options.pop(name) for name in names if name in options})
    return call(*given, method=network, **options)
