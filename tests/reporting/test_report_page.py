"""The HTML report: complete in itself, everything escaped, and in plain words."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from jumpnet.optim import Status
from jumpnet.reporting.page import page, verdict


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.tags, self.open = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.found += [value for name, value in attrs if name in ("src", "href", "action", "data", "srcset")]
        if tag not in ("meta", "img", "br", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(text: str) -> Links:
    links = Links()
    links.feed(text)
    assert links.open == []
    return links


@pytest.fixture(scope="module")
def text(plane):
    return page(plane)


def test_nothing_is_fetched_and_nothing_runs(text):
    links = parsed(text)
    assert links.found and all(link.startswith("data:image/png;base64,") for link in links.found)
    assert not {"script", "link", "iframe", "object", "embed"} & set(links.tags)
    assert "http" not in text and "url(" not in text and "@import" not in text


def test_what_the_page_tells(text, plane):
    for residual in plane.held_out:
        assert residual.term in text
    for words in ("Not converged", plane.status.value, "never saw", "L2 error", "LevenbergMarquardt", "seed"):
        assert words in text
    assert parsed(text).tags.count("img") == 3


@pytest.fixture
def no_figures(monkeypatch):
    """Drawing takes seconds, and these tests read the text only."""
    monkeypatch.setattr("jumpnet.reporting.page._pictures", lambda solution, picture: "")
    monkeypatch.setattr("jumpnet.reporting.page._history", lambda solution: "")


def test_text_is_escaped(plane, no_figures):
    evil = "<script>alert('u')</script> & \"more\""
    marked = replace(plane, settings=plane.settings | {evil: evil}, missing=(evil,))
    text = page(marked, title=evil)
    assert "script" not in parsed(text).tags
    assert "<script" not in text and "&lt;script&gt;" in text


def test_the_file_is_the_page(plane, no_figures, tmp_path):
    plane.write_report(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == page(plane)


def test_converged_and_not_converged_read_differently(plane):
    good, bad = (verdict(replace(plane, status=s).report()) for s in (Status.CONVERGED, Status.STALLED))
    assert good.startswith("Converged:") and "provisional" not in good
    assert bad.startswith("Not converged:") and "provisional" in bad
    assert not re.search(r"\n", good + bad)


def test_a_solution_without_geometry_has_a_page_too(plane):
    bare = replace(plane, partition=None, problem=None, exact=None)
    assert "cannot be drawn" in page(bare)


def test_slices_have_a_page(space):
    assert parsed(page(space)).tags.count("img") == 3


def test_a_direct_solution_is_reported_in_its_own_words(direct, no_figures):
    """No word of a training, the estimate and the method first, and seeds chosen by the estimate."""
    text, report = page(direct), str(direct.report())
    for words in (text, report):
        assert "training" not in words and "trained" not in words and "step" not in words
        assert direct.settings["method"][1:] in words and f"{direct.estimate:.1e}" in words
        assert "levels" in words and "the best of 2 by estimated error" in words.lower()
    assert report.index("estimate ") < report.index("solve ")
    assert direct.estimate == min(seed["estimate"] for seed in direct.report().seeds)


def test_a_training_says_that_it_was_one(plane, no_figures):
    assert "Trained: CategoricalEmbedding by LevenbergMarquardt" in page(plane)
    assert "method     trained: CategoricalEmbedding" in str(plane.report()) and "20 steps" in str(plane.report())


def test_levels_are_drawn_one_by_one(direct):
    from jumpnet.reporting import plot_history

    figure = plot_history(direct.history, unit=direct.unit)
    assert [axes.get_xlabel() for axes in figure.axes] == ["level"]
    assert figure.axes[0].lines[0].get_marker() == "o"
