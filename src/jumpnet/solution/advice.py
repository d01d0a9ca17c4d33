"""Advice for a solution that misses its tolerance, in terms of Python, of the file or of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal

import numpy as np

from jumpnet.errors import JumpnetError
from jumpnet.optim import Status

if TYPE_CHECKING:
    from jumpnet.solution.solution import Solution

Interface = Literal["python", "file", "command"]
_interface: ContextVar[Interface] = ContextVar("interface", default="python")

SAMPLE = 400  # points at which the variation of u is taken
LARGEST_TOL = 0.5  # larger tolerances are not advised

# What each remedy is called in Python, in a problem file, and on the command line.
WORDS: dict[str, dict[Interface, str]] = {
    "tol": {"python": "tol={}", "file": "tol = {} in [solve]", "command": "--tol {}"},
    "larger": {"python": "a larger tol=", "file": "a larger tol in [solve]", "command": "a larger --tol"},
    "smaller": {"python": "a smaller tol=", "file": "a smaller tol in [solve]", "command": "a smaller --tol"},
    "time": {
        "python": "a longer time_limit=",
        "file": "a longer time_limit in [solve]",
        "command": "a longer --time-limit",
    },
    "elements": {
        "python": 'method="fem"',
        "file": 'method = "fem" in [solve]',
        "command": 'method = "fem" in [solve] of the file',
    },
    "unknowns": {"python": "method=jn.FEM(unknowns=...)", "file": "", "command": ""},
    "training": {
        "python": "more steps (jn.Network(optimizer=...)), jn.Network(trials=4), or another seed=",
        "file": "more steps, trials or another seed in [solve]",
        "command": "another --seed, or more steps and trials in [solve] of the file",
    },
    "judge": {
        "python": "jn.judge(solution)",
        "file": 'verify = "always" in [solve]',
        "command": 'verify = "always" in [solve] of the file',
    },
    "data": {
        "python": "smoother data, or jn.PointSource for a source in a point",
        "file": "smoother data, or [[sources]] for a source in a point",
        "command": "smoother data, or [[sources]] for a source in a point",
    },
    "report": {"python": "see solution.report()", "file": "see solution.report()", "command": "see the report"},
}


@contextmanager
def spoken(interface: Interface) -> Iterator[None]:
    """Advice that is given in here is for who uses this interface; the outermost counts."""
    outer = _interface.get()
    mark = _interface.set(interface if outer == "python" else outer)
    try:
        yield
    finally:
        _interface.reset(mark)


def word(remedy: str) -> str:
    """A remedy in the words of the interface in use."""
    return WORDS[remedy][_interface.get()]


def advice(solution: Solution) -> str:
    """What can be tried, best first; a seed only where a network was trained."""
    status = solution.status
    if status is Status.INTERRUPTED:
        return "letting it end"
    if status.ok or status is Status.UNBALANCED:
        return _either(word("smaller"), "another method")
    if status is Status.TRAINED:
        return word("judge")
    if status is Status.UNRESOLVED:
        return _either(word("data"), word("larger"))
    larger = _met(solution)
    if solution.representation.elements is None and solution.unit == "step":
        return _either(word("training"), larger)
    if status is Status.TIME_LIMIT:
        return _either(larger, word("time"))
    if solution.representation.elements is not None:
        return _either(larger, word("unknowns"))
    return _either(larger, word("elements"))


def _either(*ways: str) -> str:
    return ", or ".join(way for way in ways if way)


def _met(solution: Solution) -> str:
    """The tolerance that the answer meets as it is, or a larger one where that is not known."""
    try:
        x, piece = solution.statement.known_partition.sample_interior(SAMPLE, seed=[solution.seed, 7])
        variation = float(np.std(solution(x, piece)))
    except JumpnetError:
        return word("larger")
    tol = solution.estimate / variation if variation > 0 else np.nan
    if not (np.isfinite(tol) and 0 < tol < LARGEST_TOL):
        return word("larger")
    power = 10.0 ** np.floor(np.log10(tol))
    return f"{word('tol').format(f'{np.ceil(1.2 * tol / power) * power:.1g}')} (which it meets as it is)"
