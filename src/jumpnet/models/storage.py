"""Networks as JSON, for saved solutions: a name and its numbers, never code."""

from dataclasses import asdict
from typing import Any

from jumpnet.errors import SolutionError
from jumpnet.models.connected import FullyConnected
from jumpnet.models.percell import PerCell
from jumpnet.models.shallow import Shallow
from jumpnet.models.system import Network


def network_spec(network: Network) -> dict[str, Any]:
    """The network as JSON."""
    if isinstance(network, PerCell):
        return {"network": "per-cell", "one": network_spec(network.one), "cells": network.cells}
    names = {Shallow: "shallow", FullyConnected: "connected"}
    assert isinstance(network, Shallow | FullyConnected)
    return {"network": names[type(network)], **asdict(network)}


def network_from_spec(spec: dict[str, Any]) -> Network:
    """The network read back from JSON."""
    kind, fields = spec.get("network"), {key: value for key, value in spec.items() if key != "network"}
    if kind == "per-cell":
        one = network_from_spec(fields["one"])
        assert isinstance(one, Shallow)
        return PerCell(one, int(fields["cells"]))
    if fields.get("encoding") is not None:
        fields["encoding"] = tuple(tuple(float(v) for v in row) for row in fields["encoding"])
    if kind == "shallow":
        return Shallow(**fields)
    if kind == "connected":
        return FullyConnected(**{**fields, "widths": tuple(fields["widths"])})
    raise SolutionError(
        f"the file names a network {kind!r}, which this version of jumpnet does not know; upgrade jumpnet."
    )
