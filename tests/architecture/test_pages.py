"""The Markdown pages: links lead somewhere, and every decision record says what it must."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT, tracked_texts

LINK = re.compile(r"\]\(([^)\s]+)\)")
PAGES = sorted(name for name in tracked_texts() if name.endswith(".md"))
DECISIONS = sorted(path for path in (ROOT / "docs" / "adr").glob("[0-9]*.md") if path.name != "0000-template.md")
SECTIONS = ["## Context", "## Decision", "## Alternatives", "## Consequences"]


@pytest.mark.parametrize("page", PAGES)
def test_every_local_link_leads_to_a_file(page: str) -> None:
    targets = [link.partition("#")[0] for link in LINK.findall(tracked_texts()[page]) if "://" not in link]
    missing = [target for target in targets if target and not ((ROOT / page).parent / target).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES)
def test_every_link_to_a_heading_finds_it(page: str) -> None:
    lost = []
    for target in (link for link in LINK.findall(tracked_texts()[page]) if "://" not in link and "#" in link):
        file, _, heading = target.partition("#")
        there = (ROOT / page).parent / file if file else ROOT / page
        if there.suffix == ".md" and heading not in _headings(there.read_text(encoding="utf-8")):
            lost.append(target)
    assert lost == []


def _headings(text: str) -> set[str]:
    """The names that a page's headings have in links."""
    titles = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda path: path.name)
def test_a_decision_has_every_section_and_a_status(decision: Path) -> None:
    text = decision.read_text(encoding="utf-8")
    assert re.search(r"^Status: (proposed|accepted|superseded by \d{4})$", text, re.MULTILINE)
    assert [section for section in SECTIONS if section not in text] == []


def test_decisions_have_one_number_each_and_are_listed() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    numbers = [int(path.name[:4]) for path in DECISIONS]
    assert numbers == sorted(set(numbers))
    assert [path.name for path in DECISIONS if f"adr/{path.name}" not in index] == []


def test_each_row_of_the_comparison_that_is_met_names_a_test_that_is_there() -> None:
    text = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    compared, _, shown = text.partition("## The tests behind our column")
    met = {row for row, ours in re.findall(r"^\| ([^|]+) \| (Y|p|\d+) \|", compared, re.MULTILINE)}
    named = dict(re.findall(r"^\| ([^|]+) \| (.*`.*) \|$", shown, re.MULTILINE))
    assert met == named.keys()
    paths = [path for tests in named.values() for path in re.findall(r"`((?:tests|packages|clients)/[^`]+)`", tests)]
    assert len(paths) >= len(met)
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert re.findall(r"`test_\w+\.py`", shown) == []  # each with its folder
