"""Charts: the coordinates in which cells are seen, and their automatic choice."""

from jumpnet.charts.atlas import Atlas, Joint, Slots, chart_from_spec
from jumpnet.charts.chart import Affine, Box, Chart, Pole, Slit
from jumpnet.charts.choice import Charts, choose_atlases, hole_charts, inverse_root, local_boxes
from jumpnet.charts.formulas import Formulas

__all__ = [
    "Affine",
    "Atlas",
    "Box",
    "Chart",
    "Charts",
    "Formulas",
    "Joint",
    "Pole",
    "Slit",
    "Slots",
    "chart_from_spec",
    "choose_atlases",
    "hole_charts",
    "inverse_root",
    "local_boxes",
]
