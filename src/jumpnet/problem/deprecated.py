"""Keywords of version 0.1 that are still accepted, with a warning."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from jumpnet.errors import warn

P = ParamSpec("P")  # the parameters of the renamed function
T = TypeVar("T")  # what it returns


def partition_once_parts(call: Callable[P, T]) -> Callable[P, T]:
    """The callable with `parts=` accepted in place of `partition=`; giving both is an error, as for any keyword."""

    @wraps(call)
    def accepting(*args: P.args, **given: P.kwargs) -> T:
        if "parts" in given and "partition" not in given:
            warn(
                "the keyword parts= is called partition= now and will go with version 0.3; write partition=....",
                DeprecationWarning,
            )
            given["partition"] = given.pop("parts")
        return call(*args, **given)

    return accepting
