"""Networks as JSON, for saved solutions: a name and its numbers, never code."""

from dataclasses import asdict
from typing import Any

from jumpnet.charts import Chart, chart_from_spec
from jumpnet.errors import SolutionError
from jumpnet.geometry.cells.power_diagram import PowerMap
from jumpnet.models.activations import activation
from jumpnet.models.checked import finite, from_fields, whole
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
        cut = {} if network.cut is None else {"cut": network.cut.spec()}
        return {"network": "frozen", "cells": cells, **cut}
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
        return PerCell(one, whole("cells", fields["cells"]))
    if kind == "frozen":
        of_cell = tuple(Features(tuple(map(_part, cell))) for cell in fields["cells"])
        cut = fields.get("cut")
        if cut is None:
            return Frozen(of_cell)
        if "tree" in cut:
            raise SolutionError(
                "the file has a solution in cut cells, which jumpnet no longer makes or reads; solve the problem again."
            )
        return Frozen(of_cell, PowerMap.from_spec(cut, len(of_cell)))
    if kind not in ("shallow", "connected"):
        raise SolutionError(
            f"the file names a network {kind!r}, which this version of jumpnet does not know; upgrade jumpnet."
        )
    if fields.get("encoding") is not None:
        fields["encoding"] = tuple(tuple(finite("encoding", v) for v in row) for row in fields["encoding"])
    if kind == "connected":
        fields["widths"] = tuple(whole("widths", width) for width in fields["widths"])
    return _consistent(from_fields(Shallow if kind == "shallow" else FullyConnected, fields))


def _consistent(network: Shallow | FullyConnected) -> Shallow | FullyConnected:
    """The network, if its activations are known and the number of its labels is the one it states."""
    for name in (network.hidden, getattr(network, "squash", None)):
        if name is not None:
            activation(name)
    if network.encoding is not None and (
        len(network.encoding) != network.labels or any(len(row) != network.cells for row in network.encoding)
    ):
        raise SolutionError(
            f"the file's labels are not a matrix of {network.labels} x {network.cells} numbers; it is damaged."
        )
    return network


def _part(spec: dict[str, Any]) -> tuple[Chart, Family]:
    """A chart and the functions of its coordinates."""
    chart, family = chart_from_spec(spec), family_from_spec(spec)
    if chart.outputs != family.inputs:
        raise SolutionError(
            f"the file has functions of {family.inputs} coordinates on a chart with {chart.outputs}; it is damaged."
        )
    return chart, family
