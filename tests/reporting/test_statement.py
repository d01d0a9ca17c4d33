"""The statement of a problem: formulas as the user wrote them, equal data in one row."""

from html.parser import HTMLParser

import pytest

import jumpnet as jn
from jumpnet.reporting.page.formulas import formula, name, number
from jumpnet.reporting.page.statement import statement


class Text(HTMLParser):
    def __init__(self):
        super().__init__()
        self.said = ""

    def handle_data(self, data):
        self.said += data


def said(html: str) -> str:
    text = Text()
    text.feed(html)
    return " ".join(text.said.replace("\u2062", " ").split())


@pytest.mark.parametrize(
    "typed, read",
    [
        ("2*x1**2 + 1", "2 x12+1"),
        ("-(a - b)/3", "−(a−b)3"),
        ("(a + b)*c - (d - 1)", "(a+b) c−(d−1)"),
        ("exp(-r)*sin(pi*x2)", "e−r sin(π x2)"),
        ("where(x1 > 0, 1.5, k2)", "{1.5if x1>0k2else"),
        ("abs(x) <= 1e-7", "|x|≤10−7"),
        ("atan2(y, x)", "atan2(y,x)"),
        ("sqrt(2)*3", "2·3"),
    ],
)
def test_formulas(typed, read):
    assert formula(typed).startswith("<math>") and said(formula(typed)) == read


@pytest.mark.parametrize("typed", ["x1[0]", "lambda x: x", "'<b>'", "1 +", "x1 + " * 60 + "1"])
def test_what_is_no_formula_is_shown_as_typed(typed):
    assert formula(typed).startswith("<code>") and "<b>" not in formula(typed)


def test_numbers_and_names():
    assert said(number(-2.5e-12)) == "−2.5·10−12" and said(number(1000.0)) == "1000"
    assert name("x12") == "<msub><mi>x</mi><mn>12</mn></msub>" and name("alpha") == "<mi>α</mi>"


def test_equal_pieces_share_a_row():
    disks = [jn.Disk((0.2 + 0.3 * k, 0.5), 0.1) for k in range(8)]
    parts = jn.Partition(jn.Box((0, 0), (3, 1)), disks, names=["<mortar>", *(f"grain {k}" for k in range(8))])
    problem = jn.Problem(
        parts,
        A=[[[2.0, "k"], ["k", 1.0]], *([5.0] * 8)],
        f="x1",
        sources=[jn.PointSource((2.9, 0.1), 3.5)],
        boundary={"left": jn.Dirichlet("x2"), "right": jn.Robin(2.0, 1.0), "top": jn.Neumann(), "bottom": jn.Neumann()},
        jumps={(0, 1): jn.Jump(v=0.5, R=0.125)},
        constants={"k": 0.25},
    )
    html = statement(problem)
    words = said(html)
    assert "1 grain 0, 2 grain 1, 3 grain 2, …, 8 grain 7 (8 in all)" in words
    assert "<mortar>" in words and "<mortar>" not in html
    assert "k = 0.25" in words and "x2-, x2+" in words and "2 u + A∇u·n = 1" in words
    assert "<mtable>" in html and "0.125" in words and "2.9, 0.1" in words and "3.5" in words


def test_manufactured_and_callable_data(plane):
    assert "from the exact solution" in statement(plane.problem)
    parts = jn.Partition(jn.Box((0, 0), (1, 1)))
    assert "a function" in statement(jn.Problem(parts, f=lambda x: x[:, 0]))
