"""Files that belong to the pages: style, scripts and fragments of HTML."""

from functools import cache
from importlib.resources import files


@cache
def asset(name: str) -> str:
    """The text of a file beside this one."""
    return (files(__name__) / name).read_text(encoding="utf-8")
