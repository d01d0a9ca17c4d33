"""The fields of a trial's record, checked before use, as the file may come from anywhere."""

import re
from typing import Any

from jumpnet.experiments.trial import PACKAGES, Record
from jumpnet.optim import Status

# How a trial may have ended.
STATUSES = {status.name.lower() for status in Status} | {"refused", "quoted"}
# Errors and the like, None where there is none.
NUMBERS = ("l2", "linf", "relative_l2", "relative_l2_hypercube", "loss", "held_out_loss", "estimate", "judged")
# Whole numbers.
WHOLE = ("test_points", "steps", "parameters")
MOST_TEXT, MOST_HISTORY, LARGEST_COUNT = 10_000, 10_000, 10**12
# The time at which a trial ended, and the version that ran it.
FINISHED = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC")
VERSION = re.compile(r"[0-9A-Za-z.+!_-]{1,60}")  # of the package


def checked(record: Any) -> Record:
    """The record, if every field is what it should be; ValueError otherwise. Fields that nobody knows are left out."""
    if not isinstance(record, dict):
        raise ValueError("a record is a table")
    for name in ("trial", "spec", "status", "finished", "seconds", "versions"):
        if name not in record:
            raise ValueError(f"{name} is missing")
    return {name: _field(name, value) for name, value in record.items() if name in FIELDS}


def _field(name: str, value: Any) -> Any:
    if not FIELDS[name](value):
        raise ValueError(f"{name} is not what it should be")
    return value


def _text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MOST_TEXT


def _number(value: Any) -> bool:
    """Not negative; nan or infinite where a training failed."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and not value < 0
    return good and (isinstance(value, float) or value <= LARGEST_COUNT)


def _count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LARGEST_COUNT


def _history(value: Any) -> bool:
    pairs = isinstance(value, list) and len(value) <= MOST_HISTORY
    return pairs and all(
        isinstance(one, list | tuple) and len(one) == 2 and _count(one[0]) and _number(one[1]) for one in value
    )


def _versions(value: Any) -> bool:
    return isinstance(value, dict) and all(
        name in PACKAGES and isinstance(text, str) and VERSION.fullmatch(text) is not None
        for name, text in value.items()
    )


FIELDS = {
    **dict.fromkeys(("trial", "spec", "message", "how"), _text),
    **dict.fromkeys(NUMBERS, lambda value: value is None or _number(value)),
    **dict.fromkeys(WHOLE, _count),
    "seconds": _number,
    "status": lambda value: isinstance(value, str) and value in STATUSES,
    "finished": lambda value: isinstance(value, str) and FINISHED.fullmatch(value) is not None,
    "versions": _versions,
    "history": _history,
}
