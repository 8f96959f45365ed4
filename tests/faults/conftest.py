"""Every test of this folder is marked `faults`; at full size each says what it counted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.scale import FULL

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.faults)


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Shows a line of counts, at full size only."""

    def line(text: str) -> None:
        if FULL:
            with capsys.disabled():
                sys.stderr.write(f"\n{text}\n")

    return line
