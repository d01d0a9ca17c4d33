"""The Trefftz engine: functions that solve the equation in a piece, or polynomials, by linear least squares."""

from jumpnet.engines.trefftz.engine import TrefftzEngine
from jumpnet.engines.trefftz.options import Trefftz

__all__ = ["Trefftz", "TrefftzEngine"]
