"""Optimisers: a least-squares system in, parameters and a history out. None of them has ever seen a PDE."""

from jumpnet.optim.direct import Direct
from jumpnet.optim.gradient import LBFGS, Adam
from jumpnet.optim.levenberg_marquardt import LevenbergMarquardt
from jumpnet.optim.loop import LeastSquares, Optimizer, Stop, minimise
from jumpnet.optim.result import History, Record, Result, Status

__all__ = [
    "LBFGS",
    "Adam",
    "Direct",
    "History",
    "LeastSquares",
    "LevenbergMarquardt",
    "Optimizer",
    "Record",
    "Result",
    "Status",
    "Stop",
    "minimise",
]
