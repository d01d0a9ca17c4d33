"""Random problem files, valid, broken and hostile: each is accepted, or refused in one sentence that names the key."""

import time
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import jumpnet as jn
from jumpnet.files.explaining import explained
from jumpnet.files.opening import read_as_file

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))
PATIENCE = 10.0  # seconds for one file

HOSTILE = (
    *("__import__('os').system('touch owned')", "().__class__.__bases__", "open('owned','w')", "exec('1')", "x1.real"),
    *("9**9**9**9", "x1**x1**x1**x1**x1", "1/0", "log(-1)", "1e999", "nan", "lambda: 1", "[x for x in x1]", "x1;x2"),
    *("(" * 60 + "x1" + ")" * 60, "sin(" * 60 + "x1" + ")" * 60, "x1+" * 300 + "x1", "where(x1<0,1,2)", "é", "\0", ""),
    *("tan(9**99)", "exp(exp(exp(exp(9))))", "sqrt(x1)", "abs(x1)**0.5", "1/(x1**2 + x2**2)", "max(x1, x2, 3)", "k"),
    *("where(" * 20 + "x1 < 0, 1, 2" + ") < 0, 1, 2" * 19 + ")", "(x1 + 1)**100", "((x1**99)**99)**99", "atan2(0, 0)"),
)
numbers = st.one_of(
    st.sampled_from([0, 1, -1, 0.5, 1e-3, 1e3, 1e-30, 1e30, 1e308, 5e-324, float("inf"), float("nan"), 2**70, 10**400]),
    st.floats(-3, 3),
    st.integers(-5, 5),
)
formulas = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(alphabet="x12+-*/(). ksinexp,<", max_size=20),
    st.text(max_size=8),
)
values = st.recursive(
    st.one_of(numbers, formulas, st.booleans()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


def written(value: object) -> str:
    """A value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = "".join(c if 32 <= ord(c) < 127 and c not in '"\\' else f"\\U{ord(c):08x}" for c in value)
        return f'"{escaped}"'
    if isinstance(value, list):
        return "[" + ", ".join(written(v) for v in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{written(str(k))} = {written(v)}" for k, v in value.items()) + "}"
    return repr(value)


@st.composite
def files(draw: st.DrawFn) -> str:
    """An example with some of its lines changed, lost or doubled."""
    lines = draw(st.sampled_from(EXAMPLES)).read_text(encoding="utf-8").splitlines()
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(lines) - 1))
        name, equals, old = lines[place].partition("=")
        match draw(st.integers(0, 4)):
            case 0 if equals:
                lines[place] = f"{name}= {written(draw(values.filter(_encodable)))}"
            case 1 if equals:
                lines[place] = f"{draw(st.sampled_from(['kind', 'A', 'radius', 'x', 'name', 'shape']))} ={old}"
            case 2:
                del lines[place]
            case 3:
                lines.insert(place, lines[draw(st.integers(0, len(lines) - 1))])
            case _:
                cut = draw(st.integers(0, max(len(lines[place]), 1)))
                odd = draw(st.text(alphabet="0123456789.-[]{}\"'=,x", max_size=4))
                lines[place] = lines[place][:cut] + odd + lines[place][cut:]
        lines = lines or [""]
    return "\n".join(lines)


def _encodable(value: object) -> bool:
    try:
        written(value).encode()
    except UnicodeEncodeError:
        return False
    return not any(0xD800 <= ord(c) < 0xE000 for c in str(value))


def check(text: str) -> None:
    """What `jumpnet check` does with a file."""
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", jn.JumpnetWarning)
            explained(read_as_file(text))
    except jn.JumpnetError as error:
        message = str(error)
        assert "\n" not in message and message[-1] in ".?" and len(message) < 700, message
        keys = (
            "title",
            "about",
            "mean",
            "image",
            "sources",
            "data",
            "constants",
            "domain",
            "materials",
            "background",
            "pieces",
            "manufactured",
            "boundary",
        )
        keys += ("jumps", "solve", "probes", "quantities", "the file")
        assert message.startswith(keys) or "is not a key" in message, message
    assert time.process_time() - began < PATIENCE


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(files())
def test_any_file_is_accepted_or_refused_in_a_sentence(text: str) -> None:
    check(text)
    assert not Path("owned").exists()


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
@given(files())
def test_two_thousand_files(text: str) -> None:
    check(text)
    assert not Path("owned").exists()


SLOW = {  # formulas that are short, and whose derivatives are not
    "product": "*".join(f"(x1 + {k})" for k in range(100)),
    "angles": "atan2(x1, " * 30 + "x2" + ")" * 30,
    "fraction": "1/(1 + " * 40 + "x1" + ")" * 40,
    "tower": "x1**" * 40 + "x1",
    "maxima": "max(" * 30 + "x1" + ", x2)" * 30,
    "sines": "sin(" * 60 + "x1" + ")" * 60,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_no_formula_takes_long(name: str) -> None:
    star = next(path for path in EXAMPLES if path.stem == "star").read_text(encoding="utf-8")
    disk = next(path for path in EXAMPLES if path.stem == "cylinder").read_text(encoding="utf-8")
    formula = written(SLOW[name])
    check(star.replace('"exp(x1)*cos(x2)"', formula))
    check(star.replace("A = 50.0", f"A = {formula}"))
    shape = '{ kind = "disk", center = ["c1", "c2"], radius = "radius" }'
    check(disk.replace(shape, f'{{ kind = "level-set", phi = {formula} }}'))
