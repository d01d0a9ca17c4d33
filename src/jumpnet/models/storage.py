"""Networks as JSON, for saved solutions: a name and its numbers, never code."""

from dataclasses import asdict
from typing import Any

from jumpnet.charts import Chart, chart_from_spec
from jumpnet.errors import SolutionError
from jumpnet.models.connected import FullyConnected
from jumpnet.models.families import Family, family_from_spec, family_spec
from jumpnet.models.frozen import Features, Frozen
from jumpnet.models.percell import PerCell
from jumpnet.models.shallow import Shallow
from jumpnet.models.system import Network


def network_spec(network: Network | Frozen) -> dict[str, Any]:
    """The network as JSON."""
    if isinstance(network, Frozen):
        cells = [[{**chart.spec(), **family_spec(family)} for chart, family in one.parts] for one in network.of_cell]
        return {"network": "frozen", "cells": cells}
    if isinstance(network, PerCell):
        return {"network": "per-cell", "one": network_spec(network.one), "cells": network.cells}
    names = {Shallow: "shallow", FullyConnected: "connected"}
    assert isinstance(network, Shallow | FullyConnected)
    return {"network": names[type(network)], **asdict(network)}


def network_from_spec(spec: dict[str, Any]) -> Network | Frozen:
    """The network read back from JSON."""
    kind, fields = spec.get("network"), {key: value for key, value in spec.items() if key != "network"}
    if kind == "per-cell":
        one = network_from_spec(fields["one"])
        assert isinstance(one, Shallow)
        return PerCell(one, int(fields["cells"]))
    if kind == "frozen":
        return Frozen(tuple(Features(tuple(map(_part, cell))) for cell in fields["cells"]))
    if fields.get("encoding") is not None:
        fields["encoding"] = tuple(tuple(float(v) for v in row) for row in fields["encoding"])
    if kind == "shallow":
        return Shallow(**fields)
    if kind == "connected":
        return FullyConnected(**{**fields, "widths": tuple(fields["widths"])})
    raise SolutionError(
        f"the file names a network {kind!r}, which this version of jumpnet does not know; upgrade jumpnet."
    )


def _part(spec: dict[str, Any]) -> tuple[Chart, Family]:
    """A chart and the functions of its coordinates."""
    return chart_from_spec(spec), family_from_spec(spec)
