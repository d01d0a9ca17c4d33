"""Enrichments of the trial space, one file each, in the order in which the adaptive loop asks them."""

from collections.abc import Mapping

from jumpnet.engines.trefftz.enrichments.aaa_poles import PolesByRationalApproximation
from jumpnet.engines.trefftz.enrichments.bessel import ModifiedBessel
from jumpnet.engines.trefftz.enrichments.corners import Corners
from jumpnet.engines.trefftz.enrichments.multipoles import Multipoles
from jumpnet.engines.trefftz.enrichments.protocol import Enrichment
from jumpnet.engines.trefftz.enrichments.waves import FourierBessel

# The registry: names as in `jn.Trefftz(enrichments=...)`.
ENRICHMENTS: Mapping[str, Enrichment] = {
    "multipoles": Multipoles(),
    "bessel": ModifiedBessel(),
    "waves": FourierBessel(),
    "aaa": PolesByRationalApproximation(),
    "corners": Corners(),
}

__all__ = ["ENRICHMENTS", "Enrichment"]
