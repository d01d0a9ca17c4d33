"""Reads SVG path data into loops of cubic Bézier segments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from jumpnet.errors import GeometryError
from jumpnet.geometry.checks import Floats

# Possessive throughout: linear time also where the text does not match.
NUMBER = r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?"
COUNTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
"""How many numbers each command takes."""
STEP = np.pi / 16
"""Elliptic arcs become cubics of at most this angle: right to 1e-8 of the area."""


def path_loops(d: str) -> list[Floats]:
    """The loops (3 m, 2) of a path's subpaths; open ones are closed by a straight line, as they are when filled."""
    pen = _Pen()
    for command, v in _commands(d):
        pen.draw(command, v)
    pen.close()
    return pen.loops


def _commands(d: str) -> Iterator[tuple[str, list[float]]]:
    """Commands with one set of numbers each; a repeated M goes on as L."""
    for found in re.finditer(r"([A-Za-z])([^A-DF-Za-df-z]*)", d):
        command, inner = str(found[1]), str(found[2])
        count = COUNTS.get(command.upper())
        if count is None:
            raise GeometryError(f"a path holds the unknown command {command!r}.")
        numbers = _flags_apart(inner) if command in "Aa" else [float(n) for n in re.findall(NUMBER, inner)]
        if count == 0:
            yield command, []
            continue
        if not numbers or len(numbers) % count:
            raise GeometryError(f"the path command {command} takes {count} numbers at a time, not {len(numbers)}.")
        for k in range(0, len(numbers), count):
            again = {"M": "L", "m": "l"}.get(command, command) if k else command
            yield again, numbers[k : k + count]


def _flags_apart(text: str) -> list[float]:
    """The numbers of arcs, whose two flags may be written without a space after them: `a1 1 0 011 1`."""
    gap = r"[\s,]*+"
    any_, flag = f"{gap}({NUMBER})", f"{gap}([01])"
    one = re.compile(3 * any_ + 2 * flag + 2 * any_ + gap)
    numbers, at = list[float](), 0
    while match := one.match(text, at):
        numbers += [float(part) for part in match.groups()]
        at = match.end()
    if text[at:].strip(" \t\r\n,"):
        raise GeometryError("an arc of a path takes seven numbers, of which the fourth and the fifth are 0 or 1.")
    return numbers


@dataclass
class _Pen:
    """The current point, the current subpath, and the finished loops. Points are complex numbers."""

    at: complex = 0j
    start: complex = 0j
    handle: complex = 0j  # the last control point, mirrored by S and T
    last: str = ""
    segments: list[tuple[complex, complex, complex, complex]] = field(default_factory=list)
    loops: list[Floats] = field(default_factory=list)

    def draw(self, command: str, v: list[float]) -> None:
        """One command with its numbers."""
        kind, base = command.upper(), self.at if command.islower() else 0j
        if kind == "Z":
            self.close()
        elif kind == "A":
            self._arc(abs(v[0]), abs(v[1]), v[2], bool(v[3]), bool(v[4]), base + complex(v[5], v[6]))
        elif kind in "HV":
            x = v[0] + base.real if kind == "H" else self.at.real
            y = v[0] + base.imag if kind == "V" else self.at.imag
            self._line(complex(x, y))
        else:
            self._through(kind, [base + complex(v[k], v[k + 1]) for k in range(0, len(v), 2)])
        self.last = kind

    def _through(self, kind: str, p: list[complex]) -> None:
        """The commands whose numbers are points."""
        smooth = self.last in {"S": ("C", "S"), "T": ("Q", "T")}.get(kind, ())
        mirrored = 2 * self.at - self.handle if smooth else self.at
        if kind == "M":
            self.close()
            self.at = self.start = p[0]
        elif kind == "L":
            self._line(p[0])
        elif kind in "CS":
            a, b, end = p if kind == "C" else (mirrored, *p)
            self._cubic(a, b, end)
        else:
            a, end = p if kind == "Q" else (mirrored, *p)
            self._cubic((self.at + 2 * a) / 3, (end + 2 * a) / 3, end)
            self.handle = a

    def _line(self, end: complex) -> None:
        self._cubic(self.at + (end - self.at) / 3, end - (end - self.at) / 3, end)

    def _cubic(self, a: complex, b: complex, end: complex) -> None:
        if end != self.at or a != self.at or b != self.at:
            self.segments.append((self.at, a, b, end))
        self.at, self.handle = end, b

    def close(self) -> None:
        """End the subpath with a straight line to its start."""
        if self.segments:
            extent = max(abs(p - self.start) for segment in self.segments for p in segment)
            if abs(self.at - self.start) > 1e-9 * extent:
                self._line(self.start)
            points = np.array([p for segment in self.segments for p in segment[:3]])
            reach = points - self.start
            aside = np.imag(np.conj(reach[np.argmax(np.abs(reach))]) * reach)
            if not np.all(np.abs(aside) <= 1e-9 * extent**2):  # a line drawn to and fro encloses nothing
                self.loops.append(np.stack([np.real(points), np.imag(points)], axis=1))
        self.segments, self.at = [], self.start

    def _arc(self, rx: float, ry: float, degrees: float, large: bool, sweep: bool, end: complex) -> None:
        """An elliptic arc, from its ends to its centre and angles (SVG 1.1, F.6.5)."""
        if rx == 0.0 or ry == 0.0:
            return self._line(end)
        if end == self.at:
            return None
        turn = complex(np.cos(np.radians(degrees)), np.sin(np.radians(degrees)))

        def circular(z: complex) -> complex:  # coordinates in which the ellipse is the unit circle
            z = z * turn.conjugate()
            return complex(z.real / rx, z.imag / ry)

        def back(z: complex) -> complex:
            return complex(z.real * rx, z.imag * ry) * turn

        a, b = circular(self.at), circular(end)
        half = (b - a) / 2
        if abs(half) > 1.0:  # too small to reach: scaled up until it does
            rx, ry, a, b, half = rx * abs(half), ry * abs(half), a / abs(half), b / abs(half), half / abs(half)
        rise = np.sqrt(max(0.0, 1.0 - abs(half) ** 2)) / abs(half)
        center = (a + b) / 2 + (1j if large != sweep else -1j) * rise * half
        first, last = np.angle(a - center), np.angle(b - center)
        angle = (last - first) % (2 * np.pi) if sweep else -((first - last) % (2 * np.pi))
        count = max(1, int(np.ceil(abs(angle) / STEP)))
        reach = 4.0 / 3.0 * np.tan(angle / count / 4.0)
        for k in range(count):
            p, q = (np.exp(1j * (first + angle * j / count)) for j in (k, k + 1))
            to = end if k == count - 1 else back(center + q)
            self._cubic(back(center + p + 1j * reach * p), back(center + q - 1j * reach * q), to)
        return None
