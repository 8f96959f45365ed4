"""The page of what is promised about the truth of memories names tests, and each of them is there."""

from __future__ import annotations

import re

import pytest

from tests.architecture.sources import ROOT

PAGE = ROOT / "docs" / "benchmarks" / "truth-and-its-tests.md"
NAMED = re.findall(r"`((?:tests|packages)/[\w/.-]+\.py)::(test_\w+)`", PAGE.read_text(encoding="utf-8"))


def test_the_page_names_tests() -> None:
    assert len(NAMED) >= 40


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_a_named_test_is_there(path: str, name: str) -> None:
    assert re.search(rf"^(?:async )?def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
