"""`jumpnet fit`: constants of a problem file from the values that it measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jumpnet.cli.options import FileRequest
from jumpnet.cli.session import NOT_CONVERGED, SOLVED, Session, output_directory
from jumpnet.errors import ModelError
from jumpnet.guard import interrupts

if TYPE_CHECKING:
    from jumpnet.files import ProblemFile
    from jumpnet.studies import Fit


def run(
    session: Session,
    request: FileRequest,
    unknown: Sequence[str],
    options: dict[str, Any],
    output: str | None,
    as_json: bool,
) -> int:
    """Fit, print the estimates, and write them with a picture if there is a place for them."""
    import json

    from jumpnet.studies import fit

    read = request.read()
    folder = None if output is None else output_directory(output)
    wanted, own = _wanted(read, unknown)
    chosen = own | {name: value for name, value in options.items() if value is not None}
    with interrupts.caught(), session.waiting("fitting"):
        found = fit(read, wanted, **chosen)
    numbers = _as_json(found)
    if folder is not None:
        session.write(folder / "fit.json", json.dumps(numbers, indent=2) + "\n")
        with session.waiting("profiles"):
            found.plot(folder / "fit.png", profiles=not found.undetermined)
        session.keep(folder / "fit.png")
    if as_json:
        session.say_json(numbers)
    else:
        session.say(str(found))
        session.say_written()
    return SOLVED if found.ok else NOT_CONVERGED


def _as_json(found: Fit) -> dict[str, Any]:
    """The estimates and how good they are."""
    return {
        "values": dict(found.values),
        "deviations": dict(found.deviations),
        "covariance": found.covariance.tolist(),
        "noise": found.noise,
        "undetermined": list(found.undetermined),
        "correlated": [list(pair) for pair in found.correlated],
        "on_bounds": list(found.on_bounds),
        "converged": found.converged,
        "solves": found.solves,
    }


def _wanted(read: ProblemFile, unknown: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The unknown constants with start and bounds, and the file's other settings."""
    entry, scope = read.file.fit, read.builder.scope
    own: dict[str, Any] = {}
    if entry is not None:
        own["starts"] = entry.starts
        own |= {} if entry.noise is None else {"noise": scope.number(entry.noise, "fit.noise")}
    if unknown:
        return dict(map(_given, unknown)), own
    if entry is None:
        raise ModelError("no unknown is named; give --unknown NAME=START:LOW:HIGH, or a table [fit] in the file.")
    return {name: scope.vector(bounds, f"fit.unknown.{name}") for name, bounds in entry.unknown.items()}, own


def _given(text: str) -> tuple[str, tuple[float, ...]]:
    name, _, numbers = text.partition("=")
    try:
        start, low, high = (float(number) for number in numbers.split(":"))
    except ValueError:
        raise ModelError(
            f"--unknown is {text!r}; NAME=START:LOW:HIGH is wanted, e.g. --unknown k=1:1e-3:1e3."
        ) from None
    return name.strip(), (start, low, high)
