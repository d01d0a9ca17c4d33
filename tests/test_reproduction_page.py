"""The page that `jumpnet reproduce` wrote: its figures are there, and README shows its summary."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/reproduction.md").read_text(encoding="utf-8")


def test_every_figure_is_there_and_every_one_is_used():
    shown = set(re.findall(r"\(reproduction/(.*?)\)", PAGE))
    assert shown == {path.name for path in (ROOT / "docs/reproduction").iterdir()} and len(shown) >= 8


def test_readme_shows_the_summary():
    summary = PAGE.split("## Summary\n\n")[1].split("\n\n")[0]
    assert summary.startswith("| table |") and summary in (ROOT / "README.md").read_text(encoding="utf-8")
