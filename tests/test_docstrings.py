"""Every public name says what it is for, what it takes and gives, and has an example, which is run."""

import doctest
import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jumpnet as jn
from jumpnet import _public

NAMES = [name for name in _public.__all__ if name not in ("baselines", "charts", "models", "optim", "shapes")]
# What is never made by hand, or takes what every exception takes.
WITHOUT_ARGUMENTS = ("Status", "Stream", *(name for name in NAMES if name.endswith(("Error", "Warning"))))


def named(name: str) -> Any:
    return jn.judge.judge if name == "judge" else getattr(jn, name)  # which is a package that can be called


def parameters(one: Callable[..., Any]) -> list[str]:
    made = one.__init__ if inspect.isclass(one) else one
    return [
        name for name in inspect.signature(made).parameters if name not in ("self", "deprecated") and name[0] != "_"
    ]


@pytest.mark.parametrize("name", NAMES)
def test_public_names_are_documented(name: str) -> None:
    one = named(name)
    text = inspect.getdoc(one) or ""
    assert text.splitlines()[0].endswith((".", ":")) and "Example:" in text and ">>> " in text
    if name in WITHOUT_ARGUMENTS:
        return
    assert "Args:" in text
    described = text.split("Args:")[1]
    missing = [argument for argument in parameters(one) if f"\n    {argument}: " not in described]
    assert not missing, f"{name} does not say what {missing} are"
    assert inspect.isclass(one) or "Returns:" in text


@pytest.mark.parametrize("name", NAMES)
def test_examples_of_docstrings_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (found,) = doctest.DocTestFinder(recurse=False).find(named(name), name, globs={})
    said: list[str] = []
    with warnings.catch_warnings():
        failed, tried = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(found, out=said.append)
    assert tried and not failed, "".join(said)
