"""Rows: the table of linear functionals that everything after the problem works on."""

from jumpnet.rows.conditions import BETWEEN_PIECES, ON_BOUNDARY, ON_CUTS, ConditionKey, Kind, group_of
from jumpnet.rows.equations import equations, on_surfaces, traced_cuts, values
from jumpnet.rows.nonlinear import Jets, NonlinearRows, jets_of, probes
from jumpnet.rows.table import Layout, Rows, Run, Sites, batch, joined, row_family, select, stack
from jumpnet.rows.weights import Weights, balanced_size, functional_size, weigh

__all__ = [
    "BETWEEN_PIECES",
    "ON_BOUNDARY",
    "ON_CUTS",
    "ConditionKey",
    "Jets",
    "Kind",
    "Layout",
    "NonlinearRows",
    "Rows",
    "Run",
    "Sites",
    "Weights",
    "balanced_size",
    "batch",
    "equations",
    "functional_size",
    "group_of",
    "jets_of",
    "joined",
    "on_surfaces",
    "probes",
    "row_family",
    "select",
    "stack",
    "traced_cuts",
    "values",
    "weigh",
]
