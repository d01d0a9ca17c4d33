"""What a piece surrounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jumpnet.geometry.checks import Floats
from jumpnet.geometry.labels import Labeller
from jumpnet.geometry.tracing import Walls


@dataclass(frozen=True, eq=False)
class Hole:
    """A hole of a piece: the (lowest) piece in it (-1: nothing, a hole of the domain), its boundary, a point deep inside."""

    piece: int
    points: Floats
    center: Floats
    pieces: tuple[int, ...] = ()


def find_holes(piece: int, labeller: Labeller, walls: Walls) -> tuple[Hole, ...]:
    return ()
