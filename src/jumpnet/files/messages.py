"""What is wrong with a file, in one sentence: the key, the value, what is wanted."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from jumpnet.errors import ProblemError
from jumpnet.files.schema import json_schema
from jumpnet.guard.text import shorten

# By pydantic's type of error: what is wanted instead; the braces are filled from the error's context.
WANTED = {
    "string_type": "text in quotes is wanted",
    "list_type": "a list in brackets is wanted",
    "dict_type": "a table is wanted",
    "model_type": "a table is wanted",
    "model_attributes_type": "a table is wanted",
    "bool_type": "true or false is wanted",
    "float_type": "a number is wanted",
    "int_type": "a whole number is wanted",
    "int_from_float": "a whole number is wanted",
    "finite_number": "a finite number is wanted",
    "greater_than": "a number above {gt} is wanted",
    "greater_than_equal": "a number of at least {ge} is wanted",
    "less_than": "a number below {lt} is wanted",
    "less_than_equal": "a number of at most {le} is wanted",
    "too_short": "at least {min_length} entries are wanted",
    "too_long": "at most {max_length} entries are read",
    "string_too_long": "at most {max_length} characters are read",
}


# What the quantities of the equation are called elsewhere, and the keys that hold them.
MEANT = {
    **dict.fromkeys(
        ("heat", "source", "q", "power"), ("f", "f = -q, where q is the heat released in a unit of volume")
    ),
    **dict.fromkeys(("k", "conductivity", "lambda", "kappa", "permittivity"), ("A", "A")),
    **dict.fromkeys(("value", "temperature", "T", "u", "flux"), ("g", "g")),
    **dict.fromkeys(("resistance", "contact"), ("R", "R")),
    **dict.fromkeys(("absorption", "reaction"), ("lam", "lam")),
}


def explained(problem: ValidationError, document: dict[str, Any]) -> ProblemError:
    """The first thing wrong; a key that nobody knows comes first, as it is often why another one is missing."""
    errors = problem.errors(include_url=False)
    return ProblemError(_sentence(min(errors, key=lambda e: e["type"] != "extra_forbidden"), document))


def _sentence(error: ErrorDetails, document: dict[str, Any]) -> str:
    kind, context = error["type"], error.get("ctx", {})
    key, given = key_of(error["loc"], document), shorten(error["input"])
    if kind == "missing":
        return f"{key} is missing; add it{_described(error['loc'])}."
    if kind == "extra_forbidden":
        known = _known_keys(error["loc"][:-1])
        meant, written = MEANT.get(str(error["loc"][-1]), ("", ""))
        if meant in known:
            return f"{key} is not a key of problem files; {written} is meant, perhaps."
        return f"{key} is not a key of problem files; {suggestion(str(error['loc'][-1]), known, 'keys here')}"
    if kind == "union_tag_not_found":
        return f"{key} has no kind; add kind = ..., one of {', '.join(_kinds(error['loc']))}."
    if kind == "union_tag_invalid":
        return f"{key}.kind is {shorten(context['tag'])}; {suggestion(context['tag'], _kinds(error['loc']), 'kinds')}"
    if kind == "value_error":
        return f"{key} is {given}; {context['error']}."
    if kind == "literal_error":
        return f"{key} is {given}; one of {context['expected']} is wanted."
    if kind == "list_type" and isinstance(error["input"], dict):
        return f"{key} is one table; there may be several, each under [[{key}]]."
    wanted = WANTED.get(kind)
    return f"{key} is {given}; {wanted.format(**context) if wanted else error['msg']}."


def suggestion(name: str, known: Iterable[str], what: str) -> str:
    """The known name that is probably meant, or all of them."""
    known = list(known)
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"the {what} are {', '.join(known) or 'none'}."


def key_of(loc: Sequence[str | int], document: Any) -> str:
    """The key as it stands in the file: pydantic adds the kind of a table where it had to choose one."""
    key, place = "", document
    for step in loc:
        if isinstance(place, list) and isinstance(step, int):
            key, place = f"{key}[{step}]", place[step] if step < len(place) else None
        elif isinstance(place, dict) and step != "[key]" and (step in place or step != place.get("kind")):
            name = str(step) if str(step).isprintable() and len(str(step)) <= 60 else shorten(step)
            key, place = f"{key}.{name}" if key else name, place.get(step)
    return key


@cache
def _schema() -> dict[str, Any]:
    return json_schema()


def _node(loc: Sequence[str | int]) -> dict[str, Any]:
    """The part of the schema that describes a place."""
    node = _schema()
    for step in loc:
        node = next((found for option in _options(node) if (found := _below(option, step))), {})
    return node


def _options(node: dict[str, Any]) -> list[dict[str, Any]]:
    """The node with its reference followed; an optional one as what it may be."""
    if "$ref" in node:
        node = _schema()["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    return [found for option in node.get("anyOf", ()) for found in _options(option)] or [node]


def _below(node: dict[str, Any], step: str | int) -> dict[str, Any] | None:
    if "discriminator" in node:
        reference = node["discriminator"]["mapping"].get(step)
        return reference and {"$ref": reference}
    if step in node.get("properties", {}):
        return node["properties"][step]
    below = node.get("items") if isinstance(step, int) else node.get("additionalProperties")
    return below if isinstance(below, dict) else None


def _known_keys(loc: Sequence[str | int]) -> list[str]:
    return [name for option in _options(_node(loc)) for name in option.get("properties", {})]


def _kinds(loc: Sequence[str | int]) -> list[str]:
    return [kind for option in _options(_node(loc)) for kind in option.get("discriminator", {}).get("mapping", {})]


def _described(loc: Sequence[str | int]) -> str:
    found = _node(loc).get("description")
    return f": {found}" if found else ""
