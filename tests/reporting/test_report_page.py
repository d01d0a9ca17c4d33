"""The HTML report: complete in itself, everything escaped, and in plain words."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import jumpnet as jn
from jumpnet.optim import Status
from jumpnet.reporting import Context
from jumpnet.reporting.page.page import _lines, page, snippet, verdict

EMPTY = ("meta", "img", "br", "link", "mspace")


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.tags, self.open, self.scripts = [], [], [], 0

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.found += [value for name, value in attrs if name in ("src", "href", "action", "data", "srcset")]
        self.scripts += tag == "script" and "type" not in dict(attrs)
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(text: str) -> Links:
    links = Links()
    links.feed(text)
    assert links.open == []
    return links


@pytest.fixture(scope="module")
def text(plane):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("jumpnet.reporting.figures.jumps.RESOLUTION", 40)
        patch.setattr("jumpnet.reporting.figures.streams.RESOLUTION", {2: 60})
        patch.setattr("jumpnet.reporting.page.scene.RESOLUTION", {2: 40})
        return page(plane)


def test_nothing_is_fetched(text):
    links = parsed(text)
    assert links.found and all(link.startswith(("data:image/png;base64,", "#")) for link in links.found)
    assert not {"link", "iframe", "object", "embed", "base"} & set(links.tags)
    assert "http:" not in text and "https:" not in text and "url(" not in text and "@import" not in text
    assert "fetch(" not in text and "XMLHttpRequest" not in text and "import(" not in text
    assert "default-src 'none'" in text  # and if the script tried, the browser would refuse
    assert links.scripts == 1


def test_what_the_page_tells(text, plane):
    for residual in plane.held_out:
        assert residual.term in text
    for words in ("Not converged", plane.status.value, "never saw", "L2 error", "LevenbergMarquardt", "seed", "numpy"):
        assert words in text
    for heading in ("Problem", "Solution", "Trust", "Course of the solve", "Provenance"):
        assert f">{heading}</h2>" in text
    assert parsed(text).tags.count("math") > 5


@pytest.fixture
def no_figures(monkeypatch):
    """Drawing takes seconds, and these tests read the text only."""
    monkeypatch.setattr("jumpnet.reporting.page.page._solution", lambda solution, picture: "")
    monkeypatch.setattr("jumpnet.reporting.page.page._history", lambda solution: "")
    monkeypatch.setattr("jumpnet.reporting.page.page.plot_domain", lambda partition: None)
    monkeypatch.setattr("jumpnet.reporting.page.page._embedded", lambda figure, words: "")


def test_text_is_escaped(plane, no_figures):
    evil = "<script>alert('u')</script> & \"more\""
    marked = replace(plane, statement=replace(plane.statement, missing=(evil,))).because(evil, method=evil)
    context = Context(about=evil, saved=evil, command=evil, tables={evil: {evil: evil}})
    text = page(marked, title=evil, context=context)
    assert parsed(text).scripts == 1
    assert "<script>alert" not in text and "&lt;script&gt;" in text


def test_data_cannot_end_their_element(plane):
    from jumpnet.reporting.page.interactive import viewer

    names = ["</script><script>alert(1)</script>", "disk"]
    parts = jn.Partition(plane.partition.domain, plane.partition.pieces, names)
    assert parsed(viewer(replace(plane, statement=replace(plane.statement, partition=parts)), 20)).scripts == 0


def test_the_file_is_the_page(plane, no_figures, tmp_path):
    plane.write_report(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == page(plane)


def test_the_context_is_shown(plane, no_figures):
    context = Context(
        about="A plate with a disk.",
        saved="a.jumpnet",
        command="jumpnet solve a.toml",
        tables={"Heat": {"lost": "3.5"}},
    )
    text = page(plane, context=context)
    for words in ("A plate with a disk.", "jn.load(&#x27;a.jumpnet&#x27;)", "jumpnet solve a.toml", "Heat", "3.5"):
        assert words in text


def test_the_snippet_runs(plane, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    plane.save("a.jumpnet")
    exec(compile(snippet(plane, "a.jumpnet"), "snippet", "exec"), {})
    assert "status" in capsys.readouterr().out


def test_converged_and_not_converged_read_differently(plane):
    good, bad = (verdict(plane.with_diagnostics(status=s).report()) for s in (Status.CONVERGED, Status.STALLED))
    assert good.startswith("Converged:") and "provisional" not in good
    assert bad.startswith("Not converged:") and "provisional" in bad
    assert not re.search(r"\n", good + bad)


def test_a_solution_without_geometry_has_a_page_too(plane):
    bare = replace(plane, statement=replace(plane.statement, partition=None, problem=None, exact=None))
    assert "cannot be drawn" in page(bare)


def test_lines_and_slices_have_a_page(line, space, monkeypatch):
    monkeypatch.setattr("jumpnet.reporting.page.scene.RESOLUTION", {1: 60, 3: 14})
    monkeypatch.setattr("jumpnet.reporting.figures.solution.RESOLUTION", {1: 60, 3: 14})
    monkeypatch.setattr("jumpnet.reporting.page.page._pictures", lambda *_: iter(()))  # test_more_pictures.py
    monkeypatch.setattr("jumpnet.reporting.page.page.image", lambda figure: b"drawn")  # written in test_figures.py
    for solution in (line, space):
        text = page(solution)
        assert 'data-is="viewer"' in text and text.count("base64,ZHJhd24=") >= 3  # domain, solution, history


def test_a_direct_solution_is_reported_in_its_own_words(direct, no_figures):
    """No word of a training, the estimate and the method first, and seeds chosen by the estimate."""
    text, report = page(direct), str(direct.report())
    text = text[: text.index("<script>")]
    for words in (text, report):
        assert "training" not in words and "trained" not in words and "step" not in words
        assert direct.diagnostics.method[1:] in words and f"{direct.estimate:.1e}" in words
        assert "levels" in words and "the best of 2 by estimated error" in words.lower()
    assert report.index("estimate ") < report.index("solve ")
    assert direct.estimate == min(seed.estimate for seed in direct.report().seeds)


def test_a_training_says_that_it_was_one(plane, no_figures):
    assert "Trained: CategoricalEmbedding by LevenbergMarquardt" in page(plane)
    assert "method     trained: CategoricalEmbedding" in str(plane.report()) and "20 steps" in str(plane.report())


def test_levels_are_drawn_one_by_one(direct):
    from jumpnet.reporting import plot_history

    figure = plot_history(direct.history, unit=direct.unit)
    assert [axes.get_xlabel() for axes in figure.axes] == ["level"]
    assert figure.axes[0].lines[0].get_marker() == "o"


def test_lists_in_the_provenance_have_a_line_for_each_entry():
    assert _lines(("direct: a < b", "elements")) == "direct: a &lt; b<br>elements" and _lines(3) == "3"
