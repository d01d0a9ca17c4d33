"""Replaces the numbers of pieces in messages by their names in the file."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from jumpnet.errors import JumpnetError
from jumpnet.files.schema import File
from jumpnet.guard import budget


@contextmanager
def naming(names: Sequence[str], otherwise: str) -> Iterator[None]:
    """Errors raised inside name pieces as the file does, and begin with a key."""
    try:
        with budget.key(otherwise):
            yield
    except JumpnetError as problem:
        message = str(problem)
        if message.startswith(("sources[", "data[")):
            raise type(problem)(_NUMBERED.sub(lambda m: _named(m, names), message)) from None
        if message.split(".")[0].split(":")[0].split("[")[0] in File.model_fields:
            raise
        found = _NUMBERED.search(message)
        piece = int(found[2]) if found else len(names)
        if message.startswith(("v on interface", "w on interface", "R on interface")):
            piece, otherwise = len(names), "jumps"
        key = otherwise if piece >= len(names) else "background" if piece == 0 else f"pieces.{names[piece]}"
        for words, instead in _REMEDIES.items():
            message = message.replace(words, instead)
        raise type(problem)(f"{key}: {_NUMBERED.sub(lambda m: _named(m, names), message)}") from None


# What is done by operators in Python, in the words of files.
_REMEDIES = {
    "cut it off with `piece & domain`": 'cut it off with a shape of kind "intersection"',
    "subtract one from the other, `a - b`": "name one in `without` of the other",
    "cut it off with a Box, `a & box`": 'cut it off with a shape of kind "intersection"',
    "cut the domain with a Box, `a & box`": 'make it a shape of kind "intersection"',
}
# "piece 2", "pieces 1 and 2", "interface (0, 1)" in messages, whose numbers are replaced by names.
_NUMBERED = re.compile(r"\b(piece|pieces|interface) \(?(\d+)(?:(?: and |, )(\d+)\)?)?")


def _named(match: re.Match[str], names: Sequence[str]) -> str:
    called = [names[int(number)] for number in match.groups()[1:] if number is not None and int(number) < len(names)]
    return f"{match[0]} ({', '.join(called)})" if called else match[0]
