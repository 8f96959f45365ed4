"""The Markdown pages: links lead somewhere, and what they claim has a test."""

from __future__ import annotations

import re

from tests.architecture.sources import ROOT, tracked_texts

LINK = re.compile(r"\]\(([^)\s]+)\)")


def test_every_local_link_leads_to_a_file_and_a_heading() -> None:
    pages = {name: text for name, text in tracked_texts().items() if name.endswith(".md")}
    lost = []
    for page, text in pages.items():
        for target in (link for link in LINK.findall(text) if "://" not in link and not link.startswith("mailto:")):
            file, _, heading = target.partition("#")
            there = (ROOT / page).parent / file if file else ROOT / page
            headed = heading and there.suffix == ".md" and there.exists()
            if not there.exists() or (headed and heading not in _headings(there.read_text(encoding="utf-8"))):
                lost.append(f"{page}: {target}")
    assert lost == []


def _headings(text: str) -> set[str]:
    """The names that a page's headings have in links."""
    titles = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def test_decisions_have_one_number_each_and_are_listed() -> None:
    index = (ROOT / "docs" / "adr" / "README.md").read_text(encoding="utf-8")
    decisions = sorted(path.name for path in (ROOT / "docs" / "adr").glob("[0-9]*.md"))
    assert len({name[:4] for name in decisions}) == len(decisions)
    assert [name for name in decisions if f"({name})" not in index] == []


def test_each_row_of_the_comparison_that_is_met_names_a_test_that_is_there() -> None:
    compared = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    shown = (ROOT / "tests" / "comparison.md").read_text(encoding="utf-8")
    met = {row for row, ours in re.findall(r"^\| ([^|]+) \| (Y|p|\d+) \|", compared, re.MULTILINE)}
    named = dict(re.findall(r"^\| ([^|]+) \| (.*`.*) \|$", shown, re.MULTILINE))
    assert met == named.keys()
    paths = [path for tests in named.values() for path in re.findall(r"`((?:tests|packages|clients)/[^`]+)`", tests)]
    assert len(paths) >= len(met)
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert re.findall(r"`test_\w+\.py`", shown) == []  # each with its folder


def test_the_files_and_folders_that_the_architecture_names_are_there() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./-]+(?:/|\.py|\.js))`", page)) | set(re.findall(r"`([a-z_]+/[a-z_/]+)`", page))
    roots = (ROOT / "src" / "mnemic", ROOT, ROOT / "packages" / "mnemic-server" / "src" / "mnemic_server")
    assert sorted(name for name in named if not any((root / name).exists() for root in roots)) == []
